/*
 * log_swap.h - what a cleaning needs of its log: a view of the closed segments, and putting a new
 * one in the place of some of them (disk.md §10.4)
 *
 * The segments are read and the new one is written without any lock of the log. That they still are
 * what the log holds is checked under LOCK_LOG before the swap, which is a handful of renames: a
 * truncation, a deletion or retention that took one of them away ends the cleaning (-ECANCELED).
 *
 * Crashes: as long as a .cleaned file is there, the new segment is forgotten at the next start;
 * from then on, while its .log.swap is there, what it replaces is removed and it is put in place;
 * after that only suffixes are left to drop (recover.c).
 */
#pragma once

#include "broker/storage/log_internal.h"

struct view_segment {
    int64_t base;
    uint32_t size;
};

/* The closed segments at one moment. */
struct log_view {
    struct view_segment *v;
    uint32_t count;
    int64_t active_base;
    int64_t stable; /* last stable offset */
    int64_t start;
    int64_t end;
    uint32_t drops;
    char *path;
    struct topic_conf *conf; /* a reference */
};

void log_view_init(struct log_view *view, struct log *log);
void log_view_deinit(struct log_view *view);
/* Index of the segment that holds offset, of those in the view; the first one also for what lies
 * before it. */
uint32_t log_view_at(const struct log_view *view, int64_t offset);
/* 0 as long as the view's segments are the log's; -ECANCELED where some went, where the topic is
 * not compacted any more, or the log is closed or broken. */
int log_view_check(const struct log_view *view, struct log *log) MUST_CHECK;

struct log_swap {
    const struct log_view *view;
    int64_t first; /* bases of the segments that go */
    int64_t last;
};

/* Takes *seg, whose files end in .cleaned and are fsynced, over and puts it in. -ECANCELED as
 * above: then it is still the caller's. */
int log_swap(struct log *log, const struct log_swap *swap, struct segment **seg) MUST_CHECK;
/* The log is clean below offset; nothing happens where the view is outdated. */
void log_cleaned_to(struct log *log, const struct log_view *view, int64_t offset);
