/*
 * log_read.c - from an offset to a range of a file, without the lock that appends hold
 *
 * A fetch at the end of the log, which is what consumers and followers do, is answered from the
 * positions of the last batches. Otherwise the index of the segment says where to begin, and a
 * small read of headers finds the batch. What a truncation changes meanwhile is noticed by the
 * count of cuts, and looked up again.
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/offset_index.h"
#include "broker/storage/scan.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

void place_deinit(struct place *p)
{
    p->file = file_unref(p->file);
}

/* ---- finding a batch ---- */

struct lookup {
    struct place at;
    struct index_view index; /* where to go on, if file is set */
    bool is_exact;
    uint32_t cuts;
};

static void lookup_deinit(struct lookup *l)
{
    place_deinit(&l->at);
    index_view_deinit(&l->index);
}

/* Under shared. The batch that holds offset, if it is one of the last. */
static bool find_in_tail(const struct log *log, int64_t offset, uint32_t *ret_pos)
{
    const struct tail_cache *tail = log->tail;
    uint32_t held = tail ? MIN(tail->count, (uint32_t)TAIL_BATCHES) : 0;

    for (uint32_t n = 1; n <= held; n++) {
        uint32_t i = (tail->count - n) % TAIL_BATCHES;

        if (tail->v[i].first <= offset) {
            *ret_pos = tail->v[i].pos;
            return true;
        }
    }
    return false;
}

/* Under shared: all that can be said without touching a file. The segment has a body. */
static void look_up(struct log *log, uint32_t i, int64_t offset, struct lookup *l)
{
    struct segment *seg = log->segments[i];
    bool is_last = i + 1 == log->segment_count;
    struct index_hit hit = {.any = false};

    l->cuts = log->cuts;
    l->at = (struct place){.file = file_ref(seg->body->file),
                           .base = seg->base,
                           .next_base = is_last ? INT64_MAX : log->segments[i + 1]->base,
                           .size = seg->size,
                           .end = atomic_load(&log->end)};
    if (is_last && offset >= l->at.end) {
        l->at.pos = seg->size;
        l->is_exact = true;
    } else if (is_last && find_in_tail(log, offset, &l->at.pos)) {
        l->is_exact = true;
    } else if (index_find_in_memory(&seg->body->offsets, offset_index_key, offset - seg->base, &hit,
                                    &l->index) &&
               hit.any) {
        l->at.pos = offset_index_decode(hit.entry).pos;
    }
}

/* Looks offset up in the segment that holds `from`; opens its files where they are closed, which
 * needs the lock to be let go. */
static int begin_lookup(struct log *log, int64_t from, int64_t offset, struct lookup *l)
{
    for (;;) {
        CLEANUP(free_p) char *path = NULL;
        struct segment *seg;
        struct segment_body *body = NULL;
        uint32_t cuts = 0;
        int64_t base;

        WITH_LOCK(&log->shared)
        {
            uint32_t i = log_segment_at(log, from);

            seg = log->segments[i];
            base = seg->base;
            if (seg->body) {
                look_up(log, i, offset, l);
                return 0;
            }
            path = xstrdup(log->path);
            cuts = log->cuts;
        }
        int r = segment_body_open(path, base, false, &body);
        if (r < 0)
            return r;
        WITH_LOCK(&log->shared)
        {
            seg = log->segments[log_segment_at(log, base)];
            if (log->cuts == cuts && seg->base == base && !seg->body) {
                seg->body = body;
                body = NULL;
            }
        }
        segment_body_close(body);
    }
}

static int use_index(struct lookup *l, int64_t offset)
{
    struct index_hit hit = {.any = false};

    if (!l->index.file)
        return 0;
    int r = index_view_find(&l->index, offset_index_key, offset - l->at.base, &hit);
    if (r == 0 && hit.any)
        l->at.pos = offset_index_decode(hit.entry).pos;
    return r;
}

/* From l->at.pos on to the batch whose last offset is the first at or above offset; *ret_found
 * false: it lies in a later segment. -EBADMSG: the index led astray, or the bytes are no
 * batches. */
static int scan_for(struct lookup *l, int64_t offset, bool *ret_found)
{
    struct head_scan scan;
    bool is_first = l->at.pos > 0;
    struct batch b;
    int r;

    *ret_found = false;
    if (l->at.pos > l->at.size)
        return -EBADMSG;
    head_scan_init(&scan, l->at.file, l->at.pos, l->at.size);
    while ((r = head_scan_next(&scan, &b)) == 1) {
        if (is_first && (batch_base_offset(&b) > offset || batch_base_offset(&b) < l->at.base))
            return -EBADMSG;
        is_first = false;
        if (batch_last_offset(&b) >= offset) {
            l->at.pos = (uint32_t)(scan.pos - b.size);
            *ret_found = true;
            return 0;
        }
    }
    /* No index points at nothing. */
    if (is_first)
        return -EBADMSG;
    l->at.pos = l->at.size;
    return r;
}

