/*
 * group_load.h - the groups of a partition of __consumer_offsets, read from its log by whoever has
 * become its leader (disk.md 12.7)
 *
 * Everything up to the log's end is read, whatever the high watermark is: this leader has it, so it
 * counts. Blocks on the disk: on a worker.
 */
#pragma once

#include "broker/group/group_manager.h"

struct log;

struct group_load {
    struct group
        *groups; /* uthash (hh), by id; one reference each; complete, and nobody knows them */
    int32_t count;
    int64_t offsets;
    int64_t records;
};

/* 0, or -errno of a read; *ret is empty then. */
int group_load_partition(struct group_manager *m, int32_t partition, struct log *log,
                         struct group_load *ret) MUST_CHECK;
