#include "broker/group/group.h"

#include "broker/group/rebalance.h"
#include "common/base/err.h"
#include "common/wire/messages.h"

#include <stdatomic.h>

static const char *const state_names[] = {
    [GROUP_EMPTY] = "Empty",
    [GROUP_PREPARING_REBALANCE] = "PreparingRebalance",
    [GROUP_COMPLETING_REBALANCE] = "CompletingRebalance",
    [GROUP_STABLE] = "Stable",
    [GROUP_DEAD] = "Dead",
};

const char *group_state_name(enum group_state state)
{
    assert((size_t)state < ARRAY_LEN(state_names));
    return state_names[state];
}

/* ---- life ---- */

/* A timer that is armed, and an alarm that is posted, hold a reference each. */
static void on_timer(struct timer *t)
{
    struct group *g = container_of(t, struct group, timer);

    rebalance_tick(g, reactor_now_us(g->reactor));
    group_unref(g);
}

static void on_alarm(struct message *msg)
{
    struct group *g = container_of(msg, struct group, alarm);
    bool was_armed = timer_is_armed(&g->timer), is_dead;
    int64_t due_us;

    WITH_LOCK(&g->lock)
    {
        g->is_alarm_posted = false;
        is_dead = group_is(g, GROUP_DEAD);
        due_us = g->alarm_us;
    }
    if (is_dead)
        timer_cancel(g->reactor, &g->timer);
    else
        timer_arm(g->reactor, &g->timer, due_us);
    if (!is_dead && !was_armed)
        group_ref(g);
    if (is_dead && was_armed)
        group_unref(g);
    group_unref(g);
}

static void post_alarm(struct group *g) REQUIRES(g->lock)
{
    if (g->is_alarm_posted)
        return;
    g->is_alarm_posted = true;
    group_ref(g);
    reactor_post(g->reactor, &g->alarm);
}

void group_wake_at(struct group *g, int64_t due_us)
{
    if (due_us >= g->alarm_us)
        return;
    g->alarm_us = due_us;
    post_alarm(g);
}

void group_stop_timer(struct group *g)
{
    post_alarm(g);
}

struct group *group_new(const struct group_env *env, struct str id, int32_t partition,
                        struct reactor *reactor)
{
    struct group *g = xnew(struct group);

    atomic_init(&g->refs, 1);
    g->env = env;
    g->id = (struct str){str_dup(id), id.len};
    g->partition = partition;
    g->reactor = reactor;
    g->timer.fire = on_timer;
    g->alarm.run = on_alarm;
    mutex_init(&g->lock, LOCK_GROUP);
    g->state_since_ms = -1;
    g->remaining_ms = -1;
    g->join_due_us = GROUP_NEVER_US;
    g->sync_due_us = GROUP_NEVER_US;
    g->alarm_us = GROUP_NEVER_US;
    commits_init(&g->offsets);
    return g;
}

struct group *group_ref(struct group *g)
{
    atomic_fetch_add(&g->refs, 1);
    return g;
}

static void free_group(struct group *g) NO_TSA
{
    struct member *m, *next;
    struct pending_member *p, *after;

    HASH_ITER (hh, g->members, m, next) {
        group_take_member(g, m);
        member_free(m);
    }
    HASH_ITER (hh, g->pending, p, after)
        group_drop_pending(g, p);
    commits_deinit(&g->offsets);
    mutex_deinit(&g->lock);
    free((void *)g->protocol_type.p);
    free((void *)g->protocol.p);
    free((void *)g->id.p);
    free(g);
}

struct group *group_unref(struct group *g)
{
    if (g && atomic_fetch_sub(&g->refs, 1) == 1)
        free_group(g);
    return NULL;
}

void group_unref_p(struct group **g)
{
    *g = group_unref(*g);
}

void group_set_state(struct group *g, enum group_state state)
{
    g->state = state;
    g->state_since_ms = clock_wall_ms(g->env->clock);
}

static void set_text(struct str *to, struct str from)
{
    struct str copy = str_is_null(from) ? STR_NULL : (struct str){str_dup(from), from.len};

    free((void *)to->p);
    *to = copy;
}

/* ---- members ---- */

int32_t group_size(const struct group *g)
{
    return (int32_t)HASH_COUNT(g->members);
}

struct member *group_find_member(const struct group *g, struct str id)
{
    struct member *m;

    HASH_FIND(hh, g->members, id.p, id.len, m);
    return m;
}

struct member *group_find_static(const struct group *g, struct str instance)
{
    struct member *m;

    HASH_FIND(hh_static, g->statics, instance.p, instance.len, m);
    return m;
}

bool group_is_leader(const struct group *g, const struct member *m)
{
    return str_eq(g->leader, m->id);
}

static struct known_protocol *known(const struct group *g, struct str name)
{
    struct known_protocol *k;

    HASH_FIND(hh, g->known, name.p, name.len, k);
    return k;
}

static struct known_protocol *get_known(struct group *g, struct str name)
{
    struct known_protocol *k = known(g, name);

    if (!k) {
        k = xcalloc(1, sizeof *k + name.len);
        memcpy(k + 1, name.p, name.len);
        HASH_ADD_KEYPTR(hh, g->known, (const char *)(k + 1), name.len, k);
    }
    return k;
}

/* Counts each protocol of a member that comes (1) or goes (-1) once. */
static void count_protocols(struct group *g, const struct member *m, int32_t change)
{
    const struct member_protocols *p = &m->protocols;

    for (int32_t i = 0; i < p->count; i++) {
        struct known_protocol *k = get_known(g, p->v[i].name);

        k->members += k->is_counted ? 0 : change;
        k->is_counted = true;
    }
    for (int32_t i = 0; i < p->count; i++) {
        struct known_protocol *k = known(g, p->v[i].name);

        if (k && k->members == 0) {
            HASH_DEL(g->known, k);
            free(k);
        } else if (k) {
            k->is_counted = false;
        }
    }
}

