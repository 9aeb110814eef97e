/*
 * log_futures.c - logs on their way from one log dir to another: made, found at start, put in the
 * place of the log that they are the copy of, or given up
 */
#include "broker/storage/manager_internal.h"

#include "broker/storage/names.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <errno.h>

/* What clients ask for ahead of the partition's creation is bounded by the partitions that there
 * may be. */
enum { PREFERENCES_MAX = 200000 };

/* ---- where a log is to be made ---- */

static struct preference *find_preference(struct log_manager *m, const char *key)
{
    struct preference *p;

    HASH_FIND_STR(m->preferences, key, p);
    return p;
}

static void drop_preference(struct log_manager *m, struct preference *p)
{
    HASH_DEL(m->preferences, p);
    free(p->key);
    free(p);
}

void manager_forget_preference(struct log_manager *m, const char *key)
{
    LOCK_SCOPE(&m->lock);
    struct preference *p = find_preference(m, key);

    if (p)
        drop_preference(m, p);
}

void manager_forget_preferences(struct log_manager *m)
{
    struct preference *p, *next;

    HASH_ITER (hh, m->preferences, p, next)
        drop_preference(m, p);
}

struct log_dir *manager_preferred_dir(struct log_manager *m, struct str topic, int32_t partition)
{
    CLEANUP(free_p) char *key = log_dir_name_make(topic, partition);

    LOCK_SCOPE(&m->lock);
    struct preference *p = find_preference(m, key);
    return p ? p->dir : NULL;
}

static bool lies_in(struct log *table, const char *key, const struct log_dir *dir)
{
    struct log *log;

    HASH_FIND(hh, table, key, strlen(key), log);
    return log && log->root == dir->path;
}

void log_manager_prefer_dir(struct log_manager *m, struct str topic, int32_t partition, int dir)
{
    CLEANUP(free_p) char *key = log_dir_name_make(topic, partition);

    LOCK_SCOPE(&m->lock);
    if (lies_in(m->logs, key, &m->dirs[dir]) || lies_in(m->futures, key, &m->dirs[dir]))
        return;
    struct preference *p = find_preference(m, key);
    if (!p && HASH_COUNT(m->preferences) >= PREFERENCES_MAX) {
        say_limited(SAY_WARN, 60,
                    "the log dir asked for is not remembered partition=%s dir=%s: "
                    "%d others are remembered already",
                    key, m->dirs[dir].path, PREFERENCES_MAX);
        return;
    }
    if (!p) {
        p = xnew(struct preference);
        p->key = TAKE(key);
        HASH_ADD_KEYPTR(hh, m->preferences, p->key, strlen(p->key), p);
    }
    p->dir = &m->dirs[dir];
}

/* ---- life of a future log ---- */

static struct log *current_of(struct log_manager *m, const struct log *future)
{
    return log_manager_get(m, str_of(future->topic), future->partition);
}

void manager_end_move(struct log_manager *m, const struct log *future)
{
    struct log *CLEANUP(log_put_p) log = current_of(m, future);

    if (log)
        cleaner_resume(m->cleaner, log);
}

void manager_pause_moving(struct log_manager *m)
{
    size_t count;
    struct log **all = manager_all(m, NULL, &count);

    for (size_t i = 0; i < count; i++) {
        struct log *CLEANUP(log_put_p) log = all[i]->is_future ? current_of(m, all[i]) : NULL;

        if (log)
            cleaner_pause(m->cleaner, log);
    }
    manager_put_all(all, count);
}

static int create_future(struct log_manager *m, struct log *log, struct log_dir *dir,
                         struct log **ret)
{
    struct log_create_opts opts = {
        .topic = str_of(log->topic), .partition = log->partition, .is_future = true};
    struct log *CLEANUP(log_put_p) future = NULL;

    LOCK_SCOPE(&m->creating);
    if (log_manager_offline_dir_count(m) > 0 || manager_forget_deleted(m) < 0)
        return KAFKA_STORAGE_ERROR;
    opts.conf = log_conf(log);
    int r = manager_create_in(m, dir, &opts, &future);
    topic_conf_unref(opts.conf);
    if (r == 0)
        r = log_set_topic_id(future, log_topic_id(log));
    if (r != 0)
        return r;
    *ret = log_ref(future);
    r = manager_add(m, TAKE(future));
    assert(r == 0); /* nobody else makes one */
    manager_forget_preference(m, log->key);
    return 0;
}

int log_manager_create_future(struct log_manager *m, struct log *log, int dir, struct log **ret)
{
    struct log_dir *d = &m->dirs[dir];
    int r;

    assert(log->root != d->path);
    cleaner_pause(m->cleaner, log);
    r = create_future(m, log, d, ret);
    if (r == 0)
        return 0;
    cleaner_resume(m->cleaner, log);
    if (r < 0)
        log_manager_dir_failed(m, d->path, r, "a log cannot be made");
    return KAFKA_STORAGE_ERROR;
}

int log_manager_delete_future(struct log_manager *m, struct str topic, int32_t partition)
{
    struct log *CLEANUP(log_put_p) future = log_manager_get_future(m, topic, partition);

    if (!future || !manager_take_out(m, future))
        return 0;
    int r = manager_put_away(m, future);
    manager_end_move(m, future);
    return r;
}

