/*
 * alter_zk.h - ISR changes below inter.broker.protocol.version 2.7-IV2: the leader writes the state
 * znode itself and announces it to the controller (controller.md B7.4)
 *
 * Writes run on a worker, all that is pending at once; an announcement lists the partitions changed
 * since the last one. Locks: LOCK_ALTER_QUEUE. Thread: any, unless noted.
 */
#pragma once

#include "broker/replica/partition_isr.h"
#include "common/io/workq.h"

struct zk_store;
struct alter_zk;

struct alter_zk_opts {
    struct reactor *reactor; /* the announcement timer lives there */
    struct workq *workq;
    struct zk_store *zk;
    int32_t broker_id;
};

struct alter_zk *alter_zk_new(const struct alter_zk_opts *opts);
/* Starts the timer that announces. */
void alter_zk_start(struct alter_zk *z);
void alter_zk_stop(struct alter_zk *z);
/* After the reactor and the workers have stopped. NULL-safe, returns NULL. */
struct alter_zk *alter_zk_free(struct alter_zk *z);

/* As alter_queue_propose(). */
bool alter_zk_propose(struct alter_zk *z, const struct isr_proposal *p);
