#include "broker/group/group_manager.h"

#include "broker/group/group_append.h"
#include "broker/group/group_cleanup.h"
#include "broker/group/group_load.h"
#include "broker/group/rebalance.h"
#include "broker/meta/metadata.h"
#include "broker/replica/replica_manager.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/say.h"

#include <stdatomic.h>

enum { SHARDS = 64 };

enum part_state { PART_NONE, PART_LOADING, PART_OWNED };

/* A partition of __consumer_offsets. Stays in its shard once it was led here. */
struct part {
    UT_hash_handle hh; /* by id */
    int32_t id;
    int32_t leader_epoch;
    enum part_state state;
    unsigned load; /* which one is under way: what an older one brings is not wanted */
    struct group *groups;
};

struct shard {
    struct mutex lock; /* LOCK_GROUPS */
    struct part *parts;
};

struct group_manager {
    struct group_manager_opts opts;
    struct group_env env;
    struct shard shards[SHARDS];
    _Atomic int32_t partitions; /* of the topic; 0 until it is known */
    _Atomic bool is_running;
    _Atomic bool is_stopped; /* under a shard's lock: nothing is loaded any more */
    _Atomic int loading;
    struct group_cleaner *cleaner;
};

/* ---- life ---- */

struct group_manager *group_manager_new(const struct group_manager_opts *opts)
{
    struct group_manager *m = xnew(struct group_manager);

    m->opts = *opts;
    m->env = (struct group_env){
        .clock = opts->clock,
        .initial_rebalance_delay_ms = opts->initial_rebalance_delay_ms,
        .max_size = opts->max_size,
        .ctx = m,
        .store = group_append_store,
    };
    for (int i = 0; i < SHARDS; i++)
        mutex_init(&m->shards[i].lock, LOCK_GROUPS);
    m->cleaner = group_cleaner_new(m);
    return m;
}

void group_manager_start(struct group_manager *m)
{
    atomic_store(&m->is_running, true);
    group_cleaner_start(m->cleaner);
}

bool group_manager_is_running(const struct group_manager *m)
{
    return atomic_load(&m->is_running);
}

const struct group_manager_opts *group_manager_opts(const struct group_manager *m)
{
    return &m->opts;
}

static struct shard *shard_of(struct group_manager *m, int32_t partition)
{
    return &m->shards[(uint32_t)partition % SHARDS];
}

static struct part *find_part(const struct shard *s, int32_t partition) REQUIRES(s->lock)
{
    struct part *p;

    HASH_FIND(hh, s->parts, &partition, sizeof partition, p);
    return p;
}

/* ---- which partition ---- */

/* How many there are is asked once: were it to change, groups would be looked for where they are
 * not. */
static int32_t partition_count(struct group_manager *m)
{
    int32_t n = atomic_load(&m->partitions);

    if (n > 0)
        return n;
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(m->opts.metadata);
    const struct meta_topic *t = metadata_topic(s, STR("__consumer_offsets"));
    if (!t || t->partition_count == 0)
        return m->opts.partitions;
    atomic_store(&m->partitions, t->partition_count);
    return t->partition_count;
}

int32_t group_partition_of(struct str id, int32_t count)
{
    int32_t h = hash_java(id);

    return (h == INT32_MIN ? 0 : h < 0 ? -h : h) % count;
}

int32_t group_manager_partition(struct group_manager *m, struct str group_id)
{
    return group_partition_of(group_id, partition_count(m));
}

/* ---- lookup ---- */

static int check_part(const struct part *p)
{
    if (!p || p->state == PART_NONE)
        return NOT_COORDINATOR;
    return p->state == PART_LOADING ? COORDINATOR_LOAD_IN_PROGRESS : 0;
}

static struct group *find_group(const struct part *p, struct str id)
{
    struct group *g;

    HASH_FIND(hh, p->groups, id.p, id.len, g);
    return g;
}

struct group *group_manager_make(struct group_manager *m, struct str id, int32_t partition)
{
    uint32_t reactor = (uint32_t)hash_java(id) % (uint32_t)m->opts.reactors->count;

    return group_new(&m->env, id, partition, m->opts.reactors->v[reactor]);
}

