/*
 * log.c - a log's life and its offsets; appends are in log_append.c, reads in log_read.c and
 * log_time.c, cuts in log_trim.c, opening in recover.c
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

struct log *log_ref(struct log *log)
{
    atomic_fetch_add(&log->refs, 1);
    return log;
}

static void log_free(struct log *log)
{
    for (uint32_t i = 0; i < log->segment_count; i++)
        segment_free(log->segments[i]);
    free(log->segments);
    free(log->tail);
    epochs_free(log->epochs);
    producer_state_free(log->producers);
    topic_conf_unref(log->conf);
    mutex_deinit(&log->lock);
    mutex_deinit(&log->shared);
    free(log->topic);
    free(log->path);
    free(log->key);
    free(log);
}

struct log *log_unref(struct log *log)
{
    if (log && atomic_fetch_sub(&log->refs, 1) == 1)
        log_free(log);
    return NULL;
}

void log_put(struct log *log)
{
    log_unref(log);
}

void log_put_p(struct log **log)
{
    *log = log_unref(*log);
}

const char *log_topic(const struct log *log)
{
    return log->topic;
}

int32_t log_partition(const struct log *log)
{
    return log->partition;
}

const char *log_dir_path(const struct log *log)
{
    return log->root;
}

bool log_is_future(const struct log *log)
{
    return log->is_future;
}

const char *log_path(const struct log *log)
{
    return log->path;
}

struct topic_conf *log_conf(struct log *log)
{
    LOCK_SCOPE(&log->shared);
    return topic_conf_ref(log->conf);
}

bool log_is_compacted(struct log *log)
{
    LOCK_SCOPE(&log->shared);
    return log->conf->cleanup_policy & CLEANUP_COMPACT;
}

void log_set_conf(struct log *log, struct topic_conf *conf)
{
    struct topic_conf *old = topic_conf_ref(conf);

    WITH_LOCK(&log->lock)
    {
        WITH_LOCK(&log->shared)
        {
            struct topic_conf *was = log->conf;

            log->conf = old;
            old = was;
        }
        int r = log_keep_epochs(log);
        if (r < 0)
            r = log_break(log, r, "dropping leader epochs");
    }
    topic_conf_unref(old);
}

int8_t log_record_version(struct log *log)
{
    LOCK_SCOPE(&log->shared);
    return log->conf->record_version;
}

int64_t log_start_offset(const struct log *log)
{
    return atomic_load_explicit(&log->start, memory_order_acquire);
}

int64_t log_end_offset(const struct log *log)
{
    return atomic_load_explicit(&log->end, memory_order_acquire);
}

int64_t log_high_watermark(const struct log *log)
{
    return atomic_load_explicit(&log->high_watermark, memory_order_acquire);
}

int64_t log_size(const struct log *log)
{
    return atomic_load_explicit(&log->size, memory_order_relaxed);
}

int64_t log_stable_offset(const struct log *log)
{
    int64_t unstable = atomic_load_explicit(&log->first_unstable, memory_order_acquire);
    int64_t hw = log_high_watermark(log);

    if (unstable < 0)
        return hw;
    return MIN(MAX(unstable, log_start_offset(log)), hw);
}

/* The lock of a log that is const to the caller. */
static struct mutex *shared_of(const struct log *log)
{
    return (struct mutex *)(uintptr_t)&log->shared;
}

struct log_offset log_end(const struct log *log)
{
    LOCK_SCOPE(shared_of(log));
    const struct segment *active = log_active(log);

    return (struct log_offset){atomic_load(&log->end), active->base, active->size};
}

struct log_offset log_locate(struct log *log, int64_t offset)
{
    CLEANUP(place_deinit) struct place at = {0};

    if (log_find(log, offset, &at) != 0)
        return (struct log_offset){offset, -1, 0};
    return (struct log_offset){offset, at.base, at.pos};
}

void log_refresh_unstable(struct log *log)
{
    producer_state_high_watermark_moved(log->producers, log_high_watermark(log));
    atomic_store_explicit(&log->first_unstable, producer_state_first_unstable(log->producers),
                          memory_order_release);
}

int64_t log_set_high_watermark(struct log *log, int64_t offset)
{
    WITH_LOCK(&log->shared)
    {
        offset = CLAMP(offset, atomic_load(&log->start), atomic_load(&log->end));
        atomic_store_explicit(&log->high_watermark, offset, memory_order_release);
    }
    atomic_store(&log->is_hw_set, true);
    /* A transaction that ended may be stable now. Without transactions nobody's lock is needed. */
    if (atomic_load(&log->first_unstable) >= 0) {
        WITH_LOCK(&log->lock)
        {
            log_refresh_unstable(log);
        }
    }
    return offset;
}

