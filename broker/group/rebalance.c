#include "broker/group/rebalance.h"

#include "broker/group/rebalance_internal.h"
#include "common/base/say.h"

int64_t rebalance_now_us(const struct group *g)
{
    return clock_mono_us(g->env->clock);
}

/* ---- answers ---- */

void rebalance_park_join(struct group *g, struct member *m, struct join_call *c)
{
    if (m->join)
        m->join->superseded(m->join);
    else
        g->joined++;
    m->join = c;
}

void rebalance_park_sync(struct group *g UNUSED, struct member *m, struct sync_call *c)
{
    if (m->sync)
        m->sync->superseded(m->sync);
    m->sync = c;
}

void rebalance_end_join(struct group *g, struct member *m, const struct join_answer *a)
{
    struct join_call *c = TAKE(m->join);

    if (!c)
        return;
    g->joined--;
    c->done(c, a);
}

bool rebalance_end_sync(struct group *g UNUSED, struct member *m, const struct sync_answer *a)
{
    struct sync_call *c = TAKE(m->sync);

    if (!c)
        return false;
    c->done(c, a);
    return true;
}

void rebalance_refuse_join(struct join_call *c, struct str member_id, int error)
{
    c->done(c, &(struct join_answer){.error = error,
                                     .generation = -1,
                                     .protocol_type = STR_NULL,
                                     .protocol = STR_NULL,
                                     .leader = STR(""),
                                     .member_id = member_id});
}

void rebalance_fail_join(struct group *g, struct member *m, struct str member_id, int error)
{
    struct join_call *c = TAKE(m->join);

    if (!c)
        return;
    g->joined--;
    rebalance_refuse_join(c, member_id, error);
}

struct join_answer rebalance_generation(const struct group *g, struct str member_id)
{
    return (struct join_answer){
        .generation = g->generation,
        .protocol_type = g->protocol_type,
        .protocol = g->protocol,
        .leader = str_is_null(g->leader) ? STR("") : g->leader,
        .member_id = member_id,
    };
}

void rebalance_tell_assignments(struct group *g, int error)
{
    for (struct member *m = g->members; m; m = m->hh.next) {
        if (error)
            member_set_assignment(m, (struct slice){0});
        struct sync_answer a = {
            .error = error,
            .protocol_type = error ? STR_NULL : g->protocol_type,
            .protocol = error ? STR_NULL : g->protocol,
            .assignment = m->assignment,
        };
        if (rebalance_end_sync(g, m, &a))
            rebalance_renew(g, m);
    }
}

/* ---- members ---- */

void rebalance_renew(struct group *g, struct member *m)
{
    m->due_us = rebalance_now_us(g) + (int64_t)m->session_timeout_ms * 1000;
    group_wake_at(g, m->due_us);
}

void rebalance_synced(struct group *g, struct member *m)
{
    g->unsynced -= m->is_unsynced;
    m->is_unsynced = false;
    if (g->unsynced == 0)
        g->sync_due_us = GROUP_NEVER_US;
}

/* Its calls are answered, and it is gone; what that means for the others is the caller's. */
static void drop(struct group *g, struct member *m)
{
    rebalance_fail_join(g, m, STR(""), UNKNOWN_MEMBER_ID);
    rebalance_end_sync(g, m, &(struct sync_answer){.error = UNKNOWN_MEMBER_ID});
    rebalance_synced(g, m);
    group_take_member(g, m);
    member_free(m);
}

static void go_on(struct group *g)
{
    rebalance_prepare(g);
    /* At once, where nobody is left to wait for: who comes next finds an empty group. */
    rebalance_maybe_complete_join(g);
}

void rebalance_remove(struct group *g, struct member *m)
{
    say_info("group %.*s: member %.*s is removed generation=%d state=%s", STR_ARG(g->id),
             STR_ARG(m->id), g->generation, group_state_name(g->state));
    drop(g, m);
    go_on(g);
}

/* ---- phases ---- */

void rebalance_prepare(struct group *g)
{
    int32_t delay_ms = g->env->initial_rebalance_delay_ms;

    /* Before anything that looks at every member: each of them that joins comes by here. */
    if (group_is(g, GROUP_PREPARING_REBALANCE) || group_is(g, GROUP_DEAD))
        return;
    int64_t now = rebalance_now_us(g);
    int32_t timeout_ms = group_rebalance_timeout_ms(g);
    if (group_is(g, GROUP_COMPLETING_REBALANCE))
        rebalance_tell_assignments(g, REBALANCE_IN_PROGRESS);
    g->sync_due_us = GROUP_NEVER_US;
    if (group_is(g, GROUP_EMPTY)) {
        g->join_due_us = now + (int64_t)delay_ms * 1000;
        g->remaining_ms = MAX((int64_t)timeout_ms - delay_ms, 0);
    } else {
        g->join_due_us = now + (int64_t)timeout_ms * 1000;
        g->remaining_ms = -1;
    }
    g->has_new_member = false;
    group_set_state(g, GROUP_PREPARING_REBALANCE);
    group_wake_at(g, g->join_due_us);
    say_info("group %.*s: rebalance begins generation=%d members=%d", STR_ARG(g->id), g->generation,
             group_size(g));
}