/* A wrong index costs a read of the segment, not the data. */
static int search(struct log *log, struct lookup *l, int64_t offset, bool *ret_found)
{
    int r = use_index(l, offset);

    *ret_found = l->is_exact;
    if (l->is_exact)
        return 0;
    if (r == 0)
        r = scan_for(l, offset, ret_found);
    if (r == 0 || l->at.pos == 0)
        return r;
    say_limited(
        SAY_ERROR, 5,
        "an index led to a wrong place partition=%s-%d segment=%lld pos=%u offset=%lld: %s; "
        "the segment is searched from its begin (slow). Remove its .index file while the "
        "broker is stopped to have it made again",
        log->topic, log->partition, (long long)l->at.base, l->at.pos, (long long)offset,
        err_name(r));
    l->at.pos = 0;
    return scan_for(l, offset, ret_found);
}

static bool was_cut(struct log *log, uint32_t cuts)
{
    LOCK_SCOPE(&log->shared);
    return log->cuts != cuts;
}

/* One try; -EAGAIN where the log was cut meanwhile. */
static int find_once(struct log *log, int64_t offset, struct place *ret)
{
    int64_t from = offset;

    for (;;) {
        CLEANUP(lookup_deinit) struct lookup l = {.is_exact = false};
        bool found = false;
        int r = begin_lookup(log, from, offset, &l);

        if (r == 0)
            r = search(log, &l, offset, &found);
        if (!l.is_exact && was_cut(log, l.cuts))
            return -EAGAIN;
        if (r == 0 && (found || l.at.next_base == INT64_MAX))
            *ret = MOVE(l.at);
        if (r != 0 || ret->file)
            return r;
        /* Offsets are missing at the end of this segment: the batch is behind it. By its offset,
         * as a cleaning may put many segments into one meanwhile. */
        from = l.at.next_base;
    }
}

int log_find(struct log *log, int64_t offset, struct place *ret)
{
    enum { TRIES = 8 };
    int r = -EAGAIN;

    assert(!ret->file);
    for (int i = 0; i < TRIES && r == -EAGAIN; i++) {
        int64_t first = 0;

        WITH_LOCK(&log->shared)
        {
            first = log->segments[0]->base;
        }
        if (offset < first || offset > log_end_offset(log))
            return OFFSET_OUT_OF_RANGE;
        r = find_once(log, offset, ret);
    }
    return r;
}

/* ---- reading ---- */

/* Where the batches below upper end, in the segment of the place at. */
static int find_upper(struct log *log, const struct place *at, int64_t upper, uint32_t *ret_pos)
{
    CLEANUP(place_deinit) struct place end = {0};

    *ret_pos = at->size;
    if (upper >= at->next_base || (at->next_base == INT64_MAX && upper >= at->end))
        return 0;
    int r = log_find(log, upper, &end);
    if (r == 0)
        *ret_pos = end.base == at->base ? MIN(end.pos, at->size) : at->size;
    return r;
}

/* The first batch comes whole where opts ask for it. */
static int fit(const struct place *at, uint32_t available, const struct log_read_opts *opts,
               struct log_read *ret)
{
    struct head_scan scan;
    struct batch b;

    ret->records.len = MIN(available, opts->max_bytes);
    if (available <= opts->max_bytes)
        return 0;
    head_scan_init(&scan, at->file, at->pos, (uint64_t)at->pos + available);
    int r = head_scan_next(&scan, &b);
    if (r < 0)
        return r;
    if (r == 0 || b.size <= opts->max_bytes)
        return 0;
    if (opts->min_one_batch)
        ret->records.len = b.size;
    else
        ret->is_first_batch_cut = true;
    return 0;
}

static int read_range(struct log *log, const struct log_read_opts *opts, struct log_read *ret)
{
    CLEANUP(place_deinit) struct place at = {0};
    struct log_read out = {.start = {opts->offset, -1, 0}};
    uint32_t upper = 0;
    int r;

    if (opts->offset < log_start_offset(log) || opts->offset > log_end_offset(log))
        return OFFSET_OUT_OF_RANGE;
    if ((r = log_find(log, opts->offset, &at)) != 0)
        return r;
    out.start = (struct log_offset){opts->offset, at.base, at.pos};
    out.records.bytes = slice_of("", 0);
    if (opts->offset < opts->upper_offset) {
        if ((r = find_upper(log, &at, opts->upper_offset, &upper)) != 0)
            return r;
        if (upper > at.pos && (r = fit(&at, upper - at.pos, opts, &out)) < 0)
            return r;
    }
    if (out.records.len > 0) {
        out.records.pos = at.pos;
        out.records.bytes = (struct slice){NULL, 0};
        out.records.file = TAKE(at.file);
    }
    *ret = out;
    return 0;
}

int log_read(struct log *log, const struct log_read_opts *opts, struct log_read *ret)
{
    return log_reader_result(log, read_range(log, opts, ret));
}
