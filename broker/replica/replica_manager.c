#include "broker/replica/replica_manager.h"

#include "broker/replica/alter_queue.h"
#include "broker/replica/alter_zk.h"
#include "broker/replica/dir_mover.h"
#include "broker/replica/fetch_session.h"
#include "broker/replica/partition_isr.h"
#include "broker/replica/partition_move.h"
#include "broker/replica/partition_role.h"
#include "broker/replica/replica_internal.h"
#include "common/base/err.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- the table ---- */

static uint32_t hash_of(struct str topic, int32_t partition)
{
    uint64_t h = 0xcbf29ce484222325u ^ (uint32_t)partition;

    for (size_t i = 0; i < topic.len; i++)
        h = (h ^ (uint8_t)topic.p[i]) * 0x100000001b3u;
    h ^= (uint64_t)(uint32_t)partition << 7;
    return (uint32_t)(h ^ (h >> 32));
}

static struct replica_shard *shard_of(struct replica_manager *m, uint32_t hash)
{
    return &m->shards[hash % REPLICA_SHARDS];
}

static struct partition **bucket_of(struct replica_shard *s, uint32_t hash)
{
    return &s->buckets[hash / REPLICA_SHARDS & (s->bucket_count - 1)];
}

static struct partition *shard_find(struct replica_shard *s, uint32_t hash, struct str topic,
                                    int32_t partition)
{
    struct partition *part = s->bucket_count ? *bucket_of(s, hash) : NULL;

    while (part && (part->hash != hash || part->id != partition || !str_eq(part->topic, topic)))
        part = part->next;
    return part;
}

static void shard_grow(struct replica_shard *s)
{
    struct replica_shard old = *s;

    s->bucket_count = old.bucket_count ? old.bucket_count * 2 : 8;
    s->buckets = xnew_array(struct partition *, s->bucket_count);
    for (uint32_t i = 0; i < old.bucket_count; i++)
        while (old.buckets[i]) {
            struct partition *part = old.buckets[i], **at = bucket_of(s, part->hash);
            old.buckets[i] = part->next;
            part->next = *at;
            *at = part;
        }
    free(old.buckets);
}

struct partition *replica_manager_find(struct replica_manager *m, struct str topic,
                                       int32_t partition)
{
    uint32_t hash = hash_of(topic, partition);
    struct replica_shard *s = shard_of(m, hash);

    LOCK_SCOPE(&s->lock);
    struct partition *part = shard_find(s, hash, topic, partition);
    return part ? partition_ref(part) : NULL;
}

/* Roles change under LOCK_REPLICA_STATE only, so nobody adds the same one in between. */
struct partition *replica_manager_obtain(struct replica_manager *m, struct str topic,
                                         int32_t partition)
{
    struct partition *part = replica_manager_find(m, topic, partition);

    if (part)
        return part;
    uint32_t hash = hash_of(topic, partition);
    struct replica_shard *s = shard_of(m, hash);
    part = partition_new(&m->env, topic, partition);
    part->hash = hash;
    LOCK_SCOPE(&s->lock);
    if (s->count >= s->bucket_count)
        shard_grow(s);
    struct partition **at = bucket_of(s, hash);
    part->next = *at;
    *at = part;
    s->count++;
    return partition_ref(part);
}

void replica_manager_remove(struct replica_manager *m, struct partition *part)
{
    struct replica_shard *s = shard_of(m, part->hash);
    bool found = false;

    WITH_LOCK(&s->lock)
    {
        struct partition **at = bucket_of(s, part->hash);
        while (*at && *at != part)
            at = &(*at)->next;
        found = *at != NULL;
        if (found) {
            *at = part->next;
            s->count--;
        }
    }
    if (found)
        partition_unref(part);
}

int replica_manager_why_not_here(struct replica_manager *m, struct str topic, int32_t partition)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(m->opts.metadata);

    return metadata_partition(s, topic, partition) ? NOT_LEADER_OR_FOLLOWER
                                                   : UNKNOWN_TOPIC_OR_PARTITION;
}

int replica_manager_get(struct replica_manager *m, struct str topic, int32_t partition,
                        struct partition **ret)
{
    struct partition *part = replica_manager_find(m, topic, partition);
    enum partition_role role = ROLE_NONE;

