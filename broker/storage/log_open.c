/*
 * log_open.c - a log is opened from its directory, and closed again
 *
 * After a clean stop nothing is read but the tail of the last segment and the newest producer
 * snapshot; an empty log costs a directory listing. After a crash the segments from the recovery
 * point on are checked (recover.c). Everything happens before anybody else knows the log; locks are
 * taken where functions want them, without need.
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/log_load.h"
#include "broker/storage/log_manager.h"
#include "broker/storage/recover.h"
#include "broker/storage/txn_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <stdatomic.h>

static struct log *make(const struct log_open_opts *opts)
{
    struct log *log = xnew(struct log);
    struct fs_info info;

    atomic_store(&log->refs, 1);
    log->is_future = opts->is_future;
    mutex_init(&log->lock, opts->is_future ? LOCK_FUTURE_LOG : LOCK_LOG);
    mutex_init(&log->shared, opts->is_future ? LOCK_FUTURE_INDEX : LOCK_LOG_INDEX);
    log->topic = str_dup(opts->topic);
    log->partition = opts->partition;
    log->root = opts->root;
    log->path = xstrdup(opts->path);
    /* Before loading writes what a crash left undone. */
    log->dir_changed_us = fs_stat(log->path, &info) == 0 ? info.changed_us : 0;
    log->conf = topic_conf_ref(opts->conf);
    log->clock = opts->clock;
    log->hooks = opts->hooks;
    log->first_batch_ts = SEGMENT_TS_UNKNOWN;
    log->active_since_ms = log->last_flush_ms = clock_wall_ms(opts->clock);
    atomic_store(&log->first_unstable, -1);
    atomic_store(&log->first_dirty, -1);
    return log;
}

/* ---- segments ---- */

/* Where files of a segment are missing, it is made readable again before anything is looked up in
 * it. */
struct damage {
    uint32_t *v; /* which segments, ascending */
    size_t count;
    size_t cap;
};

static void damage_deinit(struct damage *d)
{
    free(d->v);
}

static int add_segment(struct log *log, int64_t base)
{
    CLEANUP(free_p) char *path = segment_file_path(log->path, base, SEGMENT_LOG);
    struct fs_info info;
    int r = fs_stat(path, &info);

    if (r < 0)
        return r;
    if (info.size > INT32_MAX) {
        say_error("a segment of more than 2 GiB is none file=%s bytes=%llu; remove or repair it",
                  path, (unsigned long long)info.size);
        return -EFBIG;
    }
    log_insert_segment(log, segment_new(base, (uint32_t)info.size));
    atomic_fetch_add(&log->size, (int64_t)info.size);
    return 0;
}

/* The files of one base. */
struct found {
    int64_t base;
    bool has[SEGMENT_FILE_TYPES];
};

static int remove_strays(const struct log *log, const struct found *g)
{
    int r = 0;

    for (int t = SEGMENT_INDEX; t <= SEGMENT_TXNINDEX && r == 0; t++) {
        CLEANUP(free_p)
        char *path = segment_file_path(log->path, g->base, (enum segment_file_type)t);

        if (!g->has[t])
            continue;
        say_warn("an index without its .log file is removed file=%s", path);
        r = fs_remove_tree(path);
    }
    return r;
}

/* Whether the aborted transactions can be read; a segment where they cannot is recovered. */
static int check_txns(const struct log *log, int64_t base)
{
    CLEANUP(free_p) char *path = segment_file_path(log->path, base, SEGMENT_TXNINDEX);
    CLEANUP(txn_entries_deinit) struct txn_entries entries = {0};

    return txn_index_read(path, base, &entries);
}

static int take_files(struct log *log, const struct found *g, struct damage *d)
{
    int r, txns = 0;

    if (!g->has[SEGMENT_LOG])
        return remove_strays(log, g);
    if ((r = add_segment(log, g->base)) < 0)
        return r;
    log_active(log)->has_txns = g->has[SEGMENT_TXNINDEX];
    if (g->has[SEGMENT_TXNINDEX])
        txns = check_txns(log, g->base);
    if (txns < 0 && txns != -EBADMSG)
        return txns;
    if (!g->has[SEGMENT_INDEX] || txns == -EBADMSG) {
        xgrow(d->v, d->cap, d->count + 1);
        d->v[d->count++] = log->segment_count - 1;
    }
    return 0;
}

