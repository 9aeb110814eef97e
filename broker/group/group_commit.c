#include "broker/group/group_commit.h"

#include "broker/group/rebalance.h"
#include "common/base/err.h"
#include "common/base/utf8.h"

/* ---- commit ---- */

static void fail(struct group_commit *c, int error)
{
    for (int32_t i = 0; i < c->count; i++) {
        if (!c->entries[i].error)
            c->entries[i].error = error;
    }
}

static void finish(struct group_commit *c)
{
    c->group = group_unref(c->group);
    c->done(c);
}

/* The group that it is for. One of no member may be the first that is heard of it. */
static int find(struct group_manager *m, struct group_commit *c)
{
    int r = c->generation < 0 ? group_manager_obtain(m, c->group_id, &c->group)
                              : group_manager_find(m, c->group_id, &c->group);

    return r || c->group ? r : ILLEGAL_GENERATION;
}

/* Characters, as Java counts them; a byte is one at most. */
static bool is_too_long(struct str metadata, int32_t max)
{
    return metadata.len > (size_t)max && utf8_java_length(metadata) > (size_t)max;
}

static int build(struct group_manager *m, const struct group_commit *c, struct batch_builder *bb,
                 const struct commit_entry *e)
{
    const struct group_manager_opts *opts = group_manager_opts(m);
    struct group_key key = {.kind = GROUP_KEY_OFFSET,
                            .group = c->group_id,
                            .topic = e->topic,
                            .partition = e->partition};

    return offset_record_add(bb, opts->ibp, &key, &e->c, clock_wall_ms(opts->clock));
}

/* The records of what can be stored; each of these is pending from now on. Their count. */
static int32_t collect(struct group_manager *m, struct group_commit *c, struct batch_builder *bb)
    REQUIRES(c->group->lock)
{
    struct group *g = c->group;
    int32_t n = 0;

    fail(c, rebalance_check_commit(g, c->member_id, c->instance, c->generation));
    for (int32_t i = 0; i < c->count; i++) {
        struct commit_entry *e = &c->entries[i];

        if (e->error)
            continue;
        if (is_too_long(e->c.metadata, group_manager_opts(m)->max_metadata_bytes) ||
            build(m, c, bb, e) < 0) {
            e->error = OFFSET_METADATA_TOO_LARGE;
            continue;
        }
        e->c.log_offset = n++; /* in its batch */
        commits_begin(&g->offsets, e->topic, e->partition);
    }
    return n;
}

static void on_appended(struct group_append *a, int error, int64_t first_offset)
{
    struct group_commit *c = container_of(a, struct group_commit, append);

    WITH_LOCK(&c->group->lock)
    {
        for (int32_t i = 0; i < c->count; i++) {
            struct commit_entry *e = &c->entries[i];

            if (e->error)
                continue;
            e->c.log_offset += first_offset;
            commits_settle(&c->group->offsets, e->topic, e->partition, error ? NULL : &e->c);
        }
    }
    if (error)
        fail(c, group_error_of_commit(error));
    finish(c);
}

/* True where an append has begun. Under one hold of the lock: a tombstone of what is deleted now
 * lies above this commit, and whoever loads the partition after the group has died finds it. */
static bool append(struct group_manager *m, struct group_commit *c)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;

    group_batch_init(m, &bb, true);
    LOCK_SCOPE(&c->group->lock);
    if (collect(m, c, &bb) == 0)
        return false;
    c->append.manager = m;
    c->append.partition = c->group->partition;
    c->append.done = on_appended;
    group_append_start(&c->append, &bb);
    return true;
}

void group_commit_start(struct group_manager *m, struct group_commit *c)
{
    int r = find(m, c);

    if (r)
        fail(c, r);
    if (r || !append(m, c))
        finish(c);
}

/* ---- read ---- */

static void take(struct offset_read *r, const struct committed *c, struct arena *a)
{
    r->c = *c;
    r->c.metadata = arena_str(a, c->metadata);
}

static void take_none(struct offset_read *r, int error)
{
    r->error = error;
    r->c = (struct committed){
        .offset = -1, .leader_epoch = -1, .metadata = STR(""), .commit_ms = -1, .expire_ms = -1};
}

static void read_one(const struct group *g, bool needs_stable, struct arena *a,
                     struct offset_read *r) REQUIRES(g->lock)
{
    const struct committed *c =
        group_is(g, GROUP_DEAD) ? NULL : commits_find(&g->offsets, r->topic, r->partition);

    if (needs_stable && commits_is_unstable(&g->offsets, r->topic, r->partition))
        take_none(r, UNSTABLE_OFFSET_COMMIT);
    else if (c)
        take(r, c, a);
    else
        take_none(r, 0);
}

int group_offsets_read(struct group_manager *m, struct str group_id, bool needs_stable,
                       struct arena *a, const struct offset_reads *reads)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = group_manager_find(m, group_id, &g);

    if (r)
        return r;
    for (int32_t i = 0; !g && i < reads->count; i++)
        take_none(&reads->v[i], 0);
    if (!g)
        return 0;
    LOCK_SCOPE(&g->lock);
    for (int32_t i = 0; i < reads->count; i++)
        read_one(g, needs_stable, a, &reads->v[i]);
    return 0;
}

struct read_all {
    const struct group *group;
    struct offset_reads *reads;
    struct arena *arena;
    bool needs_stable;
};

static bool read_next(void *ctx, struct str topic, int32_t partition, const struct committed *c,
                      bool is_pending UNUSED)
{
    const struct read_all *all = ctx;

    if (!c)
        return true;
    struct offset_read *r = &all->reads->v[all->reads->count++];
    r->topic = arena_str(all->arena, topic);
    r->partition = partition;
    if (all->needs_stable && commits_is_unstable(&all->group->offsets, topic, partition))
        take_none(r, UNSTABLE_OFFSET_COMMIT);
    else
        take(r, c, all->arena);
    return true;
}

int group_offsets_read_all(struct group_manager *m, struct str group_id, bool needs_stable,
                           struct arena *a, struct offset_reads *ret)
{
    struct group *CLEANUP(group_unref_p) g = NULL;
    int r = group_manager_find(m, group_id, &g);

    *ret = (struct offset_reads){0};
    if (r || !g)
        return r;
    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return 0;
    ret->v = arena_new_array(a, struct offset_read, (size_t)g->offsets.committed);
    commits_each(&g->offsets, read_next, &(struct read_all){g, ret, a, needs_stable});
    return 0;
}