/* ---- the row of segments ---- */

struct segment *log_active(const struct log *log)
{
    return log->segments[log->segment_count - 1];
}

uint32_t log_segment_at(const struct log *log, int64_t offset)
{
    uint32_t low = 0, high = log->segment_count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (log->segments[mid]->base <= offset)
            low = mid;
        else
            high = mid;
    }
    return low;
}

void log_insert_segment(struct log *log, struct segment *seg)
{
    assert(log->segment_count == 0 || log_active(log)->base < seg->base);
    WITH_LOCK(&log->shared)
    {
        if (log->segment_cap == 0) /* most logs have one segment */
            log->segments = xnew_array(struct segment *, log->segment_cap = 1);
        xgrow(log->segments, log->segment_cap, log->segment_count + 1);
        log->segments[log->segment_count++] = seg;
        free(TAKE(log->tail));
    }
    log->is_active_ready = seg->body && seg->body->is_writable;
    log->is_dir_dirty = true;
    log->first_batch_ts = SEGMENT_TS_UNKNOWN;
    log->active_since_ms = clock_wall_ms(log->clock);
}

void log_set_end(struct log *log, int64_t end)
{
    WITH_LOCK(&log->shared)
    {
        atomic_store_explicit(&log->end, end, memory_order_release);
        if (atomic_load(&log->high_watermark) > end)
            atomic_store_explicit(&log->high_watermark, end, memory_order_release);
        free(TAKE(log->tail));
        log->cuts++;
    }
}

/* Its files get out of the way; the segment itself is let go of. */
int log_retire(struct log *log, struct segment *seg, bool with_snapshot)
{
    struct segment_files files = {.count = 0};
    CLEANUP(free_p) char *snapshot = NULL;
    int r = segment_retire(seg, log->path, &files);

    if (r == 0 && with_snapshot)
        r = producer_state_mark_snapshot_deleted(log->producers, seg->base, &snapshot);
    if (r == 0 && snapshot)
        r = file_open(snapshot, FILE_READ, &files.v[files.count]);
    if (r == 0 && snapshot)
        files.count++;
    if (log->hooks)
        log->hooks->remove_later(log->hooks->ctx, &files, log->conf->file_delete_delay_ms);
    else
        segment_files_remove(&files);
    segment_free(seg);
    return r;
}

/* Takes one out of the list, before its files go: a reader finds it whole or not at all. */
static struct segment *unlink_segment(struct log *log, uint32_t i)
{
    struct segment *seg = log->segments[i];

    WITH_LOCK(&log->shared)
    {
        memmove(&log->segments[i], &log->segments[i + 1],
                (log->segment_count - i - 1) * sizeof(struct segment *));
        log->segment_count--;
        log->cuts++;
        log->drops++;
        atomic_fetch_sub(&log->size, seg->size);
        free(TAKE(log->tail));
    }
    return seg;
}

int log_drop_segments(struct log *log, uint32_t from, uint32_t to, bool newest_first)
{
    int r = 0;

    assert(from <= to && to <= log->segment_count);
    for (uint32_t n = to - from; n > 0 && r == 0; n--)
        r = log_retire(log, unlink_segment(log, newest_first ? from + n - 1 : from), true);
    return r;
}

/* ---- states ---- */

int log_check_writable(const struct log *log)
{
    if (atomic_load(&log->is_closed))
        return KAFKA_STORAGE_ERROR;
    return atomic_load(&log->is_broken) ? -EIO : 0;
}

int log_reader_result(const struct log *log, int r)
{
    return r < 0 && atomic_load(&log->is_closed) ? (int)KAFKA_STORAGE_ERROR : r;
}

int log_break(struct log *log, int r, const char *what)
{
    if (!atomic_exchange(&log->is_broken, true))
        say_error("%s failed half-way partition=%s-%d dir=%s: %s; nothing more is written to it "
                  "until a restart repairs it",
                  what, log->topic, log->partition, log->path, err_name(r));
    return r == -ENOSPC ? -EIO : r;
}

void log_ask_flush(struct log *log)
{
    if (!log->hooks || log->is_flush_asked)
        return;
    log->is_flush_asked = true;
    log->hooks->flush_soon(log->hooks->ctx, log);
}

