/*
 * partition_isr.h - the leader's side of the in-sync set: followers' fetches, shrinking, and what
 * the controller answered (controller.md B7)
 *
 * Thread: any; the partition's lock is taken inside, but for those that say otherwise.
 */
#pragma once

#include "broker/replica/partition.h"

/* A replica has fetched: its record, then expansion and the high watermark. The lock is held. */
void partition_replica_fetched(struct partition *part, struct remote_replica *r,
                               const struct remote_fetch *f) REQUIRES(part->lock);
/* An idle follower's last fetch reached the end at that time; called when records come after it.
 * The lock is held. */
void partition_replica_was_idle(struct partition *part, int32_t replica, int64_t fetch_ms)
    REQUIRES(part->lock);

/* A broker is not alive any more by the metadata: one outside the in-sync set that was caught up
 * holds the watermark no longer, and nobody may ever fetch again to find that out. */
void partition_broker_gone(struct partition *part);
/* Proposes to take out members that are not caught up. */
void partition_maybe_shrink(struct partition *part);
/* The smallest log start among the replicas whose broker is alive. */
int64_t partition_low_watermark(struct partition *part);

/* What came of a proposal that was made in leader_epoch. */
struct isr_answer {
    int error; /* 0: the state below holds */
    int32_t proposed_leader_epoch;
    int32_t proposed_partition_epoch;
    int32_t leader_epoch;
    int32_t partition_epoch;
    const int32_t *isr;
    int32_t isr_count;
};

/* Proposes the same again where the answer asks for it. */
void partition_isr_answered(struct partition *part, const struct isr_answer *answer);
