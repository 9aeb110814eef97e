/*
 * alter_queue.h - ISR changes on their way to the controller (AlterPartition, controller.md B7.3;
 * KIP-497)
 *
 * Everything that is pending goes into one request, one request is in flight, and none is given up:
 * a connection that breaks, a controller that moved or a broker epoch that was renewed only repeat
 * it. A partition has at most one change pending.
 *
 * Locks: LOCK_ALTER_QUEUE for what is pending; the connection and the request in flight belong to
 * the reactor. Answers are given to partition_isr_answered() on the reactor, without a lock.
 */
#pragma once

#include "broker/replica/partition_isr.h"
#include "common/conf/ibp.h"
#include "common/io/reactor.h"

struct tls_client;

struct alter_queue_opts {
    struct reactor *reactor;
    struct metadata *metadata;
    int32_t broker_id;
    _Atomic int64_t *broker_epoch;
    enum ibp ibp;
    const char *listener; /* of the controller, where it takes such requests; outlives the queue */
    struct tls_client *tls;
    int64_t request_timeout_ms;
};

struct alter_queue;

struct alter_queue *alter_queue_new(const struct alter_queue_opts *opts);
/* What is pending stays unsent. The connection is closed on the reactor, before it ends. Thread:
 * any but the reactor's. */
void alter_queue_stop(struct alter_queue *q);
/* After the reactor has stopped. NULL-safe, returns NULL. */
struct alter_queue *alter_queue_free(struct alter_queue *q);

/* False where the partition has a change pending already. Called with the partition's lock held. */
bool alter_queue_propose(struct alter_queue *q, const struct isr_proposal *p);
