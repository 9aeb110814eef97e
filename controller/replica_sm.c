#include "controller/replica_sm.h"

#include "controller/partition_sm.h"
#include "zk/zk_states.h"

enum { CHUNK = 4096, SAY_EACH_MAX = 20 };

static const uint8_t allowed_from[] = {
    [REPLICA_NEW] = BIT(REPLICA_NONE),
    [REPLICA_ONLINE] = BIT(REPLICA_NEW) | BIT(REPLICA_ONLINE) | BIT(REPLICA_OFFLINE) |
                       BIT(REPLICA_DELETION_INELIGIBLE),
    [REPLICA_OFFLINE] = BIT(REPLICA_NEW) | BIT(REPLICA_ONLINE) | BIT(REPLICA_OFFLINE) |
                        BIT(REPLICA_DELETION_INELIGIBLE),
    [REPLICA_DELETION_STARTED] = BIT(REPLICA_OFFLINE),
    [REPLICA_DELETION_SUCCESSFUL] = BIT(REPLICA_DELETION_STARTED),
    [REPLICA_DELETION_INELIGIBLE] = BIT(REPLICA_OFFLINE) | BIT(REPLICA_DELETION_STARTED),
    [REPLICA_NONE] = BIT(REPLICA_DELETION_SUCCESSFUL),
};

static const char *const state_names[] = {
    "", "new", "online", "offline", "in deletion", "deleted", "not to be deleted yet", "none",
};

/* Replicas of one broker. */
struct group {
    struct controller *c;
    struct ctl_replica *v;
    size_t count;
    int32_t broker;
    bool says_each;
    struct replica_list *left; /* those who got out of the ISR; NULL: nobody asks */
};

static void to_new(const struct group *g, struct ctl_partition *p)
{
    if (p->has_leadership && p->leader == g->broker) {
        say_warn("controller: replica %d of %s-%d is not made new: it is the leader", g->broker,
                 p->topic->name, p->id);
        return;
    }
    if (p->has_leadership)
        fanout_lead_one(&g->c->fanout, g->broker, p, true);
    replica_set_state(p, g->broker, REPLICA_NEW);
}

static void to_online(const struct group *g, struct ctl_partition *p)
{
    if (replica_state(p, g->broker) != REPLICA_NEW && p->has_leadership)
        fanout_lead_one(&g->c->fanout, g->broker, p, false);
    replica_set_state(p, g->broker, REPLICA_ONLINE);
}

static void to_deletion(const struct group *g, struct ctl_partition *p)
{
    replica_set_state(p, g->broker, REPLICA_DELETION_STARTED);
    fanout_stop(&g->c->fanout, g->broker, p, true);
}

/* Nobody else of the ISR could lead: members that are not replicas any more were left there by a
 * controller that died while it dropped them. */
static bool is_last(const struct ctl_partition *p, int32_t broker, const struct node_ids *isr)
{
    struct node_ids rs = partition_replicas(p);

    for (int32_t i = 0; i < isr->count; i++) {
        if (isr->list[i] != broker && node_ids_has(&rs, isr->list[i]))
            return false;
    }
    return true;
}

/* The state without this broker; false if it is not in the ISR, so that nothing is to be written.
 * The last member stays in the ISR: who else could be trusted to have everything? */
static bool without(const struct ctl_partition *p, int32_t broker, struct node_state *st,
                    struct arena *a)
{
    struct node_ids isr = {arena_new_array(a, int32_t, (size_t)st->isr.count + 1), 0};
    bool keeps = is_last(p, broker, &st->isr);

    if (!node_ids_has(&st->isr, broker))
        return false;
    for (int32_t i = 0; i < st->isr.count; i++) {
        if (st->isr.list[i] != broker || keeps)
            isr.list[isr.count++] = st->isr.list[i];
    }
    if (st->leader == broker)
        st->leader = NO_LEADER;
    st->isr = isr;
    st->leader_epoch++;
    return true;
}

