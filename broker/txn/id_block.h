/*
 * id_block.h - producer ids for idempotent producers, drawn from blocks that the controller hands
 * out
 *
 * From IBP 3.0 on the controller is asked (AllocateProducerIds), below it ZooKeeper is. The next
 * block is asked for when nine tenths of the present one are used; while none is there, clients are
 * told to come back. Guarded by LOCK_PRODUCERS. Thread: any.
 */
#pragma once

#include "broker/meta/controller_link.h"
#include "common/conf/ibp.h"
#include "common/io/workq.h"

struct id_block;
struct zk_store;

struct id_block_opts {
    int32_t broker_id;
    _Atomic int64_t *broker_epoch;
    enum ibp ibp;
    struct controller_link *link;
    struct zk_store *zk;
    struct workq *workq; /* for ZooKeeper */
};

struct id_block *id_block_new(const struct id_block_opts *opts);
/* After the link and the work queue have stopped. NULL-safe, returns NULL. */
struct id_block *id_block_free(struct id_block *ib);
/* A fresh id. COORDINATOR_LOAD_IN_PROGRESS while the next block is on its way. */
int id_block_take(struct id_block *ib, int64_t *ret_id) MUST_CHECK;
