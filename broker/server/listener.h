/*
 * listener.h - one named listener: a listening socket, and who may connect to it
 *
 * Accepts on one reactor and spreads the connections over the reactors of its sets, round robin. At
 * its limit of connections, in all or in a second, it leaves clients in the kernel's queue until
 * the next may come; only the listener between brokers, where it is not the only one, makes room
 * for itself by closing the connection of another listener that was used longest ago.
 */
#pragma once

#include "broker/server/conn_set.h"

struct listener;
struct tls_server;

struct listener_opts {
    const char *name; /* copied, as all texts here */
    const char *host;
    int port; /* 0: any free one */
    struct sock_opts sock;
    const struct tls_server *tls; /* NULL: plain; belongs to the caller */
    bool is_privileged;
    struct net *net;
    struct conn_set **sets; /* the array belongs to the caller */
    int window_count;       /* of the rate of connections: quota.window.num, .size.seconds */
    int64_t window_ms;
};

/* What may change while it is open. */
struct listener_limits {
    int set_count;           /* of the sets, for connections to come */
    bool is_inter_broker;    /* and not the only one: exempt from the broker's limits */
    int64_t max_connections; /* of this listener */
    int64_t max_rate;        /* of its connections, in a second */
};

/* Binds, and accepts nothing yet. -errno with the reason in why. Thread: any. */
int listener_open(const struct listener_opts *opts, const struct listener_limits *limits,
                  struct strbuf *why, struct listener **ret) MUST_CHECK;
/* Accepts from now on. Thread: any but a reactor's. */
void listener_start(struct listener *l);
/* Other limits, for connections to come. Thread: any. */
void listener_set_limits(struct listener *l, const struct listener_limits *limits);
/* Accepts no more, and closes the socket. Thread: any but a reactor's. */
void listener_stop(struct listener *l);
/* After its connections have gone. NULL-safe, returns NULL. */
struct listener *listener_free(struct listener *l);

const char *listener_name(const struct listener *l);
bool listener_is_privileged(const struct listener *l);
/* The port it is bound to. */
int listener_port(const struct listener *l);
/* Thread: any. */
int64_t listener_connections(const struct listener *l);
/* A connection of it has ended. Thread: any. */
void listener_lost(struct listener *l, const struct sock_addr *peer);
