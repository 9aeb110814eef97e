#include "broker/storage/cleaner.h"

#include "broker/storage/cleaner_pass.h"
#include "broker/storage/cleaner_throttle.h"
#include "broker/storage/manager_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

enum { THREADS_MAX = 64, PAUSE_US = 60 * 1000 * 1000, BUFFER_MIN = 16 << 10 };

struct cleaner {
    struct log_manager *m;
    struct cleaner_conf conf; /* changes while no thread runs, but for backoff_ms, under the lock */
    struct thread threads[THREADS_MAX];
    int thread_count;
    struct mutex picking; /* LOCK_CLEANER_PICK */
    struct mutex lock;    /* LOCK_CLEANER; guards what follows, and the cleaner's fields of logs */
    struct cond wake;     /* is_stopping, a log was closed, or is not being cleaned any more */
    struct cleaner_throttle throttle;
    bool is_stopping;
    int uncleanable_count;
};

/* A log that this thread alone cleans. */
struct job {
    struct log *log; /* a reference; NULL: none */
    struct log_view view;
    struct cleanable what;
};

/* A log that could not even be looked at. */
struct failure {
    struct log *log; /* a reference; NULL: none */
    int r;
};

/* ---- choice ---- */

static int64_t now_us(const struct cleaner *c)
{
    return clock_mono_us(c->m->opts.clock);
}

static bool is_free(struct cleaner *c, const struct log *log)
{
    LOCK_SCOPE(&c->lock);
    return !log->is_being_cleaned && !log->is_uncleanable && !log->is_moving &&
           log->clean_after_us <= now_us(c);
}

static void put_aside(struct cleaner *c, struct log *log, int r)
{
    WITH_LOCK(&c->lock)
    {
        c->uncleanable_count += !log->is_uncleanable;
        log->is_uncleanable = true;
    }
    say_error("log cannot be cleaned and is put aside until this broker starts again "
              "partition=%s-%d dir=%s: %s; it keeps all its records, the lines above say where. "
              "Other logs go on being cleaned. Where other replicas are sound, stop this broker, "
              "remove the directory, and start it to fetch them anew",
              log->topic, log->partition, log->path, err_name(r));
}

static void try_later(struct cleaner *c, struct log *log)
{
    LOCK_SCOPE(&c->lock);
    log->clean_after_us = now_us(c) + PAUSE_US;
}

/* What passes by itself, or by an operator's hand, and left the log as it was. */
static bool is_passing(const struct log *log, int r)
{
    return !atomic_load(&log->is_broken) &&
           (r == -ENOSPC || r == -EDQUOT || r == -EMFILE || r == -ENFILE);
}

static void say_passing(const struct log *log, int r)
{
    if (r == -EMFILE || r == -ENFILE)
        say_error("cleaning needs open files and there are no more, it is tried again in a minute: "
                  "this broker may have %" PRIu64 " (ulimit -n, LimitNOFILE=%s), most are "
                  "connections or segments that are read partition=%s-%d dir=%s",
                  file_limit(), r == -ENFILE ? "; the whole machine has no more: fs.file-max" : "",
                  log->topic, log->partition, log->path);
    else
        say_warn("cleaning needs room for a copy of a segment and the disk has none, it is tried "
                 "again in a minute partition=%s-%d dir=%s",
                 log->topic, log->partition, log->path);
}

/* What ends in an error concerns this log alone, or its disk. */
static void on_error(struct cleaner *c, struct log *log, int r)
{
    if (r == -ECANCELED) {
        say_info("cleaning ended early, as the log or this broker wanted it to; it is done again "
                 "later partition=%s-%d",
                 log->topic, log->partition);
    } else if (is_passing(log, r)) {
        try_later(c, log);
        say_passing(log, r);
    } else if (r == -EBADMSG || r == -EOVERFLOW) {
        put_aside(c, log, r);
    } else {
        log_manager_dir_failed(c->m, log->root, r, "a log cannot be cleaned");
    }
}

static void job_deinit(struct job *j)
{
    log_view_deinit(&j->view);
    j->log = log_unref(j->log);
}

/* False for a log that is closed or moving: whoever wants that may have found already that nobody
 * cleans it. */
static bool claim(struct cleaner *c, struct log *log)
{
    LOCK_SCOPE(&c->lock);
    log->is_being_cleaned = !atomic_load(&log->is_closed) && !log->is_moving;
    return log->is_being_cleaned;
}

static void let_go(struct cleaner *c, struct log *log)
{
    LOCK_SCOPE(&c->lock);
    log->is_being_cleaned = false;
    cond_broadcast(&c->wake);
}

void cleaner_abort(struct cleaner *c, struct log *log)
{
    if (!c)
        return;
    LOCK_SCOPE(&c->lock);
    assert(atomic_load(&log->is_closed));
    cond_broadcast(&c->wake);
    while (log->is_being_cleaned)
        cond_wait(&c->wake, &c->lock);
}

