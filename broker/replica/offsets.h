/*
 * offsets.h - which offset: by timestamp (ListOffsets) and by leader epoch (OffsetForLeaderEpoch)
 *
 * protocol.md 11.3, 11.4. Look-ups by timestamp may read the disk: call them on a worker. Both
 * return 0, or those of replica_manager_get(), NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH,
 * UNKNOWN_LEADER_EPOCH.
 */
#pragma once

#include "broker/storage/log.h"

struct replica_manager;

enum {
    OFFSETS_LATEST = -1,
    OFFSETS_EARLIEST = -2,
    OFFSETS_MAX_TIMESTAMP = -3,
    OFFSETS_EARLIEST_LOCAL = -4,
    OFFSETS_LATEST_TIERED = -5,
};

struct offsets_query {
    struct str topic;
    int32_t partition;
    int32_t replica_id; /* -1 consumer, -2 debugging consumer */
    bool is_read_committed;
    int32_t current_leader_epoch; /* -1: none */
    int64_t timestamp;
    int16_t version;
};

/* True where the timestamp has a meaning in that version. */
bool offsets_knows(int64_t timestamp, int16_t version);
/* True where the answer may need the disk. */
bool offsets_is_slow(int64_t timestamp);
/* Also OFFSET_NOT_AVAILABLE, LEADER_NOT_AVAILABLE; offset -1 with 0: there is none. */
int offsets_find(struct replica_manager *m, const struct offsets_query *q,
                 struct timestamp_offset *ret) MUST_CHECK;
struct offset_list {
    int64_t *v; /* in the arena */
    int32_t count;
};
/* Version 0: up to max offsets where segments begin, newest first. */
int offsets_find_old(struct replica_manager *m, const struct offsets_query *q, int32_t max,
                     struct arena *a, struct offset_list *ret) MUST_CHECK;
/* -1 and -1 where undefined. */
int offsets_end_of_epoch(struct replica_manager *m, const struct offsets_query *q, int32_t epoch,
                         int32_t *ret_epoch, int64_t *ret_offset) MUST_CHECK;
