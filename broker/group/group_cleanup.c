#include "broker/group/group_cleanup.h"

#include "broker/group/coordinator.h"
#include "broker/group/group_append.h"
#include "broker/group/group_expire.h"
#include "common/base/err.h"
#include "common/base/say.h"

/* A batch of tombstones of this size is written, and the next one begun. */
enum { BATCH_BYTES = 256 * 1024 };

/* ---- tombstones ---- */

struct tombstones {
    struct group_manager *manager;
    const struct group *group;
    struct batch_builder batch;
};

static void begin(struct tombstones *t, struct group_manager *m, const struct group *g)
{
    *t = (struct tombstones){.manager = m, .group = g};
    group_batch_init(m, &t->batch, false);
}

static void flush(struct tombstones *t)
{
    if (t->batch.count > 0)
        group_append_forget(t->manager, t->group->partition, &t->batch);
    batch_builder_deinit(&t->batch);
    group_batch_init(t->manager, &t->batch, false);
}

static void add(struct tombstones *t, const struct group_key *key)
{
    const struct group_manager_opts *opts = group_manager_opts(t->manager);

    if (tombstone_add(&t->batch, key, clock_wall_ms(opts->clock)) == 0 &&
        batch_builder_size(&t->batch) >= BATCH_BYTES)
        flush(t);
}

static void end(struct tombstones *t)
{
    flush(t);
    batch_builder_deinit(&t->batch);
}

/* ---- what is to go ---- */

struct doomed {
    struct str topic;
    int32_t partition;
};

struct doomed_list {
    struct arena arena;
    struct doomed *v;
    size_t count, cap;
    struct group_age age;
    struct read_topics topics; /* of its members */
};

static void doom(struct doomed_list *l, struct str topic, int32_t partition)
{
    xgrow(l->v, l->cap, l->count + 1);
    l->v[l->count++] = (struct doomed){arena_str(&l->arena, topic), partition};
}

static void doomed_list_deinit(struct doomed_list *l)
{
    free(l->v);
    read_topics_deinit(&l->topics);
    arena_deinit(&l->arena);
}

/* What its members read, as far as that can be told. */
static void find_topics(const struct group *g, struct read_topics *ret) REQUIRES(g->lock)
{
    for (const struct member *m = g->members; m; m = m->hh.next) {
        const struct member_protocol *p = member_protocol(m, g->protocol);

        if (read_topics_add(ret, p ? p->metadata : (struct slice){0}) < 0)
            return;
    }
}

static bool is_of_consumers(const struct group *g) REQUIRES(g->lock)
{
    return str_eqz(g->protocol_type, "consumer");
}

static bool judge(void *ctx, struct str topic, int32_t partition, const struct committed *c,
                  bool is_pending)
{
    struct doomed_list *l = ctx;

    if (c && offset_is_expired(&l->age, topic, c, is_pending))
        doom(l, topic, partition);
    return true;
}

static bool doom_each(void *ctx, struct str topic, int32_t partition,
                      const struct committed *c UNUSED, bool is_pending UNUSED)
{
    doom(ctx, topic, partition);
    return true;
}

/* ---- and goes ---- */

/* commits_remove() or commits_drop() */
typedef bool (*take_fn)(struct commits *o, struct str topic, int32_t partition);

/* Out of the table, with a tombstone. */
static void take_out(struct group *g, struct tombstones *t, take_fn take, const struct doomed *d)
    REQUIRES(g->lock)
{
    struct group_key key = {
        .kind = GROUP_KEY_OFFSET, .group = g->id, .topic = d->topic, .partition = d->partition};

    if (take(&g->offsets, key.topic, key.partition))
        add(t, &key);
}

static void take_all_out(struct group *g, struct tombstones *t, take_fn take,
                         const struct doomed_list *l) REQUIRES(g->lock)
{
    for (size_t i = 0; i < l->count; i++)
        take_out(g, t, take, &l->v[i]);
}

