#include "controller/reassign.h"

#include "common/base/strbuf.h"
#include "controller/assignment.h"
#include "controller/partition_sm.h"
#include "controller/reassign_calls.h"
#include "controller/reassign_write.h"
#include "controller/replica_sm.h"
#include "controller/topic_delete.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"

enum { SAY_EACH_MAX = 20 }; /* from here on an event is one line, not one per partition */

void moves_deinit(struct moves *m)
{
    free(m->v);
    arena_deinit(&m->arena);
    *m = (struct moves){0};
}

static struct node_ids copy_ids(struct arena *a, const struct node_ids *ids)
{
    return ids_minus(a, ids, &(struct node_ids){0});
}

/* An assignment that does not change with the context. */
static struct node_partition copy_assignment(struct arena *a, const struct node_partition *from)
{
    return (struct node_partition){.id = from->id,
                                   .replicas = copy_ids(a, &from->replicas),
                                   .adding = copy_ids(a, &from->adding),
                                   .removing = copy_ids(a, &from->removing)};
}

struct move *moves_add(struct moves *m, struct ctl_partition *p, const struct node_partition *to)
{
    xgrow(m->v, m->cap, m->count + 1);
    struct move *mv = &m->v[m->count++];
    *mv = (struct move){.p = p, .to = copy_assignment(&m->arena, to)};
    return mv;
}

typedef bool (*move_test)(const struct controller *c, const struct move *mv);

static size_t pick(const struct controller *c, struct moves *m, move_test test)
{
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        m->v[i].is_picked = !m->v[i].error && test(c, &m->v[i]);
        n += m->v[i].is_picked;
    }
    return n;
}

#define MOVES_EACH_PICKED(m, mv)                                                                   \
    for (struct move *mv = (m)->v; (mv) < (m)->v + (m)->count; (mv)++)                             \
        if ((mv)->is_picked)

/* ---- watches, for brokers that write the ISR themselves ---- */

static void on_state_node(enum zk_event event, const char *path, void *ctx)
{
    static const char prefix[] = ZK_PATH_TOPICS "/", middle[] = "/partitions/";
    const char *topic = path + sizeof prefix - 1;
    const char *end = strstr(path, middle);

    if (event == ZK_EVENT_CHANGED && end)
        controller_post_named(ctx, EVENT_REASSIGN_ISR_CHANGE,
                              (int32_t)strtol(end + sizeof middle - 1, NULL, 10),
                              (struct str){topic, (size_t)(end - topic)});
}

static bool leaders_write_isr(const struct controller *c)
{
    return c->opts.ibp < IBP_2_7_IV2;
}

static void watch_state(struct controller *c, const struct ctl_partition *p, bool is_on)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_state(&a, topic_name(p->topic), p->id);

    if (!leaders_write_isr(c))
        return;
    if (is_on)
        zk_store_watch_data(c->store, path, on_state_node, c);
    else
        zk_store_unwatch_data(c->store, path);
}

void reassign_unwatch(struct controller *c, const struct ctl_topic *t)
{
    if (t->reassigning == 0)
        return;
    TOPIC_EACH_PARTITION(t, p)
    {
        if (partition_is_reassigning(p))
            watch_state(c, p, false);
    }
}

/* ---- U: the new assignment ---- */

static bool is_change(const struct controller *c UNUSED, const struct move *mv)
{
    struct node_partition now = partition_assignment(mv->p);

    return !assignment_eq(&now, &mv->to);
}

static bool drops_replicas(const struct controller *c UNUSED, const struct move *mv)
{
    return mv->dropped.count > 0;
}

static bool any_online(const struct controller *c, const struct ctl_partition *p,
                       const struct node_ids *ids, const struct node_ids *within)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (node_ids_has(within, ids->list[i]) && replica_is_online(&c->x, p, ids->list[i]))
            return true;
    }
    return false;
}

/* A replica that was being added may have become the only one in sync: without it records are
 * lost. */
static enum zk_result refuse_losses(struct controller *c, struct moves *m)
{
    struct zk_partition_state *states = arena_array(&m->arena, m->count + 1, sizeof *states);

    MOVES_EACH_PICKED(m, mv)
    {
        struct node_ids now = partition_replicas(mv->p);
        mv->dropped = ids_minus(&m->arena, &now, &mv->to.replicas);
    }
    if (!pick(c, m, drops_replicas))
        return ZK_OK;
    enum zk_result r = reassign_read_states(c, m, states);
    for (size_t i = 0; r == ZK_OK && i < m->count; i++) {
        struct move *mv = &m->v[i];
        if (mv->is_picked && states[i].result == ZK_OK &&
            !any_online(c, mv->p, &states[i].state.isr, &mv->to.replicas))
            move_fail(mv, INVALID_REPLICA_ASSIGNMENT,
                      "refused, since no replica that would stay is online and in sync");
    }
    return r;
}

