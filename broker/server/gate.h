/*
 * gate.h - the door of this broker: its listeners as configured, with their TLS contexts, limits
 * and connections
 *
 * What it is made of: a struct net, a conn_set on each reactor, and a listener for each one
 * configured. Thread: any that may block, none of the reactors.
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "broker/request/api.h"

struct gate;

struct gate_opts {
    const struct broker_conf *conf; /* for the call only */
    struct broker *broker;
    const struct api_table *apis;
    struct reactor_pool *reactors;
    struct workq *workq; /* cold reads */
};

/* Binds every listener; nobody is let in yet. < 0 with the reason in why. */
int gate_open(const struct gate_opts *opts, struct gate **ret, struct strbuf *why) MUST_CHECK;
/* Of a struct gate: whether TLS of all listeners can be made of a configuration, and is what those
 * that are open can go on with (tls_server_check_renewal): -EINVAL with the reason. Thread: any. */
int gate_check_tls(void *gate, const struct broker_conf *next, struct strbuf *why) MUST_CHECK;
/* Listeners that are not there any more are closed with their connections, new ones are opened.
 * Limits of connections, keys and certificates that have changed apply to the next connections;
 * so does num.network.threads. < 0 with the reason in why where a listener cannot be opened; all
 * else is done nevertheless. Thread: one at a time, none of the reactors; may look up host
 * names. */
int gate_reconfigure(struct gate *g, const struct broker_conf *now, struct strbuf *why) MUST_CHECK;
/* The reactors run. */
void gate_start(struct gate *g);
/* No new connections. Thread: any but a reactor's; waits. */
void gate_shut(struct gate *g);
/* Closes every connection; requests that run still end later, without an answer. Thread: as above;
 * waits. */
void gate_close_all(struct gate *g);
/* After the reactors have stopped. NULL-safe, returns NULL. */
struct gate *gate_free(struct gate *g);
/* The port that a listener is bound to; -1 where there is none of that name. */
int gate_port(const struct gate *g, const char *name);