/* ret NULL: only whether it may be answered for here. */
static int look_up(struct group_manager *m, struct str id, bool is_to_be, struct group **ret)
{
    int32_t partition = group_manager_partition(m, id);
    struct shard *s = shard_of(m, partition);
    struct group *g;

    if (!atomic_load(&m->is_running))
        return COORDINATOR_NOT_AVAILABLE;
    LOCK_SCOPE(&s->lock);
    struct part *p = find_part(s, partition);
    int r = check_part(p);
    if (r || !ret)
        return r;
    g = find_group(p, id);
    if (!g && is_to_be) {
        g = group_manager_make(m, id, partition);
        HASH_ADD_KEYPTR(hh, p->groups, g->id.p, g->id.len, g);
    }
    *ret = g ? group_ref(g) : NULL;
    return 0;
}

int group_manager_check(struct group_manager *m, struct str group_id)
{
    return look_up(m, group_id, false, NULL);
}

int group_manager_find(struct group_manager *m, struct str group_id, struct group **ret)
{
    return look_up(m, group_id, false, ret);
}

int group_manager_obtain(struct group_manager *m, struct str group_id, struct group **ret)
{
    return look_up(m, group_id, true, ret);
}

void group_manager_forget(struct group_manager *m, struct group *g)
{
    struct shard *s = shard_of(m, g->partition);
    bool is_ours = false;

    WITH_LOCK(&s->lock)
    {
        struct part *p = find_part(s, g->partition);

        is_ours = p && find_group(p, g->id) == g;
        if (is_ours)
            HASH_DEL(p->groups, g);
    }
    if (is_ours)
        group_unref(g);
}

/* ---- all of them ---- */

struct group_list {
    struct group **v;
    size_t count, cap;
    bool is_loading;
};

static void list_shard(struct shard *s, struct group_list *l)
{
    LOCK_SCOPE(&s->lock);
    for (const struct part *p = s->parts; p; p = p->hh.next) {
        l->is_loading |= p->state == PART_LOADING;
        for (struct group *g = p->groups; g; g = g->hh.next) {
            xgrow(l->v, l->cap, l->count + 1);
            l->v[l->count++] = group_ref(g);
        }
    }
}

int group_manager_each(struct group_manager *m, bool (*each)(struct group *g, void *ctx), void *ctx)
{
    bool is_loading = false, goes_on = true;

    for (int i = 0; i < SHARDS; i++) {
        struct group_list l = {0};

        list_shard(&m->shards[i], &l);
        is_loading |= l.is_loading;
        for (size_t k = 0; k < l.count; k++) {
            goes_on = goes_on && each(l.v[k], ctx);
            group_unref(l.v[k]);
        }
        free(l.v);
    }
    return is_loading ? COORDINATOR_LOAD_IN_PROGRESS : 0;
}

/* ---- ownership ---- */

static void drop_groups(struct group *groups, int error)
{
    struct group *g, *next;

    HASH_ITER (hh, groups, g, next) {
        HASH_DEL(groups, g);
        WITH_LOCK(&g->lock)
        rebalance_kill(g, error);
        group_unref(g);
    }
}

struct load_job {
    struct job job;
    struct group_manager *manager;
    int32_t partition;
    unsigned load;
};

/* True where the groups are wanted: nobody else has become leader meanwhile. */
static bool install(struct group_manager *m, const struct load_job *j, struct group *groups,
                    bool is_whole)
{
    struct shard *s = shard_of(m, j->partition);

    LOCK_SCOPE(&s->lock);
    struct part *p = find_part(s, j->partition);
    if (p->state != PART_LOADING || p->load != j->load)
        return false;
    p->state = is_whole ? PART_OWNED : PART_NONE;
    p->groups = groups;
    return true;
}

static int load_log(struct group_manager *m, int32_t partition, struct group_load *ret)
{
    struct partition *part;
    int r = replica_manager_get(m->opts.replicas, STR("__consumer_offsets"), partition, &part);

    if (r)
        return r;
    r = group_load_partition(m, partition, part->log, ret);
    if (r < 0)
        r = partition_io_error(part, r, "reading the groups");
    partition_unref(part);
    return r;
}

