/*
 * rebalance_join.c - JoinGroup: who may join, under which id, and whether that means a rebalance
 * (protocol.md 11.8)
 */
#include "broker/group/rebalance_internal.h"

#include "common/base/say.h"
#include "common/base/uuid.h"

/* A member that has not been told its id cannot be heard of; its client asks again by then. */
enum { NEW_MEMBER_US = 5 * 60 * 1000000 };

/* ---- members come ---- */

/* "<client or instance>-<random uuid>", as Kafka makes them. */
static struct str new_member_id(const struct join_request *req, struct arena *a)
{
    struct str prefix = str_is_null(req->instance) ? req->client.id : req->instance;
    char text[UUID_DASHED_LEN + 1];

    uuid_to_dashed(uuid_random(), text);
    return arena_printf(a, "%.*s-%s", STR_ARG(prefix), text);
}

static void set_timeouts(struct member *m, const struct join_request *req)
{
    m->rebalance_timeout_ms = req->rebalance_timeout_ms;
    m->session_timeout_ms = req->session_timeout_ms;
}

static void add(struct group *g, struct str id, const struct join_request *req, struct join_call *c)
    REQUIRES(g->lock)
{
    struct member *m = member_new(id, req->instance, &req->client);
    struct pending_member *p = group_pending(g, id);

    if (p)
        group_drop_pending(g, p);
    set_timeouts(m, req);
    member_set_protocols(m, &req->protocols);
    m->is_new = true;
    m->due_us = rebalance_now_us(g) + NEW_MEMBER_US;
    if (group_is(g, GROUP_PREPARING_REBALANCE) && g->generation == 0)
        g->has_new_member = true;
    group_add_member(g, m, req->protocol_type);
    rebalance_park_join(g, m, c);
    group_wake_at(g, m->due_us);
    rebalance_prepare(g);
}

static void update(struct group *g, struct member *m, const struct join_request *req,
                   struct join_call *c) REQUIRES(g->lock)
{
    group_set_protocols(g, m, &req->protocols);
    set_timeouts(m, req);
    rebalance_park_join(g, m, c);
    rebalance_prepare(g);
}

/* ---- a static member comes back ---- */

/* What it changed, to be taken back where that cannot be stored. */
struct static_store {
    struct group_store store;
    struct str id;
    struct str old_id;
    struct str old_leader; /* what members below v9 are told, so that they do not assign anew */
    struct member_protocols old_protocols;
    int32_t old_rebalance_timeout_ms;
    int32_t old_session_timeout_ms;
    bool can_skip;
};

static struct member_protocols copy_protocols(struct arena *a, const struct member_protocols *p)
{
    struct member_protocol *v = arena_new_array(a, struct member_protocol, (size_t)p->count);

    for (int32_t i = 0; i < p->count; i++) {
        v[i].name = arena_str(a, p->v[i].name);
        v[i].metadata = slice_of_str(arena_str(a, str_of_slice(p->v[i].metadata)));
    }
    return (struct member_protocols){v, p->count};
}

static struct static_store *static_store_new(const struct group *g, const struct member *m,
                                             const struct join_request *req) REQUIRES(g->lock)
{
    struct static_store *s = xnew(struct static_store);
    struct arena *a = &s->store.arena;

    s->old_id = arena_str(a, m->id);
    s->old_leader = arena_str(a, g->leader);
    s->old_protocols = copy_protocols(a, &m->protocols);
    s->old_rebalance_timeout_ms = m->rebalance_timeout_ms;
    s->old_session_timeout_ms = m->session_timeout_ms;
    s->can_skip = req->can_skip;
    return s;
}

/* Whoever called as its earlier self is fenced; the group knows it under the new id. */
static void replace(struct group *g, struct member *m, struct str id) REQUIRES(g->lock)
{
    rebalance_fail_join(g, m, m->id, FENCED_INSTANCE_ID);
    rebalance_end_sync(g, m, &(struct sync_answer){.error = FENCED_INSTANCE_ID});
    group_rename_member(g, m, id);
    rebalance_renew(g, m);
}

static void take_back(struct group *g, struct member *m, const struct static_store *s, int error)
    REQUIRES(g->lock)
{
    struct join_call *c = TAKE(m->join);

    /* A rebalance has told it its new id since, which the next record holds. */
    if (!c)
        return;
    say_warn("group %.*s: that static member %.*s has come back could not be stored: %s; it joins "
             "again",
             STR_ARG(g->id), STR_ARG(m->instance), err_name(error));
    g->joined--;
    group_set_protocols(g, m, &s->old_protocols);
    m->rebalance_timeout_ms = s->old_rebalance_timeout_ms;
    m->session_timeout_ms = s->old_session_timeout_ms;
    replace(g, m, s->old_id);
    struct join_answer a = rebalance_generation(g, STR(""));
    a.error = error;
    a.leader = s->old_leader;
    c->done(c, &a);
}

static void welcome(struct group *g, struct member *m, const struct static_store *s)
    REQUIRES(g->lock)
{
    struct join_answer a = rebalance_generation(g, m->id);

    if (!s->can_skip) {
        a.leader = s->old_leader;
    } else if (group_is_leader(g, m)) {
        a.skip_assignment = true;
        a.members_of = g;
    }
    rebalance_end_join(g, m, &a);
    rebalance_renew(g, m);
}

