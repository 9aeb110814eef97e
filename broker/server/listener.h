/*
 * listener.h - one named listener: a listening socket, and who may connect to it
 *
 * Accepts on one reactor and spreads the connections over the reactors of its sets, round robin. At
 * its limit of connections it leaves clients in the kernel's queue until one goes; only the
 * listener between brokers, where it is not the only one, makes room for itself by closing the
 * connection of another listener that was used longest ago.
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
    bool is_inter_broker;    /* and not the only one: exempt from the broker's limit */
    int64_t max_connections; /* of this listener */
    struct net *net;
    struct conn_set **sets; /* the array belongs to the caller */
    int set_count;
};

/* Binds, and accepts nothing yet. -errno with the reason in why. Thread: any. */
int listener_open(const struct listener_opts *opts, struct strbuf *why, struct listener **ret)
    MUST_CHECK;
/* Accepts from now on. Thread: any but a reactor's. */
void listener_start(struct listener *l);
/* Another limit of its connections, for those to come. Thread: any. */
void listener_set_max(struct listener *l, int64_t max_connections);
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
