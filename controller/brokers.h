/*
 * brokers.h - brokers that come, go, come back, and change where they listen
 *
 * A registration that cannot be decoded, or that lacks a listener which others need, concerns that
 * broker alone: it counts as not registered until it is mended, and the log says so.
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* At failover: all registrations into the context. */
enum zk_result brokers_load(struct controller *c);
void brokers_open_channels(struct controller *c);
void brokers_unwatch_all(struct controller *c);

/* Children of /brokers/ids changed. */
enum zk_result brokers_changed(struct controller *c);
/* Data of /brokers/ids/ID changed. */
enum zk_result brokers_modified(struct controller *c, int32_t id);

/* Replicas whose broker or log directory has gone: elections, then out of the ISRs. */
enum zk_result brokers_replicas_offline(struct controller *c, const struct replica_list *list);
/* All replicas on these brokers, in the order of topics. */
void brokers_replicas(const struct controller *c, const struct node_ids *ids,
                      struct replica_list *ret);