static bool loses_leader(const struct controller *c UNUSED, const struct move *mv)
{
    return mv->p->has_leadership && node_ids_has(&mv->dropped, mv->p->leader);
}

static void list_picked(const struct moves *m, struct partition_list *ret)
{
    MOVES_EACH_PICKED(m, mv)
    partition_list_add(ret, mv->p);
}

/* Replicas that an earlier move was adding go; where one of them leads, another one takes over
 * first. */
static enum zk_result remove_dropped(struct controller *c, struct moves *m)
{
    CLEANUP(partition_list_deinit) struct partition_list led = {0};
    CLEANUP(replica_list_deinit) struct replica_list gone = {0};
    enum zk_result r = ZK_OK;

    if (pick(c, m, loses_leader)) {
        list_picked(m, &led);
        r = partition_sm_elect(c, &led, ELECT_OFFLINE, false, NULL);
    }
    pick(c, m, drops_replicas);
    MOVES_EACH_PICKED(m, mv)
    {
        for (int32_t i = 0; i < mv->dropped.count; i++)
            replica_list_add(&gone, mv->p, mv->dropped.list[i]);
    }
    return r == ZK_OK ? replica_sm_remove(c, &gone) : r;
}

static void say_move(const struct move *mv)
{
    struct strbuf sb = {0};
    const struct node_ids *parts[] = {&mv->to.replicas, &mv->to.adding, &mv->to.removing};
    static const char *const names[] = {"replicas", " adding", " removing"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        strbuf_addf(&sb, "%s=", names[i]);
        for (int32_t j = 0; j < parts[i]->count; j++)
            strbuf_addf(&sb, "%s%d", j ? "," : "", parts[i]->list[j]);
    }
    say_info("controller: reassignment of %s-%d %.*s", mv->p->topic->name, mv->p->id,
             STR_ARG(strbuf_str(&sb)));
    strbuf_deinit(&sb);
}

static enum zk_result update_assignments(struct controller *c, struct moves *m)
{
    if (!pick(c, m, is_change))
        return ZK_OK;
    enum zk_result r = refuse_losses(c, m);
    if (r == ZK_OK && pick(c, m, is_change))
        r = reassign_write_topics(c, m);
    if (r != ZK_OK)
        return r;
    MOVES_EACH_PICKED(m, mv)
    {
        context_assign(&c->x, mv->p, &mv->to);
        if (m->count <= SAY_EACH_MAX)
            say_move(mv);
    }
    if (m->count > SAY_EACH_MAX)
        say_info("controller: reassignments begin or change count=%zu", m->count);
    return remove_dropped(c, m);
}

/* ---- ?: is it complete ---- */

static bool is_any(const struct controller *c UNUSED, const struct move *mv UNUSED)
{
    return true;
}

static bool is_complete(const struct controller *c UNUSED, const struct move *mv)
{
    return mv->is_complete;
}

static bool is_incomplete(const struct controller *c UNUSED, const struct move *mv)
{
    return !mv->is_complete;
}

static enum zk_result test_all(struct controller *c, struct moves *m)
{
    struct zk_partition_state *states = arena_array(&m->arena, m->count + 1, sizeof *states);

    for (size_t i = 0; i < m->count; i++)
        m->v[i].is_complete = !m->v[i].error && !partition_is_reassigning(m->v[i].p);
    enum zk_result r = pick(c, m, is_incomplete) ? reassign_read_states(c, m, states) : ZK_OK;
    for (size_t i = 0; r == ZK_OK && i < m->count; i++) {
        struct move *mv = &m->v[i];
        if (!mv->is_picked)
            continue;
        struct node_ids target = assignment_target(&m->arena, &mv->to);
        mv->is_complete = states[i].result == ZK_OK && ids_within(&target, &states[i].state.isr);
    }
    return r;
}

/* ---- A: on the way ---- */

static enum zk_result start_replicas(struct controller *c, struct moves *m)
{
    CLEANUP(replica_list_deinit) struct replica_list fresh = {0};

    MOVES_EACH_PICKED(m, mv)
    {
        struct node_ids adding = partition_adding(mv->p);
        for (int32_t i = 0; i < adding.count; i++) {
            /* Gone on with after a failover, they have been new before. */
            if (replica_state(mv->p, adding.list[i]) == REPLICA_NONE)
                replica_list_add(&fresh, mv->p, adding.list[i]);
        }
    }
    return replica_sm_change(c, &fresh, REPLICA_NEW);
}

