/*
 * cleaner_pass.h - one cleaning of one log: keys of its dirty part into the map, then all segments
 * up to where the map reaches rewritten, group by group, and swapped in (disk.md §10.2-10.4)
 *
 * Runs without the log's locks but for a look here and there. What can go wrong:
 *   -ECANCELED  the log changed under it, or whoever runs it wants it to end: again, later
 *   -EBADMSG    a batch is broken, wrong checksum included: this log is to be put aside
 *   -EOVERFLOW  what is left of a group of segments does not fit into one: the same
 *   others      of the disk
 * Thread: one cleaner at a time for a log.
 */
#pragma once

#include "broker/storage/cleaner_pick.h"

/* What the thread that runs it gives to it. */
struct cleaner_pace {
    void *ctx;
    /* So many bytes were read or written: waits as long as the throttle wants. -ECANCELED where it
     * is to end. */
    int (*pass)(void *ctx, uint64_t bytes);
};

struct cleaner_pass_opts {
    const struct clock *clock;
    int64_t map_bytes;
    double map_load_factor;
    size_t buffer_bytes; /* read and written at once */
    struct cleaner_pace pace;
};

struct cleaner_stats {
    int64_t first_dirty;
    int64_t next_dirty;
    int64_t map_records_read;
    uint64_t map_keys;
    uint64_t map_limit;
    int64_t bytes_read; /* for the map and for the copy */
    int64_t bytes_before;
    int64_t bytes_after;
    int64_t records_before;
    int64_t records_after;
    uint32_t segments_before;
    uint32_t segments_after;
    bool is_map_full;
};

int cleaner_pass(struct log *log, const struct log_view *view, const struct cleanable *what,
                 const struct cleaner_pass_opts *opts, struct cleaner_stats *ret) MUST_CHECK;