void group_add_member(struct group *g, struct member *m, struct str protocol_type)
{
    if (!g->members)
        set_text(&g->protocol_type, protocol_type);
    count_protocols(g, m, 1);
    HASH_ADD_KEYPTR(hh, g->members, m->id.p, m->id.len, m);
    if (!str_is_null(m->instance))
        HASH_ADD_KEYPTR(hh_static, g->statics, m->instance.p, m->instance.len, m);
    if (str_is_null(g->leader))
        g->leader = m->id;
}

void group_set_protocols(struct group *g, struct member *m, const struct member_protocols *p)
{
    count_protocols(g, m, -1);
    member_set_protocols(m, p);
    count_protocols(g, m, 1);
}

void group_take_member(struct group *g, struct member *m)
{
    bool leads = group_is_leader(g, m);

    count_protocols(g, m, -1);
    HASH_DEL(g->members, m);
    if (!str_is_null(m->instance))
        HASH_DELETE(hh_static, g->statics, m);
    g->joined -= m->join != NULL;
    g->unsynced -= m->is_unsynced;
    if (leads)
        g->leader = g->members ? g->members->id : STR_NULL;
}

void group_rename_member(struct group *g, struct member *m, struct str id)
{
    bool leads = group_is_leader(g, m);

    HASH_DEL(g->members, m);
    set_text(&m->id, id);
    HASH_ADD_KEYPTR(hh, g->members, m->id.p, m->id.len, m);
    if (leads)
        g->leader = m->id;
}

int group_check_member(const struct group *g, struct str id, struct str instance,
                       struct member **ret)
{
    if (!str_is_null(instance)) {
        const struct member *known = group_find_static(g, instance);

        if (!known)
            return UNKNOWN_MEMBER_ID;
        if (!str_eq(known->id, id))
            return FENCED_INSTANCE_ID;
    }
    *ret = group_find_member(g, id);
    return *ret ? 0 : UNKNOWN_MEMBER_ID;
}

struct pending_member *group_pending(const struct group *g, struct str id)
{
    struct pending_member *p;

    HASH_FIND(hh, g->pending, id.p, id.len, p);
    return p;
}

void group_add_pending(struct group *g, struct str id, int64_t due_us)
{
    struct pending_member *p = xcalloc(1, sizeof *p + id.len);

    if (HASH_COUNT(g->pending) == GROUP_PENDING_MAX)
        group_drop_pending(g, g->pending);
    memcpy(p + 1, id.p, id.len);
    p->id = (struct str){(const char *)(p + 1), id.len};
    p->due_us = due_us;
    HASH_ADD_KEYPTR(hh, g->pending, p->id.p, p->id.len, p);
    group_wake_at(g, due_us);
}

void group_drop_pending(struct group *g, struct pending_member *p)
{
    HASH_DEL(g->pending, p);
    free(p);
}

/* ---- protocols ---- */

static bool all_know(const struct group *g, struct str name)
{
    const struct known_protocol *k = known(g, name);

    /* Where there are no members yet, or no more, all know everything. */
    return (k ? k->members : 0) == group_size(g);
}

bool group_supports(const struct group *g, struct str type, const struct member_protocols *p)
{
    if (group_is(g, GROUP_EMPTY))
        return type.len > 0 && p->count > 0;
    if (!str_eq(g->protocol_type, type))
        return false;
    for (int32_t i = 0; i < p->count; i++) {
        if (all_know(g, p->v[i].name))
            return true;
    }
    return false;
}

/* The first of its list that all know. */
static struct known_protocol *favourite(const struct group *g, const struct member *m)
{
    for (int32_t i = 0; i < m->protocols.count; i++) {
        if (all_know(g, m->protocols.v[i].name))
            return known(g, m->protocols.v[i].name);
    }
    return NULL;
}

struct str group_vote(const struct group *g)
{
    const struct member_protocols *choice = &g->members->protocols;
    struct str winner = STR_NULL;
    int32_t most = 0;

    for (struct known_protocol *k = g->known; k; k = k->hh.next)
        k->votes = 0;
    for (const struct member *m = g->members; m; m = m->hh.next) {
        struct known_protocol *k = favourite(g, m);

        if (k)
            k->votes++;
    }
    /* What all know stands in the first member's list too; of equals, it has the first say. */
    for (int32_t i = 0; i < choice->count; i++) {
        const struct known_protocol *k = known(g, choice->v[i].name);

        if (k->votes > most) {
            most = k->votes;
            winner = choice->v[i].name;
        }
    }
    return winner;
}

int32_t group_rebalance_timeout_ms(const struct group *g)
{
    int32_t longest = 0;

    for (const struct member *m = g->members; m; m = m->hh.next)
        longest = MAX(longest, m->rebalance_timeout_ms);
    return longest;
}

void group_restore(struct group *g, const struct group_metadata_value *value)
{
    g->generation = value->generation;
    set_text(&g->protocol_type, value->protocol_type);
    set_text(&g->protocol, value->protocol);
    g->state = value->members_count > 0 ? GROUP_STABLE : GROUP_EMPTY;
    g->state_since_ms = value->current_state_timestamp;
}

void group_next_generation(struct group *g)
{
    g->generation = (int32_t)((uint32_t)g->generation + 1); /* a record may say anything */
    set_text(&g->protocol, g->members ? group_vote(g) : STR_NULL);
    for (struct member *m = g->members; m; m = m->hh.next)
        m->is_unsynced = false;
    g->unsynced = 0;
    group_set_state(g, g->members ? GROUP_COMPLETING_REBALANCE : GROUP_EMPTY);
}
