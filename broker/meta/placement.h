/*
 * placement.h - which brokers get the replicas of new partitions
 *
 * Kafka's algorithm (controller.md A9.2): leaders round robin, followers shifted, racks alternated
 * where brokers have them. Pure; the caller gives the random start.
 */
#pragma once

#include "common/base/arena.h"

struct placement_broker {
    int32_t id;
    struct str rack; /* null: none */
};

struct placement {
    const struct placement_broker *brokers; /* sorted by id */
    int32_t broker_count;                   /* > 0 */
    int32_t partitions;
    int32_t replication_factor; /* 1 .. broker_count */
    int32_t first_partition;    /* partitions before it exist already */
    uint32_t start;             /* of the leaders; below broker_count */
    uint32_t shift;             /* of the followers */
};

/* *ret holds partitions * replication_factor ids. -EINVAL where some brokers have a rack and some
 * have none, or for more than 1024 replicas. */
int placement_assign(const struct placement *p, struct arena *a, int32_t **ret) MUST_CHECK;
