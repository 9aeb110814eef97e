/*
 * delayed_delete.h - DeleteRecords: raises log starts, then waits until every live replica has
 * followed (controller.md B9; KIP-107)
 *
 * done() comes once, inside delete_records_start() or later on the same reactor; all memory is the
 * request's arena. Thread: the reactor's.
 */
#pragma once

#include "broker/replica/delayed.h"
#include "broker/replica/partition.h"

struct replica_manager;
struct delete_records;

struct delete_records_part {
    struct str topic;
    int32_t partition;
    int64_t offset; /* -1: the high watermark */
    /* In: not 0 leaves it out. Out: 0, those of replica_manager_get(), NOT_LEADER_OR_FOLLOWER,
     * POLICY_VIOLATION, OFFSET_OUT_OF_RANGE, REQUEST_TIMED_OUT. */
    int error;
    int64_t low_watermark;
    /* Its own: */
    struct delete_records *owner;
    struct partition *part;
    struct partition_watch watch;
    bool is_waiting;
};

struct delete_records {
    struct delete_records_part *parts;
    int32_t count;
    int32_t timeout_ms;
    struct reactor *reactor;
    void (*done)(struct delete_records *d);
    void *ctx;
    struct delayed delayed; /* its own */
};

void delete_records_start(struct replica_manager *m, struct delete_records *d);
