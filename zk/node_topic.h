/*
 * node_topic.h - /brokers/topics/T: which brokers hold each partition
 *
 * replicas holds all of them, those being added and removed included: target = replicas minus
 * removing, original = replicas minus adding. Version 3 is written, with both maps always and
 * topic_id only where there is one.
 */
#pragma once

#include "common/base/uuid.h"
#include "zk/node.h"

struct node_partition {
    int32_t id;
    struct node_ids replicas;
    struct node_ids adding;
    struct node_ids removing;
};

struct node_topic {
    struct uuid id;                    /* zero: none yet */
    struct node_partition *partitions; /* sorted by id */
    int32_t count;
};

int node_topic_decode(struct slice data, struct arena *a, struct node_why *why,
                      struct node_topic *ret) MUST_CHECK;
struct slice node_topic_encode(struct arena *a, const struct node_topic *t);
/* NULL if there is none. */
const struct node_partition *node_topic_partition(const struct node_topic *t, int32_t id);