static void on_static_stored(struct group_store *store, int error)
{
    struct static_store *s = container_of(store, struct static_store, store);
    struct group *g = store->group;

    WITH_LOCK(&g->lock)
    {
        struct member *m = group_is(g, GROUP_DEAD) ? NULL : group_find_member(g, s->id);

        if (m && error)
            take_back(g, m, s, error);
        else if (m)
            welcome(g, m, s);
    }
    rebalance_store_free(store);
}

/* A static member that is known under another id: it has been restarted. */
static void rejoin_static(struct group *g, struct member *m, const struct join_request *req,
                          struct join_call *c) REQUIRES(g->lock)
{
    struct static_store *s = static_store_new(g, m, req);

    s->id = new_member_id(req, &s->store.arena);
    replace(g, m, s->id);
    group_set_protocols(g, m, &req->protocols);
    set_timeouts(m, req);
    rebalance_park_join(g, m, c);
    if (group_is(g, GROUP_STABLE) && str_eq(group_vote(g), g->protocol)) {
        s->store.done = on_static_stored;
        rebalance_store(g, &s->store);
        return;
    }
    /* In the middle of assigning, its old id may be in what the leader is about to send. */
    rebalance_prepare(g);
    arena_deinit(&s->store.arena);
    free(s);
}

/* ---- JoinGroup ---- */

/* Whether there is room for it (group.max.size). */
static bool is_accepted(const struct group *g, const struct join_request *req) REQUIRES(g->lock)
{
    const struct member *m = group_find_member(g, req->member_id);
    int32_t max = g->env->max_size;

    switch (g->state) {
    case GROUP_PREPARING_REBALANCE:
        /* Who waits already may stay; the size may still count those who will not come again. */
        return (m && m->join) || g->joined < max;
    case GROUP_COMPLETING_REBALANCE:
    case GROUP_STABLE:
        return m || group_size(g) < max;
    default:
        return true;
    }
}

static void drop_unaccepted(struct group *g, struct str id) REQUIRES(g->lock)
{
    struct member *m = group_find_member(g, id);

    if (m)
        rebalance_remove(g, m);
}

static void join_new(struct group *g, const struct join_request *req, struct join_call *c)
    REQUIRES(g->lock)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct member *m = str_is_null(req->instance) ? NULL : group_find_static(g, req->instance);

    if (m) {
        rejoin_static(g, m, req, c);
        return;
    }
    struct str id = new_member_id(req, &a);
    if (!req->must_know_id) {
        add(g, id, req, c);
        return;
    }
    group_add_pending(g, id, rebalance_now_us(g) + (int64_t)req->session_timeout_ms * 1000);
    rebalance_refuse_join(c, id, MEMBER_ID_REQUIRED);
}

/* Nothing has changed for it: what it was told, or would have been, is told again. */
static void tell_again(struct group *g, struct member *m, struct join_call *c, bool with_members)
    REQUIRES(g->lock)
{
    struct join_answer a = rebalance_generation(g, m->id);

    a.members_of = with_members ? g : NULL;
    c->done(c, &a);
}

static void join_member(struct group *g, struct member *m, const struct join_request *req,
                        struct join_call *c) REQUIRES(g->lock)
{
    bool leads = group_is_leader(g, m);
    bool is_same = member_has_protocols(m, &req->protocols);

    if (group_is(g, GROUP_COMPLETING_REBALANCE) && is_same)
        tell_again(g, m, c, leads);
    else if (group_is(g, GROUP_STABLE) && is_same && !leads)
        tell_again(g, m, c, false);
    else
        update(g, m, req, c); /* a leader that comes again has seen other topics */
}

static void join_known(struct group *g, const struct join_request *req, struct join_call *c)
    REQUIRES(g->lock)
{
    struct member *m;

    if (group_pending(g, req->member_id)) {
        if (str_is_null(req->instance))
            add(g, req->member_id, req, c);
        else
            rebalance_refuse_join(c, STR(""), UNKNOWN_SERVER_ERROR); /* as Kafka's exception */
        return;
    }
    int r = group_check_member(g, req->member_id, req->instance, &m);
    if (r)
        rebalance_refuse_join(c, req->member_id, r);
    else
        join_member(g, m, req, c);
}

void rebalance_join(struct group *g, const struct join_request *req, struct join_call *c)
{
    LOCK_SCOPE(&g->lock);
    if (!is_accepted(g, req)) {
        drop_unaccepted(g, req->member_id);
        rebalance_refuse_join(c, STR(""), GROUP_MAX_SIZE_REACHED);
    } else if (group_is(g, GROUP_DEAD)) {
        rebalance_refuse_join(c, req->member_id, COORDINATOR_NOT_AVAILABLE);
    } else if (!group_supports(g, req->protocol_type, &req->protocols)) {
        rebalance_refuse_join(c, req->member_id, INCONSISTENT_GROUP_PROTOCOL);
    } else if (req->member_id.len == 0) {
        join_new(g, req, c);
    } else {
        join_known(g, req, c);
    }
    rebalance_maybe_complete_join(g);
}