/* A group that never had members has no record either. */
static void bury(struct group_manager *m, struct group *g, struct tombstones *t) REQUIRES(g->lock)
{
    rebalance_kill(g, UNKNOWN_MEMBER_ID);
    group_manager_forget(m, g);
    if (g->generation > 0)
        add(t, &(struct group_key){.kind = GROUP_KEY_GROUP, .group = g->id});
}

/* Where neither members nor offsets are left, as Kafka does whenever offsets go. */
static bool bury_if_over(struct group_manager *m, struct group *g, struct tombstones *t)
    REQUIRES(g->lock)
{
    if (!group_is(g, GROUP_EMPTY) || !commits_is_empty(&g->offsets))
        return false;
    bury(m, g, t);
    return true;
}

static void set_age(const struct group_manager *m, const struct group *g, int64_t now_ms,
                    struct doomed_list *l) REQUIRES(g->lock)
{
    l->age = (struct group_age){
        .protocol_type = g->protocol_type,
        .is_empty = group_is(g, GROUP_EMPTY),
        .is_stable = group_is(g, GROUP_STABLE),
        .state_ms = g->state_since_ms,
        .topics = &l->topics,
        .retention_ms = group_manager_opts(m)->retention_ms,
        .now_ms = now_ms,
    };
    if (l->age.is_stable && is_of_consumers(g))
        find_topics(g, &l->topics);
}

void group_cleanup(struct group_manager *m, struct group *g, int64_t now_ms)
{
    CLEANUP(doomed_list_deinit) struct doomed_list l = {0};
    struct tombstones t;

    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return;
    begin(&t, m, g);
    set_age(m, g, now_ms, &l);
    commits_each(&g->offsets, judge, &l);
    /* What an open transaction holds has been acknowledged, and counts at its marker. */
    take_all_out(g, &t, commits_drop, &l);
    bool is_over = bury_if_over(m, g, &t);
    end(&t);
    if (l.count > 0 || is_over)
        say_info("group %.*s: expired offsets=%zu group_ends=%d", STR_ARG(g->id), l.count, is_over);
}

/* ---- by a client's wish ---- */

int group_cleanup_delete(struct group_manager *m, struct str group_id)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    CLEANUP(doomed_list_deinit) struct doomed_list l = {0};
    struct tombstones t;
    int r = coordinator_find(m, group_id, &g);

    if (r)
        return r;
    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return GROUP_ID_NOT_FOUND;
    if (!group_is(g, GROUP_EMPTY))
        return NON_EMPTY_GROUP;
    begin(&t, m, g);
    commits_each(&g->offsets, doom_each, &l);
    take_all_out(g, &t, commits_remove, &l);
    bury(m, g, &t);
    end(&t);
    say_info("group %.*s: deleted offsets=%zu", STR_ARG(g->id), l.count);
    return 0;
}

/* What may not be deleted, as members read it, has its error after this. */
static int check_deletions(const struct group *g, struct doomed_list *l, struct offset_deletion *v,
                           int32_t count) REQUIRES(g->lock)
{
    bool is_empty = group_is(g, GROUP_EMPTY);

    if (group_is(g, GROUP_DEAD))
        return GROUP_ID_NOT_FOUND;
    if (!is_empty && !is_of_consumers(g))
        return NON_EMPTY_GROUP;
    if (!is_empty)
        find_topics(g, &l->topics);
    for (int32_t i = 0; i < count; i++) {
        if (v[i].error)
            continue;
        if (!is_empty && read_topics_has(&l->topics, v[i].topic))
            v[i].error = GROUP_SUBSCRIBED_TO_TOPIC;
        else
            doom(l, v[i].topic, v[i].partition);
    }
    return 0;
}

