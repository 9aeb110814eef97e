/*
 * gate.h - the open listeners of this broker, and the limits on who may come in
 *
 * Connections are accepted on one reactor and spread over all of them round robin. Limits of number are kept in one table
 * (LOCK_CONNECTIONS), which a connection touches when it comes and when it goes.
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "broker/request/api.h"
#include "common/io/sock.h"
#include "common/io/tls.h"

struct gate;

struct gate_opts {
    const struct broker_conf *conf;
    struct broker *broker;
    const struct api_table *apis;
    struct reactor_pool *reactors;
    struct workq *workq; /* cold reads */
};

/* Binds every listener; nobody is let in yet. < 0 with the reason in why. */
int gate_open(const struct gate_opts *opts, struct gate **ret, struct strbuf *why) MUST_CHECK;
/* The reactors run. */
void gate_start(struct gate *g);
/* No new connections. Thread: any but a reactor's; waits. */
void gate_shut(struct gate *g);
/* Closes every connection; requests that run still end later, without an answer. Thread: as above; waits. */
void gate_close_all(struct gate *g);
/* After the reactors have stopped. NULL-safe, returns NULL. */
struct gate *gate_free(struct gate *g);
/* The port a listener is bound to, by the index of conf->listener. */
int gate_port(const struct gate *g, int listener);

/* ---- for conn.c ---- */

struct gate_listener {
    struct gate *gate;
    const struct listener_conf *conf;
    struct io_event event;
    struct tls_server *tls; /* NULL: plain */
    bool is_privileged;
    bool is_open;   /* its event is watched */
    bool is_paused; /* too many connections; opened again when one has gone */
    int fd;
    int connections; /* LOCK_CONNECTIONS */
    int max_connections;
};

const struct gate_opts *gate_opts(const struct gate *g);
/* A connection has gone. Thread: its reactor's. */
void gate_left(struct gate_listener *l, const struct sock_addr *peer);
/* Bytes of requests under way, against queued.max.request.bytes. Thread: any. */
void gate_count_bytes(struct gate *g, int64_t bytes);
bool gate_is_full(const struct gate *g);