/* The replica is out of the ISR, or was not in it: everybody else hears of that. */
static void left_isr(const struct group *g, struct ctl_partition *p,
                     const struct zk_partition_state *st)
{
    struct controller *c = g->c;
    struct node_ids rs = partition_replicas(p);

    context_set_leadership(&c->x, p, &st->state, st->version, c->epoch);
    replica_set_state(p, g->broker, REPLICA_OFFLINE);
    if (g->left)
        replica_list_add(g->left, p, g->broker);
    if (p->topic->is_queued)
        return;
    for (int32_t i = 0; i < rs.count; i++) {
        if (rs.list[i] != g->broker)
            fanout_lead_one(&c->fanout, rs.list[i], p, false);
    }
    if (rs.count == 1) { /* nobody else to lead, but all are to know */
        fanout_tell_all(&c->fanout);
        fanout_tell_about(&c->fanout, p);
    }
    if (g->says_each)
        say_info("controller: replica %d of %s-%d is offline leader=%d leader_epoch=%d isr_size=%d",
                 g->broker, p->topic->name, p->id, p->leader, p->leader_epoch, p->isr_count);
}

static void stays(const struct group *g, const struct ctl_partition *p, const char *why)
{
    if (!p->topic->is_queued || g->says_each)
        say_warn("controller: replica %d of %s-%d could not be taken offline: %s", g->broker,
                 p->topic->name, p->id, why);
}

/* Partitions on their way through read, decide, write. */
struct round {
    struct arena arena;
    struct ctl_partition **v;
    struct zk_partition_state *states;
    size_t count;
    bool is_known; /* states are what the context has; else they were read in this round */
    struct ctl_partition **unsure; /* to be read, as what is known is not enough */
    size_t unsure_count;
};

/* Leaders of an older protocol write the ISR themselves. */
static bool knows_isrs(const struct controller *c)
{
    return c->opts.ibp >= IBP_2_7_IV2;
}

/* Passed on where nothing is to be written, kept where something is. */
static void sort_out(const struct group *g, struct round *rd)
{
    size_t n = 0;

    for (size_t i = 0; i < rd->count; i++) {
        struct zk_partition_state *st = &rd->states[i];
        struct ctl_partition *p = rd->v[i];
        const char *why = partition_state_unfit(g->c, st);
        bool is_in = !why && without(p, g->broker, &st->state, &rd->arena);
        if (!is_in && rd->is_known && (why || !knows_isrs(g->c))) {
            rd->unsure[rd->unsure_count++] = p;
        } else if (why && !(st->result == ZK_NO_NODE && p->topic->is_queued)) {
            stays(g, p, why);
        } else if (why) {
            continue; /* gone with its topic: nothing to say */
        } else if (!is_in) {
            left_isr(g, p, st);
        } else {
            st->state.controller_epoch = g->c->epoch;
            rd->v[n] = p;
            rd->states[n++] = *st;
        }
    }
    rd->count = n;
}

static enum zk_result remove_round(const struct group *g, struct round *rd)
{
    struct controller *c = g->c;
    size_t kept = 0;

    for (size_t i = 0; i < rd->count; i++)
        partition_known_state(rd->v[i], &rd->arena, &rd->states[i]);
    enum zk_result r = ZK_OK;
    if (!rd->is_known)
        r = zk_states_read(c->store, &rd->arena, rd->states, rd->count);
    if (r != ZK_OK)
        return r;
    sort_out(g, rd);
    r = zk_states_update(c->store, rd->states, rd->count, c->epoch_version);
    if (r != ZK_OK)
        return r;
    for (size_t i = 0; i < rd->count; i++) {
        if (rd->states[i].result == ZK_OK)
            left_isr(g, rd->v[i], &rd->states[i]);
        else if (rd->states[i].result == ZK_BAD_VERSION)
            rd->v[kept++] = rd->v[i];
        else
            stays(g, rd->v[i], zk_result_name(rd->states[i].result));
    }
    for (size_t i = 0; i < rd->unsure_count; i++)
        rd->v[kept++] = rd->unsure[i];
    rd->unsure_count = 0;
    rd->count = kept;
    rd->is_known = false;
    return ZK_OK;
}

