/*
 * conn.h - one connection: read frames, start requests in order, send answers in order
 *
 * Belongs to one reactor. Requests of one connection start in the order they came and are answered in it; one that waits does
 * not keep the next from starting, up to MAX_RUNNING. Answers that become ready in one turn of the loop leave with one system
 * call. A connection that was closed lives on, without a socket, until its running requests have ended.
 *
 *     HANDSHAKE --agreed--> OPEN --end of stream, error, idle, told so--> CLOSED --no request, no read job--> freed
 */
#pragma once

#include "broker/server/gate.h"
#include "common/io/framer.h"
#include "common/io/outq.h"

struct conn_set; /* the connections of one reactor, and the memory they share */

struct conn_set *conn_set_new(struct gate *g, struct reactor *r);
/* After the reactor has stopped; closes what is left. */
struct conn_set *conn_set_free(struct conn_set *set);
struct reactor *conn_set_reactor(const struct conn_set *set);
/* Takes over fd. Thread: any. */
void conn_set_add(struct conn_set *set, struct gate_listener *l, int fd,
                  const struct sock_addr *peer);
/* Thread: the reactor's. */
void conn_set_close_all(struct conn_set *set);
int conn_set_count(const struct conn_set *set);
