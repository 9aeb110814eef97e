#include "broker/storage/log_manager.h"

#include "broker/storage/manager_internal.h"
#include "broker/storage/names.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <errno.h>

/* ---- dirs ---- */

struct log_dir *manager_dir_of(struct log_manager *m, const struct log *log)
{
    for (int i = 0; i < m->dir_count; i++) {
        if (m->dirs[i].path == log->root)
            return &m->dirs[i];
    }
    return NULL;
}

static bool is_live(const struct log_dir *d)
{
    return !d->is_offline;
}

static int live_count(const struct log_manager *m)
{
    int n = 0;

    for (int i = 0; i < m->dir_count; i++)
        n += is_live(&m->dirs[i]);
    return n;
}

int log_manager_offline_dir_count(struct log_manager *m)
{
    return m->dir_count - live_count(m);
}

int log_manager_dir_count(const struct log_manager *m)
{
    return m->dir_count;
}

const char *log_manager_dir_path(const struct log_manager *m, int i)
{
    return m->dirs[i].path;
}

const char *log_manager_dir_absolute(const struct log_manager *m, int i)
{
    return m->dirs[i].absolute;
}

bool log_manager_dir_is_offline(const struct log_manager *m, int i)
{
    return !is_live(&m->dirs[i]);
}

/* A dir that another process holds, or with another's identity, is the operator's slip and stops
 * the start; one that the disk refuses is offline. */
static int open_dir(struct log_manager *m, int i, char **ret_why)
{
    CLEANUP(free_p) char *why = NULL;
    int r = log_dir_open(m->opts.dirs[i], &m->dirs[i], &why);

    if (r == 0)
        return 0;
    if (r == -EAGAIN || r == -EINVAL) {
        *ret_why = TAKE(why);
        return r;
    }
    say_error("log dir %s is offline: %s", m->opts.dirs[i], why ? why : strerror(-r));
    m->dirs[i].is_offline = true;
    return 0;
}

int log_manager_new(const struct log_manager_opts *opts, struct log_manager **ret, char **ret_why)
{
    struct log_manager *m = xnew(struct log_manager);
    int r = 0;

    m->opts = *opts;
    m->producer_id_expiration_ms = opts->producer_id_expiration_ms;
    mutex_init(&m->creating, LOCK_LOG_CREATE);
    mutex_init(&m->writing, LOCK_LOG_CHECKPOINT);
    mutex_init(&m->lock, LOCK_LOGS);
    m->dirs = xnew_array(struct log_dir, (size_t)opts->dir_count);
    m->log_counts = xnew_array(int, (size_t)opts->dir_count);
    keeper_init(m);
    for (; m->dir_count < opts->dir_count && r == 0; m->dir_count++)
        r = open_dir(m, m->dir_count, ret_why);
    if (r == 0 && live_count(m) == 0) {
        *ret_why = xstrdup("no directory of log.dirs can be used; the lines above say why");
        r = -EIO;
    }
    if (r < 0)
        m = log_manager_free(m);
    *ret = m;
    return r;
}

static void free_offline(struct log_manager *m)
{
    struct offline_log *o, *next;

    HASH_ITER (hh, m->offline, o, next) {
        HASH_DEL(m->offline, o);
        free(o->key);
        free(o);
    }
}

static void drop_logs(struct log **table)
{
    struct log *log, *next;

    HASH_ITER (hh, *table, log, next) {
        HASH_DEL(*table, log);
        log_unref(log);
    }
}

struct log_manager *log_manager_free(struct log_manager *m)
{
    if (!m)
        return NULL;
    m->cleaner = cleaner_free(m->cleaner);
    keeper_stop(m);
    drop_logs(&m->logs);
    drop_logs(&m->futures);
    manager_forget_preferences(m);
    free_offline(m);
    for (int i = 0; i < m->dir_count; i++)
        log_dir_deinit(&m->dirs[i]);
    mutex_deinit(&m->lock);
    mutex_deinit(&m->writing);
    mutex_deinit(&m->creating);
    free(m->log_counts);
    free(m->dirs);
    free(m);
    return NULL;
}

/* ---- identity ---- */

static int conflict(char **ret_why, const struct log_dir *a, const struct log_dir *b,
                    const char *what)
{
    *ret_why = xasprintf("log dirs %s and %s have different %s in meta.properties: they belong to "
                         "different brokers; correct log.dirs",
                         a->path, b->path, what);
    return -EINVAL;
}

