#include "broker/replica/partition.h"

#include "broker/config/throttled.h"
#include "broker/replica/refused.h"
#include "common/base/be.h"
#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- life ---- */

struct partition *partition_new(struct replica_env *env, struct str topic, int32_t id)
{
    struct partition *part = xnew(struct partition);

    part->refs = 1;
    part->env = env;
    part->topic = (struct str){str_dup(topic), topic.len};
    part->id = id;
    mutex_init(&part->lock, LOCK_PARTITION);
    part->controller_epoch = -1;
    part->leader = -1;
    part->leader_epoch = -1;
    part->partition_epoch = -1;
    part->epoch_start = -1;
    part->move.cut = INT64_MAX;
    part->log = log_manager_get(env->logs, topic, id);
    if (part->log)
        log_set_high_watermark(part->log, log_manager_checkpointed_hw(env->logs, topic, id));
    else if (log_manager_is_offline(env->logs, topic, id))
        part->role = ROLE_OFFLINE;
    return part;
}

struct partition *partition_ref(struct partition *part)
{
    atomic_fetch_add_explicit(&part->refs, 1, memory_order_relaxed);
    return part;
}

struct partition *partition_unref(struct partition *part)
{
    if (!part || atomic_fetch_sub_explicit(&part->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    assert(!part->watches && !part->hw_waits);
    if (part->log)
        log_put(part->log);
    if (part->move.future)
        log_put(part->move.future);
    id_list_deinit(&part->replicas);
    id_list_deinit(&part->adding);
    id_list_deinit(&part->removing);
    isr_deinit(&part->isr);
    remote_list_deinit(&part->remotes);
    free(part->refused);
    mutex_deinit(&part->lock);
    free((char *)(uintptr_t)part->topic.p);
    free(part);
    return NULL;
}

void partition_unref_p(struct partition **part)
{
    *part = partition_unref(*part);
}

/* ---- who waits ---- */

void partition_watch(struct partition *part, struct partition_watch *w)
{
    LOCK_SCOPE(&part->lock);
    DL_APPEND(part->watches, w);
}

void partition_unwatch(struct partition *part, struct partition_watch *w)
{
    LOCK_SCOPE(&part->lock);
    DL_DELETE(part->watches, w);
}

void partition_tell(struct partition *part, unsigned news)
{
    struct partition_watch *w;

    DL_FOREACH (part->watches, w) {
        if (w->wants & news)
            w->news(w, news);
    }
}

/* Appends come in order, so the place is nearly always the end. */
static void hw_wait_insert(struct partition *part, struct hw_wait *w)
{
    struct hw_wait *after = part->hw_waits ? part->hw_waits->prev : NULL;

    while (after && after->offset > w->offset)
        after = after == part->hw_waits ? NULL : after->prev;
    if (after)
        DL_APPEND_ELEM(part->hw_waits, after, w);
    else
        DL_PREPEND(part->hw_waits, w);
}

static void end_wait(struct partition *part, struct hw_wait *w, int error)
{
    DL_DELETE(part->hw_waits, w);
    w->prev = NULL;
    w->next = NULL;
    w->reached(w, error);
}

bool partition_hw_unwait(struct partition *part, struct hw_wait *w)
{
    LOCK_SCOPE(&part->lock);
    if (!w->prev)
        return false;
    DL_DELETE(part->hw_waits, w);
    w->prev = NULL;
    w->next = NULL;
    return true;
}

void partition_fail_waits(struct partition *part, int error)
{
    while (part->hw_waits)
        end_wait(part, part->hw_waits, error);
}

int partition_io_error(struct partition *part, int r, const char *what)
{
    if (r >= 0 || err_to_wire(r) != KAFKA_STORAGE_ERROR)
        return r;
    log_manager_dir_failed(part->env->logs, log_dir_path(part->log), r, what);
    return KAFKA_STORAGE_ERROR;
}

/* ---- high watermark ---- */

bool partition_leads_throttled(const struct partition *part)
{
    struct topic_conf *conf = log_conf(part->log);
    bool is = throttled_has(conf->leader_throttled, part->id, part->env->broker_id);

    topic_conf_unref(conf);
    return is;
}

bool partition_follows_throttled(struct partition *part)
{
    struct topic_conf *conf = partition_conf(part);
    bool is = conf && throttled_has(conf->follower_throttled, part->id, part->env->broker_id);

    topic_conf_unref(conf);
    return is;
}

struct topic_conf *partition_conf(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    return part->log ? log_conf(part->log) : NULL;
}

int32_t partition_min_isr(const struct partition *part)
{
    struct topic_conf *conf = log_conf(part->log);
    int32_t min = MIN(conf->min_insync_replicas, part->replicas.count);

    topic_conf_unref(conf);
    return min;
}

static bool is_alive(const struct partition *part, int32_t broker)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(part->env->metadata);

    return metadata_broker(s, broker) != NULL;
}

/*
 * Replicas outside the set hold the watermark back while they are about to join: otherwise it would
 * run away from one that is nearly there, for ever.
 */
static int64_t hw_candidate(const struct partition *part)
{
    int64_t end = log_end_offset(part->log), lowest = end;
    int64_t now_ms = clock_mono_ms(part->env->clock);

    for (int32_t i = 0; i < part->remotes.count; i++) {
        const struct remote_replica *r = &part->remotes.v[i];
        if (r->end_offset < lowest &&
            (isr_maximal_has(&part->isr, r->id) ||
             (remote_is_caught_up(r, end, now_ms, part->env->lag_ms) && is_alive(part, r->id))))
            lowest = r->end_offset;
    }
    return lowest;
}

bool partition_advance_hw(struct partition *part)
{
    assert(part->role == ROLE_LEADER);
    if (part->isr.committed.count < partition_min_isr(part))
        return false;
    int64_t hw = hw_candidate(part);
    if (hw <= log_high_watermark(part->log))
        return false;
    hw = log_set_high_watermark(part->log, hw);
    int error = isr_maximal_count(&part->isr) < partition_min_isr(part)
                    ? NOT_ENOUGH_REPLICAS_AFTER_APPEND
                    : 0;
    while (part->hw_waits && part->hw_waits->offset <= hw)
        end_wait(part, part->hw_waits, error);
    return true;
}

/* ---- append as leader ---- */

static int check_append(struct partition *part, int16_t acks, struct partition_append *ret)
{
    ret->leader = part->leader;
    ret->leader_epoch = part->leader_epoch;
    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (part->role != ROLE_LEADER)
        return NOT_LEADER_OR_FOLLOWER;
    ret->log.log_start_offset = log_start_offset(part->log);
    if (acks == -1 && part->isr.committed.count < partition_min_isr(part)) {
        say_limited(
            SAY_WARN, 10,
            "produce refused, too few replicas in sync partition=%s-%d isr=%d min=%d; goes on "
            "when a replica has caught up",
            part->topic.p, part->id, part->isr.committed.count, partition_min_isr(part));
        return NOT_ENOUGH_REPLICAS;
    }
    return 0;
}

static int after_append(struct partition *part, const struct partition_append_opts *opts,
                        struct partition_append *ret)
{
    /* Also for a duplicate, which may be tried again because what it waits for has come unseen. */
    unsigned news = partition_advance_hw(part) ? NEWS_HW : 0;
    int64_t end = ret->log.last_offset + 1;

