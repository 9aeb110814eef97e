/*
 * delayed_produce.h - Produce: appends to many partitions, then waits for the high watermark where
 * acks is -1
 *
 * The handler fills parts, all memory from the request's arena, and gets done() once: inside
 * produce_start(), or later on the same reactor. Thread: the reactor's.
 */
#pragma once

#include "broker/replica/delayed.h"
#include "broker/replica/partition.h"

struct replica_manager;
struct produce;

struct produce_part {
    struct str topic;
    int32_t partition;
    struct slice records; /* offsets are written into it */
    /* In: not 0 leaves the partition out. Out: 0, those of replica_manager_get(),
     * partition_append() and hw_wait, REQUEST_TIMED_OUT. */
    int error;
    struct partition_append append;
    /* Its own: */
    struct produce *produce;
    struct partition *part;
    struct hw_wait wait;
};

struct produce {
    struct produce_part *parts;
    int32_t count;
    int16_t acks;
    int32_t timeout_ms;
    enum append_origin origin;
    struct reactor *reactor;
    struct arena *arena;
    void (*done)(struct produce *p);
    void *ctx;
    /* Its own: */
    struct delayed delayed;
    _Atomic int32_t pending;
};

void produce_start(struct replica_manager *m, struct produce *p);
