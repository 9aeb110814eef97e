/*
 * features.h - /feature: which features are finalized, as a new controller sets it up (KIP-584)
 *
 * A ZooKeeper-mode cluster has none. Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* At failover. A node that cannot be read is left as it is, and said: the term begins all the
 * same. */
enum zk_result features_set_up(struct controller *c);