int group_cleanup_delete_offsets(struct group_manager *m, struct str group_id,
                                 struct offset_deletion *v, int32_t count)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    CLEANUP(doomed_list_deinit) struct doomed_list l = {0};
    struct tombstones t;
    int r = group_id.len == 0 ? INVALID_GROUP_ID : coordinator_find(m, group_id, &g);

    if (r)
        return r;
    LOCK_SCOPE(&g->lock);
    r = check_deletions(g, &l, v, count);
    if (r)
        return r;
    begin(&t, m, g);
    take_all_out(g, &t, commits_remove, &l);
    bool is_over = l.count > 0 && bury_if_over(m, g, &t);
    end(&t);
    say_info("group %.*s: deleted offsets=%zu group_ends=%d", STR_ARG(g->id), l.count, is_over);
    return 0;
}

/* ---- with their topic ---- */

struct gone {
    struct group_manager *manager;
    const struct gone_partition *v;
    size_t count;
};

static bool remove_gone(struct group *g, void *ctx)
{
    const struct gone *gone = ctx;
    struct tombstones t;

    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return true; /* another broker's, which is told too */
    begin(&t, gone->manager, g);
    for (size_t i = 0; i < gone->count; i++)
        take_out(g, &t, commits_remove, &(struct doomed){gone->v[i].topic, gone->v[i].partition});
    bury_if_over(gone->manager, g, &t);
    end(&t);
    return true;
}

void group_cleanup_partitions(struct group_manager *m, const struct gone_partition *v, size_t count)
{
    int r = group_manager_each(m, remove_gone, &(struct gone){m, v, count});

    if (r)
        say_info("offsets of deleted topics: groups that are being loaded just now keep theirs "
                 "until they expire");
}

/* ---- by time ---- */

struct group_cleaner {
    struct group_manager *manager;
    struct reactor *reactor;
    struct timer timer;
    struct message start, stop; /* to the reactor */
    struct job job;
    _Atomic bool is_stopping;
};

static bool clean_up(struct group *g, void *ctx)
{
    struct group_cleaner *c = ctx;

    group_cleanup(c->manager, g, clock_wall_ms(group_manager_opts(c->manager)->clock));
    return !c->is_stopping;
}

static void work(struct job *j)
{
    struct group_cleaner *c = container_of(j, struct group_cleaner, job);

    /* What is being loaded is looked at the next time. */
    (void)!group_manager_each(c->manager, clean_up, c);
}

static void arm(struct group_cleaner *c)
{
    if (!c->is_stopping)
        timer_arm(c->reactor, &c->timer,
                  reactor_now_us(c->reactor) +
                      group_manager_opts(c->manager)->check_interval_ms * 1000);
}

static void on_worked(struct job *j)
{
    arm(container_of(j, struct group_cleaner, job));
}

static void on_timer(struct timer *t)
{
    struct group_cleaner *c = container_of(t, struct group_cleaner, timer);

    c->job = (struct job){.work = work, .done = on_worked, .reply = c->reactor};
    workq_submit(group_manager_opts(c->manager)->workq, &c->job);
}

static void on_start(struct message *m)
{
    arm(container_of(m, struct group_cleaner, start));
}

static void on_stop(struct message *m)
{
    struct group_cleaner *c = container_of(m, struct group_cleaner, stop);

    timer_cancel(c->reactor, &c->timer);
}

struct group_cleaner *group_cleaner_new(struct group_manager *m)
{
    struct group_cleaner *c = xnew(struct group_cleaner);

    c->manager = m;
    c->reactor = group_manager_opts(m)->reactors->v[0];
    c->timer.fire = on_timer;
    return c;
}

void group_cleaner_start(struct group_cleaner *c)
{
    c->start.run = on_start;
    reactor_post(c->reactor, &c->start);
}

void group_cleaner_stop(struct group_cleaner *c)
{
    c->is_stopping = true;
    c->stop.run = on_stop;
    reactor_post(c->reactor, &c->stop);
}

struct group_cleaner *group_cleaner_free(struct group_cleaner *c)
{
    free(c);
    return NULL;
}