/* ---- the end of a move ---- */

static int checkpoint_dir(struct log_manager *m, struct log_dir *dir)
{
    int r = 0;

    for (int f = 0; dir && f < DIR_FILE_COUNT && r == 0; f++)
        if (f != DIR_HIGH_WATERMARKS || m->writes_hws)
            r = manager_checkpoint(m, dir, (enum log_dir_file)f);
    return r;
}

int log_manager_prepare_swap(struct log_manager *m, struct log *future)
{
    int r = log_flush(future);

    if (r < 0)
        log_manager_dir_failed(m, future->root, r, "a log cannot be flushed");
    return r < 0 ? r : checkpoint_dir(m, manager_dir_of(m, future));
}

/* Whether both are still what the manager knows them to be, and then they are exchanged. */
static bool exchange(struct log_manager *m, struct log *log, struct log *future)
{
    struct log *found = NULL, *copy = NULL;

    LOCK_SCOPE(&m->lock);
    HASH_FIND(hh, m->logs, log->key, log->key_len, found);
    HASH_FIND(hh, m->futures, log->key, log->key_len, copy);
    if (found != log || copy != future)
        return false;
    m->log_counts[manager_dir_of(m, log) - m->dirs]--; /* the other dir has counted its copy */
    m->is_any_stale = true;
    log_exchange(log, future);
    HASH_DEL(m->futures, future);
    log_unref(future); /* the table's */
    return true;
}

/*
 * The new directory gets its name before the old one loses it, each durably: at no moment a crash
 * finds a partition without its log.
 */
void log_manager_swap(struct log_manager *m, struct log *log, struct log *future,
                      struct swap_result *ret)
{
    CLEANUP(free_p) char *plain = xasprintf("%s/%s", (const char *)future->root, log->key);
    const char *from = log->root;

    *ret = (struct swap_result){.failed_dir = future->root};
    ret->error = log_equip(future, log);
    if (ret->error == 0)
        ret->error = log_move_dir(future, plain);
    if (ret->error != 0 || !exchange(m, log, future))
        return;
    ret->is_done = true;
    ret->failed_dir = from;
    ret->error = manager_rename_away(m, future);
    cleaner_resume(m->cleaner, log);
    say_info("log moved partition=%s from=%s to=%s end=%" PRId64, log->key, from,
             (const char *)log->root, log_end_offset(log));
}

void log_manager_swapped(struct log_manager *m, struct log *log, struct log *future,
                         const struct swap_result *result)
{
    if (result->error < 0)
        log_manager_dir_failed(m, result->failed_dir, result->error,
                               "a log cannot be moved to it, or from it");
    if (!result->is_done)
        return;
    int r UNUSED = checkpoint_dir(m, manager_dir_of(m, log));
    r = checkpoint_dir(m, manager_dir_of(m, future));
}

/* ---- both dirs have the partition ---- */

/* Whether all that a holds is in b: b has a's last leader epoch, and that ends no earlier there. */
static bool is_within(struct log *a, struct log *b)
{
    int64_t end = log_end_offset(a), epoch_end = -1;
    int32_t latest = log_latest_epoch(a), epoch = -1;

    if (log_start_offset(a) == end || (latest < 0 && log_latest_epoch(b) < 0))
        return end <= log_end_offset(b);
    if (latest < 0)
        return false;
    log_end_offset_for_epoch(b, latest, &epoch, &epoch_end);
    return epoch == latest && end <= epoch_end;
}

/* A copy may be made again. Of two that are the same, the one that got its name last is the one
 * that a move was to end with. */
static struct log *choose_loser(struct log *a, struct log *b)
{
    bool a_in_b = is_within(a, b), b_in_a = is_within(b, a);

    if (a_in_b && b_in_a)
        return a->dir_changed_us < b->dir_changed_us ? a : b;
    if (a->is_future)
        return log_end_offset(a) < log_end_offset(b) ? a : b;
    return a_in_b ? a : b_in_a ? b : NULL;
}

int manager_settle_twins(struct log_manager *m, struct log *log)
{
    struct log *CLEANUP(log_put_p) mine = log;
    struct log *CLEANUP(log_put_p) have =
        log->is_future ? log_manager_get_future(m, str_of(log->topic), log->partition)
                       : current_of(m, log);
    struct log *loser = choose_loser(have, log), *winner = loser == log ? have : log;
    int r = 0;

    if (!loser) {
        say_error("two log dirs hold partition %s, and neither has all that the other has: %s ends "
                  "at %" PRId64 ", %s at %" PRId64 "; move the one away that is worse, then start "
                  "again",
                  log->key, log->path, log_end_offset(log), have->path, log_end_offset(have));
        return -EEXIST;
    }
    say_warn("two log dirs hold partition %s, as a move between them was cut short: %s goes, all "
             "of it is in %s",
             log->key, loser->path, winner->path);
    winner->checkpointed_hw = MAX(winner->checkpointed_hw, loser->checkpointed_hw);
    if (loser == have && manager_take_out(m, have))
        r = manager_add(m, TAKE(mine));
    return r < 0 ? r : manager_put_away(m, loser);
}