uint32_t log_version(struct log *log)
{
    uint32_t version = 0;

    WITH_LOCK(&log->shared)
    {
        version = log->swaps;
    }
    if (version % 2 == 0)
        return version;
    /* Files are being exchanged, which is done when the lock is free. */
    LOCK_SCOPE(&log->lock);
    return log->swaps;
}

int log_need_body(struct log *log, struct segment *seg)
{
    struct segment_body *body = NULL;

    if (seg->body)
        return 0;
    int r = segment_body_open(log->path, seg->base, false, &body);
    if (r < 0)
        return r;
    WITH_LOCK(&log->shared)
    {
        if (!seg->body)
            seg->body = TAKE(body);
    }
    segment_body_close(body);
    return 0;
}

int log_need_active(struct log *log)
{
    if (log->is_active_ready)
        return 0;
    int r = segment_activate(log_active(log), log->path, log->conf, &log->shared);
    if (r == 0)
        r = segment_know_max_ts(log_active(log), &log->shared);
    log->is_active_ready = r == 0;
    return r;
}

/* A segment nobody reads or appends to needs no files in memory. */
static void rest_segment(struct log *log, struct segment *seg)
{
    struct segment_body *body = NULL;

    WITH_LOCK(&log->shared)
    {
        body = TAKE(seg->body);
    }
    segment_body_close(body);
}

void log_rest(struct log *log, int64_t idle_since_ms)
{
    LOCK_SCOPE(&log->lock);
    struct segment *active = log_active(log);
    bool is_idle = log->last_append_ms < idle_since_ms;

    for (uint32_t i = 0; i + 1 < log->segment_count; i++)
        if (log->segments[i]->body)
            rest_segment(log, log->segments[i]);
    if (!is_idle || !active->body || atomic_load(&log->is_broken))
        return;
    /* Cut to size, since the next body takes every entry in the file for one. */
    if (log->is_active_ready && (index_file_seal(&active->body->offsets, &log->shared) < 0 ||
                                 index_file_seal(&active->body->times, &log->shared) < 0))
        return;
    log->is_active_ready = false;
    rest_segment(log, active);
    WITH_LOCK(&log->shared)
    {
        free(TAKE(log->tail));
    }
}

void log_each_producer(struct log *log, void (*each)(void *ctx, const struct producer_info *p),
                       void *ctx)
{
    LOCK_SCOPE(&log->lock);
    producer_state_each(log->producers, each, ctx);
}

void log_expire_producers(struct log *log, int64_t expiration_ms, int64_t now_ms)
{
    LOCK_SCOPE(&log->lock);
    producer_state_set_expiration(log->producers, expiration_ms);
    producer_state_expire(log->producers, now_ms);
}

bool log_needs_flush(struct log *log, int64_t before_ms)
{
    LOCK_SCOPE(&log->lock);
    return log->recovery_point < log_end_offset(log) && log->last_flush_ms <= before_ms;
}

int64_t log_recovery_point(struct log *log)
{
    LOCK_SCOPE(&log->lock);
    return log->recovery_point;
}

/* ---- leader epochs ---- */

int log_keep_epochs(struct log *log)
{
    return epochs_keep(log->epochs, log->conf->record_version == RECORD_VERSION_NEWEST);
}

int32_t log_latest_epoch(const struct log *log)
{
    LOCK_SCOPE((struct mutex *)(uintptr_t)&log->lock);
    return epochs_latest(log->epochs);
}

/* An empty log can do without the fsync: were the entry lost, there would be no record of its epoch
 * either. */
static int start_epoch(struct log *log, int32_t epoch)
{
    int64_t end = log_end_offset(log);
    int r = log_check_writable(log);

    if (r != 0)
        return r;
    if (end != log_start_offset(log) || epochs_count(log->epochs) > 0)
        return epochs_assign(log->epochs, epoch, end);
    epochs_assign_unflushed(log->epochs, epoch, end);
    log_ask_flush(log);
    return log->hooks ? 0 : epochs_flush(log->epochs);
}

int log_start_epoch(struct log *log, int32_t epoch)
{
    LOCK_SCOPE(&log->lock);
    return start_epoch(log, epoch);
}

void log_end_offset_for_epoch(struct log *log, int32_t epoch, int32_t *ret_epoch,
                              int64_t *ret_offset)
{
    LOCK_SCOPE(&log->lock);
    epochs_end_offset(log->epochs, epoch, log_end_offset(log), ret_epoch, ret_offset);
}

int32_t log_epoch_at(struct log *log, int64_t offset)
{
    LOCK_SCOPE(&log->lock);
    return epochs_of_offset(log->epochs, offset);
}
