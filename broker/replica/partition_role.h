/*
 * partition_role.h - a replica becomes leader, follower or offline (controller.md B2.1, B2.2,
 * B12.6)
 *
 * Called by orders.c under LOCK_REPLICA_STATE, so roles change one at a time. A state that is
 * refused leaves everything as it was. Errors: KAFKA_STORAGE_ERROR; other faults < 0.
 */
#pragma once

#include "broker/replica/partition.h"
#include "common/wire/messages.h"

typedef struct leader_and_isr_request_partition_state leader_and_isr_state;

struct role_change {
    const leader_and_isr_state *state;
    int32_t controller_epoch;
    struct uuid topic_id;    /* zero: none */
    struct topic_conf *conf; /* for a log that has to be made; NULL where it could not be read */
};

/* The leader epoch, -1 for a fresh replica; *ret_role and *ret_topic_id as they are now. */
int32_t partition_epoch_now(struct partition *part, enum partition_role *ret_role,
                            struct uuid *ret_topic_id);

/* *ret_is_new: this broker was not the leader before. */
int partition_make_leader(struct partition *part, const struct role_change *c, bool *ret_is_new)
    MUST_CHECK;
/* *ret_is_new: the leader epoch is new, so it is to be fetched from the new leader. */
int partition_make_follower(struct partition *part, const struct role_change *c, bool *ret_is_new)
    MUST_CHECK;
/* Makes or finds the log, no more: the leader is not known to be alive. */
int partition_make_log(struct partition *part, const struct role_change *c) MUST_CHECK;
int partition_set_topic_id(struct partition *part, struct uuid topic_id) MUST_CHECK;
/* It is not fetched any more: who waits is told to look again. */
void partition_stop(struct partition *part);
/* It is not here any more: who waits is told, appends get error. */
void partition_delete(struct partition *part, int error);
void partition_make_offline(struct partition *part);
