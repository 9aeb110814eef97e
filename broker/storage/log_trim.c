/*
 * log_trim.c - what goes away: truncation, the log start, retention; and the flush that moves the
 * recovery point
 *
 * Truncation deletes from the newest segment down, retention from the oldest up, so that a crash
 * between two files leaves a log without a hole. fsync runs without the log's lock: appends go on
 * meanwhile.
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/log_load.h"
#include "broker/storage/txn_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- flush ---- */

/* What is to be fsynced, collected under the lock. */
struct flush {
    int64_t *bases;
    uint32_t count;
    int64_t end;
    uint32_t cuts;
    char *path;
    const char *root;
    bool is_dir_dirty;
};

static void flush_deinit(struct flush *f)
{
    free(f->bases);
    free(f->path);
}

/* Writes out what is in memory, so that it is there for the fsync. */
static int prepare_flush(struct log *log, struct flush *f)
{
    struct segment *active = log_active(log);
    uint32_t first = log_segment_at(log, log->recovery_point);
    int r = atomic_load(&log->is_broken) ? -EIO : log_write_topic_id(log);

    log->is_flush_asked = false;
    if (r == 0)
        r = epochs_flush(log->epochs);
    if (r == 0 && log->is_active_ready) {
        r = index_file_flush(&active->body->offsets, &log->shared);
        if (r == 0)
            r = index_file_flush(&active->body->times, &log->shared);
    }
    f->end = log_end_offset(log);
    if (r != 0 || (f->end == log->recovery_point && !log->is_dir_dirty))
        return r;
    f->count = log->segment_count - first;
    f->bases = xnew_array(int64_t, f->count);
    for (uint32_t i = 0; i < f->count; i++)
        f->bases[i] = log->segments[first + i]->base;
    f->cuts = log->cuts;
    f->path = xstrdup(log->path);
    f->root = log->root;
    f->is_dir_dirty = log->is_dir_dirty;
    log->unflushed = 0;
    log->last_flush_ms = clock_wall_ms(log->clock);
    return 0;
}

static int fsync_snapshot(const char *dir, int64_t base)
{
    CLEANUP(free_p) char *path = segment_file_path(dir, base, SEGMENT_SNAPSHOT);
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = file_open(path, FILE_READ, &f);

    if (r == 0)
        r = file_fsync(f);
    return r == -ENOENT ? 0 : r;
}

static int run_flush(const struct flush *f)
{
    int r = 0;

    for (uint32_t i = 0; i < f->count && r == 0; i++) {
        r = segment_fsync(f->path, f->bases[i]);
        if (r == 0)
            r = fsync_snapshot(f->path, f->bases[i]);
    }
    if (r == 0 && f->is_dir_dirty)
        r = fs_fsync_dir(f->path);
    if (r == 0 && f->is_dir_dirty)
        r = fs_fsync_dir(f->root);
    return r;
}

/* The directory has another name by now: it is on its way out, or the log went on in another dir.
 * What was fsynced by the old one says nothing; the next flush knows. */
static bool has_moved(const struct log *log, const struct flush *f)
{
    return atomic_load(&log->is_closed) || strcmp(log->path, f->path) != 0;
}

static bool is_gone(struct log *log, const struct flush *f)
{
    LOCK_SCOPE(&log->lock);
    return has_moved(log, f);
}

int log_flush(struct log *log)
{
    CLEANUP(flush_deinit) struct flush f = {.count = 0};
    int r = 0;

    WITH_LOCK(&log->lock)
    {
        r = prepare_flush(log, &f);
    }
    if (r != 0 || f.count == 0)
        return r > 0 ? 0 : r;
    r = run_flush(&f);
    if (r == -ENOENT && is_gone(log, &f))
        return 0;
    if (r < 0) {
        say_error("flushing failed partition=%s-%d dir=%s: %s; the log dir is taken for broken",
                  log->topic, log->partition, f.path, err_name(r));
        return r;
    }
    WITH_LOCK(&log->lock)
    {
        /* After a cut meanwhile nobody knows which of the bytes were the new ones; the next flush
         * will. */
        if (log->cuts == f.cuts && !has_moved(log, &f)) {
            log->recovery_point = MAX(log->recovery_point, f.end);
            if (f.is_dir_dirty)
                log->is_dir_dirty = false;
        }
    }
    return 0;
}

/* ---- truncation (disk.md §8.5) ---- */

static void lower_start(struct log *log, int64_t offset)
{
    WITH_LOCK(&log->shared)
    {
        if (atomic_load(&log->start) > offset)
            atomic_store(&log->start, offset);
    }
}

static int truncate_txns(struct log *log, int64_t offset)
{
    CLEANUP(free_p)
    char *path = segment_file_path(log->path, log_active(log)->base, SEGMENT_TXNINDEX);

    return txn_index_truncate(path, offset);
}