/* Dynamic members that have not joined again are gone; static ones have until their session
 * ends. */
static void drop_absent(struct group *g)
{
    struct member *m, *next;

    HASH_ITER (hh, g->members, m, next) {
        if (!m->join && str_is_null(m->instance))
            drop(g, m);
    }
}

/* Whether the leader is there; if not, another leads. */
static bool has_leader(struct group *g)
{
    const struct member *leader = str_is_null(g->leader) ? NULL : group_find_member(g, g->leader);

    if (leader && leader->join)
        return true;
    for (const struct member *m = leader ? g->members : NULL; m; m = m->hh.next) {
        if (m->join) {
            g->leader = m->id;
            return true;
        }
    }
    return false;
}

static void on_empty_stored(struct group_store *s, int error)
{
    if (error)
        say_warn("group %.*s: that it is empty could not be stored: %s; a broker that takes it "
                 "over now finds its earlier members, until their sessions end",
                 STR_ARG(s->group->id), err_name(error));
    rebalance_store_free(s);
}

/* Everybody is told of the new generation, and the leader of everybody. */
static void tell_generation(struct group *g)
{
    for (struct member *m = g->members; m; m = m->hh.next) {
        struct join_answer a = rebalance_generation(g, m->id);

        a.members_of = group_is_leader(g, m) ? g : NULL;
        rebalance_end_join(g, m, &a);
        rebalance_renew(g, m);
        m->is_new = false;
        m->is_unsynced = true;
        g->unsynced++;
    }
    g->sync_due_us = rebalance_now_us(g) + (int64_t)group_rebalance_timeout_ms(g) * 1000;
    group_wake_at(g, g->sync_due_us);
}

static void complete_join(struct group *g)
{
    drop_absent(g);
    if (!has_leader(g) && g->members) {
        /* Static members only, and none of them has come: until their sessions end. */
        g->join_due_us = rebalance_now_us(g) + (int64_t)group_rebalance_timeout_ms(g) * 1000;
        g->remaining_ms = -1;
        group_wake_at(g, g->join_due_us);
        return;
    }
    g->join_due_us = GROUP_NEVER_US;
    group_next_generation(g);
    say_info("group %.*s: generation %d members=%d protocol=%.*s", STR_ARG(g->id), g->generation,
             group_size(g), STR_ARG(g->protocol));
    if (g->members) {
        tell_generation(g);
        return;
    }
    struct group_store *s = xnew(struct group_store);
    s->done = on_empty_stored;
    rebalance_store(g, s);
}

void rebalance_maybe_complete_join(struct group *g)
{
    bool is_initial = g->remaining_ms >= 0; /* that one ends by time alone */

    if (group_is(g, GROUP_PREPARING_REBALANCE) && !is_initial && g->joined == group_size(g) &&
        !g->pending)
        complete_join(g);
}

/* ---- heartbeat, leave ---- */

int rebalance_heartbeat(struct group *g, struct str member_id, struct str instance,
                        int32_t generation)
{
    struct member *m;

    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return COORDINATOR_NOT_AVAILABLE;
    int r = group_check_member(g, member_id, instance, &m);
    if (r)
        return r;
    if (generation != g->generation)
        return ILLEGAL_GENERATION;
    rebalance_renew(g, m);
    return group_is(g, GROUP_PREPARING_REBALANCE) ? REBALANCE_IN_PROGRESS : 0;
}

int rebalance_check_commit(struct group *g, struct str member_id, struct str instance,
                           int32_t generation)
{
    struct member *m;

    if (group_is(g, GROUP_DEAD))
        return COORDINATOR_NOT_AVAILABLE;
    if (generation < 0 && group_is(g, GROUP_EMPTY))
        return 0;
    if (generation < 0 && member_id.len == 0 && str_is_null(instance))
        return UNKNOWN_MEMBER_ID;
    int r = group_check_member(g, member_id, instance, &m);
    if (r)
        return r;
    if (generation != g->generation)
        return ILLEGAL_GENERATION;
    if (group_is(g, GROUP_COMPLETING_REBALANCE))
        return REBALANCE_IN_PROGRESS;
    rebalance_renew(g, m);
    return 0;
}

int rebalance_leave(struct group *g, struct str member_id, struct str instance)
{
    struct pending_member *p;
    struct member *m = NULL;

    LOCK_SCOPE(&g->lock);
    if (group_is(g, GROUP_DEAD))
        return COORDINATOR_NOT_AVAILABLE;
    if (member_id.len == 0) {
        /* An operator removes a static member. */
        m = str_is_null(instance) ? NULL : group_find_static(g, instance);
    } else if ((p = group_pending(g, member_id))) {
        group_drop_pending(g, p);
        rebalance_maybe_complete_join(g);
        return 0;
    } else {
        int r = group_check_member(g, member_id, instance, &m);
        if (r)
            return r;
    }
    if (!m)
        return UNKNOWN_MEMBER_ID;
    rebalance_remove(g, m);
    return 0;
}

