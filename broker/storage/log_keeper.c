/*
 * log_keeper.c - the thread that looks after all logs: flush, retention, checkpoints, removals
 *
 * Whatever blocks is done here and under no lock of the table, one log after the other. Periodic
 * work is a row of a table.
 */
#include "broker/storage/manager_internal.h"

#include "common/base/say.h"
#include "common/io/fs.h"

#include <errno.h>

enum { REST_AFTER_MS = 60000, FIRST_RUN_MS = 30000 };

static struct log_manager *manager_of(struct keeper *k)
{
    return container_of(k, struct log_manager, keeper);
}

/* ---- from the logs ---- */

static void flush_soon(void *ctx, struct log *log)
{
    struct keeper *k = &((struct log_manager *)ctx)->keeper;

    LOCK_SCOPE(&k->lock);
    if (log->is_queued)
        return;
    log->is_queued = true;
    log->next = k->flush_queue;
    k->flush_queue = log_ref(log);
    cond_signal(&k->some);
}

static void add_removal(struct log_manager *m, struct removal *r, int64_t delay_ms)
{
    struct keeper *k = &m->keeper;

    r->due_us = clock_mono_us(m->opts.clock) + delay_ms * 1000;
    LOCK_SCOPE(&k->lock);
    LL_PREPEND(k->removals, r);
    cond_signal(&k->some);
}

static void remove_files_later(void *ctx, struct segment_files *files, int64_t delay_ms)
{
    struct removal *r = xnew(struct removal);

    r->files = *files;
    add_removal(ctx, r, delay_ms);
}

void keeper_remove_later(struct log_manager *m, const char *path, int64_t delay_ms)
{
    struct removal *r = xnew(struct removal);

    r->path = xstrdup(path);
    add_removal(m, r, delay_ms);
}

static int checkpoint_now(void *ctx, struct log *log)
{
    struct log_dir *dir = manager_dir_of(ctx, log);

    int r = dir ? manager_checkpoint(ctx, dir, DIR_RECOVERY_POINTS) : 0;

    return r == 0 && dir ? manager_checkpoint(ctx, dir, DIR_CLEAN_OFFSETS) : r;
}

/* ---- periodic work ---- */

void manager_retain(struct log_manager *m, struct log *log)
{
    int deleted = 0;
    int r = log_apply_retention(log, clock_wall_ms(m->opts.clock), &deleted);

    if (r < 0)
        log_manager_dir_failed(m, log->root, r, "retention cannot remove segments");
}

/* Compacted logs are the cleaner's. */
static void retain(struct log_manager *m, struct log *log)
{
    if (!log_is_compacted(log))
        manager_retain(m, log);
}

static void flush(struct log_manager *m, struct log *log)
{
    int r = log_flush(log);

    if (r < 0)
        log_manager_dir_failed(m, log->root, r, "a log cannot be flushed");
}

static void flush_by_time(struct log_manager *m, struct log *log)
{
    struct topic_conf *conf = log_conf(log);
    int64_t flush_ms = conf->flush_ms;

    topic_conf_unref(conf);
    if (flush_ms != INT64_MAX && log_needs_flush(log, clock_wall_ms(m->opts.clock) - flush_ms))
        flush(m, log);
}

static void rest(struct log_manager *m, struct log *log)
{
    log_rest(log, clock_wall_ms(m->opts.clock) - REST_AFTER_MS);
}

static void expire_producers(struct log_manager *m, struct log *log)
{
    log_expire_producers(log, m->producer_id_expiration_ms, clock_wall_ms(m->opts.clock));
}

static void each_log(struct log_manager *m, void (*fn)(struct log_manager *m, struct log *log))
{
    size_t count;
    struct log **all = manager_all(m, NULL, &count);

    for (size_t i = 0; i < count; i++)
        fn(m, all[i]);
    manager_put_all(all, count);
}

static void checkpoint_all(struct log_manager *m, enum log_dir_file which)
{
    for (int i = 0; i < m->dir_count; i++) {
        /* A failure takes the dir offline, and has been said. */
        int r UNUSED = manager_checkpoint(m, &m->dirs[i], which);
    }
}

static void run_retention(struct log_manager *m)
{
    each_log(m, retain);
}

static void run_flush(struct log_manager *m)
{
    each_log(m, flush_by_time);
}

static void run_rest(struct log_manager *m)
{
    each_log(m, rest);
}

static void run_expiry(struct log_manager *m)
{
    each_log(m, expire_producers);
}

static void run_recovery_points(struct log_manager *m)
{
    checkpoint_all(m, DIR_RECOVERY_POINTS);
}

static void run_start_offsets(struct log_manager *m)
{
    checkpoint_all(m, DIR_START_OFFSETS);
}

static void run_high_watermarks(struct log_manager *m)
{
    if (m->writes_hws)
        checkpoint_all(m, DIR_HIGH_WATERMARKS);
}

struct task {
    void (*run)(struct log_manager *m);
    int64_t interval_ms;
    int64_t due_us;
};

enum { TASK_COUNT = 7 };

