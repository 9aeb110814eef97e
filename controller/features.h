/*
 * features.h - /feature: which features are finalized, as a new controller sets it up, and
 * UpdateFeatures (KIP-584)
 *
 * A ZooKeeper-mode cluster has none, and its brokers support none. Thread: the controller's.
 * Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* At failover. A node that cannot be read is left as it is, and said: the term begins all the
 * same. */
enum zk_result features_set_up(struct controller *c);
/* Each feature is answered by itself: as none is supported, all that can be done is to take one
 * away. */
enum zk_result features_update(struct controller *c, struct controller_call *call);
