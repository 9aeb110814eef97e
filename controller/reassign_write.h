/*
 * reassign_write.h - what a reassignment writes to ZooKeeper
 *
 * All of them work on the moves that are picked, and take those for which it failed out of the
 * pick, with an error. Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/reassign.h"

struct zk_partition_state;

/* The topics' nodes get the assignment of each move. Everything else in a node stays as it is
 * there: partitions may have been added that have not been heard of yet. */
enum zk_result reassign_write_topics(struct controller *c, struct moves *m);
/* Leader epoch + 1, nothing else: brokers take a new RS only with a new epoch. */
enum zk_result reassign_write_epochs(struct controller *c, struct moves *m);
/* Reads states[i] of each picked move m->v[i]. */
enum zk_result reassign_read_states(struct controller *c, struct moves *m,
                                    struct zk_partition_state *states);
void move_fail(struct move *mv, int16_t error, const char *why);