static enum zk_result remove_from_isr(const struct group *g, size_t from, size_t to)
{
    struct round rd = {.is_known = true};
    enum zk_result r = ZK_OK;

    rd.v = arena_array(&rd.arena, to - from + 1, sizeof(struct ctl_partition *));
    rd.states = arena_array(&rd.arena, to - from + 1, sizeof *rd.states);
    rd.unsure = arena_array(&rd.arena, to - from + 1, sizeof(struct ctl_partition *));
    for (size_t i = from; i < to; i++) {
        struct ctl_partition *p = g->v[i].p;
        if (p->has_leadership) {
            rd.v[rd.count++] = p;
            continue;
        }
        fanout_tell_all(&g->c->fanout);
        replica_set_state(p, g->broker, REPLICA_OFFLINE);
        if (g->left)
            replica_list_add(g->left, p, g->broker);
    }
    while (rd.count && r == ZK_OK)
        r = remove_round(g, &rd);
    arena_deinit(&rd.arena);
    return r;
}

static enum zk_result to_offline(const struct group *g)
{
    enum zk_result r = ZK_OK;

    /* With the epochs as they are before the ISR changes: those are what the broker knows. */
    for (size_t i = 0; i < g->count; i++)
        fanout_stop(&g->c->fanout, g->broker, g->v[i].p, false);
    for (size_t from = 0; r == ZK_OK && from < g->count; from += CHUNK)
        r = remove_from_isr(g, from, MIN(from + CHUNK, g->count));
    return r;
}

/* Only those that may go there, at the front of the group. */
static void keep_allowed(struct group *g, enum replica_state to)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++) {
        enum replica_state from = replica_state(g->v[i].p, g->broker);
        if (allowed_from[to] & BIT(from))
            g->v[n++] = g->v[i];
        else
            say_warn("controller: replica %d of %s-%d stays %s: it cannot become %s from there",
                     g->broker, g->v[i].p->topic->name, g->v[i].p->id, state_names[from],
                     state_names[to]);
    }
    g->count = n;
}

static enum zk_result change_group(struct group *g, enum replica_state to)
{
    keep_allowed(g, to);
    if (to == REPLICA_OFFLINE)
        return to_offline(g);
    for (size_t i = 0; i < g->count; i++) {
        struct ctl_partition *p = g->v[i].p;
        switch (to) {
        case REPLICA_NEW:
            to_new(g, p);
            break;
        case REPLICA_ONLINE:
            to_online(g, p);
            break;
        case REPLICA_DELETION_STARTED:
            to_deletion(g, p);
            break;
        case REPLICA_NONE:
            replica_remove(&g->c->x, p, g->broker);
            break;
        default:
            replica_set_state(p, g->broker, to);
            break;
        }
    }
    return ZK_OK;
}

/* By broker, otherwise in the order given. There are few brokers: one pass for each. */
static void sort_by_broker(struct replica_list *list)
{
    struct ctl_replica *sorted = xmalloc((list->count + 1) * sizeof *sorted);
    int32_t next = INT32_MIN;
    size_t n = 0;

    while (n < list->count) {
        int32_t broker = next;
        bool first = true;
        for (size_t i = 0; i < list->count; i++) {
            if (list->v[i].broker >= next && (first || list->v[i].broker < broker)) {
                broker = list->v[i].broker;
                first = false;
            }
        }
        for (size_t i = 0; i < list->count; i++) {
            if (list->v[i].broker == broker)
                sorted[n++] = list->v[i];
        }
        next = broker + 1;
    }
    if (list->count)
        memcpy(list->v, sorted, list->count * sizeof *sorted);
    free(sorted);
}

