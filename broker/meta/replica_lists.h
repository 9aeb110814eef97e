/*
 * replica_lists.h - the replicas that somebody wants for new partitions of a topic: whether they
 * may be, as Kafka's CreatePartitions checks it, and in its words
 */
#pragma once

#include "common/base/arena.h"

struct replica_list {
    const int32_t *ids;
    int32_t count;
};

struct replica_lists {
    const struct replica_list *lists; /* one for each new partition */
    int32_t count;
    int32_t first_partition; /* of the first list */
    int32_t wanted;          /* how many partitions are new */
    int32_t factor;          /* replicas of the topic's partition 0 */
    const int32_t *brokers;  /* that are alive */
    int32_t broker_count;
};

/* Why not, for INVALID_REPLICA_ASSIGNMENT, in the arena; null: nothing is wrong. */
struct str replica_lists_check(const struct replica_lists *r, struct arena *a);