void cleaner_pause(struct cleaner *c, struct log *log)
{
    if (!c) {
        log->is_moving = true; /* before the cleaners are started, if ever */
        return;
    }
    LOCK_SCOPE(&c->lock);
    log->is_moving = true;
    cond_broadcast(&c->wake);
    while (log->is_being_cleaned)
        cond_wait(&c->wake, &c->lock);
}

void cleaner_resume(struct cleaner *c, struct log *log)
{
    if (!c) {
        log->is_moving = false;
        return;
    }
    LOCK_SCOPE(&c->lock);
    log->is_moving = false;
}

/* Looks at one log; it becomes the job where it is due and dirtier than the one before. */
static void consider(struct cleaner *c, struct log *log, struct job *best, struct failure *failed)
{
    CLEANUP(log_view_deinit) struct log_view view = {.count = 0};
    struct cleanable what = {.is_due = false};

    if (log->is_future || !log_is_compacted(log) || !is_free(c, log))
        return;
    log_view_init(&view, log);
    int r = cleaner_look(log, &view, clock_wall_ms(c->m->opts.clock), &what);
    if (r < 0 && log_view_check(&view, log) == 0 && !failed->log)
        *failed = (struct failure){log_ref(log), r};
    if (r < 0)
        return;
    if (what.is_reset)
        log_cleaned_to(log, &view, what.first_dirty);
    if (!what.is_due || (best->log && best->what.ratio >= what.ratio))
        return;
    job_deinit(best);
    *best = (struct job){log_ref(log), MOVE(view), what};
}

/* The dirtiest log that is due, claimed. */
static struct job pick(struct cleaner *c, struct failure *failed)
{
    struct job best = {.log = NULL};
    size_t count;

    LOCK_SCOPE(&c->picking);
    struct log **all = manager_all(c->m, NULL, &count);
    for (size_t i = 0; i < count; i++)
        consider(c, all[i], &best, failed);
    manager_put_all(all, count);
    if (best.log && !claim(c, best.log))
        job_deinit(&best);
    return best;
}

/* ---- one log ---- */

struct pacing {
    struct cleaner *c;
    const struct log *log;
};

static bool has_to_end(const struct pacing *p) REQUIRES(&p->c->lock)
{
    return p->c->is_stopping || atomic_load(&p->log->is_closed) || p->log->is_moving;
}

/* As the throttle, the broker's stop and a deletion want it. */
static int pace(void *ctx, uint64_t bytes)
{
    const struct pacing *p = ctx;
    struct cleaner *c = p->c;

    LOCK_SCOPE(&c->lock);
    int64_t now = now_us(c);
    int64_t until = now + cleaner_throttle_add(&c->throttle, bytes, now);

    while (!has_to_end(p) && until > now && cond_wait_until(&c->wake, &c->lock, until))
        continue;
    return has_to_end(p) ? -ECANCELED : 0;
}

static void say_cleaned(const struct job *j, const struct cleaner_stats *s, int64_t ms)
{
    say_info("log cleaned partition=%s-%d dirty=%.0f%% clean_below=%lld was=%lld segments=%u "
             "left=%u bytes=%lld left=%lld (%.0f%%) records=%lld left=%lld keys=%llu%s ms=%lld "
             "mb_per_s=%.1f",
             j->log->topic, j->log->partition, j->what.ratio * 100, (long long)s->next_dirty,
             (long long)s->first_dirty, s->segments_before, s->segments_after,
             (long long)s->bytes_before, (long long)s->bytes_after,
             s->bytes_before ? 100.0 * (double)s->bytes_after / (double)s->bytes_before : 100.0,
             (long long)s->records_before, (long long)s->records_after,
             (unsigned long long)s->map_keys,
             s->is_map_full ? " (its map was full: the rest follows; a larger "
                              "log.cleaner.dedupe.buffer.size does it at once)"
                            : "",
             (long long)ms, (double)s->bytes_read / 1e3 / (double)MAX(ms, (int64_t)1));
}

/* True where it got anywhere. The log is let go of before anything is called that may wait for one
 * who waits for that. */
static bool clean(struct cleaner *c, struct job *j)
{
    struct pacing pacing = {c, j->log};
    const struct cleaner_pass_opts opts = {
        .clock = c->m->opts.clock,
        .map_bytes = c->conf.dedupe_buffer_bytes / c->conf.threads,
        .map_load_factor = c->conf.load_factor,
        .buffer_bytes =
            (size_t)MAX(c->conf.io_buffer_bytes / c->conf.threads / 2, (int32_t)BUFFER_MIN),
        .pace = {&pacing, pace}};
    struct cleaner_stats stats;
    int64_t begun = now_us(c);

    say_info("cleaning partition=%s-%d from=%lld to=%lld dirty=%.0f%% dirty_bytes=%lld%s",
             j->log->topic, j->log->partition, (long long)j->what.first_dirty,
             (long long)j->what.upper, j->what.ratio * 100, (long long)j->what.dirty_bytes,
             j->what.is_overdue ? " (max.compaction.lag.ms)" : "");
    int r = cleaner_pass(j->log, &j->view, &j->what, &opts, &stats);
    if (r == 0)
        log_cleaned_to(j->log, &j->view, stats.next_dirty);
    let_go(c, j->log);
    if (r < 0) {
        on_error(c, j->log, r);
        return false;
    }
    /* A failure takes the dir offline, and has been said. */
    r = manager_checkpoint(c->m, manager_dir_of(c->m, j->log), DIR_CLEAN_OFFSETS);
    say_cleaned(j, &stats, (now_us(c) - begun) / 1000);
    return r == 0 && stats.next_dirty > stats.first_dirty;
}