static struct group next_group(struct controller *c, struct replica_list *list, size_t *at)
{
    struct group g = {c, list->v + *at, 0, list->v[*at].broker, list->count <= SAY_EACH_MAX, NULL};

    while (*at < list->count && list->v[*at].broker == g.broker) {
        g.count++;
        ++*at;
    }
    return g;
}

/* Somebody who stays has everything; or there was never anything. */
static bool may_delete(const struct controller *c, const struct ctl_partition *p)
{
    struct node_ids isr = partition_isr(p), rs = partition_replicas(p);

    for (int32_t i = 0; i < isr.count; i++) {
        if (node_ids_has(&rs, isr.list[i]) && replica_is_online(&c->x, p, isr.list[i]))
            return true;
    }
    return !p->has_leadership;
}

static void delete_left(struct controller *c, const struct replica_list *left)
{
    fanout_begin(&c->fanout);
    for (size_t i = 0; i < left->count; i++) {
        const struct ctl_replica *rp = &left->v[i];
        if (may_delete(c, rp->p))
            fanout_stop(&c->fanout, rp->broker, rp->p, true);
        else
            say_warn("controller: replica %d of %s-%d stays on its disk: nobody else who is online "
                     "has all of it",
                     rp->broker, rp->p->topic->name, rp->p->id);
    }
    fanout_flush(&c->fanout);
}

enum zk_result replica_sm_remove(struct controller *c, struct replica_list *list)
{
    CLEANUP(replica_list_deinit) struct replica_list left = {0};
    enum zk_result r = ZK_OK;

    if (list->count == 0)
        return ZK_OK;
    sort_by_broker(list);
    fanout_begin(&c->fanout);
    for (size_t at = 0; r == ZK_OK && at < list->count;) {
        struct group g = next_group(c, list, &at);
        g.left = &left;
        r = to_offline(&g);
    }
    controller_close_batch(c, r);
    if (r == ZK_OK)
        delete_left(c, &left);
    return r;
}

enum zk_result replica_sm_change(struct controller *c, struct replica_list *list,
                                 enum replica_state to)
{
    enum zk_result r = ZK_OK;

    if (list->count == 0)
        return ZK_OK;
    sort_by_broker(list);
    fanout_begin(&c->fanout);
    for (size_t at = 0; r == ZK_OK && at < list->count;) {
        struct group g = next_group(c, list, &at);
        r = change_group(&g, to);
    }
    if (list->count > SAY_EACH_MAX)
        say_info("controller: replicas to become %s count=%zu", state_names[to], list->count);
    return controller_close_batch(c, r);
}

static void find(const struct controller *c, bool is_online, struct replica_list *ret)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        TOPIC_EACH_PARTITION(t, p)
        {
            for (int i = 0; i < p->replica_count; i++) {
                if (replica_is_online(&c->x, p, p->ids[i]) == is_online)
                    replica_list_add(ret, p, p->ids[i]);
            }
        }
    }
}

static void set_states(const struct replica_list *list, enum replica_state state)
{
    for (size_t i = 0; i < list->count; i++)
        replica_set_state(list->v[i].p, list->v[i].broker, state);
}

enum zk_result replica_sm_start(struct controller *c)
{
    CLEANUP(replica_list_deinit) struct replica_list online = {0};
    CLEANUP(replica_list_deinit) struct replica_list offline = {0};

    find(c, true, &online);
    find(c, false, &offline);
    set_states(&online, REPLICA_ONLINE);
    set_states(&offline, REPLICA_DELETION_INELIGIBLE);
    return replica_sm_change(c, &online, REPLICA_ONLINE);
}

enum zk_result replica_sm_start_offline(struct controller *c)
{
    CLEANUP(replica_list_deinit) struct replica_list offline = {0};

    find(c, false, &offline);
    return replica_sm_change(c, &offline, REPLICA_OFFLINE);
}
