#include "broker/replica/delayed_delete.h"

#include "broker/replica/partition_isr.h"
#include "broker/replica/replica_manager.h"
#include "common/base/err.h"

#include <stdatomic.h>

static void on_news(struct partition_watch *w, unsigned news UNUSED)
{
    delayed_poke(&container_of(w, struct delete_records_part, watch)->owner->delayed);
}

static int check_leader(struct partition *part) REQUIRES(part->lock)
{
    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    return part->role == ROLE_LEADER ? 0 : NOT_LEADER_OR_FOLLOWER;
}

/* Turns offset -1 into what it means. */
static int raise_start(struct partition *part, int64_t *offset) REQUIRES(part->lock)
{
    int r = check_leader(part);
    if (r)
        return r;
    struct topic_conf *conf = log_conf(part->log);
    bool may_delete = conf->cleanup_policy & CLEANUP_DELETE;
    topic_conf_unref(conf);
    if (!may_delete)
        return POLICY_VIOLATION;
    if (*offset == -1)
        *offset = log_high_watermark(part->log);
    if (*offset < 0 || *offset > log_high_watermark(part->log))
        return OFFSET_OUT_OF_RANGE;
    if (*offset <= log_start_offset(part->log))
        return 0;
    r = log_raise_start(part->log, *offset);
    if (r == 0)
        partition_tell(part, NEWS_START);
    return r;
}

static void start_part(struct replica_manager *m, struct delete_records_part *dp)
{
    int r;

    dp->low_watermark = -1;
    if (!dp->error)
        dp->error = replica_manager_get(m, dp->topic, dp->partition, &dp->part);
    if (dp->error)
        return;
    WITH_LOCK(&dp->part->lock)
    {
        r = raise_start(dp->part, &dp->offset);
    }
    dp->error = partition_io_error(dp->part, r, "delete records");
    if (dp->error)
        return;
    dp->watch =
        (struct partition_watch){.wants = NEWS_LOW | NEWS_START | NEWS_STATE, .news = on_news};
    partition_watch(dp->part, &dp->watch);
    dp->is_waiting = true;
}

/* Whether this partition has nothing more to wait for. */
static bool look_at_part(struct delete_records_part *dp, bool is_last)
{
    if (!dp->is_waiting)
        return true;
    WITH_LOCK(&dp->part->lock)
    {
        dp->error = check_leader(dp->part);
    }
    dp->low_watermark = dp->error ? -1 : partition_low_watermark(dp->part);
    if (!dp->error && dp->low_watermark < dp->offset) {
        if (!is_last && !atomic_load(&dp->part->env->is_stopping))
            return false;
        dp->error = REQUEST_TIMED_OUT;
    }
    partition_unwatch(dp->part, &dp->watch);
    dp->is_waiting = false;
    return true;
}

static bool on_look(struct delayed *delayed, bool is_last)
{
    struct delete_records *d = container_of(delayed, struct delete_records, delayed);
    bool has_ended = true;

    for (int32_t i = 0; i < d->count; i++)
        has_ended &= look_at_part(&d->parts[i], is_last);
    return has_ended;
}

static void on_finish(struct delayed *delayed)
{
    struct delete_records *d = container_of(delayed, struct delete_records, delayed);

    for (int32_t i = 0; i < d->count; i++)
        d->parts[i].part = partition_unref(d->parts[i].part);
    d->done(d);
}

void delete_records_start(struct replica_manager *m, struct delete_records *d)
{
    d->delayed.reactor = d->reactor;
    d->delayed.look = on_look;
    d->delayed.finish = on_finish;
    delayed_init(&d->delayed);
    for (int32_t i = 0; i < d->count; i++) {
        d->parts[i].owner = d;
        start_part(m, &d->parts[i]);
    }
    delayed_park(&d->delayed, reactor_now_us(d->reactor) + (int64_t)MAX(d->timeout_ms, 0) * 1000);
}