static void retain_compacted(struct cleaner *c)
{
    size_t count;
    struct log **all = manager_all(c->m, NULL, &count);

    for (size_t i = 0; i < count; i++) {
        bool is_busy = false;

        WITH_LOCK(&c->lock)
        {
            is_busy = all[i]->is_being_cleaned;
        }
        if (!is_busy && log_is_compacted(all[i]))
            manager_retain(c->m, all[i]);
    }
    manager_put_all(all, count);
}

bool cleaner_turn(struct cleaner *c)
{
    struct failure failed = {.log = NULL};
    CLEANUP(job_deinit) struct job j = pick(c, &failed);
    bool did = j.log && clean(c, &j);

    if (failed.log)
        on_error(c, failed.log, failed.r);
    log_unref(failed.log);
    retain_compacted(c);
    return did;
}

/* ---- threads ---- */

static bool is_over(struct cleaner *c, bool did)
{
    LOCK_SCOPE(&c->lock);
    int64_t until = now_us(c) + CLAMP(c->conf.backoff_ms, (int64_t)1, INT64_C(1) << 40) * 1000;

    while (!did && !c->is_stopping && cond_wait_until(&c->wake, &c->lock, until))
        continue;
    return c->is_stopping;
}

static void run(void *arg)
{
    struct cleaner *c = arg;

    while (!is_over(c, cleaner_turn(c)))
        continue;
}

static struct cleaner_conf usable(const struct cleaner_conf *conf)
{
    struct cleaner_conf c = *conf;

    c.threads = CLAMP(c.threads, 1, (int)THREADS_MAX);
    return c;
}

struct cleaner *cleaner_new(struct log_manager *m)
{
    struct cleaner *c = xnew(struct cleaner);

    c->m = m;
    c->conf = usable(&m->opts.cleaner);
    mutex_init(&c->picking, LOCK_CLEANER_PICK);
    mutex_init(&c->lock, LOCK_CLEANER);
    cond_init(&c->wake);
    cleaner_throttle_init(&c->throttle, c->conf.max_bytes_per_second, now_us(c));
    return c;
}

int cleaner_start(struct cleaner *c)
{
    int r = 0;

    for (; c->thread_count < c->conf.threads && r == 0; c->thread_count += r == 0) {
        CLEANUP(free_p) char *name = xasprintf("cleaner-%d", c->thread_count);

        r = thread_start(&c->threads[c->thread_count], name, run, c);
    }
    return r;
}

static void stop_threads(struct cleaner *c)
{
    WITH_LOCK(&c->lock)
    {
        c->is_stopping = true;
        cond_broadcast(&c->wake);
    }
    for (; c->thread_count > 0; c->thread_count--)
        thread_join(&c->threads[c->thread_count - 1]);
}

/* Settings that the threads may see change while they clean. */
static void set_pace(struct cleaner *c, const struct cleaner_conf *conf)
{
    LOCK_SCOPE(&c->lock);
    c->conf.backoff_ms = conf->backoff_ms;
    if (c->conf.max_bytes_per_second != conf->max_bytes_per_second)
        cleaner_throttle_init(&c->throttle, conf->max_bytes_per_second, now_us(c));
    c->conf.max_bytes_per_second = conf->max_bytes_per_second;
    cond_broadcast(&c->wake);
}

static bool has_same_buffers(const struct cleaner_conf *a, const struct cleaner_conf *b)
{
    return a->threads == b->threads && a->dedupe_buffer_bytes == b->dedupe_buffer_bytes &&
           a->load_factor == b->load_factor && a->io_buffer_bytes == b->io_buffer_bytes;
}

int cleaner_reconfigure(struct cleaner *c, const struct cleaner_conf *conf)
{
    struct cleaner_conf next = usable(conf);

    set_pace(c, &next);
    if (has_same_buffers(&c->conf, &next))
        return 0;
    stop_threads(c);
    c->conf = next;
    WITH_LOCK(&c->lock)
    {
        c->is_stopping = false;
    }
    return cleaner_start(c);
}

struct cleaner *cleaner_free(struct cleaner *c)
{
    if (!c)
        return NULL;
    stop_threads(c);
    cond_deinit(&c->wake);
    mutex_deinit(&c->lock);
    mutex_deinit(&c->picking);
    free(c);
    return NULL;
}

int cleaner_uncleanable_count(struct cleaner *c)
{
    LOCK_SCOPE(&c->lock);
    return c->uncleanable_count;
}