/* ---- time ---- */

/* The first rebalance of a group waits on while members keep coming. True: it goes on. */
static bool extend_initial_delay(struct group *g)
{
    if (g->remaining_ms <= 0 || !g->has_new_member)
        return false;
    int64_t delay_ms = MIN(g->env->initial_rebalance_delay_ms, g->remaining_ms);

    g->has_new_member = false;
    g->remaining_ms -= delay_ms;
    g->join_due_us += delay_ms * 1000;
    return true;
}

static void expire_pending(struct group *g, int64_t now_us)
{
    struct pending_member *p, *next;
    bool dropped = false;

    HASH_ITER (hh, g->pending, p, next) {
        if (p->due_us <= now_us) {
            group_drop_pending(g, p);
            dropped = true;
        }
    }
    if (dropped)
        rebalance_maybe_complete_join(g);
}

/* Whose parked call shows that it lives needs no heartbeat. */
static bool is_overdue(const struct member *m, int64_t now_us)
{
    return m->due_us <= now_us && (m->is_new || (!m->join && !m->sync));
}

static void expire_members(struct group *g, int64_t now_us)
{
    struct member *m, *next;
    bool dropped = false;

    HASH_ITER (hh, g->members, m, next) {
        if (!is_overdue(m, now_us))
            continue;
        say_info("group %.*s: member %.*s of %.*s was not heard of for %d ms and is removed",
                 STR_ARG(g->id), STR_ARG(m->id), STR_ARG(m->client_host), m->session_timeout_ms);
        drop(g, m);
        dropped = true;
    }
    if (dropped)
        go_on(g);
}

static void expire_unsynced(struct group *g)
{
    struct member *m, *next;

    g->sync_due_us = GROUP_NEVER_US;
    HASH_ITER (hh, g->members, m, next) {
        if (m->is_unsynced) {
            say_info("group %.*s: member %.*s did not sync in time and is removed generation=%d",
                     STR_ARG(g->id), STR_ARG(m->id), g->generation);
            drop(g, m);
        }
    }
    rebalance_prepare(g);
}

/* The earliest of what may come to be due. */
static int64_t next_due_us(const struct group *g)
{
    int64_t due = MIN(g->join_due_us, g->sync_due_us);

    for (const struct member *m = g->members; m; m = m->hh.next) {
        if (m->is_new || (!m->join && !m->sync))
            due = MIN(due, m->due_us);
    }
    for (const struct pending_member *p = g->pending; p; p = p->hh.next)
        due = MIN(due, p->due_us);
    return due;
}

void rebalance_tick(struct group *g, int64_t now_us)
{
    LOCK_SCOPE(&g->lock);
    g->alarm_us = GROUP_NEVER_US;
    if (group_is(g, GROUP_DEAD))
        return;
    expire_pending(g, now_us);
    expire_members(g, now_us);
    if (g->sync_due_us <= now_us)
        expire_unsynced(g);
    if (g->join_due_us <= now_us && !extend_initial_delay(g))
        complete_join(g);
    group_wake_at(g, next_due_us(g));
}

/* ---- from and to other brokers ---- */

static void resume_member(struct group *g, const struct group_metadata_value *value,
                          const struct group_metadata_value_member *from)
{
    struct member_client client = {from->client_id, from->client_host};
    struct member *m = member_new(from->member_id, from->group_instance_id, &client);
    const struct member_protocol protocol = {value->protocol, from->subscription};

    m->rebalance_timeout_ms = from->rebalance_timeout;
    m->session_timeout_ms = from->session_timeout;
    member_set_protocols(m, &(struct member_protocols){&protocol, 1});
    member_set_assignment(m, from->assignment);
    group_add_member(g, m, value->protocol_type);
    rebalance_renew(g, m);
}

void rebalance_resume(struct group *g, const struct group_metadata_value *value)
{
    LOCK_SCOPE(&g->lock);
    group_restore(g, value);
    for (int32_t i = 0; i < value->members_count; i++) {
        const struct group_metadata_value_member *from = &value->members[i];

        if (!group_find_member(g, from->member_id) &&
            (str_is_null(from->group_instance_id) ||
             !group_find_static(g, from->group_instance_id)))
            resume_member(g, value, from);
    }
    struct member *leader = str_is_null(value->leader) ? NULL : group_find_member(g, value->leader);
    if (leader)
        g->leader = leader->id;
    if (group_size(g) > g->env->max_size)
        rebalance_prepare(g);
}

void rebalance_kill(struct group *g, int error)
{
    struct member *m, *next;

    group_set_state(g, GROUP_DEAD);
    HASH_ITER (hh, g->members, m, next) {
        rebalance_fail_join(g, m, m->id, error);
        rebalance_end_sync(g, m, &(struct sync_answer){.error = error});
    }
    group_stop_timer(g);
}
