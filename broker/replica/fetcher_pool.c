#include "broker/replica/fetcher_pool.h"

#include "broker/replica/fetcher.h"
#include "common/base/hash.h"
#include "common/base/say.h"

struct slot_key {
    int32_t leader;
    int32_t slot;
};

struct fetch_slot {
    struct slot_key key;
    struct fetcher *fetcher;
    char *host;
    int32_t port;
    struct partition **parts; /* references */
    int32_t count;
    int32_t cap;
    UT_hash_handle hh;
};

struct fetcher_pool {
    struct fetcher_conf conf;
    struct mutex lock; /* LOCK_FETCHERS: slots, is_stopped, conf.fetchers_per_leader */
    struct fetch_slot *slots;
    bool is_stopped;
    int32_t failed;
};

struct fetcher_pool *fetcher_pool_new(const struct fetcher_conf *conf)
{
    struct fetcher_pool *pool = xnew(struct fetcher_pool);

    pool->conf = *conf;
    mutex_init(&pool->lock, LOCK_FETCHERS);
    return pool;
}

/* ---- slots; the lock is held ---- */

static int32_t slot_index(const struct fetcher_pool *pool, const struct partition *part)
{
    uint32_t h = 31u * (uint32_t)hash_java(part->topic) + (uint32_t)part->id;
    int32_t v = (int32_t)h;

    return (v == INT32_MIN ? 0 : v < 0 ? -v : v) % pool->conf.fetchers_per_leader;
}

static void slot_forget(struct partition *part)
{
    struct fetch_slot *s = TAKE(part->fetch_slot);

    assert(s->parts[part->fetch_index] == part);
    s->parts[part->fetch_index] = s->parts[--s->count];
    s->parts[part->fetch_index]->fetch_index = part->fetch_index;
    partition_unref(part);
}

static void detach(struct fetcher_pool *pool, struct partition *part)
{
    if (part->has_failed)
        pool->failed--;
    part->has_failed = false;
    if (!part->fetch_slot)
        return;
    fetcher_remove(part->fetch_slot->fetcher, part);
    slot_forget(part);
}

static void slot_drop(struct fetcher_pool *pool, struct fetch_slot *s)
{
    for (int32_t i = 0; i < s->count; i++) {
        s->parts[i]->fetch_slot = NULL;
        partition_unref(s->parts[i]);
    }
    fetcher_stop(s->fetcher);
    HASH_DEL(pool->slots, s);
    free(s->parts);
    free(s->host);
    free(s);
}

/* On a fetcher's reactor. A later order may be on its way already, to the same fetcher too. */
static void on_failed(void *ctx, struct partition *part, uint64_t order)
{
    struct fetcher_pool *pool = ctx;

    LOCK_SCOPE(&pool->lock);
    if (!part->fetch_slot || part->fetch_order != order)
        return;
    slot_forget(part);
    part->has_failed = true;
    pool->failed++;
}

static struct fetch_slot *slot_new(struct fetcher_pool *pool, struct slot_key key,
                                   const struct meta_endpoint *e)
{
    struct fetch_slot *s = xnew(struct fetch_slot);
    struct fetcher_opts opts = {
        .conf = &pool->conf,
        .reactor = reactor_pool_next(pool->conf.reactors),
        .leader = key.leader,
        .slot = key.slot,
        .host = e->host,
        .port = e->port,
        .failed = on_failed,
        .ctx = pool,
    };

    s->key = key;
    s->host = str_dup(e->host);
    s->port = e->port;
    s->fetcher = fetcher_new(&opts);
    HASH_ADD(hh, pool->slots, key, sizeof s->key, s);
    return s;
}

static void start_at(struct partition *part, struct fetch_slot *s, struct follow *how)
{
    xgrow(s->parts, s->cap, s->count + 1);
    how->order = ++part->fetch_order;
    part->fetch_slot = s;
    part->fetch_index = s->count;
    s->parts[s->count++] = partition_ref(part);
    fetcher_add(s->fetcher, part, how);
}

static bool follow_now(struct partition *part, struct follow *ret, int32_t *ret_leader)
{
    LOCK_SCOPE(&part->lock);
    if (part->role != ROLE_FOLLOWER || part->is_gone)
        return false;
    ret->leader_epoch = part->leader_epoch;
    ret->topic_id = log_topic_id(part->log);
    ret->initial_offset = log_high_watermark(part->log);
    *ret_leader = part->leader;
    return true;
}

/* A leader that has moved to another address takes its partitions to a new connection. */
static struct fetch_slot *slot_get(struct fetcher_pool *pool, struct slot_key key,
                                   const struct meta_endpoint *e)
{
    struct fetch_slot *s;

    HASH_FIND(hh, pool->slots, &key, sizeof key, s);
    if (!s)
        return slot_new(pool, key, e);
    if (s->port == e->port && str_eqz(e->host, s->host))
        return s;
    int32_t count = s->count;
    struct partition **CLEANUP(free_p) moved = xnew_array(struct partition *, (size_t)count + 1);
    for (int32_t i = 0; i < count; i++)
        moved[i] = partition_ref(s->parts[i]);
    slot_drop(pool, s);
    s = slot_new(pool, key, e);
    for (int32_t i = 0; i < count; i++) {
        struct follow how;
        int32_t leader;
        if (follow_now(moved[i], &how, &leader) && leader == key.leader)
            start_at(moved[i], s, &how);
        partition_unref(moved[i]);
    }
    return s;
}