/* Names are sorted, so the files of one base follow on one another. */
static int find_segments(struct log *log, const struct fs_names *names, struct damage *d)
{
    struct found g = {.base = -1};
    struct segment_file f;
    int r = 0;

    for (size_t i = 0; r == 0 && i < names->count; i++) {
        if (!segment_file_parse(names->v[i], &f) || f.state != SEGMENT_LIVE)
            continue;
        if (f.base != g.base) {
            r = take_files(log, &g, d);
            g = (struct found){.base = f.base};
        }
        g.has[f.type] = true;
    }
    if (r == 0)
        r = take_files(log, &g, d);
    log->is_dir_dirty = false;
    return r;
}

static int create_first(struct log *log, int64_t base)
{
    struct segment *seg = NULL;
    int r = segment_create(log->path, base, log->conf, &seg);

    if (r == 0)
        log_insert_segment(log, seg);
    return r;
}

/* From segment first on; *ret_end: the log end. */
static int recover_from(struct log *log, uint32_t first, int64_t *ret_end)
{
    for (uint32_t i = first; i < log->segment_count; i++) {
        struct segment *seg = log->segments[i];
        uint32_t size = seg->size;
        bool is_cut = false;
        int r = recover_segment(log, seg, ret_end, &is_cut);

        if (r < 0)
            return r;
        atomic_fetch_sub(&log->size, size - seg->size);
        if (!is_cut)
            continue;
        if (i + 1 < log->segment_count)
            say_warn("%u later segments do not follow on the cut one and are removed "
                     "partition=%s-%d first=%lld",
                     log->segment_count - i - 1, log->topic, log->partition,
                     (long long)log->segments[i + 1]->base);
        return log_drop_segments(log, i + 1, log->segment_count, true);
    }
    return 0;
}

static int recover_damaged(struct log *log, const struct damage *d, uint32_t below)
{
    for (size_t i = 0; i < d->count && d->v[i] < below; i++) {
        struct segment *seg = log->segments[d->v[i]];
        uint32_t size = seg->size;
        bool is_cut;
        int64_t next;

        say_warn("a segment has no sound indexes, they are made again partition=%s-%d segment=%lld",
                 log->topic, log->partition, (long long)seg->base);
        int r = recover_segment(log, seg, &next, &is_cut);
        if (r < 0)
            return r;
        atomic_fetch_sub(&log->size, size - seg->size);
    }
    return 0;
}

/* After a clean stop: only the last segment's tail is looked at. */
static int find_end(struct log *log, int64_t *ret_end)
{
    struct segment *seg = log_active(log);
    int r;

    *ret_end = seg->base;
    if (seg->size == 0)
        return 0;
    if ((r = log_need_body(log, seg)) < 0)
        return r;
    r = log_scan_tail(log, seg, ret_end);
    if (r != -EBADMSG && r != -EIO)
        return r;
    say_warn("the last segment is damaged although the stop was clean, it is recovered "
             "partition=%s-%d segment=%lld",
             log->topic, log->partition, (long long)seg->base);
    return recover_from(log, log->segment_count - 1, ret_end);
}

static int load_segments(struct log *log, const struct log_open_opts *opts,
                         const struct fs_names *names, int64_t *ret_end)
{
    CLEANUP(damage_deinit) struct damage d = {0};
    int r = find_segments(log, names, &d);

    if (r < 0)
        return r;
    *ret_end = opts->start_offset;
    if (log->segment_count == 0)
        return create_first(log, opts->start_offset);
    atomic_store(&log->start, MAX(opts->start_offset, log->segments[0]->base));
    uint32_t first =
        opts->is_clean ? log->segment_count : log_segment_at(log, opts->recovery_point);
    r = recover_damaged(log, &d, first);
    if (r < 0)
        return r;
    return opts->is_clean ? find_end(log, ret_end) : recover_from(log, first, ret_end);
}

/* ---- the rest ---- */

/* A malformed file is replaced: the epochs come from the batches again. */
static int open_epochs(struct log *log, bool *ret_is_lost)
{
    CLEANUP(free_p) char *path = NULL;
    int r = epochs_open(log->path, &log->epochs);

    *ret_is_lost = r == -EBADMSG;
    if (r != -EBADMSG)
        return r;
    path = xasprintf("%s/leader-epoch-checkpoint", log->path);
    say_warn("file=%s is not usable and is removed; the whole log is read to find its leader "
             "epochs again",
             path);
    r = fs_remove_tree(path);
    return r < 0 ? r : epochs_open(log->path, &log->epochs);
}

