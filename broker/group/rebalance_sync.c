/*
 * rebalance_sync.c - SyncGroup: the leader's assignment is stored, and everybody told theirs
 * (protocol.md 11.9)
 */
#include "broker/group/rebalance_internal.h"

#include "common/base/say.h"

/* ---- the record of a group ---- */

static void store_member(const struct group *g, const struct member *m,
                         struct group_metadata_value_member *to)
{
    const struct member_protocol *p = member_protocol(m, g->protocol);

    *to = (struct group_metadata_value_member){
        .member_id = m->id,
        .group_instance_id = m->instance,
        .client_id = m->client_id,
        .client_host = m->client_host,
        .rebalance_timeout = m->rebalance_timeout_ms,
        .session_timeout = m->session_timeout_ms,
        .subscription = p ? p->metadata : slice_of("", 0),
        .assignment = m->assignment.p ? m->assignment : slice_of("", 0),
    };
}

/* Texts are the group's: they are read inside env->store(), with the lock held. */
static struct group_metadata_value *value_of(const struct group *g, struct arena *a)
    REQUIRES(g->lock)
{
    struct group_metadata_value *v = arena_new(a, struct group_metadata_value);

    v->protocol_type = str_is_null(g->protocol_type) ? STR("") : g->protocol_type;
    v->generation = g->generation;
    v->protocol = g->protocol;
    v->leader = g->leader;
    v->current_state_timestamp = g->state_since_ms;
    v->members_count = group_size(g);
    v->members = arena_new_array(a, struct group_metadata_value_member, (size_t)v->members_count);
    struct group_metadata_value_member *to = v->members;
    for (const struct member *m = g->members; m; m = m->hh.next)
        store_member(g, m, to++);
    return v;
}

void rebalance_store(struct group *g, struct group_store *s)
{
    s->group = group_ref(g);
    if (!s->value)
        s->value = value_of(g, &s->arena);
    g->env->store(g->env->ctx, s);
}

void rebalance_store_free(struct group_store *s)
{
    s->group = group_unref(s->group);
    arena_deinit(&s->arena);
    free(s); /* the first member of whatever it is a part of */
}

/* ---- the leader's assignment ---- */

/* What the leader gave each member, kept until it is stored. */
struct sync_store {
    struct group_store store;
    int32_t generation;
    struct assignment *assignments; /* in the arena, one for each member */
    int32_t count;
};

static void take_assignments(struct group *g, const struct sync_store *s) REQUIRES(g->lock)
{
    for (int32_t i = 0; i < s->count; i++) {
        struct member *m = group_find_member(g, s->assignments[i].member_id);

        if (m)
            member_set_assignment(m, s->assignments[i].bytes);
    }
}

static void on_stored(struct group_store *store, int error)
{
    struct sync_store *s = container_of(store, struct sync_store, store);
    struct group *g = store->group;

    WITH_LOCK(&g->lock)
    {
        /* Another rebalance may have begun meanwhile: then nobody wants this any more. */
        if (group_is(g, GROUP_COMPLETING_REBALANCE) && g->generation == s->generation) {
            if (error) {
                say_warn("group %.*s: the assignment of generation %d could not be stored: %s; "
                         "its members join again",
                         STR_ARG(g->id), s->generation, err_name(error));
                rebalance_tell_assignments(g, error);
                rebalance_prepare(g);
            } else {
                take_assignments(g, s);
                rebalance_tell_assignments(g, 0);
                group_set_state(g, GROUP_STABLE);
            }
        }
    }
    rebalance_store_free(store);
}

/* Members that the leader has not named get nothing; names that are no members are passed over. */
static void propose(struct group *g, struct sync_store *s, const struct sync_request *req)
    REQUIRES(g->lock)
{
    struct arena *a = &s->store.arena;
    struct group_metadata_value *v = s->store.value = value_of(g, a);

    for (struct member *m = g->members; m; m = m->hh.next)
        m->proposed = slice_of("", 0);
    for (int32_t i = 0; i < req->assignment_count; i++) {
        struct member *m = group_find_member(g, req->assignments[i].member_id);

        if (m)
            m->proposed = req->assignments[i].bytes;
    }
    s->count = v->members_count;
    s->assignments = arena_new_array(a, struct assignment, (size_t)s->count);
    int32_t i = 0;
    for (const struct member *m = g->members; m; m = m->hh.next, i++) {
        s->assignments[i].member_id = arena_str(a, m->id);
        s->assignments[i].bytes = slice_of_str(arena_str(a, str_of_slice(m->proposed)));
        v->members[i].assignment = s->assignments[i].bytes;
    }
}

static void store_assignment(struct group *g, const struct sync_request *req) REQUIRES(g->lock)
{
    struct sync_store *s = xnew(struct sync_store);

    s->store.done = on_stored;
    s->generation = g->generation;
    propose(g, s, req);
    rebalance_store(g, &s->store);
}

/* ---- SyncGroup ---- */

static void refuse(struct sync_call *c, int error)
{
    c->done(c, &(struct sync_answer){.error = error,
                                     .protocol_type = STR_NULL,
                                     .protocol = STR_NULL,
                                     .assignment = slice_of("", 0)});
}

static bool is_other(struct str said, struct str ours)
{
    return !str_is_null(said) && !str_eq(said, ours);
}

/* 0, and who it is, or why it cannot sync. */
static int check(const struct group *g, const struct sync_request *req, struct member **ret)
    REQUIRES(g->lock)
{
    if (group_is(g, GROUP_DEAD))
        return COORDINATOR_NOT_AVAILABLE;
    int r = group_check_member(g, req->member_id, req->instance, ret);
    if (r)
        return r;
    if (req->generation != g->generation)
        return ILLEGAL_GENERATION;
    if (is_other(req->protocol_type, g->protocol_type) || is_other(req->protocol, g->protocol))
        return INCONSISTENT_GROUP_PROTOCOL;
    return group_is(g, GROUP_PREPARING_REBALANCE) ? REBALANCE_IN_PROGRESS : 0;
}

static void give_assignment(struct group *g, struct member *m, struct sync_call *c)
    REQUIRES(g->lock)
{
    c->done(c, &(struct sync_answer){.protocol_type = g->protocol_type,
                                     .protocol = g->protocol,
                                     .assignment = m->assignment});
    rebalance_renew(g, m);
}

void rebalance_sync(struct group *g, const struct sync_request *req, struct sync_call *c)
{
    struct member *m = NULL;

    LOCK_SCOPE(&g->lock);
    int r = check(g, req, &m);
    if (r) {
        refuse(c, r);
        return;
    }
    rebalance_synced(g, m);
    if (group_is(g, GROUP_STABLE)) {
        give_assignment(g, m, c);
        return;
    }
    rebalance_park_sync(g, m, c);
    if (group_is_leader(g, m))
        store_assignment(g, req);
}