static void add_locked(struct fetcher_pool *pool, struct partition *part)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) snap =
        metadata_get(pool->conf.metadata);
    struct follow how;
    int32_t leader;

    if (pool->is_stopped || !follow_now(part, &how, &leader))
        return;
    const struct meta_broker *b = metadata_broker(snap, leader);
    const struct meta_endpoint *e = b ? meta_broker_endpoint(b, str_of(pool->conf.listener)) : NULL;
    if (!e) {
        say_warn("not fetched: the leader has no such listener partition=%s-%d leader=%d "
                 "listener=%s; the next LeaderAndIsr starts it",
                 part->topic.p, part->id, leader, pool->conf.listener);
        return;
    }
    struct slot_key key = {leader, slot_index(pool, part)};
    start_at(part, slot_get(pool, key, e), &how);
}

/* ---- the calls ---- */

/* Nothing is left gathered when the lock is released. */
static void go_on(struct fetcher_pool *pool)
{
    struct fetch_slot *s, *tmp;

    HASH_ITER (hh, pool->slots, s, tmp) {
        fetcher_go_on(s->fetcher);
    }
}

void fetcher_pool_add(struct fetcher_pool *pool, struct partition *const *parts, size_t count)
{
    LOCK_SCOPE(&pool->lock);
    for (size_t i = 0; i < count; i++) {
        detach(pool, parts[i]);
        add_locked(pool, parts[i]);
    }
    go_on(pool);
}

void fetcher_pool_remove(struct fetcher_pool *pool, struct partition *const *parts, size_t count)
{
    LOCK_SCOPE(&pool->lock);
    for (size_t i = 0; i < count; i++)
        detach(pool, parts[i]);
    go_on(pool);
}

void fetcher_pool_renew(struct fetcher_pool *pool, struct partition *part)
{
    struct follow how;
    int32_t leader;

    LOCK_SCOPE(&pool->lock);
    if (!part->fetch_slot || !follow_now(part, &how, &leader))
        return;
    fetcher_set_topic_id(part->fetch_slot->fetcher, part, how.topic_id);
    fetcher_go_on(part->fetch_slot->fetcher);
}

void fetcher_pool_drop_idle(struct fetcher_pool *pool)
{
    struct fetch_slot *s, *tmp;

    LOCK_SCOPE(&pool->lock);
    HASH_ITER (hh, pool->slots, s, tmp) {
        if (s->count == 0)
            slot_drop(pool, s);
    }
}

void fetcher_pool_resize(struct fetcher_pool *pool, int32_t fetchers_per_leader)
{
    struct fetch_slot *s, *tmp;
    struct partition **CLEANUP(free_p) all = NULL;
    int32_t count = 0, cap = 0;

    assert(fetchers_per_leader > 0);
    LOCK_SCOPE(&pool->lock);
    if (fetchers_per_leader == pool->conf.fetchers_per_leader)
        return;
    HASH_ITER (hh, pool->slots, s, tmp) {
        xgrow(all, cap, count + s->count);
        for (int32_t i = 0; i < s->count; i++)
            all[count++] = partition_ref(s->parts[i]);
        slot_drop(pool, s);
    }
    pool->conf.fetchers_per_leader = fetchers_per_leader;
    for (int32_t i = 0; i < count; i++) {
        add_locked(pool, all[i]);
        partition_unref(all[i]);
    }
    go_on(pool);
}

void fetcher_pool_stop(struct fetcher_pool *pool)
{
    struct fetch_slot *s, *tmp;

    LOCK_SCOPE(&pool->lock);
    pool->is_stopped = true;
    HASH_ITER (hh, pool->slots, s, tmp) {
        slot_drop(pool, s);
    }
}

struct fetcher_pool *fetcher_pool_free(struct fetcher_pool *pool)
{
    if (pool) {
        assert(!pool->slots);
        mutex_deinit(&pool->lock);
        free(pool);
    }
    return NULL;
}

int32_t fetcher_pool_failed(struct fetcher_pool *pool)
{
    LOCK_SCOPE(&pool->lock);
    return pool->failed;
}

int64_t fetcher_pool_max_lag(struct fetcher_pool *pool)
{
    struct fetch_slot *s, *tmp;
    int64_t lag = 0;

    LOCK_SCOPE(&pool->lock);
    HASH_ITER (hh, pool->slots, s, tmp) {
        lag = MAX(lag, fetcher_lag(s->fetcher));
    }
    return lag;
}

int32_t fetcher_pool_count(struct fetcher_pool *pool)
{
    LOCK_SCOPE(&pool->lock);
    return (int32_t)HASH_COUNT(pool->slots);
}
