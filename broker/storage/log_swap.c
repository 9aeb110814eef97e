#include "broker/storage/log_swap.h"

#include "broker/storage/cleaner_writer.h"
#include "common/base/err.h"
#include "common/base/mem.h"

#include <stdatomic.h>

/* ---- view ---- */

void log_view_init(struct log_view *view, struct log *log)
{
    LOCK_SCOPE(&log->shared);
    uint32_t closed = log->segment_count - 1;

    *view = (struct log_view){
        .v = xnew_array(struct view_segment, closed),
        .count = closed,
        .active_base = log_active(log)->base,
        .start = log_start_offset(log),
        .end = log_end_offset(log),
        .stable = log_stable_offset(log),
        .drops = log->drops,
        .path = xstrdup(log->path),
        .conf = topic_conf_ref(log->conf),
    };
    for (uint32_t i = 0; i < closed; i++)
        view->v[i] = (struct view_segment){log->segments[i]->base, log->segments[i]->size};
}

void log_view_deinit(struct log_view *view)
{
    free(view->v);
    free(view->path);
    topic_conf_unref(view->conf);
    *view = (struct log_view){.count = 0};
}

uint32_t log_view_at(const struct log_view *view, int64_t offset)
{
    uint32_t low = 0, high = view->count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (view->v[mid].base <= offset)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Under shared. */
static bool is_current(const struct log_view *view, const struct log *log)
{
    return log->drops == view->drops && (log->conf->cleanup_policy & CLEANUP_COMPACT) &&
           !atomic_load(&log->is_closed) && !atomic_load(&log->is_broken);
}

int log_view_check(const struct log_view *view, struct log *log)
{
    LOCK_SCOPE(&log->shared);
    return is_current(view, log) ? 0 : -ECANCELED;
}

void log_cleaned_to(struct log *log, const struct log_view *view, int64_t offset)
{
    LOCK_SCOPE(&log->lock);
    if (log_view_check(view, log) == 0)
        atomic_store(&log->first_dirty, offset);
}

/* ---- files ---- */

/* Gives the segment's files other names, .log first: see recover.c. */
static int rename_files(struct log *log, struct segment *seg, const char *from, const char *to)
{
    struct file *known[] = {[SEGMENT_LOG] = seg->body->file,
                            [SEGMENT_INDEX] = seg->body->offsets.file,
                            [SEGMENT_TIMEINDEX] = seg->body->times.file,
                            [SEGMENT_TXNINDEX] = NULL};
    CLEANUP(free_p)
    char *txns = cleaner_file_path(log->path, seg->base, SEGMENT_TXNINDEX, from);
    CLEANUP(file_unref_p) struct file *txn_file = NULL;
    int r = seg->has_txns ? file_open(txns, FILE_READ, &txn_file) : 0;

    known[SEGMENT_TXNINDEX] = txn_file;
    for (int t = SEGMENT_LOG; t <= SEGMENT_TXNINDEX && r == 0; t++) {
        CLEANUP(free_p)
        char *path = cleaner_file_path(log->path, seg->base, (enum segment_file_type)t, to);

        if (known[t])
            r = file_rename(known[t], path);
    }
    return r;
}

/* All or nothing: what could not be renamed whole goes. */
static int announce(struct log *log, struct segment *seg)
{
    int r = rename_files(log, seg, SUFFIX_CLEANED, SUFFIX_SWAP);

    if (r < 0 && cleaner_files_remove(log->path, seg->base, SUFFIX_SWAP) < 0)
        return log_break(log, r, "replacing segments");
    return r;
}

/* ---- swap ---- */

/* The segments that go, out of the list; the new one in their place. */
static struct segment **publish(struct log *log, struct segment *seg, uint32_t first,
                                uint32_t count)
{
    struct segment **old = xnew_array(struct segment *, count);

    LOCK_SCOPE(&log->shared);
    for (uint32_t i = 0; i < count; i++) {
        old[i] = log->segments[first + i];
        atomic_fetch_sub(&log->size, (int64_t)old[i]->size);
    }
    log->segments[first] = seg;
    memmove(&log->segments[first + 1], &log->segments[first + count],
            (log->segment_count - first - count) * sizeof(struct segment *));
    log->segment_count -= count - 1;
    atomic_fetch_add(&log->size, (int64_t)seg->size);
    log->cuts++;
    log->swaps++;
    return old;
}

static int replace(struct log *log, struct segment *seg, uint32_t first, uint32_t count)
{
    CLEANUP(free_p) struct segment **old = publish(log, seg, first, count);
    int r = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (r == 0)
            r = log_retire(log, old[i], old[i]->base != seg->base);
        else
            segment_free(old[i]); /* its files are left for the next start to judge */
    }
    if (r == 0)
        r = rename_files(log, seg, SUFFIX_SWAP, "");
    log->is_dir_dirty = true;
    WITH_LOCK(&log->shared)
    {
        log->swaps++;
    }
    return r < 0 ? log_break(log, r, "replacing segments") : 0;
}

int log_swap(struct log *log, const struct log_swap *swap, struct segment **seg)
{
    LOCK_SCOPE(&log->lock);
    int r = log_view_check(swap->view, log);

    if (r < 0)
        return r;
    uint32_t first = log_segment_at(log, swap->first);
    uint32_t last = log_segment_at(log, swap->last);
    assert(log->segments[first]->base == swap->first && log->segments[last]->base == swap->last);
    assert(last + 1 < log->segment_count);
    if ((r = announce(log, *seg)) < 0)
        return r;
    struct segment *fresh = TAKE(*seg);
    fresh->body->is_writable = false;
    return replace(log, fresh, first, last - first + 1);
}