    *ret = NULL;
    if (!part)
        return replica_manager_why_not_here(m, topic, partition);
    WITH_LOCK(&part->lock)
    {
        role = part->role;
    }
    if (role == ROLE_LEADER || role == ROLE_FOLLOWER) {
        *ret = part;
        return 0;
    }
    partition_unref(part);
    return role == ROLE_OFFLINE ? KAFKA_STORAGE_ERROR
                                : replica_manager_why_not_here(m, topic, partition);
}

void replica_manager_each(struct replica_manager *m,
                          bool (*each)(struct partition *part, void *ctx), void *ctx)
{
    bool go_on = true;

    for (int i = 0; i < REPLICA_SHARDS && go_on; i++) {
        struct replica_shard *s = &m->shards[i];
        struct partition **CLEANUP(free_p) list = NULL;
        uint32_t n = 0;
        WITH_LOCK(&s->lock)
        {
            list = xnew_array(struct partition *, s->count + 1);
            for (uint32_t k = 0; k < s->bucket_count; k++)
                for (struct partition *part = s->buckets[k]; part; part = part->next)
                    list[n++] = partition_ref(part);
        }
        for (uint32_t k = 0; k < n; k++) {
            go_on = go_on && each(list[k], ctx);
            partition_unref(list[k]);
        }
    }
}

struct replica_env *replica_manager_env(struct replica_manager *m)
{
    return &m->env;
}

struct fetch_sessions *replica_manager_sessions(struct replica_manager *m)
{
    return m->sessions;
}

/* ---- shrinking ---- */

static bool shrink_one(struct partition *part, void *ctx UNUSED)
{
    partition_maybe_shrink(part);
    return true;
}

static void on_shrink(struct job *j)
{
    struct replica_manager *m = container_of(j, struct replica_manager, shrink);

    replica_manager_each(m, shrink_one, NULL);
    atomic_store(&m->is_shrinking, false);
}

static void arm_shrink(struct replica_manager *m)
{
    timer_arm(m->timer_reactor, &m->shrink_timer,
              reactor_now_us(m->timer_reactor) + m->opts.replica_lag_time_max_ms * 500);
}

/* Walks all partitions: on a worker, and never twice at once. */
static void on_shrink_timer(struct timer *t)
{
    struct replica_manager *m = container_of(t, struct replica_manager, shrink_timer);

    if (!atomic_exchange(&m->is_shrinking, true))
        workq_submit(m->opts.workq, &m->shrink);
    arm_shrink(m);
}

/* ---- a log dir fails ---- */

struct dir_failure {
    struct job job;
    struct replica_manager *m;
    char *dir;
    int32_t count;
};

static bool fail_in_dir(struct partition *part, void *ctx)
{
    struct dir_failure *d = ctx;
    const char *target = partition_move_dir(part);
    bool is_there = false;

    if (target && strcmp(target, d->dir) == 0)
        partition_end_move(part);
    WITH_LOCK(&part->lock)
    {
        is_there = part->log && strcmp(log_dir_path(part->log), d->dir) == 0;
    }
    if (!is_there)
        return true;
    fetcher_pool_remove(d->m->fetchers, &part, 1);
    partition_make_offline(part);
    d->count++;
    return true;
}

static void on_dir_failed(struct job *j)
{
    struct dir_failure *d = container_of(j, struct dir_failure, job);
    struct replica_manager *m = d->m;

    WITH_LOCK(&m->state_lock)
    {
        replica_manager_each(m, fail_in_dir, d);
    }
    say_error(
        "log dir is offline dir=%s partitions=%d; they come back with a restart after the disk "
        "is repaired",
        d->dir, d->count);
    if (m->opts.events.dir_offline)
        m->opts.events.dir_offline(m->opts.events.ctx, d->dir);
    free(d->dir);
    free(d);
}

void replica_manager_dir_failed(struct replica_manager *m, const char *dir)
{
    struct dir_failure *d = xnew(struct dir_failure);

    d->job.work = on_dir_failed;
    d->m = m;
    d->dir = xstrdup(dir);
    workq_submit(m->opts.workq, &d->job);
}

/* ---- life ---- */

static bool propose(void *ctx, const struct isr_proposal *p)
{
    struct replica_manager *m = ctx;

    return m->alter_queue ? alter_queue_propose(m->alter_queue, p)
                          : alter_zk_propose(m->alter_zk, p);
}

