/*
 * conn.h - one client connection: frames in, requests started in order, answers out in order
 *
 *   conn_open -> handshake (TLS) -> open -> ending (the client sends no more) -> closed -> freed
 *   with the last open request
 *
 * Belongs to one conn_set and its reactor's thread. Between requests it holds no buffers. It stops
 * reading while a barrier request waits, too many requests are open, too much output is unsent, or
 * requests hold as much memory as they may.
 */
#pragma once

#include "broker/server/conn_set.h"
#include "common/io/stream.h"

struct tls_server;

struct conn_opts {
    struct listener *listener;
    int fd; /* taken over */
    struct sock_addr peer;
    const struct tls_server *tls; /* NULL: plain */
};

/* Thread: the set's reactor. */
void conn_open(struct conn_set *s, const struct conn_opts *opts);
/* Requests that are being worked on go on; their answers are dropped. */
void conn_close(struct conn *c, const char *why);

/* For conn_set.c and dispatch.c: */
struct conn_link *conn_link(struct conn *c);
struct listener *conn_listener(const struct conn *c);
struct conn_set *conn_get_set(const struct conn *c);
/* "User:ANONYMOUS", "User:CN=..."; "/127.0.0.1". They live as long as the connection. */
struct str conn_principal(const struct conn *c);
struct str conn_host(const struct conn *c);
/* Goes on reading if it had to stop. */
void conn_resume(struct conn *c);
