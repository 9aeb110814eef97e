/*
 * cleaner_pick.h - what of a log can be cleaned, and whether that is worth it (disk.md §10.1)
 *
 * Thread: any; takes the log's locks itself.
 */
#pragma once

#include "broker/storage/log_swap.h"

struct cleanable {
    int64_t first_dirty;
    int64_t upper;       /* the base of the first segment that cannot be cleaned */
    bool is_reset;       /* what was known of its clean part does not fit the log */
    int64_t clean_bytes; /* below first_dirty */
    int64_t dirty_bytes; /* that can be cleaned */
    double ratio;        /* of the dirty ones to all */
    bool is_overdue;     /* max.compaction.lag.ms */
    bool is_due;
};

/* The view is of the same log. Errors of the disk: -errno. */
int cleaner_look(struct log *log, const struct log_view *view, int64_t now_ms,
                 struct cleanable *ret) MUST_CHECK;