/* The segment that holds offset is the last one by now. */
static int cut_active(struct log *log, int64_t offset)
{
    CLEANUP(place_deinit) struct place at = {0};
    struct segment *seg = log_active(log);
    int64_t next;
    int r = log_need_active(log);

    if (r == 0)
        r = log_find(log, offset, &at);
    if (r != 0)
        return r < 0 ? r : -EBADMSG;
    assert(at.base == seg->base);
    atomic_fetch_sub(&log->size, seg->size - at.pos);
    r = segment_truncate(seg, (struct segment_cut){at.pos, offset}, &log->shared);
    log->first_batch_ts = SEGMENT_TS_UNKNOWN;
    if (seg->size == 0)
        log->active_since_ms = clock_wall_ms(log->clock);
    /* What follows the last index entry may have the largest timestamp. */
    return r < 0 ? r : log_scan_tail(log, seg, &next);
}

static int truncate_inside(struct log *log, int64_t offset)
{
    uint32_t keep = log_segment_at(log, offset) + 1;
    int r;

    if (keep < log->segment_count)
        log->is_active_ready = false;
    r = log_drop_segments(log, keep, log->segment_count, true);
    if (r == 0)
        r = cut_active(log, offset);
    if (r == 0)
        r = truncate_txns(log, offset);
    if (r < 0)
        return r;
    lower_start(log, offset);
    log_set_end(log, offset);
    epochs_truncate_from_end(log->epochs, offset);
    return log_load_producers(log, clock_wall_ms(log->clock));
}

int log_restart_at(struct log *log, int64_t offset)
{
    struct segment **old = log->segments;
    struct segment *fresh = segment_new(offset, 0);
    uint32_t count = log->segment_count;
    int r = 0;

    fresh->max_ts = -1;
    /* Readers see the new log at once; the files follow. */
    WITH_LOCK(&log->shared)
    {
        log->segments = xnew_array(struct segment *, 1);
        log->segments[0] = fresh;
        log->segment_count = log->segment_cap = 1;
        atomic_store(&log->start, offset);
        atomic_store(&log->high_watermark, offset);
        atomic_store(&log->end, offset);
        atomic_store(&log->size, 0);
        free(TAKE(log->tail));
        log->cuts++;
        log->drops++;
    }
    log->is_active_ready = false;
    log->first_batch_ts = SEGMENT_TS_UNKNOWN;
    log->active_since_ms = clock_wall_ms(log->clock);
    log->recovery_point = MIN(log->recovery_point, offset);
    for (uint32_t i = count; i-- > 0;) {
        if (r == 0)
            r = log_retire(log, old[i], true);
        else
            segment_free(old[i]); /* its files are left for the next start to judge */
    }
    free(old);
    if (r == 0)
        r = log_need_active(log);
    if (r == 0)
        r = file_truncate(fresh->body->file, 0); /* makes it */
    log->is_dir_dirty = true;
    epochs_clear(log->epochs);
    if (r == 0)
        r = producer_state_truncate_fully(log->producers, offset);
    atomic_store(&log->first_unstable, -1);
    return r < 0 ? log_break(log, r, "starting the log again") : 0;
}

/* Offsets that are used again have not been cleaned. True where that lowered what is known. */
static bool lower_first_dirty(struct log *log)
{
    int64_t base = log_active(log)->base;
    bool lowers = atomic_load(&log->first_dirty) > base;

    if (lowers)
        atomic_store(&log->first_dirty, base);
    return lowers;
}

/* Where a truncation reached into an earlier segment than the recovery point lay in, its new data
 * must not be taken for flushed after a crash. In the same segment recovery reads it anyway. */
static int checkpoint_if(struct log *log, bool is_needed)
{
    return is_needed && log->hooks ? log->hooks->checkpoint_now(log->hooks->ctx, log) : 0;
}

static int truncate_to(struct log *log, int64_t offset, bool *ret_crossed)
{
    int64_t flushed_base = log->segments[log_segment_at(log, log->recovery_point)]->base;
    int r = log_check_writable(log);

    if (r != 0)
        return r;
    if (offset >= log_end_offset(log)) {
        epochs_truncate_from_end(log->epochs, log_end_offset(log));
        return 0;
    }
    say_info("truncating partition=%s-%d from=%lld to=%lld", log->topic, log->partition,
             (long long)log_end_offset(log), (long long)offset);
    *ret_crossed = offset < flushed_base;
    if (offset < log->segments[0]->base)
        r = log_restart_at(log, offset);
    else
        r = truncate_inside(log, offset);
    log->recovery_point = MIN(log->recovery_point, offset);
    if (r == 0 && lower_first_dirty(log))
        *ret_crossed = true;
    return r < 0 ? log_break(log, r, "a truncation") : 0;
}

int log_truncate_to(struct log *log, int64_t offset)
{
    bool crossed = false;
    int r = 0;

    assert(offset >= 0);
    WITH_LOCK(&log->lock)
    {
        r = truncate_to(log, offset, &crossed);
    }
    return r != 0 ? r : checkpoint_if(log, crossed);
}