static void make_tasks(const struct log_manager *m, struct task *tasks)
{
    const struct log_manager_opts *o = &m->opts;
    const struct task all[TASK_COUNT] = {
        {run_retention, o->retention_check_interval_ms, 0},
        {run_flush, o->flush_scheduler_interval_ms, 0},
        {run_rest, REST_AFTER_MS, 0},
        {run_expiry, o->producer_id_expiration_check_interval_ms, 0},
        {run_recovery_points, o->recovery_checkpoint_interval_ms, 0},
        {run_start_offsets, o->start_offset_checkpoint_interval_ms, 0},
        {run_high_watermarks, o->high_watermark_checkpoint_interval_ms, 0},
    };
    int64_t now = clock_mono_us(o->clock);

    for (int i = 0; i < TASK_COUNT; i++) {
        tasks[i] = all[i];
        /* "Never" is a very long time, which must not overflow. */
        tasks[i].interval_ms = CLAMP(all[i].interval_ms, (int64_t)1, INT64_C(1) << 40);
        tasks[i].due_us = now + MIN(tasks[i].interval_ms, (int64_t)FIRST_RUN_MS) * 1000;
        if (all[i].interval_ms == INT64_MAX)
            tasks[i].due_us = INT64_MAX;
    }
}

static int64_t run_tasks(struct log_manager *m, struct task *tasks)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < TASK_COUNT; i++) {
        if (tasks[i].due_us <= clock_mono_us(m->opts.clock)) {
            tasks[i].run(m);
            tasks[i].due_us = clock_mono_us(m->opts.clock) + tasks[i].interval_ms * 1000;
        }
        next = MIN(next, tasks[i].due_us);
    }
    return next;
}

/* ---- the thread ---- */

static void removal_run(struct removal *r)
{
    if (r->path) {
        int e = fs_remove_tree(r->path);

        if (e < 0)
            say_warn("%s cannot be removed: %s; it is tried again at the next start", r->path,
                     strerror(-e));
    } else {
        segment_files_remove(&r->files);
    }
    free(r->path);
    free(r);
}

/* Takes what is due off the list; *ret_next is when the next is. */
static struct removal *take_due(struct keeper *k, bool all, int64_t *ret_next) REQUIRES(&k->lock)
{
    int64_t now = clock_mono_us(manager_of(k)->opts.clock);
    struct removal *r, *next, *due = NULL;

    LL_FOREACH_SAFE (k->removals, r, next) {
        if (!all && r->due_us > now) {
            *ret_next = MIN(*ret_next, r->due_us);
            continue;
        }
        LL_DELETE(k->removals, r);
        LL_PREPEND(due, r);
    }
    return due;
}

static void flush_queued(struct log_manager *m, struct log *queue)
{
    while (queue) {
        struct log *log = queue;

        queue = log->next;
        log->next = NULL;
        WITH_LOCK(&m->keeper.lock)
        log->is_queued = false;
        if (!log->is_closed)
            flush(m, log);
        log_unref(log);
    }
}

static void run_removals(struct removal *due)
{
    while (due) {
        struct removal *r = due;

        due = r->next;
        removal_run(r);
    }
}

static void keep(void *arg)
{
    struct log_manager *m = arg;
    struct keeper *k = &m->keeper;
    struct task tasks[TASK_COUNT];
    bool is_stopping = false;

    make_tasks(m, tasks);
    while (!is_stopping) {
        int64_t next = run_tasks(m, tasks);
        struct removal *due = NULL;
        struct log *queue = NULL;

        WITH_LOCK(&k->lock)
        {
            due = take_due(k, false, &next);
            if (!due && !k->flush_queue && !k->is_stopping)
                cond_wait_until(&k->some, &k->lock, next);
            queue = TAKE(k->flush_queue);
            is_stopping = k->is_stopping;
        }
        run_removals(due);
        flush_queued(m, queue);
    }
}

void keeper_init(struct log_manager *m)
{
    m->hooks = (struct log_hooks){
        .ctx = m,
        .flush_soon = flush_soon,
        .remove_later = remove_files_later,
        .checkpoint_now = checkpoint_now,
    };
    mutex_init(&m->keeper.lock, LOCK_INBOX);
    cond_init(&m->keeper.some);
}

int keeper_start(struct log_manager *m)
{
    return thread_start(&m->keeper.thread, "log-keeper", keep, m);
}

/* What waited for its delay keeps its name, and is removed at the next start. */
void keeper_stop(struct log_manager *m)
{
    struct keeper *k = &m->keeper;

    WITH_LOCK(&k->lock)
    {
        k->is_stopping = true;
        cond_signal(&k->some);
    }
    thread_join(&k->thread);
    while (k->removals) {
        struct removal *r = k->removals;

        LL_DELETE(k->removals, r);
        for (int i = 0; i < r->files.count; i++)
            file_unref(r->files.v[i]);
        free(r->path);
        free(r);
    }
    while (k->flush_queue) {
        struct log *log = k->flush_queue;

        k->flush_queue = log->next;
        log_unref(log);
    }
}
