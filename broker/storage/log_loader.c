/*
 * log_loader.c - opens the logs of one dir at start, with num.recovery.threads.per.data.dir
 * threads, and closes them at the end
 */
#include "broker/storage/manager_internal.h"

#include "broker/storage/names.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <errno.h>

enum { SAY_EVERY_US = 5 * 1000 * 1000, MAX_THREADS = 64 };

/* One dir being loaded; threads take names one by one. */
struct loading {
    struct log_manager *m;
    struct log_dir *dir;
    struct fs_names names;
    _Atomic size_t next;
    _Atomic size_t opened;
    _Atomic int result;
    _Atomic int64_t said_us;
    int64_t begun_us;
};

static int open_log(struct loading *l, const struct log_dir_name *name, const char *entry,
                    struct log **ret)
{
    const struct log_manager_opts *opts = &l->m->opts;
    CLEANUP(free_p) char *topic = str_dup(name->topic);
    CLEANUP(free_p) char *path = xasprintf("%s/%s", l->dir->path, entry);
    const struct checkpoint_entry *recovery =
        checkpoint_find(&l->dir->recovery_points, name->topic, name->partition);
    const struct checkpoint_entry *start =
        checkpoint_find(&l->dir->start_offsets, name->topic, name->partition);
    struct topic_conf *conf = opts->events.topic_conf
                                  ? opts->events.topic_conf(opts->events.ctx, topic)
                                  : topic_conf_new();

    if (!conf) {
        say_error("log %s: the settings of topic %s cannot be read", path, topic);
        return -EIO;
    }
    int r = log_open(
        &(struct log_open_opts){
            .topic = name->topic,
            .partition = name->partition,
            .root = l->dir->path,
            .path = path,
            .conf = conf,
            .clock = opts->clock,
            .hooks = &l->m->hooks,
            .producer_id_expiration_ms = l->m->producer_id_expiration_ms,
            .is_clean = l->dir->was_clean,
            .recovery_point = recovery ? recovery->offset : 0,
            .start_offset = start ? start->offset : 0,
            .is_future = name->kind == LOG_DIR_FUTURE,
        },
        ret);
    topic_conf_unref(conf);
    return r;
}

static int load_log(struct loading *l, const struct log_dir_name *name, const char *entry)
{
    const struct checkpoint_entry *hw =
        checkpoint_find(&l->dir->high_watermarks, name->topic, name->partition);
    const struct checkpoint_entry *clean =
        checkpoint_find(&l->dir->clean_offsets, name->topic, name->partition);
    struct log *log;
    int r = open_log(l, name, entry, &log);

    if (r < 0) {
        say_error("log %s/%s cannot be opened: %s", l->dir->path, entry, strerror(-r));
        return r;
    }
    log->checkpointed_hw = hw ? hw->offset : 0;
    if (log->is_future)
        log_set_high_watermark(log, log->checkpointed_hw);
    log->first_dirty = clean ? clean->offset : -1;
    r = manager_add(l->m, log);
    return r == -EEXIST ? manager_settle_twins(l->m, log) : r;
}

/* Kafka refuses to start with a directory that is no partition's. Here it is left alone, and
 * said. */
static int warn_of_stranger(const char *path, const char *entry)
{
    struct fs_info info;

    if (fs_stat(path, &info) == 0 && info.is_dir && strcmp(entry, "lost+found") != 0)
        say_warn("%s is no partition's directory and is left alone; Kafka itself would not start "
                 "with it",
                 path);
    return 0;
}

static int load_entry(struct loading *l, const char *entry)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", l->dir->path, entry);
    struct log_dir_name name;

    if (log_dir_name_parse(entry, &name) < 0)
        return warn_of_stranger(path, entry);
    switch (name.kind) {
    case LOG_DIR_PLAIN:
    case LOG_DIR_FUTURE:
        return load_log(l, &name, entry);
    case LOG_DIR_DELETE:
        keeper_remove_later(l->m, path, 0);
        return 0;
    default:
        say_warn("%s is left alone: it belonged to a topic that is gone", path);
        return 0;
    }
}

static void tell_progress(struct loading *l)
{
    int64_t now = clock_mono_us(l->m->opts.clock);
    int64_t said = l->said_us;

    if (now - said < SAY_EVERY_US || !atomic_compare_exchange_strong(&l->said_us, &said, now))
        return;
    say_info("loading logs of %s: %zu of %zu done after %" PRId64 " s%s", l->dir->path,
             (size_t)l->opened, l->names.count, (now - l->begun_us) / 1000000,
             l->dir->was_clean ? "" : " (recovering, as the last stop was not clean)");
}

static void load_some(void *arg)
{
    struct loading *l = arg;
    size_t i;

    while (l->result == 0 && (i = l->next++) < l->names.count) {
        int r = load_entry(l, l->names.v[i]);

        if (r < 0)
            l->result = r;
        l->opened++;
        tell_progress(l);
    }
}

static int load_in_parallel(struct loading *l)
{
    struct thread threads[MAX_THREADS];
    int wanted = (int)MIN((size_t)CLAMP(l->m->opts.recovery_threads_per_dir, 1, MAX_THREADS),
                          l->names.count);
    int started = 0;

    /* Finding an entry sorts a checkpoint at first use, which is not for many threads at once. */
    checkpoint_find(&l->dir->recovery_points, STR(""), 0);
    checkpoint_find(&l->dir->start_offsets, STR(""), 0);
    checkpoint_find(&l->dir->high_watermarks, STR(""), 0);
    checkpoint_find(&l->dir->clean_offsets, STR(""), 0);
    for (; started < wanted - 1; started++) {
        if (thread_start(&threads[started], "log-loader", load_some, l) < 0)
            break;
    }
    load_some(l);
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    return l->result;
}

int loader_load_dir(struct log_manager *m, struct log_dir *dir)
{
    struct loading l = {.m = m, .dir = dir};
    int r = log_dir_begin_load(dir);

    l.begun_us = clock_mono_us(m->opts.clock);
    l.said_us = l.begun_us;
    if (r == 0)
        r = fs_list_dir(dir->path, &l.names);
    if (r == 0)
        r = load_in_parallel(&l);
    fs_names_deinit(&l.names);
    dir->is_loaded = r == 0;
    return r;
}

/* ---- closing ---- */

struct closing {
    struct log **logs;
    size_t count;
    int (*fn)(struct log *log);
    _Atomic size_t next;
    _Atomic int result;
};

static void close_some(void *arg)
{
    struct closing *c = arg;
    size_t i;

    while ((i = c->next++) < c->count) {
        int r = c->fn(c->logs[i]);

        if (r < 0)
            c->result = r;
    }
}

int manager_each_parallel(struct log **logs, size_t count, int (*fn)(struct log *log))
{
    enum { THREADS = 8, FEW = 16 };
    struct closing c = {.logs = logs, .count = count, .fn = fn};
    struct thread threads[THREADS];
    int started = 0;

    while (count > FEW && started < THREADS &&
           thread_start(&threads[started], "log-closer", close_some, &c) == 0)
        started++;
    close_some(&c);
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    return c.result;
}
