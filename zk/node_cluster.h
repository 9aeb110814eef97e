/*
 * node_cluster.h - /cluster/id, /latest_producer_id_block, /feature, /migration
 */
#pragma once

#include "zk/node.h"

int node_cluster_id_decode(struct slice data, struct arena *a, struct node_why *why,
                           struct str *ret_id) MUST_CHECK;
struct slice node_cluster_id_encode(struct arena *a, struct str id);

enum { NODE_PRODUCER_BLOCK_SIZE = 1000 };

struct node_producer_block {
    int32_t broker;
    int64_t start;
    int64_t end; /* inclusive */
};

/* -ENODATA: null, which means that no block was given out yet. */
int node_producer_block_decode(struct slice data, struct node_why *why,
                               struct node_producer_block *ret) MUST_CHECK;
struct slice node_producer_block_encode(struct arena *a, const struct node_producer_block *b);

struct node_finalized {
    struct str name;
    int16_t min_version; /* version 1 only */
    int16_t max_version;
};

struct node_features {
    int32_t version; /* of the format: 1 or 2 */
    bool enabled;
    struct node_finalized *list;
    int32_t count;
};

int node_features_decode(struct slice data, struct arena *a, struct node_why *why,
                         struct node_features *ret) MUST_CHECK;
struct slice node_features_encode(struct arena *a, const struct node_features *f);

/* Written by KRaft controllers that take the cluster over; read only. */
struct node_migration {
    int32_t controller_id;
    int32_t controller_epoch;
};

/* -ENODATA: null, as zookeeper-security-migration makes it: nobody has begun. */
int node_migration_decode(struct slice data, struct node_why *why, struct node_migration *ret)
    MUST_CHECK;