static void load(struct job *job)
{
    struct load_job *j = container_of(job, struct load_job, job);
    struct group_manager *m = j->manager;
    int64_t begun = clock_mono_us(m->opts.clock);
    struct group_load got = {0};
    int r = load_log(m, j->partition, &got);
    bool is_wanted = install(m, j, got.groups, r == 0);

    if (r)
        say_error("the groups of __consumer_offsets-%d cannot be read: %s; they have no "
                  "coordinator until another broker leads it",
                  j->partition, err_name(r));
    else if (is_wanted)
        say_info("groups loaded partition=__consumer_offsets-%d groups=%d offsets=%" PRId64
                 " records=%" PRId64 " ms=%" PRId64,
                 j->partition, got.count, got.offsets, got.records,
                 (clock_mono_us(m->opts.clock) - begun) / 1000);
    if (!is_wanted)
        drop_groups(got.groups, NOT_COORDINATOR);
    atomic_fetch_sub(&m->loading, 1);
    free(j);
}

/* What is to be loaded, as the number of that load; 0 where nothing is. */
static unsigned begin_load(struct group_manager *m, int32_t partition, int32_t leader_epoch)
{
    struct shard *s = shard_of(m, partition);

    LOCK_SCOPE(&s->lock);
    struct part *p = find_part(s, partition);
    if (atomic_load(&m->is_stopped))
        return 0;
    if (!p) {
        p = xnew(struct part);
        p->id = partition;
        p->leader_epoch = -1;
        HASH_ADD(hh, s->parts, id, sizeof p->id, p);
    }
    if (leader_epoch < p->leader_epoch)
        return 0;
    p->leader_epoch = leader_epoch;
    if (p->state != PART_NONE)
        return 0; /* led before and still: it knows all that there is */
    p->state = PART_LOADING;
    return ++p->load;
}

void group_manager_elected(struct group_manager *m, int32_t partition, int32_t leader_epoch)
{
    unsigned number = begin_load(m, partition, leader_epoch);
    struct load_job *j;

    if (number == 0)
        return;
    j = xnew(struct load_job);
    *j = (struct load_job){
        .job = {.work = load}, .manager = m, .partition = partition, .load = number};
    atomic_fetch_add(&m->loading, 1);
    workq_submit(m->opts.workq, &j->job);
}

static struct group *end_ownership(struct group_manager *m, int32_t partition, int32_t leader_epoch)
{
    struct shard *s = shard_of(m, partition);

    LOCK_SCOPE(&s->lock);
    struct part *p = find_part(s, partition);
    /* Below 0: it was deleted, or who says so knows no epoch. */
    if (!p || (leader_epoch >= 0 && leader_epoch < p->leader_epoch))
        return NULL;
    p->leader_epoch = MAX(leader_epoch, p->leader_epoch);
    p->state = PART_NONE;
    return TAKE(p->groups);
}

void group_manager_resigned(struct group_manager *m, int32_t partition, int32_t leader_epoch)
{
    struct group *groups = end_ownership(m, partition, leader_epoch);

    if (groups)
        say_info("groups given up partition=__consumer_offsets-%d groups=%d leader_epoch=%d",
                 partition, (int)HASH_COUNT(groups), leader_epoch);
    drop_groups(groups, NOT_COORDINATOR);
}

/* ---- the end ---- */

/* Of one of its partitions; NULL where none has groups, or will have any. */
static struct group *close_shard(struct shard *s)
{
    LOCK_SCOPE(&s->lock);
    for (struct part *p = s->parts; p; p = p->hh.next) {
        p->state = PART_NONE;
        if (p->groups)
            return TAKE(p->groups);
    }
    return NULL;
}

void group_manager_stop(struct group_manager *m)
{
    struct group *groups;

    atomic_store(&m->is_running, false);
    atomic_store(&m->is_stopped, true);
    group_cleaner_stop(m->cleaner);
    for (int i = 0; i < SHARDS; i++) {
        while ((groups = close_shard(&m->shards[i])))
            drop_groups(groups, NOT_COORDINATOR);
    }
}

struct group_manager *group_manager_free(struct group_manager *m)
{
    struct part *p, *next;

    if (!m)
        return NULL;
    assert(atomic_load(&m->loading) == 0);
    for (int i = 0; i < SHARDS; i++) {
        HASH_ITER (hh, m->shards[i].parts, p, next) {
            HASH_DEL(m->shards[i].parts, p);
            drop_groups(p->groups, NOT_COORDINATOR);
            free(p);
        }
        mutex_deinit(&m->shards[i].lock);
    }
    group_cleaner_free(m->cleaner);
    free(m);
    return NULL;
}