int log_manager_identity(struct log_manager *m, int32_t *ret_broker_id, char **ret_cluster_id,
                         char **ret_why)
{
    const struct log_dir *broker = NULL, *cluster = NULL;

    for (int i = 0; i < m->dir_count; i++) {
        const struct log_dir *d = &m->dirs[i];

        if (!is_live(d))
            continue;
        if (d->broker_id >= 0 && broker && broker->broker_id != d->broker_id)
            return conflict(ret_why, broker, d, "broker.id");
        if (d->cluster_id && cluster && strcmp(cluster->cluster_id, d->cluster_id) != 0)
            return conflict(ret_why, cluster, d, "cluster.id");
        broker = d->broker_id >= 0 ? d : broker;
        cluster = d->cluster_id ? d : cluster;
    }
    *ret_broker_id = broker ? broker->broker_id : -1;
    *ret_cluster_id = cluster ? xstrdup(cluster->cluster_id) : NULL;
    return 0;
}

int log_manager_set_identity(struct log_manager *m, int32_t broker_id, const char *cluster_id)
{
    int r = 0;

    for (int i = 0; i < m->dir_count; i++) {
        if (!is_live(&m->dirs[i]))
            continue;
        r = log_dir_write_identity(&m->dirs[i], broker_id, cluster_id);
        if (r < 0)
            log_manager_dir_failed(m, m->dirs[i].path, r, "meta.properties cannot be written");
    }
    return live_count(m) ? 0 : r;
}

/* ---- the table ---- */

static char *key_of(struct str topic, int32_t partition)
{
    return log_dir_name_make(topic, partition);
}

static struct log *find(struct log *table, const char *key)
{
    struct log *log;

    HASH_FIND(hh, table, key, strlen(key), log);
    return log;
}

struct log *log_manager_get(struct log_manager *m, struct str topic, int32_t partition)
{
    CLEANUP(free_p) char *key = key_of(topic, partition);

    LOCK_SCOPE(&m->lock);
    struct log *log = find(m->logs, key);
    return log ? log_ref(log) : NULL;
}

struct log *log_manager_get_future(struct log_manager *m, struct str topic, int32_t partition)
{
    LOCK_SCOPE(&m->lock);
    if (!m->futures)
        return NULL;
    CLEANUP(free_p) char *key = key_of(topic, partition);
    struct log *log = find(m->futures, key);
    return log ? log_ref(log) : NULL;
}

int manager_add(struct log_manager *m, struct log *log)
{
    struct log **table = log->is_future ? &m->futures : &m->logs;

    if (!log->key)
        log->key = key_of(str_of(log->topic), log->partition);
    log->key_len = strlen(log->key);
    LOCK_SCOPE(&m->lock);
    if (find(*table, log->key))
        return -EEXIST;
    HASH_ADD_KEYPTR(hh, *table, log->key, log->key_len, log);
    m->log_counts[manager_dir_of(m, log) - m->dirs]++;
    return 0;
}

bool manager_take_out(struct log_manager *m, struct log *log)
{
    struct log **table = log->is_future ? &m->futures : &m->logs;

    LOCK_SCOPE(&m->lock);
    if (find(*table, log->key) != log)
        return false;
    HASH_DEL(*table, log);
    m->log_counts[manager_dir_of(m, log) - m->dirs]--;
    m->is_any_stale = true;
    log_unref(log); /* the table's; the caller has one */
    return true;
}

struct log **manager_all(struct log_manager *m, const struct log_dir *dir, size_t *ret_count)
{
    struct log *log, *next;
    size_t n = 0;

    LOCK_SCOPE(&m->lock);
    struct log **all = xnew_array(struct log *, HASH_COUNT(m->logs) + HASH_COUNT(m->futures));
    HASH_ITER (hh, m->logs, log, next) {
        if (!dir || log->root == dir->path)
            all[n++] = log_ref(log);
    }
    HASH_ITER (hh, m->futures, log, next) {
        if (!dir || log->root == dir->path)
            all[n++] = log_ref(log);
    }
    *ret_count = n;
    return all;
}

void manager_put_all(struct log **logs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        log_unref(logs[i]);
    free(logs);
}

bool log_manager_is_empty(struct log_manager *m)
{
    LOCK_SCOPE(&m->lock);
    return !m->logs && !m->futures;
}

void log_manager_each(struct log_manager *m, bool (*each)(struct log *log, void *ctx), void *ctx)
{
    size_t count;
    struct log **all = manager_all(m, NULL, &count);

    for (size_t i = 0; i < count && each(all[i], ctx); i++)
        continue;
    manager_put_all(all, count);
}

