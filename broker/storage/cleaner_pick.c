#include "broker/storage/cleaner_pick.h"

#include "broker/storage/scan.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- the dirty part ---- */

static int64_t first_dirty(const struct log *log, const struct log_view *view, bool *ret_is_reset)
{
    int64_t known = atomic_load(&log->first_dirty);

    *ret_is_reset = known >= 0 && (known < view->start || known > view->end);
    if (*ret_is_reset && (known > view->end || !(view->conf->cleanup_policy & CLEANUP_DELETE)))
        say_warn(
            "what is known of the clean part of a log does not fit it: the log is cleaned from "
            "its start on partition=%s-%d clean_below=%lld log_start=%lld log_end=%lld",
            log->topic, log->partition, (long long)known, (long long)view->start,
            (long long)view->end);
    return known < 0 || *ret_is_reset ? view->start : known;
}

/* The base of the first dirty segment that has records younger than min.compaction.lag.ms. */
static int first_young(struct log *log, const struct log_view *view, int64_t from, int64_t now_ms,
                       int64_t *ret)
{
    int64_t limit = now_ms - view->conf->min_compaction_lag_ms;

    *ret = INT64_MAX;
    for (uint32_t i = log_view_at(view, from); i < view->count; i++) {
        LOCK_SCOPE(&log->lock);
        struct segment *seg = log->segments[log_segment_at(log, view->v[i].base)];
        int64_t ts = 0;
        int r = log_view_check(view, log);

        if (r == 0)
            r = log_segment_youngest(log, seg, &ts);
        if (r < 0)
            return r;
        if (ts > limit) {
            *ret = view->v[i].base;
            return 0;
        }
    }
    return 0;
}

/* Down to the base of the segment that contains it. */
static int64_t round_down(const struct log_view *view, int64_t offset)
{
    if (offset >= view->active_base || view->count == 0)
        return view->active_base;
    return view->v[log_view_at(view, offset)].base;
}

/* ---- max.compaction.lag.ms ---- */

/* Timestamp of the segment's first batch, -1: none. */
static int first_timestamp(const struct log_view *view, const struct view_segment *seg,
                           int64_t *ret)
{
    CLEANUP(free_p) char *path = segment_file_path(view->path, seg->base, SEGMENT_LOG);
    CLEANUP(file_unref_p) struct file *f = NULL;
    struct head_scan scan;
    struct batch b;
    int r = file_open(path, FILE_READ, &f);

    *ret = -1;
    if (r < 0)
        return r;
    head_scan_init(&scan, f, 0, seg->size);
    r = head_scan_next(&scan, &b);
    if (r == 1)
        *ret = batch_max_timestamp(&b);
    return MIN(r, 0);
}

static int look_overdue(const struct log_view *view, int64_t from, int64_t now_ms, bool *ret)
{
    int64_t limit = now_ms - view->conf->max_compaction_lag_ms;

    *ret = false;
    for (uint32_t i = log_view_at(view, from); limit > 0 && i < view->count && !*ret; i++) {
        int64_t ts = -1;
        int r = first_timestamp(view, &view->v[i], &ts);

        if (r < 0)
            return r;
        *ret = ts > 0 && ts < limit;
    }
    return 0;
}

/* ---- all of it ---- */

static void count_bytes(const struct log_view *view, struct cleanable *c)
{
    uint32_t dirty = view->count ? log_view_at(view, c->first_dirty) : 0;

    for (uint32_t i = 0; i < view->count; i++) {
        if (view->v[i].base < c->first_dirty)
            c->clean_bytes += view->v[i].size;
        if (i >= dirty && view->v[i].base < c->upper)
            c->dirty_bytes += view->v[i].size;
    }
    if (c->first_dirty >= c->upper)
        c->dirty_bytes = 0;
    int64_t all = c->clean_bytes + c->dirty_bytes;
    c->ratio = all > 0 ? (double)c->dirty_bytes / (double)all : 0;
}

int cleaner_look(struct log *log, const struct log_view *view, int64_t now_ms,
                 struct cleanable *ret)
{
    struct cleanable c = {.upper = MIN(view->stable, view->active_base)};
    int64_t young = INT64_MAX;
    int r = 0;

    c.first_dirty = first_dirty(log, view, &c.is_reset);
    if (view->conf->min_compaction_lag_ms > 0)
        r = first_young(log, view, c.first_dirty, now_ms, &young);
    if (r < 0)
        return r;
    c.upper = round_down(view, MAX(c.first_dirty, MIN(c.upper, young)));
    count_bytes(view, &c);
    if (c.dirty_bytes > 0)
        r = look_overdue(view, c.first_dirty, now_ms, &c.is_overdue);
    if (r < 0)
        return r;
    c.is_due =
        (c.is_overdue && c.dirty_bytes > 0) || c.ratio > view->conf->min_cleanable_dirty_ratio;
    *ret = c;
    return 0;
}
