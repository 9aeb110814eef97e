/*
 * log_move.c - a log's directory gets another name, as it is deleted; a log gets another directory,
 * as it moves between dirs
 */
#include "broker/storage/log_internal.h"

#include "common/base/mem.h"
#include "common/io/fs.h"

#include <stdatomic.h>

/* Every file that the log has open, so that readers find it by its new path. */
static struct file **open_files(const struct log *log, size_t *ret_count)
{
    struct file **files = xnew_array(struct file *, (size_t)log->segment_count * 3);
    size_t n = 0;

    for (uint32_t i = 0; i < log->segment_count; i++) {
        const struct segment_body *body = log->segments[i]->body;

        if (!body)
            continue;
        files[n++] = body->file;
        if (body->offsets.file)
            files[n++] = body->offsets.file;
        if (body->times.file)
            files[n++] = body->times.file;
    }
    *ret_count = n;
    return files;
}

static int rename_dir(struct log *log, const char *path)
{
    CLEANUP(free_p) struct file **files = NULL;
    size_t count = 0;

    /* A reader may open a closed segment meanwhile, by the old path: it is told that the log is
     * gone, since is_closed is set before (log_reader_result). */
    WITH_LOCK(&log->shared)
    {
        files = open_files(log, &count);
    }
    int r = fs_rename_dir(log->path, path, files, count);
    return r < 0 ? r : fs_fsync_dir(log->root);
}

int log_move_dir(struct log *log, const char *path)
{
    LOCK_SCOPE(&log->lock);
    int r = rename_dir(log, path);

    if (r < 0)
        return r;
    WITH_LOCK(&log->shared)
    {
        free(log->path);
        log->path = xstrdup(path);
    }
    epochs_moved(log->epochs, log->path);
    producer_state_moved(log->producers, log->path);
    return 0;
}

/* ---- into another dir ---- */

int log_equip(struct log *future, struct log *log)
{
    int64_t start = log_start_offset(log);
    int32_t epoch = log_latest_epoch(log);
    int r = 0;

    assert(future->is_future && log_end_offset(future) == log_end_offset(log));
    log_set_high_watermark(future, log_high_watermark(log));
    if (log_start_offset(future) < start)
        r = log_raise_start(future, start);
    if (r == 0 && log_latest_epoch(future) < epoch)
        r = log_start_epoch(future, epoch);
    if (r == 0 && log_recovery_point(future) < log_recovery_point(log))
        r = log_flush(future);
    return r;
}

#define SWAP(a, b)                                                                                 \
    do {                                                                                           \
        __typeof__(a) swapped_ = (a);                                                              \
        (a) = (b);                                                                                 \
        (b) = swapped_;                                                                            \
    } while (0)

/* Under both locks of both. */
static void exchange_shared(struct log *a, struct log *b)
{
    const char *root = a->root;
    int64_t start = a->start, size = a->size;

    a->root = (const char *)b->root;
    b->root = root;
    a->start = MAX(start, (int64_t)b->start);
    b->start = start;
    a->size = (int64_t)b->size;
    b->size = size;
    SWAP(a->path, b->path);
    SWAP(a->topic_id, b->topic_id);
    SWAP(a->segments, b->segments);
    SWAP(a->segment_count, b->segment_count);
    SWAP(a->segment_cap, b->segment_cap);
    free(TAKE(a->tail));
    free(TAKE(b->tail));
    if (a->high_watermark < a->start)
        a->high_watermark = (int64_t)a->start;
    a->cuts++;
    a->drops++;
    a->swaps += 2; /* even: it is done as soon as anybody can look */
}

/* Under `lock` of both. */
static void exchange_rest(struct log *a, struct log *b)
{
    SWAP(a->epochs, b->epochs);
    /* The settings stay, and may have changed since the copy was given them. */
    int r = log_keep_epochs(a);
    if (r < 0)
        r = log_break(a, r, "dropping leader epochs");
    SWAP(a->producers, b->producers);
    SWAP(a->is_id_written, b->is_id_written);
    SWAP(a->recovery_point, b->recovery_point);
    SWAP(a->first_batch_ts, b->first_batch_ts);
    SWAP(a->active_since_ms, b->active_since_ms);
    SWAP(a->roll_jitter_ms, b->roll_jitter_ms);
    SWAP(a->unflushed, b->unflushed);
    SWAP(a->last_flush_ms, b->last_flush_ms);
    SWAP(a->is_active_ready, b->is_active_ready);
    SWAP(a->is_dir_dirty, b->is_dir_dirty);
    a->last_append_ms = MAX(a->last_append_ms, b->last_append_ms);
}

void log_exchange(struct log *log, struct log *future)
{
    assert(!log->is_future && future->is_future);
    LOCK_SCOPE(&log->lock);
    WITH_LOCK(&future->lock)
    {
        assert(log_end_offset(log) == log_end_offset(future));
        WITH_LOCK(&log->shared)
        {
            WITH_LOCK(&future->shared)
            {
                exchange_shared(log, future);
            }
        }
        exchange_rest(log, future);
        atomic_store(&future->is_closed, true);
    }
    log_refresh_unstable(log);
}