/* ---- checkpoints ---- */

static int64_t first_base(struct log *log)
{
    LOCK_SCOPE(&log->shared);
    return log->segments[0]->base;
}

/* What the checkpoint is to say of the log, -1: nothing. */
static int64_t value_of(struct log *log, enum log_dir_file which)
{
    int64_t start;

    switch (which) {
    case DIR_RECOVERY_POINTS:
        return log_recovery_point(log);
    case DIR_START_OFFSETS:
        /* A start that is the first segment's own needs no mention. */
        start = log_start_offset(log);
        return start > first_base(log) ? start : -1;
    case DIR_CLEAN_OFFSETS:
        return atomic_load(&log->first_dirty);
    default:
        /* Until a leader or follower is made of it, what was found at start is the better word. */
        if (log->is_hw_set)
            return log_high_watermark(log);
        return log->checkpointed_hw > 0 ? log->checkpointed_hw : -1;
    }
}

/* The same logs with the same offsets have the same sum, whatever their order. */
static uint64_t sum_of(const struct log *log, int64_t offset)
{
    uint64_t x = ((uint64_t)(uintptr_t)log ^ (uint64_t)offset) * UINT64_C(0x9e3779b97f4a7c15);

    return (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
}

static int write_checkpoint(struct log_manager *m, struct log_dir *dir, enum log_dir_file which)
{
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0};
    uint64_t sum = 1;
    size_t count;
    struct log **all = manager_all(m, dir, &count);
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t offset = value_of(all[i], which);

        if (offset < 0)
            continue;
        checkpoint_add(&c, str_of(all[i]->topic), all[i]->partition, offset);
        sum += sum_of(all[i], offset);
    }
    /* Most of the time nothing has moved, and the disk is left alone. */
    if (sum != dir->written[which])
        r = log_dir_write(dir, which, &c);
    if (r == 0)
        dir->written[which] = sum;
    manager_put_all(all, count);
    return r;
}

int manager_checkpoint(struct log_manager *m, struct log_dir *dir, enum log_dir_file which)
{
    int r = 0;

    if (!is_live(dir))
        return 0;
    WITH_LOCK(&m->writing)
    {
        r = write_checkpoint(m, dir, which);
    }
    if (r < 0)
        log_manager_dir_failed(m, dir->path, r, "a checkpoint cannot be written");
    return r;
}

int64_t log_manager_checkpointed_hw(struct log_manager *m, struct str topic, int32_t partition)
{
    struct log *CLEANUP(log_put_p) log = log_manager_get(m, topic, partition);

    return log ? log->checkpointed_hw : 0;
}

void log_manager_enable_hw_checkpoints(struct log_manager *m)
{
    m->writes_hws = true;
}

/* ---- create ---- */

static struct log_dir *emptiest_dir(struct log_manager *m)
{
    struct log_dir *best = NULL;

    LOCK_SCOPE(&m->lock);
    for (int i = 0; i < m->dir_count; i++) {
        if (is_live(&m->dirs[i]) && (!best || m->log_counts[i] < m->log_counts[best - m->dirs]))
            best = &m->dirs[i];
    }
    return best;
}

int manager_forget_deleted(struct log_manager *m)
{
    bool is_stale = false;
    int r = 0;

    WITH_LOCK(&m->lock)
    {
        is_stale = m->is_any_stale;
        m->is_any_stale = false;
    }
    for (int i = 0; is_stale && i < m->dir_count; i++)
        for (int f = 0; f < DIR_FILE_COUNT && r == 0; f++)
            r = manager_checkpoint(m, &m->dirs[i], (enum log_dir_file)f);
    return r;
}

int manager_create_in(struct log_manager *m, struct log_dir *dir,
                      const struct log_create_opts *opts, struct log **ret)
{
    CLEANUP(free_p)
    char *name = opts->is_future ? log_dir_name_make_future(opts->topic, opts->partition)
                                 : key_of(opts->topic, opts->partition);
    CLEANUP(free_p) char *path = xasprintf("%s/%s", dir->path, name);
    int r = fs_mkdir(path);
    bool is_there = r == -EEXIST;

    if (r < 0 && !is_there)
        return r;
    /* The first flush makes the name durable. */
    return log_open(
        &(struct log_open_opts){
            .topic = opts->topic,
            .partition = opts->partition,
            .root = dir->path,
            .path = path,
            .conf = opts->conf,
            .clock = m->opts.clock,
            .hooks = &m->hooks,
            .producer_id_expiration_ms = m->producer_id_expiration_ms,
            .is_clean = !is_there,
            .is_future = opts->is_future,
        },
        ret);
}

