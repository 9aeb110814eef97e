/*
 * zk_states.h - leader and ISR of many partitions at once
 *
 * Every function takes an array, pipelines it in bounded batches, and gives each entry a result of
 * its own. What it returns itself is ZK_OK, or the one thing that ended all: ZK_CONTROLLER_MOVED
 * (resign), ZK_SESSION_EXPIRED, ZK_CLOSING, ...
 */
#pragma once

#include "zk/node_state.h"
#include "zk/zk_store.h"

struct zk_partition_state {
    struct str topic;  /* in */
    int32_t partition; /* in */
    enum zk_result result;
    int32_t version; /* partition epoch: read; or expected by an update and then the new one */
    int64_t mzxid;   /* read: of the last write */
    struct node_state state;
};

/* ZK_OK, ZK_NO_NODE or ZK_MALFORMED (said) for each. Arms a partition's data handler, where there
 * is one. */
enum zk_result zk_states_read(struct zk_store *s, struct arena *a, struct zk_partition_state *list,
                              size_t count);

/*
 * Creates the state nodes of new partitions with their parents, in three rounds. ZK_OK: version is
 * 0. A node that is there already is read: if it was written in this state's controller epoch it is
 * our own create whose answer was lost (ZK_OK, and state and version are what was read); otherwise
 * ZK_NODE_EXISTS, again with what was read.
 */
enum zk_result zk_states_create(struct zk_store *s, struct arena *a,
                                struct zk_partition_state *list, size_t count,
                                int32_t epoch_version);

/* Writes state where the node still has version, many in one request. ZK_OK: version is the new
 * one, also where the node has just this as the next version: our own write, done but not heard of.
 * ZK_BAD_VERSION: read it again and decide anew. ZK_NO_NODE: the topic is gone. */
enum zk_result zk_states_update(struct zk_store *s, struct zk_partition_state *list, size_t count,
                                int32_t epoch_version);