static void make_producers(struct log *log, const struct log_open_opts *opts,
                           const struct fs_names *names)
{
    CLEANUP(free_p) char *name = xasprintf("%s-%d", log->topic, log->partition);
    const struct producer_state_opts po = {.name = name,
                                           .dir = log->path,
                                           .files = names,
                                           .expiration_ms = opts->producer_id_expiration_ms};

    log->producers = producer_state_new(&po);
}

static int remove_stray_snapshots(struct log *log)
{
    CLEANUP(free_p) int64_t *bases = xnew_array(int64_t, log->segment_count);

    for (uint32_t i = 0; i < log->segment_count; i++)
        bases[i] = log->segments[i]->base;
    return producer_state_remove_stray_snapshots(log->producers, bases, log->segment_count);
}

static int load_producers(struct log *log, bool is_clean)
{
    int64_t end = log_end_offset(log);
    int r = remove_stray_snapshots(log);

    if (r < 0)
        return r;
    /* Whoever stops cleanly leaves a snapshot if there are producers. */
    if (is_clean && producer_state_latest_snapshot(log->producers) < 0) {
        producer_state_set_end(log->producers, end);
        return 0;
    }
    r = log_load_producers(log, clock_wall_ms(log->clock));
    return r < 0 || is_clean ? r : producer_state_take_snapshot(log->producers, false, NULL);
}

static void set_offsets(struct log *log, const struct log_open_opts *opts, int64_t end)
{
    int64_t start = MAX(opts->start_offset, log->segments[0]->base);

    atomic_store(&log->start, start);
    atomic_store(&log->high_watermark, start);
    atomic_store(&log->end, end);
    log->recovery_point = opts->is_clean ? end : MIN(opts->recovery_point, end);
    epochs_truncate_from_end(log->epochs, end);
    epochs_truncate_from_start(log->epochs, start);
}

/* Under LOCK_LOG, which nobody else can want yet: what is called from here asserts it or takes the
 * inner lock. */
static int load(struct log *log, const struct log_open_opts *given)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    struct log_open_opts opts = *given;
    bool epochs_lost = false;
    int64_t end = 0;
    int r = log_read_topic_id(log);

    if (r == 0)
        r = open_epochs(log, &epochs_lost);
    if (r == 0)
        r = log_keep_epochs(log);
    if (r == 0)
        r = recover_files(log->path, &names);
    if (r < 0)
        return r;
    make_producers(log, &opts, &names);
    if (epochs_lost) {
        opts.is_clean = false;
        opts.recovery_point = 0;
    }
    r = load_segments(log, &opts, &names, &end);
    if (r < 0)
        return r;
    if (end < opts.start_offset) {
        say_warn("the log ends at %lld, before its start %lld: all of it is removed "
                 "partition=%s-%d",
                 (long long)end, (long long)opts.start_offset, log->topic, log->partition);
        r = log_restart_at(log, opts.start_offset);
        end = opts.start_offset;
    }
    if (r < 0)
        return r;
    set_offsets(log, &opts, end);
    return load_producers(log, opts.is_clean);
}

int log_open(const struct log_open_opts *opts, struct log **ret)
{
    CLEANUP(log_put_p) struct log *log = make(opts);
    int r = 0;

    WITH_LOCK(&log->lock)
    {
        r = load(log, opts);
    }
    if (r < 0) {
        say_error("a log cannot be opened partition=%s-%d dir=%s: %s", log->topic, log->partition,
                  log->path, err_name(r));
        return r;
    }
    /* What was looked at, or made, is closed until somebody reads or appends: of thousands that are
     * made at once, most will be idle. */
    log_rest(log, INT64_MAX);
    *ret = TAKE(log);
    return 0;
}

/* ---- close ---- */

/* Producers' state goes to disk where there is any, or where an older snapshot would be replayed
 * from. */
static int close_producers(struct log *log)
{
    if (producer_state_is_empty(log->producers) &&
        producer_state_latest_snapshot(log->producers) < 0)
        return 0;
    return producer_state_take_snapshot(log->producers, true, NULL);
}

static int seal(struct log *log)
{
    int r = log_check_writable(log);

    if (r == 0 && log->is_active_ready)
        r = segment_seal(log_active(log), &log->shared);
    log->is_active_ready = false;
    return r != 0 ? r : close_producers(log);
}

int log_close(struct log *log)
{
    int r = 0;

    WITH_LOCK(&log->lock)
    {
        r = seal(log);
    }
    if (r == 0)
        r = log_flush(log);
    atomic_store(&log->is_closed, true);
    return r > 0 ? 0 : r;
}