static int create_new(struct log_manager *m, const struct log_create_opts *opts, struct log **ret)
{
    struct log_dir *wanted = manager_preferred_dir(m, opts->topic, opts->partition);
    struct log_dir *dir;

    if (!opts->is_new && log_manager_offline_dir_count(m) > 0)
        return KAFKA_STORAGE_ERROR;
    if (manager_forget_deleted(m) < 0)
        return KAFKA_STORAGE_ERROR;
    /* Where one is asked for, no other will do. */
    while ((dir = wanted ? wanted : emptiest_dir(m)) && is_live(dir)) {
        struct log *log;
        int r = manager_create_in(m, dir, opts, &log);

        if (r == 0) {
            *ret = log_ref(log);
            r = manager_add(m, log);
            assert(r == 0); /* nobody else makes one */
            manager_forget_preference(m, log->key);
            return 0;
        }
        log_manager_dir_failed(m, dir->path, r, "a log cannot be made");
        if (!dir->is_offline)
            break; /* full: it goes on without this log */
    }
    return KAFKA_STORAGE_ERROR;
}

static int get_or_create(struct log_manager *m, const struct log_create_opts *opts,
                         struct log **ret)
{
    LOCK_SCOPE(&m->creating);

    *ret = log_manager_get(m, opts->topic, opts->partition);
    if (*ret)
        return 0;
    if (log_manager_is_offline(m, opts->topic, opts->partition))
        return KAFKA_STORAGE_ERROR;
    return create_new(m, opts, ret);
}

int log_manager_create(struct log_manager *m, const struct log_create_opts *opts, struct log **ret)
{
    struct log *log = NULL;
    int r = get_or_create(m, opts, &log);

    if (r)
        return r;
    r = uuid_is_zero(opts->topic_id) ? 0 : log_set_topic_id(log, opts->topic_id);
    if (r == 0) {
        *ret = log;
        return 0;
    }
    if (r < 0) {
        log_manager_dir_failed(m, log->root, r, "partition.metadata cannot be written");
        r = KAFKA_STORAGE_ERROR;
    }
    log_unref(log);
    return r;
}

/* ---- delete ---- */

int manager_rename_away(struct log_manager *m, struct log *log)
{
    CLEANUP(free_p) char *name = log_dir_name_make_delete(str_of(log->topic), log->partition);
    CLEANUP(free_p) char *path = xasprintf("%s/%s", (const char *)log->root, name);
    struct topic_conf *conf = log_conf(log);
    int64_t delay_ms = conf->file_delete_delay_ms;

    topic_conf_unref(conf);
    log->is_closed = true;
    cleaner_abort(m->cleaner, log);
    int r = log_move_dir(log, path);
    if (r < 0)
        return r;
    say_info("log deleted partition=%s dir=%s files go in %" PRId64 " ms (file.delete.delay.ms)",
             log->key, (const char *)log->root, delay_ms);
    keeper_remove_later(m, path, delay_ms);
    return 0;
}

int manager_put_away(struct log_manager *m, struct log *log)
{
    int r = manager_rename_away(m, log);

    if (r < 0)
        log_manager_dir_failed(m, log->root, r, "a log's directory cannot be renamed for deletion");
    return r;
}

int log_manager_delete(struct log_manager *m, struct str topic, int32_t partition)
{
    struct log *CLEANUP(log_put_p) log = log_manager_get(m, topic, partition);

    if (!log || !manager_take_out(m, log))
        return 0;
    return manager_put_away(m, log);
}

/* ---- failure of a dir ---- */

bool log_manager_is_offline(struct log_manager *m, struct str topic, int32_t partition)
{
    CLEANUP(free_p) char *key = key_of(topic, partition);
    struct offline_log *o;

    LOCK_SCOPE(&m->lock);
    HASH_FIND_STR(m->offline, key, o);
    return o != NULL;
}

static void note_offline(struct log_manager *m, const char *key)
{
    struct offline_log *o;

    HASH_FIND_STR(m->offline, key, o);
    if (o)
        return;
    o = xnew(struct offline_log);
    o->key = xstrdup(key);
    HASH_ADD_KEYPTR(hh, m->offline, o->key, strlen(o->key), o);
}