int log_truncate_fully(struct log *log, int64_t offset)
{
    bool was_above = false;
    int r = 0;

    assert(offset >= 0);
    WITH_LOCK(&log->lock)
    {
        r = log_check_writable(log);
        if (r == 0) {
            say_info("starting again, empty partition=%s-%d end=%lld at=%lld", log->topic,
                     log->partition, (long long)log_end_offset(log), (long long)offset);
            was_above = log->recovery_point > offset;
            r = log_restart_at(log, offset);
            was_above = lower_first_dirty(log) || was_above;
        }
    }
    return r != 0 ? r : checkpoint_if(log, was_above);
}

/* ---- log start and retention (disk.md §8.3) ---- */

static void raise_start(struct log *log, int64_t offset)
{
    WITH_LOCK(&log->shared)
    {
        if (offset <= atomic_load(&log->start))
            return;
        atomic_store(&log->start, offset);
    }
    epochs_truncate_from_start(log->epochs, offset);
    producer_state_log_start_moved(log->producers, offset);
    log_refresh_unstable(log);
}

int log_raise_start(struct log *log, int64_t offset)
{
    LOCK_SCOPE(&log->lock);
    int r = log_check_writable(log);

    if (r != 0)
        return r;
    if (offset > log_high_watermark(log))
        return OFFSET_OUT_OF_RANGE;
    raise_start(log, offset);
    return 0;
}

struct retention {
    struct log *log;
    int64_t now_ms;
    int64_t left_bytes; /* of the log, less what was found removable */
};

typedef int (*removable_fn)(struct retention *rt, uint32_t i, bool *ret);

static int is_below_start(struct retention *rt, uint32_t i, bool *ret)
{
    const struct log *log = rt->log;

    *ret = i + 1 < log->segment_count && log->segments[i + 1]->base <= log_start_offset(log);
    return 0;
}

static int is_over_size(struct retention *rt, uint32_t i, bool *ret)
{
    int64_t left = rt->left_bytes - rt->log->segments[i]->size;

    *ret = rt->log->conf->retention_bytes >= 0 && left >= rt->log->conf->retention_bytes;
    if (*ret)
        rt->left_bytes = left;
    return 0;
}

int log_segment_youngest(struct log *log, struct segment *seg, int64_t *ret)
{
    CLEANUP(free_p) char *path = segment_file_path(log->path, seg->base, SEGMENT_LOG);
    struct fs_info info;
    int r = seg->max_ts == SEGMENT_TS_UNKNOWN ? log_need_body(log, seg) : 0;

    if (r == 0)
        r = segment_know_max_ts(seg, &log->shared);
    if (r < 0 || seg->max_ts >= 0) {
        *ret = seg->max_ts;
        return r;
    }
    r = fs_stat(path, &info);
    *ret = info.modified_ms;
    return r;
}

static int is_too_old(struct retention *rt, uint32_t i, bool *ret)
{
    int64_t ts = 0, limit = rt->log->conf->retention_ms;
    int r = limit < 0 ? 0 : log_segment_youngest(rt->log, rt->log->segments[i], &ts);

    *ret = r == 0 && limit >= 0 && rt->now_ms - ts > limit;
    return r;
}

/* How many of the oldest segments may go. */
static int count_removable(struct retention *rt, removable_fn removable, uint32_t *ret)
{
    const struct log *log = rt->log;
    uint32_t n = 0;

    *ret = 0;
    for (; n < log->segment_count; n++) {
        bool is_last = n + 1 == log->segment_count, may_go = false;
        int64_t next = is_last ? log_end_offset(log) : log->segments[n + 1]->base;

        if (log_high_watermark(log) < next || (is_last && log->segments[n]->size == 0))
            break;
        int r = removable(rt, n, &may_go);
        if (r < 0)
            return r;
        if (!may_go)
            break;
    }
    *ret = n;
    return 0;
}

static int remove_by(struct log *log, int64_t now_ms, const char *why, removable_fn removable,
                     int *deleted)
{
    struct retention rt = {log, now_ms, log_size(log)};
    uint32_t count = 0;
    int r = count_removable(&rt, removable, &count);

    if (r < 0 || count == 0)
        return r;
    if (count == log->segment_count) {
        r = log_need_active(log);
        if (r == 0)
            r = log_roll(log, log_end_offset(log));
        if (r < 0)
            return r;
    }
    raise_start(log, log->segments[count]->base);
    r = log_drop_segments(log, 0, count, false);
    say_info("old segments removed partition=%s-%d count=%u because=%s log_start=%lld", log->topic,
             log->partition, count, why, (long long)log_start_offset(log));
    *deleted += (int)count;
    return r < 0 ? log_break(log, r, "retention") : 0;
}

int log_apply_retention(struct log *log, int64_t now_ms, int *ret_deleted)
{
    LOCK_SCOPE(&log->lock);
    bool deletes = log->conf->cleanup_policy & CLEANUP_DELETE;
    int r = log_check_writable(log);

    *ret_deleted = 0;
    if (r != 0)
        return r > 0 ? 0 : r;
    r = remove_by(log, now_ms, "log start", is_below_start, ret_deleted);
    if (r == 0 && deletes)
        r = remove_by(log, now_ms, "retention.bytes", is_over_size, ret_deleted);
    if (r == 0 && deletes)
        r = remove_by(log, now_ms, "retention.ms", is_too_old, ret_deleted);
    return r;
}
