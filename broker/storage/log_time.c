/*
 * log_time.c - offsets by time, and the aborted transactions of a range
 *
 * Which segment to look into is decided under LOCK_LOG, since its largest timestamp may have to be
 * read first; its batches are read without.
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/scan.h"
#include "broker/storage/time_index.h"
#include "broker/storage/txn_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/record_iter.h"

#include <stdatomic.h>

/* What is looked for: the first record at or after ts, or (exact) the first with that timestamp. */
struct wanted {
    int64_t ts;
    int64_t from_offset;
    bool is_exact;
};

static bool fits(const struct wanted *w, int64_t ts)
{
    return w->is_exact ? ts == w->ts : ts >= w->ts;
}

/* Whether one of the batch's records is it. */
static int search_batch(const struct batch *b, const struct wanted *w, struct timestamp_offset *ret)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        r = 0;
        if (rec.offset < w->from_offset || !fits(w, rec.timestamp))
            continue;
        *ret = (struct timestamp_offset){rec.timestamp, rec.offset, batch_leader_epoch(b)};
        return 0;
    }
    return r;
}

static int search_segment(const struct place *at, const struct wanted *w,
                          struct timestamp_offset *ret)
{
    CLEANUP(batch_scan_deinit) struct batch_scan scan = {0};
    struct batch b;
    int r;

    batch_scan_init(&scan, at->file, at->pos, at->size);
    while (ret->offset < 0 && (r = batch_scan_next(&scan, &b)) == 1) {
        if (!fits(w, batch_max_timestamp(&b)) || batch_last_offset(&b) < w->from_offset)
            continue;
        r = search_batch(&b, w, ret);
        if (r != 0)
            return CORRUPT("%s: the batch at byte %u cannot be read: %s", file_path(at->file),
                           (uint32_t)(scan.pos - b.size), err_name(r));
    }
    return ret->offset >= 0 || r == 0 ? 0 : r;
}

static int know_max_ts(struct log *log, struct segment *seg)
{
    int r = seg->max_ts == SEGMENT_TS_UNKNOWN ? log_need_body(log, seg) : 0;

    return r < 0 ? r : segment_know_max_ts(seg, &log->shared);
}

/* Where in the segment the time index says to begin. */
static int offset_in_segment(struct log *log, struct segment *seg, int64_t ts, int64_t *ret)
{
    CLEANUP(index_view_deinit) struct index_view view = {0};
    struct index_hit hit = {.any = false};
    int r = log_need_body(log, seg);

    if (r < 0)
        return r;
    WITH_LOCK(&log->shared)
    {
        /* Entries below ts only: the batch that reached ts first may hold the record. */
        index_find_in_memory(&seg->body->times, time_index_key, ts - 1, &hit, &view);
    }
    if (view.file)
        r = index_view_find(&view, time_index_key, ts - 1, &hit);
    *ret = seg->base + (hit.any ? time_index_decode(hit.entry).relative : 0);
    return r;
}

/* The first segment from `first` on that has records at or after ts; *ret_at its place to begin,
 * without a file where there is none. */
static int find_segment(struct log *log, int64_t first, int64_t ts, struct place *ret_at)
{
    LOCK_SCOPE(&log->lock);

    for (uint32_t i = log_segment_at(log, first); i < log->segment_count; i++) {
        struct segment *seg = log->segments[i];
        int64_t offset = 0;
        int r = know_max_ts(log, seg);

        if (r < 0)
            return r;
        if (seg->max_ts < ts || seg->size == 0)
            continue;
        r = offset_in_segment(log, seg, ts, &offset);
        if (r == 0)
            r = log_find(log, MAX(offset, first), ret_at);
        return r;
    }
    return 0;
}

int log_offset_for_time(struct log *log, int64_t ts, struct timestamp_offset *ret)
{
    struct timestamp_offset found = {-1, -1, -1};
    int64_t first = log_start_offset(log);

    while (found.offset < 0) {
        CLEANUP(place_deinit) struct place at = {0};
        int r = find_segment(log, first, ts, &at);

        if (r == 0 && !at.file)
            break;
        if (r == 0)
            r = search_segment(&at, &(struct wanted){ts, log_start_offset(log), false}, &found);
        if (r != 0)
            return log_reader_result(log, r);
        if (at.next_base == INT64_MAX)
            break;
        first = at.next_base;
    }
    *ret = found;
    return 0;
}

static int find_max(struct log *log, int64_t *ret_ts, struct place *ret_at)
{
    LOCK_SCOPE(&log->lock);
    const struct segment *best = NULL;

    for (uint32_t i = 0; i < log->segment_count; i++) {
        int r = know_max_ts(log, log->segments[i]);

        if (r < 0)
            return r;
        if (log->segments[i]->max_ts >= 0 && (!best || log->segments[i]->max_ts > best->max_ts))
            best = log->segments[i];
    }
    if (!best || best->size == 0)
        return 0;
    *ret_ts = best->max_ts;
    return log_find(log, MAX(best->max_ts_offset, best->base), ret_at);
}

