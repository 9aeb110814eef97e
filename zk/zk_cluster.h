/*
 * zk_cluster.h - what the whole cluster has one of: its id, the producer id blocks, the features,
 * the standing paths
 */
#pragma once

#include "zk/node_cluster.h"
#include "zk/zk_store.h"

/* The paths that a broker makes sure of at its start. */
enum zk_result zk_cluster_prepare(struct zk_store *s);

/* Reads /cluster/id, or makes one. */
enum zk_result zk_cluster_id_get(struct zk_store *s, struct arena *a, struct str *ret_id);

/* The next block of 1000 producer ids, unique by a conditional write. ZK_REFUSED: they are used up.
 * */
enum zk_result zk_producer_block_next(struct zk_store *s, int32_t broker_id,
                                      struct node_producer_block *ret);

/* /feature; its znode version is the features epoch. Reading arms the data handler, also on an
 * absent node. */
enum zk_result zk_features_read(struct zk_store *s, struct arena *a, int32_t *ret_epoch,
                                struct node_features *ret);
enum zk_result zk_features_create(struct zk_store *s, const struct node_features *f);
enum zk_result zk_features_set(struct zk_store *s, const struct node_features *f,
                               int32_t *ret_epoch);