static enum zk_result set_out(struct controller *c, struct moves *m)
{
    if (!pick(c, m, is_incomplete))
        return ZK_OK;
    enum zk_result r = reassign_write_epochs(c, m);
    if (r != ZK_OK)
        return r;
    fanout_begin(&c->fanout);
    MOVES_EACH_PICKED(m, mv)
    {
        fanout_lead(&c->fanout, assignment_origin(&m->arena, &mv->to), mv->p, false);
        fanout_lead(&c->fanout, partition_adding(mv->p), mv->p, true);
    }
    fanout_flush(&c->fanout);
    return start_replicas(c, m);
}

/* ---- B: the end ---- */

/* The state of a replica to remove, for the case that it stays. */
struct kept_state {
    enum replica_state state;
    bool is_offline_dir;
};

static enum zk_result added_online(struct controller *c, struct moves *m)
{
    CLEANUP(replica_list_deinit) struct replica_list list = {0};

    MOVES_EACH_PICKED(m, mv)
    {
        struct node_ids adding = partition_adding(mv->p);
        for (int32_t i = 0; i < adding.count; i++)
            replica_list_add(&list, mv->p, adding.list[i]);
    }
    return replica_sm_change(c, &list, REPLICA_ONLINE);
}

static void keep_states(struct moves *m, struct move *mv)
{
    const struct node_ids *rr = &mv->from.removing;

    mv->kept = arena_array(&m->arena, (size_t)rr->count + 1, sizeof *mv->kept);
    for (int32_t i = 0; i < rr->count; i++)
        mv->kept[i] = (struct kept_state){replica_state(mv->p, rr->list[i]),
                                          replica_on_offline_dir(mv->p, rr->list[i])};
}

/* In memory only; the topic's node follows when the replicas have gone. */
static void take_target(struct controller *c, struct moves *m)
{
    MOVES_EACH_PICKED(m, mv)
    {
        struct node_partition now = partition_assignment(mv->p);
        watch_state(c, mv->p, false);
        mv->from = copy_assignment(&m->arena, &now);
        mv->to = assignment_arrived(&m->arena, &mv->from);
        keep_states(m, mv);
        context_assign(&c->x, mv->p, &mv->to);
    }
}

static bool leader_stays(const struct controller *c, const struct move *mv)
{
    struct node_ids rs = partition_replicas(mv->p);

    return mv->is_complete && mv->p->has_leadership && node_ids_has(&rs, mv->p->leader) &&
           replica_is_online(&c->x, mv->p, mv->p->leader);
}

static bool leader_goes(const struct controller *c, const struct move *mv)
{
    return mv->is_complete && !leader_stays(c, mv);
}

/* Everybody who stays hears of the new RS, with a leader among them. */
static enum zk_result move_leaders(struct controller *c, struct moves *m)
{
    CLEANUP(partition_list_deinit) struct partition_list to_elect = {0};

    if (pick(c, m, leader_goes))
        list_picked(m, &to_elect);
    if (pick(c, m, leader_stays)) {
        enum zk_result r = reassign_write_epochs(c, m);
        if (r != ZK_OK)
            return r;
        fanout_begin(&c->fanout);
        MOVES_EACH_PICKED(m, mv)
        fanout_lead(&c->fanout, partition_replicas(mv->p), mv->p, false);
        fanout_flush(&c->fanout);
    }
    return partition_sm_elect(c, &to_elect, ELECT_REASSIGN, false, NULL);
}

/* Back to before B: whoever would be deleted may be the only one that has everything. */
static void hold_back(struct controller *c, struct move *mv)
{
    mv->is_complete = false;
    mv->to = mv->from;
    context_assign(&c->x, mv->p, &mv->from);
    watch_state(c, mv->p, true);
    for (int32_t i = 0; i < mv->from.removing.count; i++) {
        replica_set_state(mv->p, mv->from.removing.list[i], mv->kept[i].state);
        replica_set_offline_dir(mv->p, mv->from.removing.list[i], mv->kept[i].is_offline_dir);
    }
    say_warn("controller: reassignment of %s-%d waits: none of the replicas that stay leads and is "
             "online, so nothing is removed; it goes on when their brokers are back in sync",
             mv->p->topic->name, mv->p->id);
}

static void hold_back_unsafe(struct controller *c, struct moves *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct move *mv = &m->v[i];
        if (mv->is_complete && (mv->error || (mv->from.removing.count && !leader_stays(c, mv))))
            hold_back(c, mv);
    }
}

static enum zk_result remove_replicas(struct controller *c, struct moves *m)
{
    CLEANUP(replica_list_deinit) struct replica_list gone = {0};

