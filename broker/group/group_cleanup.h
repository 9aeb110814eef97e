/*
 * group_cleanup.h - what ends: offsets by age, by a client's wish, with their topic; groups that
 * have nothing left (disk.md 12.8, protocol.md 11.14)
 *
 * What is dropped from memory is followed by tombstones in __consumer_offsets, which nobody waits
 * for: were they lost, whoever loads the group would drop it again.
 */
#pragma once

#include "broker/group/group_manager.h"

struct group_cleaner;

/* Looks at every group each offsets.retention.check.interval.ms, on a worker. */
struct group_cleaner *group_cleaner_new(struct group_manager *m);
void group_cleaner_start(struct group_cleaner *c);
/* No look begins after this. Before the reactors and the workers stop. */
void group_cleaner_stop(struct group_cleaner *c);
/* NULL-safe, returns NULL. */
struct group_cleaner *group_cleaner_free(struct group_cleaner *c);

/* One look at a group at wall-clock time now_ms. */
void group_cleanup(struct group_manager *m, struct group *g, int64_t now_ms);

/* DeleteGroups: 0, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and those of group_manager_check().
 * Thread: any that may append. */
int group_cleanup_delete(struct group_manager *m, struct str group_id) MUST_CHECK;

struct offset_deletion {
    struct str topic;
    int32_t partition;
    int error; /* in: not 0 leaves it out; out: 0, GROUP_SUBSCRIBED_TO_TOPIC */
};

/* OffsetDelete: 0, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and those of
 * group_manager_check(). */
int group_cleanup_delete_offsets(struct group_manager *m, struct str group_id,
                                 struct offset_deletion *v, int32_t count) MUST_CHECK;

/* A topic, or partitions of it, are gone: so is what groups have committed for them. Walks all
 * groups: on a worker. */
struct gone_partition {
    struct str topic;
    int32_t partition;
};
void group_cleanup_partitions(struct group_manager *m, const struct gone_partition *v,
                              size_t count);