int log_offset_of_max_time(struct log *log, struct timestamp_offset *ret)
{
    CLEANUP(place_deinit) struct place at = {0};
    struct timestamp_offset found = {-1, -1, -1};
    int64_t ts = -1;
    int r = find_max(log, &ts, &at);

    if (r == 0 && at.file)
        r = search_segment(&at, &(struct wanted){ts, 0, true}, &found);
    if (r == 0)
        *ret = found;
    return log_reader_result(log, r);
}

/* ---- ListOffsets v0 ---- */

struct base_time {
    int64_t offset;
    int64_t modified_ms;
};

/* Bases and when their files were last written, the log end as the last one. */
static int collect_bases(struct log *log, struct arena *a, struct base_time **ret, int32_t *ret_n)
{
    LOCK_SCOPE(&log->lock);
    struct base_time *v = arena_new_array(a, struct base_time, (size_t)log->segment_count + 1);
    int32_t n = 0;

    for (uint32_t i = 0; i < log->segment_count; i++) {
        CLEANUP(free_p)
        char *path = segment_file_path(log->path, log->segments[i]->base, SEGMENT_LOG);
        struct fs_info info;
        int r = fs_stat(path, &info);

        if (r < 0)
            return r;
        v[n++] = (struct base_time){MAX(log->segments[i]->base, log_start_offset(log)),
                                    info.modified_ms};
    }
    if (log_active(log)->size > 0)
        v[n++] = (struct base_time){log_end_offset(log), clock_wall_ms(log->clock)};
    *ret = v;
    *ret_n = n;
    return 0;
}

/* tidy: as declared */
int log_offsets_before(struct log *log, int64_t ts, int32_t max, struct arena *a, int64_t **ret,
                       int32_t *ret_count)
{
    enum { LATEST = -1, EARLIEST = -2 };
    struct base_time *v;
    int32_t n, last;
    int r = collect_bases(log, a, &v, &n);

    if (r < 0)
        return log_reader_result(log, r);
    last = ts == EARLIEST ? 0 : n - 1;
    while (ts >= 0 && last >= 0 && v[last].modified_ms > ts)
        last--;
    *ret_count = MAX(MIN(max, last + 1), 0);
    *ret = arena_new_array(a, int64_t, (size_t)*ret_count);
    for (int32_t i = 0; i < *ret_count; i++)
        (*ret)[i] = v[last - i].offset;
    return 0;
}

/* ---- aborted transactions (disk.md §11.5) ---- */

/* The segment from base *at on that has an index of them: its path, malloc'ed; NULL: none has. */
static char *next_txn_index(struct log *log, int64_t *at)
{
    LOCK_SCOPE(&log->shared);

    for (uint32_t i = log_segment_at(log, *at); i < log->segment_count; i++) {
        const struct segment *seg = log->segments[i];

        if (!seg->has_txns)
            continue;
        *at = seg->base;
        return segment_file_path(log->path, seg->base, SEGMENT_TXNINDEX);
    }
    return NULL;
}

/* Of the segment after the one with that base, INT64_MAX where it is the last. */
static int64_t base_after(struct log *log, int64_t base)
{
    LOCK_SCOPE(&log->shared);
    uint32_t i = log_segment_at(log, base) + 1;

    return i < log->segment_count ? log->segments[i]->base : INT64_MAX;
}

struct aborted_list {
    struct aborted_txn *v;
    int32_t count;
    int32_t cap;
};

static void add_aborted(struct aborted_list *l, const struct txn_entry *e, struct arena *a)
{
    if (l->count == l->cap) {
        struct aborted_txn *old = l->v;

        l->cap = MAX(2 * l->cap, 8);
        l->v = arena_new_array(a, struct aborted_txn, (size_t)l->cap);
        if (l->count)
            memcpy(l->v, old, (size_t)l->count * sizeof *old);
    }
    l->v[l->count++] = (struct aborted_txn){e->producer_id, e->first_offset};
}

/* tidy: as declared */
int log_aborted_txns(struct log *log, int64_t from, int64_t upper, struct arena *a,
                     struct aborted_txn **ret, int32_t *ret_count)
{
    struct aborted_list found = {NULL, 0, 0};
    bool is_done = false;
    int64_t at = from;

    while (!is_done) {
        CLEANUP(txn_entries_deinit) struct txn_entries entries = {0};
        CLEANUP(free_p) char *path = next_txn_index(log, &at);

        if (!path)
            break;
        int r = txn_index_read(path, at, &entries);
        if (r < 0)
            return log_reader_result(log, r);
        for (size_t i = 0; i < entries.count && !is_done; i++) {
            const struct txn_entry *e = &entries.v[i];

            if (e->last_offset >= from && e->first_offset < upper)
                add_aborted(&found, e, a);
            is_done = e->last_stable_offset >= upper;
        }
        at = base_after(log, at);
        is_done = is_done || at == INT64_MAX;
    }
    *ret = found.v;
    *ret_count = found.count;
    return 0;
}