    if (!ret->log.is_duplicate)
        news |= NEWS_END;
    if (news)
        partition_tell(part, news);
    if (opts->acks != -1)
        return 0;
    if (log_high_watermark(part->log) < end && opts->wait) {
        opts->wait->offset = end;
        hw_wait_insert(part, opts->wait);
        ret->is_waiting = true;
        return 0;
    }
    return isr_maximal_count(&part->isr) < partition_min_isr(part)
               ? NOT_ENOUGH_REPLICAS_AFTER_APPEND
               : 0;
}

/* A gap that we made ourselves by refusing the batch before gets that batch's error. */
static int after_refused(struct partition *part, struct slice records, int r) REQUIRES(part->lock)
{
    if (r == 0)
        refused_taken(part->refused, records);
    if (r != OUT_OF_ORDER_SEQUENCE_NUMBER)
        return r;
    int why = refused_because(part->refused, records, clock_mono_ms(part->env->clock));
    return why ? why : r;
}

static int append_locked(struct partition *part, const struct partition_append_opts *opts,
                         struct partition_append *ret) REQUIRES(part->lock)
{
    int r = check_append(part, opts->acks, ret);
    if (r) {
        refused_note(&part->refused, opts->records, r, clock_mono_ms(part->env->clock));
        return r;
    }
    struct log_append_opts log_opts = {
        .leader_epoch = part->leader_epoch,
        .origin = opts->origin,
        .now_ms = clock_wall_ms(part->env->clock),
    };
    int64_t log_start = ret->log.log_start_offset;
    r = log_append_leader(part->log, opts->records, &log_opts, opts->arena, &ret->log);
    ret->log.log_start_offset = log_start;
    r = after_refused(part, opts->records, r);
    if (r || ret->log.first_offset < 0)
        return r;
    return after_append(part, opts, ret);
}

int partition_append(struct partition *part, const struct partition_append_opts *opts,
                     struct partition_append *ret)
{
    int r;

