/*
 * server.h - one broker, from its configuration to its end
 *
 * server_start() builds the parts in the order that ZooKeeper and other brokers expect
 * (zookeeper.md 5) and returns when clients are let in; server_stop() takes them down in the
 * reverse order that matters (controller.md A2.5). Thread: the main one.
 */
#pragma once

#include "broker/config/broker_conf.h"

struct server;

/* Borrows the configuration. < 0: it could not start, and why (what, where, what to do) is in
 * why. */
int server_start(const struct broker_conf *conf, struct server **ret, struct strbuf *why)
    MUST_CHECK;
/* Controlled shutdown (unless switched off), clean stop of the logs, end of the ZooKeeper session.
 * Frees it. */
void server_stop(struct server *s);
/* True once no log dir is left: the process is to end, without a controlled shutdown. A SIGTERM to
 * the process tells the main thread to look. */
bool server_has_failed(const struct server *s);