static void make_alter(struct replica_manager *m)
{
    const struct replica_manager_opts *o = &m->opts;

    if (o->ibp >= IBP_2_7_IV2) {
        struct alter_queue_opts opts = {
            .reactor = m->timer_reactor,
            .metadata = o->metadata,
            .broker_id = o->broker_id,
            .broker_epoch = o->broker_epoch,
            .ibp = o->ibp,
            .listener = m->control_plane_listener,
            .tls = o->control_plane_listener ? o->control_tls : o->tls,
            .request_timeout_ms = o->controller_socket_timeout_ms,
        };
        m->alter_queue = alter_queue_new(&opts);
    } else {
        struct alter_zk_opts opts = {m->timer_reactor, o->workq, o->zk, o->broker_id};
        m->alter_zk = alter_zk_new(&opts);
    }
}

static void make_fetchers(struct replica_manager *m)
{
    const struct replica_manager_opts *o = &m->opts;
    struct fetcher_conf conf = {
        .clock = o->clock,
        .reactors = o->reactors,
        .metadata = o->metadata,
        .broker_id = o->broker_id,
        .broker_epoch = o->broker_epoch,
        .ibp = o->ibp,
        .listener = m->inter_broker_listener,
        .tls = o->tls,
        .fetchers_per_leader = MAX(o->num_replica_fetchers, 1),
        .wait_max_ms = (int32_t)o->replica_fetch_wait_max_ms,
        .min_bytes = o->replica_fetch_min_bytes,
        .max_bytes = o->replica_fetch_max_bytes,
        .response_max_bytes = o->replica_fetch_response_max_bytes,
        .backoff_ms = o->replica_fetch_backoff_ms,
        .quota = &m->env.follower_quota,
        .connect_timeout_ms = o->replica_socket_timeout_ms,
        .request_timeout_ms = o->request_timeout_ms,
    };

    m->fetchers = fetcher_pool_new(&conf);
}

static void make_mover(struct replica_manager *m)
{
    const struct replica_manager_opts *o = &m->opts;

    m->mover = dir_mover_new(&(struct dir_mover_opts){
        .clock = o->clock,
        .threads = o->alter_log_dirs_threads,
        .max_bytes = (uint32_t)MAX(o->replica_fetch_max_bytes, 1),
        .window = o->move_window,
    });
}

static void on_start(struct message *msg)
{
    arm_shrink(container_of(msg, struct replica_manager, start));
}

static void on_stop(struct message *msg)
{
    struct replica_manager *m = container_of(msg, struct replica_manager, stop);

    timer_cancel(m->timer_reactor, &m->shrink_timer);
}

struct replica_manager *replica_manager_new(const struct replica_manager_opts *opts)
{
    struct replica_manager *m = xnew(struct replica_manager);
    const char *control =
        opts->control_plane_listener ? opts->control_plane_listener : opts->inter_broker_listener;

    m->opts = *opts;
    m->inter_broker_listener = xstrdup(opts->inter_broker_listener);
    m->control_plane_listener = xstrdup(control);
    m->env.clock = opts->clock;
    m->env.metadata = opts->metadata;
    m->env.logs = opts->logs;
    m->env.broker_id = opts->broker_id;
    m->env.lag_ms = opts->replica_lag_time_max_ms;
    m->env.is_rack_aware = opts->is_rack_aware;
    m->env.ctx = m;
    m->env.propose = propose;
    repl_quota_init(&m->env.leader_quota, opts->clock, opts->throttle_window);
    repl_quota_init(&m->env.follower_quota, opts->clock, opts->throttle_window);
    for (int i = 0; i < REPLICA_SHARDS; i++)
        mutex_init(&m->shards[i].lock, LOCK_REPLICAS);
    mutex_init(&m->state_lock, LOCK_REPLICA_STATE);
    m->sessions = fetch_sessions_new(opts->clock, opts->fetch_session_slots);
    m->timer_reactor = reactor_pool_next(opts->reactors);
    m->shrink_timer.fire = on_shrink_timer;
    m->shrink.work = on_shrink;
    m->start.run = on_start;
    m->stop.run = on_stop;
    make_alter(m);
    make_fetchers(m);
    make_mover(m);
    return m;
}

