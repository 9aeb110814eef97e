/*
 * conn_set.h - the connections of one reactor, and what they share on its thread
 *
 * The scratch buffer for reading and sending, recycled arenas, the order in which connections were
 * last used (the first to be closed when idle), and the list of those that wait for request memory.
 * Thread: the reactor's, but where "any" is said.
 */
#pragma once

#include "broker/server/net.h"

struct conn;
struct conn_set;
struct listener;

/* Thread: any. */
struct conn_set *conn_set_new(struct reactor *r, struct net *net);
/* Closes all connections, and waits until their requests have been answered or the deadline has
 * passed. Thread: any but the reactor's, which still runs. True if nothing is left. */
bool conn_set_stop(struct conn_set *s, int64_t deadline_us);
/* After conn_set_stop() and the end of the reactor. NULL-safe, returns NULL. */
struct conn_set *conn_set_free(struct conn_set *s);

struct reactor *conn_set_reactor(const struct conn_set *s);
struct net *conn_set_net(const struct conn_set *s);
/* Thread: any. */
int conn_set_count(const struct conn_set *s);
/* Asks for the connection that was used longest ago, of any listener but this one, to be closed.
 * Thread: any. */
void conn_set_evict(struct conn_set *s, const struct listener *except);

/* Has all connections of a listener closed that came before. Thread: any. */
void conn_set_close_listener(struct conn_set *s, const struct listener *listener);

/* For conn.c: */

enum { CONN_SCRATCH = 64 * 1024 };

/* Where a connection stands in its set; embedded in it. */
struct conn_link {
    struct conn *prev, *next; /* by time of use, the newest last */
    struct conn *starved_prev, *starved_next;
    int64_t used_us;
    bool is_starved;
};

void conn_set_add(struct conn_set *s, struct conn *c);
/* It is closed: not found any more. */
void conn_set_remove(struct conn_set *s, struct conn *c);
/* A closed one has been freed. */
void conn_set_gone(struct conn_set *s);
/* It was used just now. */
void conn_set_touch(struct conn_set *s, struct conn *c);
/* It is to be resumed when requests hold less memory. */
void conn_set_starve(struct conn_set *s, struct conn *c);
/* CONN_SCRATCH bytes, for use within one call. */
void *conn_set_scratch(struct conn_set *s);
struct arena conn_set_take_arena(struct conn_set *s);
/* Resets it, too. */
void conn_set_give_arena(struct conn_set *s, struct arena *a);
