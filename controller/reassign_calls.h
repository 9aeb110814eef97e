/*
 * reassign_calls.h - who asks for reassignments: AlterPartitionReassignments, and the node
 * /admin/reassign_partitions of older tools
 *
 * The later request counts, whichever way it came. Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/reassign.h"

enum zk_result reassign_alter(struct controller *c, struct controller_call *call);
enum zk_result reassign_list(struct controller *c, struct controller_call *call);
/* At failover: what the old node asks for, then whatever else is under way. */
enum zk_result reassign_start(struct controller *c);
/* /admin/reassign_partitions has been made. */
enum zk_result reassign_legacy(struct controller *c);
/* Picked moves have ended: entries of the old node that asked for just that are taken out. */
enum zk_result reassign_legacy_done(struct controller *c, const struct moves *m);