int replica_manager_start(struct replica_manager *m)
{
    reactor_post(m->timer_reactor, &m->start);
    if (m->alter_zk)
        alter_zk_start(m->alter_zk);
    return dir_mover_start(m->mover);
}

void replica_manager_begin_shutdown(struct replica_manager *m)
{
    atomic_store(&m->is_shutting_down, true);
}

static bool end_waits(struct partition *part, void *ctx UNUSED)
{
    LOCK_SCOPE(&part->lock);
    partition_fail_waits(part, NOT_LEADER_OR_FOLLOWER);
    partition_tell(part, NEWS_STATE);
    return true;
}

void replica_manager_stop(struct replica_manager *m)
{
    atomic_store(&m->is_shutting_down, true);
    atomic_store(&m->env.is_stopping, true);
    dir_mover_stop(m->mover);
    fetcher_pool_stop(m->fetchers);
    if (m->alter_queue)
        alter_queue_stop(m->alter_queue);
    if (m->alter_zk)
        alter_zk_stop(m->alter_zk);
    reactor_post(m->timer_reactor, &m->stop);
    replica_manager_each(m, end_waits, NULL);
}

struct replica_manager *replica_manager_free(struct replica_manager *m)
{
    if (!m)
        return NULL;
    m->mover = dir_mover_free(m->mover);
    m->fetchers = fetcher_pool_free(m->fetchers);
    m->alter_queue = alter_queue_free(m->alter_queue);
    m->alter_zk = alter_zk_free(m->alter_zk);
    m->sessions = fetch_sessions_free(m->sessions);
    for (int i = 0; i < REPLICA_SHARDS; i++) {
        struct replica_shard *s = &m->shards[i];
        for (uint32_t k = 0; k < s->bucket_count; k++)
            while (s->buckets[k]) {
                struct partition *part = s->buckets[k];
                s->buckets[k] = part->next;
                partition_unref(part);
            }
        free(s->buckets);
        mutex_deinit(&s->lock);
    }
    repl_quota_deinit(&m->env.leader_quota);
    repl_quota_deinit(&m->env.follower_quota);
    mutex_deinit(&m->state_lock);
    free(m->inter_broker_listener);
    free(m->control_plane_listener);
    free(m);
    return NULL;
}

void replica_manager_set_fetchers(struct replica_manager *m, int32_t num_replica_fetchers)
{
    fetcher_pool_resize(m->fetchers, MAX(num_replica_fetchers, 1));
}

void replica_manager_set_throttle(struct replica_manager *m, const struct replica_throttle *t)
{
    repl_quota_set_rate(&m->env.leader_quota, t->leader_rate);
    repl_quota_set_rate(&m->env.follower_quota, t->follower_rate);
}

void replica_manager_set_move_rate(struct replica_manager *m, int64_t bytes_per_second)
{
    dir_mover_set_rate(m->mover, bytes_per_second);
}

/* ---- figures ---- */

static bool count_one(struct partition *part, void *ctx)
{
    struct replica_stats *st = ctx;

    LOCK_SCOPE(&part->lock);
    st->partitions++;
    st->offline += part->role == ROLE_OFFLINE;
    if (part->role != ROLE_LEADER)
        return true;
    int32_t isr = part->isr.committed.count, min = partition_min_isr(part);
    st->leaders++;
    /* Replicas that are being added do not count as missing. */
    st->under_replicated += isr < part->replicas.count - part->adding.count;
    st->under_min_isr += isr < min;
    st->at_min_isr += isr == min;
    st->reassigning += part->adding.count > 0 || part->removing.count > 0;
    return true;
}

void replica_manager_stats(struct replica_manager *m, struct replica_stats *ret)
{
    *ret = (struct replica_stats){
        .isr_shrinks = atomic_load(&m->env.isr_shrinks),
        .isr_expands = atomic_load(&m->env.isr_expands),
        .isr_update_failures = atomic_load(&m->env.isr_update_failures),
        .failed_partitions = fetcher_pool_failed(m->fetchers),
        .max_lag = fetcher_pool_max_lag(m->fetchers),
        .fetch_sessions = fetch_sessions_count(m->sessions),
    };
    replica_manager_each(m, count_one, ret);
}