    MOVES_EACH_PICKED(m, mv)
    {
        for (int32_t i = 0; i < mv->from.removing.count; i++)
            replica_list_add(&gone, mv->p, mv->from.removing.list[i]);
    }
    return replica_sm_remove(c, &gone);
}

static void say_ended(const struct ctl_partition *p)
{
    say_info("controller: reassignment of %s-%d has ended leader=%d leader_epoch=%d replicas=%d",
             p->topic->name, p->id, p->leader, p->leader_epoch, p->replica_count);
}

static enum zk_result conclude(struct controller *c, struct moves *m)
{
    CLEANUP(partition_list_deinit) struct partition_list done = {0};
    bool resumes_deletion = false;

    if (pick(c, m, is_complete) == 0)
        return ZK_OK;
    enum zk_result r = reassign_legacy_done(c, m);
    if (r != ZK_OK)
        return r;
    list_picked(m, &done);
    controller_tell_all(c, &done);
    if (m->count > SAY_EACH_MAX)
        say_info("controller: reassignments have ended count=%zu", done.count);
    MOVES_EACH_PICKED(m, mv)
    {
        struct ctl_topic *t = mv->p->topic;
        if (m->count <= SAY_EACH_MAX)
            say_ended(mv->p);
        if (t->is_queued && t->reassigning == 0) {
            t->is_ineligible = false;
            resumes_deletion = true;
        }
    }
    return resumes_deletion ? topic_delete_resume(c) : ZK_OK;
}

static enum zk_result end(struct controller *c, struct moves *m)
{
    if (!pick(c, m, is_complete))
        return ZK_OK;
    enum zk_result r = added_online(c, m);
    if (r != ZK_OK)
        return r;
    take_target(c, m);
    r = move_leaders(c, m);
    if (r != ZK_OK)
        return r;
    hold_back_unsafe(c, m);
    if (pick(c, m, is_complete))
        r = remove_replicas(c, m);
    if (r == ZK_OK)
        r = reassign_write_topics(c, m);
    return r == ZK_OK ? conclude(c, m) : r;
}

/* ---- the whole ---- */

enum zk_result reassign_run(struct controller *c, struct moves *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct ctl_topic *t = m->v[i].p->topic;
        t->is_ineligible |= t->is_queued;
    }
    enum zk_result r = update_assignments(c, m);
    if (r != ZK_OK)
        return r;
    pick(c, m, is_any);
    MOVES_EACH_PICKED(m, mv)
    watch_state(c, mv->p, partition_is_reassigning(mv->p));
    r = test_all(c, m);
    if (r == ZK_OK)
        r = set_out(c, m);
    return r == ZK_OK ? end(c, m) : r;
}

static void add_as_it_is(struct moves *m, struct ctl_partition *p)
{
    struct node_partition now = partition_assignment(p);

    moves_add(m, p, &now);
}

enum zk_result reassign_check(struct controller *c, const struct partition_list *list)
{
    CLEANUP(moves_deinit) struct moves m = {0};

    for (size_t i = 0; i < list->count; i++) {
        struct ctl_partition *p = list->v[i];
        if (partition_is_reassigning(p) && !p->topic->is_started && !p->mark) {
            p->mark = 1;
            add_as_it_is(&m, p);
        }
    }
    for (size_t i = 0; i < m.count; i++)
        m.v[i].p->mark = 0;
    if (m.count == 0)
        return ZK_OK;
    enum zk_result r = test_all(c, &m);
    return r == ZK_OK ? end(c, &m) : r;
}

enum zk_result reassign_isr_changed(struct controller *c, struct str topic, int32_t partition)
{
    struct ctl_partition *p = context_partition(&c->x, topic, partition);

    return p ? reassign_check(c, &(struct partition_list){&p, 1, 1}) : ZK_OK;
}

static bool goes_to(const struct ctl_partition *p, const struct node_ids *brokers)
{
    for (int32_t i = 0; i < brokers->count; i++) {
        struct node_ids rs = partition_replicas(p), rr = partition_removing(p);
        if (node_ids_has(&rs, brokers->list[i]) && !node_ids_has(&rr, brokers->list[i]))
            return true;
    }
    return false;
}

enum zk_result reassign_resume(struct controller *c, const struct node_ids *brokers)
{
    CLEANUP(moves_deinit) struct moves m = {0};

    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->reassigning == 0 || t->is_started)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            if (partition_is_reassigning(p) && !p->mark && (!brokers || goes_to(p, brokers)))
                add_as_it_is(&m, p);
        }
    }
    if (m.count)
        say_info("controller: reassignments go on count=%zu", m.count);
    return m.count ? reassign_run(c, &m) : ZK_OK;
}