static void take_logs_offline(struct log_manager *m, const struct log_dir *d)
{
    struct log **gone = NULL, *log, *next;
    size_t count = 0;

    WITH_LOCK(&m->lock)
    {
        gone = xnew_array(struct log *, HASH_COUNT(m->logs) + HASH_COUNT(m->futures));
        HASH_ITER (hh, m->logs, log, next) {
            if (log->root != d->path)
                continue;
            HASH_DEL(m->logs, log);
            note_offline(m, log->key);
            log->is_broken = true;
            gone[count++] = log;
        }
        HASH_ITER (hh, m->futures, log, next) {
            if (log->root != d->path)
                continue;
            HASH_DEL(m->futures, log);
            log->is_broken = true;
            gone[count++] = log;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (gone[i]->is_future)
            manager_end_move(m, gone[i]);
    manager_put_all(gone, count);
}

void log_manager_dir_failed(struct log_manager *m, const char *dir, int err, const char *what)
{
    const struct log_manager_events *ev = &m->opts.events;

    for (int i = 0; i < m->dir_count; i++) {
        struct log_dir *d = &m->dirs[i];

        if (strcmp(d->path, dir) != 0 || atomic_exchange(&d->is_offline, true))
            continue;
        say_error("log dir %s is offline: %s: %s; its partitions are led elsewhere now, and come "
                  "back when the disk %s and this broker started again",
                  dir, what, strerror(-err),
                  err == -ENOSPC || err == -EDQUOT ? "has space (enlarge it, or lower retention)"
                                                   : "is mended");
        take_logs_offline(m, d);
        if (ev->dir_failed)
            ev->dir_failed(ev->ctx, d->path);
        if (live_count(m) == 0 && ev->all_dirs_failed)
            ev->all_dirs_failed(ev->ctx);
    }
}

/* ---- start and stop ---- */

int log_manager_load(struct log_manager *m)
{
    int64_t begun = clock_mono_us(m->opts.clock);
    int r = 0;

    for (int i = 0; i < m->dir_count && r == 0; i++) {
        struct log_dir *d = &m->dirs[i];

        if (!is_live(d))
            continue;
        r = loader_load_dir(m, d);
        if (r < 0 && r != -EEXIST) {
            log_manager_dir_failed(m, d->path, r, "its logs cannot be loaded");
            r = d->is_offline && live_count(m) ? 0 : r;
        }
    }
    if (r == 0)
        manager_pause_moving(m);
    say_info("logs loaded count=%u dirs=%d ms=%" PRId64, HASH_COUNT(m->logs), live_count(m),
             (clock_mono_us(m->opts.clock) - begun) / 1000);
    return r;
}

int log_manager_start(struct log_manager *m)
{
    int r = keeper_start(m);

    if (r == 0 && m->opts.cleaner.threads > 0)
        m->cleaner = cleaner_new(m);
    return r < 0 || !m->cleaner ? r : cleaner_start(m->cleaner);
}

int log_manager_reconfigure(struct log_manager *m, const struct log_manager_settings *s)
{
    m->producer_id_expiration_ms = s->producer_id_expiration_ms;
    m->opts.recovery_threads_per_dir = s->recovery_threads_per_dir;
    if (m->cleaner)
        return cleaner_reconfigure(m->cleaner, &s->cleaner);
    m->opts.cleaner = s->cleaner; /* before the start, or not wanted */
    return 0;
}

static int close_dir(struct log_manager *m, struct log_dir *d)
{
    size_t count;
    struct log **all = manager_all(m, d, &count);
    int r = manager_each_parallel(all, count, log_close);

    manager_put_all(all, count);
    for (int f = 0; f < DIR_FILE_COUNT && r == 0; f++)
        if (f != DIR_HIGH_WATERMARKS || m->writes_hws)
            r = manager_checkpoint(m, d, (enum log_dir_file)f);
    return r;
}

void log_manager_stop(struct log_manager *m)
{
    m->cleaner = cleaner_free(m->cleaner);
    keeper_stop(m);
    for (int i = 0; i < m->dir_count; i++) {
        struct log_dir *d = &m->dirs[i];
        int r = is_live(d) && (d->is_loaded || d->was_clean) ? close_dir(m, d) : -ECANCELED;

        if (r == 0)
            r = log_dir_mark_clean(d);
        if (r < 0 && r != -ECANCELED)
            say_error("log dir %s was not closed cleanly: %s; it is recovered at the next start",
                      d->path, strerror(-r));
    }
}