    *ret = (struct partition_append){.log = {.first_offset = -1,
                                             .last_offset = -1,
                                             .max_timestamp = -1,
                                             .append_time_ms = -1,
                                             .log_start_offset = -1}};
    WITH_LOCK(&part->lock)
    {
        r = append_locked(part, opts, ret);
    }
    return partition_io_error(part, r, "append");
}

/* ---- append as follower ---- */

enum { LAST_DELTA_AT = 23 }; /* in the header of a batch */

/*
 * The leader's log start may lie inside a batch: our empty log then ends in the middle of the first
 * batch we are sent, and has to begin with that batch instead.
 */
static int restart_inside_batch(struct partition *part, struct slice records)
{
    int64_t end = log_end_offset(part->log);

    if (records.len < BATCH_V2_HEADER || log_start_offset(part->log) != end ||
        records.p[BATCH_MAGIC_AT] != 2)
        return 0;
    int64_t base = (int64_t)be64_read(records.p);
    int64_t last = base + (int32_t)be32_read(records.p + LAST_DELTA_AT);
    if (base >= end || last < end)
        return 0;
    part->move.cut = 0;
    return log_truncate_fully(part->log, base);
}

static int append_fetched(struct partition *part, const struct follower_append *f)
{
    struct log_append done;
    int r = restart_inside_batch(part, f->records);

    if (r || f->records.len == 0)
        return r;
    return log_append_follower(part->log, f->records, &done);
}

/* The leader's word moves both ends of what may be read; its log start cannot lie above its
 * watermark. */
static int follow_offsets(struct partition *part, const struct follower_append *f, unsigned *news)
{
    int64_t old_hw = log_high_watermark(part->log), old_start = log_start_offset(part->log);

    if (log_set_high_watermark(part->log, f->high_watermark) != old_hw)
        *news |= NEWS_HW;
    if (f->log_start <= old_start)
        return 0;
    int r = log_raise_start(part->log, f->log_start);
    if (r == 0)
        *news |= NEWS_START;
    return r > 0 ? -EINVAL : r;
}

static int follower_locked(struct partition *part, const struct follower_append *f,
                           int64_t *ret_next) REQUIRES(part->lock)
{
    unsigned news = 0;

    if (part->role == ROLE_OFFLINE)
        return -EIO;
    if (part->role != ROLE_FOLLOWER || part->leader_epoch != f->leader_epoch)
        return FENCED_LEADER_EPOCH;
    if (f->fetch_offset != log_end_offset(part->log)) {
        say_error("fetched records do not continue the log partition=%s-%d fetched=%" PRId64
                  " end=%" PRId64 "; not replicated until the next LeaderAndIsr",
                  part->topic.p, part->id, f->fetch_offset, log_end_offset(part->log));
        return -EINVAL;
    }
    int r = append_fetched(part, f);
    if (r)
        return r;
    if (log_end_offset(part->log) != f->fetch_offset)
        news |= NEWS_END;
    r = follow_offsets(part, f, &news);
    if (news)
        partition_tell(part, news);
    *ret_next = log_end_offset(part->log);
    return r;
}

int partition_append_follower(struct partition *part, const struct follower_append *f,
                              int64_t *ret_next)
{
    int r;

    WITH_LOCK(&part->lock)
    {
        r = follower_locked(part, f, ret_next);
    }
    if (r < 0 && r != -EINVAL)
        partition_io_error(part, r, "append of fetched records");
    return r;
}
