/*
 * test_random.c - several controllers on one ZooKeeper, brokers that die, expire, stop and return
 * at any moment, from a seed: what must always be true is looked at after every step
 */
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_election.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"
#include "zk/zk_topics.h"

enum { BROKERS = 4, TOPICS = 6, PARTITIONS = 3, STEPS = 60, SEEDS = 300 };

/* What a partition's state node was at the last look. */
struct seen {
    bool is_there;
    struct uuid topic_id;
    int32_t leader;
    int32_t leader_epoch;
    int32_t version;
    int32_t controller_epoch;
    struct node_ids isr;
    int32_t isr_room[BROKERS + 1];
};

struct world {
    struct fake_cluster f;
    uint64_t random;
    struct seen seen[TOPICS][PARTITIONS];
    int32_t epoch; /* the highest controller epoch so far */
    int expiring;  /* the broker whose session the hook has ended; 0 = none */
    bool leaders_write;
    bool has_altered; /* in this step: replicas may have come into an ISR and been elected */
};

static uint32_t roll(struct world *w, uint32_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 33) % below;
}

static const char *name_of(int t)
{
    static const char *const names[TOPICS] = {"a", "b", "c", "d", "e", "f"};

    return names[t];
}

static struct fake_broker *any_up(struct world *w)
{
    for (int tries = 0; tries < 20; tries++) {
        struct fake_broker *b = &w->f.brokers[1 + roll(w, BROKERS)];
        if (b->is_up)
            return b;
    }
    return NULL;
}

/* One that shuts down is not elected, so the controller need not know its ISR. */
static bool may_write(const struct world *w, int32_t leader)
{
    bool is_leaving = leader == NO_LEADER;

    for (int id = 1; id <= BROKERS; id++) {
        const struct fake_broker *at = &w->f.brokers[id];
        const struct ctl_broker *b = at->c ? context_broker(&at->c->x, leader) : NULL;
        is_leaving |= b && b->is_shutting_down;
    }
    return !is_leaving;
}

/* A leader of an older protocol, even one that is taken for dead, writes its ISR itself, and says
 * so. */
static void lead_by_itself(struct world *w)
{
    struct zk_partition_state st = {.topic = str_of(name_of((int)roll(w, TOPICS))),
                                    .partition = (int)roll(w, PARTITIONS)};
    struct zk_topic topic = {.name = st.topic};
    int32_t isr[BROKERS + 1];
    struct node_ids list = {isr, 0};

    ck_assert_int_eq(zk_states_read(w->f.admin, &w->f.arena, &st, 1), ZK_OK);
    ck_assert_int_eq(zk_topics_read(w->f.admin, &w->f.arena, &topic, 1), ZK_OK);
    if (st.result != ZK_OK || topic.result != ZK_OK || !may_write(w, st.state.leader))
        return;
    const struct node_ids *rs = &topic.node.partitions[st.partition].replicas;
    for (int32_t i = 0; i < rs->count; i++)
        if (rs->list[i] == st.state.leader || roll(w, 2))
            isr[list.count++] = rs->list[i];
    if (!node_ids_has(&list, st.state.leader))
        return;
    st.state.isr = list;
    w->has_altered = true;
    ck_assert_int_eq(zk_states_update(w->f.admin, &st, 1, ZK_NO_FENCE), ZK_OK);
    struct node_partition_name name = {st.topic, st.partition};
    struct node_partition_names names = {&name, 1};
    ck_assert_int_eq(zk_isr_change_notify(w->f.admin, &names), ZK_OK);
}

/* No write of a controller may make a leader of one that ZooKeeper does not have in the ISR. */
static void check_write(struct world *w, const struct zk_op *op)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_partition_state was = {0};
    struct node_state now;
    struct node_why why;
    char topic[8];
    int id;

    if (op->kind != ZK_OP_SET ||
        sscanf(op->path, "/brokers/topics/%7[^/]/partitions/%d/state", topic, &id) != 2)
        return;
    was.topic = str_of(topic);
    was.partition = id;
    ck_assert_int_eq(zk_states_read(w->f.admin, &a, &was, 1), ZK_OK);
    ck_assert_int_eq(node_state_decode(op->data, &a, &why, &now), 0);
    if (was.result != ZK_OK || was.version != op->version)
        return;
    if (now.leader != was.state.leader && now.leader != NO_LEADER) {
        ck_assert(node_ids_has(&was.state.isr, now.leader));
        ck_assert_int_gt(now.leader_epoch, was.state.leader_epoch);
        for (int i = 0; i < now.isr.count; i++)
            ck_assert(node_ids_has(&was.state.isr, now.isr.list[i]));
    }
    ck_assert_int_ge(now.leader_epoch, was.state.leader_epoch);
}

static void interfere(const struct zk_op *op, struct world *w)
{
    for (uint32_t i = 1; i < op->multi_count; i++)
        check_write(w, op + i);
    if (w->leaders_write && roll(w, 12) == 0)
        lead_by_itself(w);
}

/* Now and then a session ends in the middle of whatever its controller does. */
static void maybe_expire(const struct zk_op *op, void *ctx)
{
    struct fake_broker *b = ctx;
    struct world *w = container_of(b->cluster, struct world, f);

    interfere(op, w);
    if (roll(w, 40) == 0)
        fake_zk_lose_reply(b->zk, 1 + (int)roll(w, 3));

    if (w->expiring || roll(w, 150) != 0)
        return;
    w->expiring = b->id;
    fake_zk_expire(b->zk);
    controller_session_lost(b->c);
}

static void renew_expired(struct world *w)
{
    while (w->expiring) {
        struct fake_broker *b = &w->f.brokers[w->expiring];
        fake_cluster_run(&w->f);
        w->expiring = 0;
        fake_zk_renew(b->zk);
        controller_session_new(b->c, 0);
        fake_cluster_run(&w->f);
    }
}

static void do_create(struct world *w)
{
    char partitions[128] = "";
    size_t at = 0;
    const char *topic = name_of((int)roll(w, TOPICS));

    if (fake_cluster_topic_exists(&w->f, topic) || !fake_cluster_active(&w->f))
        return;
    for (int p = 0; p < PARTITIONS; p++) {
        uint32_t first = roll(w, BROKERS), count = 1 + roll(w, 3);
        for (uint32_t r = 0; r < count; r++)
            at += (size_t)snprintf(partitions + at, sizeof partitions - at, "%s%u",
                                   r ? "," : (p ? ";" : ""), 1 + (first + r) % BROKERS);
    }
    fake_cluster_create(&w->f, topic, partitions);
}

static void do_start(struct world *w)
{
    int id = 1 + (int)roll(w, BROKERS);

    if (!w->f.brokers[id].is_up) {
        fake_cluster_start(&w->f, id);
        fake_zk_hook(w->f.brokers[id].zk, maybe_expire, &w->f.brokers[id]);
    }
}

static void do_kill(struct world *w)
{
    struct fake_broker *b = any_up(w);

    if (b) {
        fake_zk_hook(b->zk, NULL, NULL);
        fake_cluster_kill(&w->f, b->id);
    }
}

static void do_alter(struct world *w)
{
    struct fake_broker *active = fake_cluster_active(&w->f);
    char isr[64] = "";
    size_t at = 0;

    if (!active)
        return;
    const struct ctl_partition *p = context_partition(
        &active->c->x, str_of(name_of((int)roll(w, TOPICS))), (int)roll(w, PARTITIONS));
    if (!p || !p->has_leadership || p->leader < 0)
        return;
    for (int i = 0; i < p->replica_count; i++) {
        if (p->ids[i] == p->leader || roll(w, 2))
            at += (size_t)snprintf(isr + at, sizeof isr - at, "%s%d", at ? "," : "", p->ids[i]);
    }
    char topic[8];
    snprintf(topic, sizeof topic, "%s", p->topic->name);
    w->has_altered = true;
    fake_cluster_alter(&w->f, topic, p->id, isr);
}

static void do_shutdown(struct world *w)
{
    struct fake_broker *b = any_up(w);
    int left;

    if (b && fake_cluster_active(&w->f))
        fake_cluster_shutdown(&w->f, b->id, &left);
}

/* The controller, and others with it, are back before anybody is elected. */
static void do_blink(struct world *w)
{
    struct fake_broker *active = fake_cluster_active(&w->f);
    int32_t list[BROKERS];
    struct node_ids ids = {list, 0};

    if (!active)
        return;
    for (int id = 1; id <= BROKERS; id++) {
        struct fake_broker *b = &w->f.brokers[id];
        if (b == active || (b->is_up && roll(w, 3) == 0)) {
            fake_zk_hook(b->zk, NULL, NULL);
            list[ids.count++] = id;
        }
    }
    fake_cluster_blink(&w->f, &ids);
    for (int i = 0; i < ids.count; i++)
        fake_zk_hook(w->f.brokers[list[i]].zk, maybe_expire, &w->f.brokers[list[i]]);
}

static void do_delete(struct world *w)
{
    const char *topic = name_of((int)roll(w, TOPICS));
    bool is_wished = true;

    ck_assert_int_eq(zk_delete_topics_is_requested(w->f.admin, str_of(topic), &is_wished), ZK_OK);
    if (!is_wished && fake_cluster_topic_exists(&w->f, topic))
        fake_cluster_delete(&w->f, topic);
}

/* To other brokers, dead ones too; or back. */
static void do_reassign(struct world *w)
{
    char target[64] = "";
    uint32_t first = roll(w, BROKERS), count = roll(w, 4);
    size_t at = 0;

    if (!fake_cluster_active(&w->f))
        return;
    for (uint32_t r = 0; r < count; r++)
        at += (size_t)snprintf(target + at, sizeof target - at, "%s%u", r ? "," : "",
                               1 + (first + r) % BROKERS);
    fake_cluster_reassign(&w->f, name_of((int)roll(w, TOPICS)), (int)roll(w, PARTITIONS),
                          count ? target : NULL);
}

static void do_something(struct world *w)
{
    w->has_altered = false;
    switch (roll(w, 13)) {
    case 0:
    case 1:
        do_create(w);
        break;
    case 2:
        do_kill(w);
        break;
    case 3:
    case 4:
        do_start(w);
        break;
    case 5:
        do_shutdown(w);
        break;
    case 6:
        do_delete(w);
        break;
    case 7:
        clock_fake_advance(&w->f.clock, 300000);
        break;
    case 8:
    case 9:
        if (!w->leaders_write) /* as they would write RS of which they have not heard */
            do_reassign(w);
        break;
    case 10:
        do_blink(w);
        break;
    default:
        do_alter(w);
        break;
    }
    renew_expired(w);
    fake_cluster_run(&w->f);
    renew_expired(w);
}

/* What must hold between two looks at one partition. */
static void check_history(const struct world *w, const struct seen *was,
                          const struct zk_partition_state *now)
{
    ck_assert_int_ge(now->version, was->version);
    ck_assert_int_ge(now->state.leader_epoch, was->leader_epoch);
    ck_assert_int_ge(now->state.controller_epoch, was->controller_epoch);
    if (now->state.leader != was->leader)
        ck_assert_int_gt(now->state.leader_epoch, was->leader_epoch);
    if (now->state.leader != was->leader && now->state.leader != NO_LEADER && !w->has_altered)
        ck_assert(node_ids_has(&was->isr, now->state.leader)); /* no unclean elections */
    if (now->version == was->version)
        ck_assert_int_eq(now->state.leader_epoch, was->leader_epoch);
}

static void remember(struct seen *s, const struct zk_partition_state *now, struct uuid topic_id)
{
    *s = (struct seen){true,
                       topic_id,
                       now->state.leader,
                       now->state.leader_epoch,
                       now->version,
                       now->state.controller_epoch};
    s->isr = (struct node_ids){s->isr_room, now->state.isr.count};
    for (int32_t i = 0; i < now->state.isr.count; i++)
        s->isr_room[i] = now->state.isr.list[i];
}

/* The active controller knows exactly what ZooKeeper has, and whoever can lead does. */
static void check_context(const struct world *w, const struct fake_broker *active,
                          const struct ctl_partition *p, const struct zk_partition_state *now)
{
    struct node_ids isr = partition_isr(p), rs = partition_replicas(p);
    bool can_be_led = false;
    int stayed = 0, came_back = 0; /* since the state was written */

    ck_assert(p->has_leadership);
    ck_assert_int_eq(p->leader, now->state.leader);
    ck_assert_int_eq(p->leader_epoch, now->state.leader_epoch);
    ck_assert_int_eq(p->partition_epoch, now->version);
    ck_assert(node_ids_eq(&isr, &now->state.isr));
    for (int32_t i = 0; i < isr.count; i++) {
        ck_assert_int_le(isr.list[i], BROKERS);
        can_be_led |= node_ids_has(&rs, isr.list[i]) && context_is_live(&active->c->x, isr.list[i]);
        const struct fake_broker *b = &w->f.brokers[isr.list[i]];
        bool is_replica = b->is_up && node_ids_has(&rs, b->id);
        stayed += is_replica && b->reg.epoch < now->mzxid;
        came_back += is_replica && b->reg.epoch > now->mzxid;
    }
    if (p->topic->is_queued || !can_be_led)
        return;
    /* Leaders that write ISRs themselves hear of a restart only from a controller. */
    ck_assert(stayed == 0 || came_back == 0 || w->leaders_write);
    ck_assert_int_ge(p->leader, 1);
    ck_assert(w->f.brokers[p->leader].is_up);
    ck_assert_int_eq(p->state, PARTITION_ONLINE);
}

/* A controller that dies while it drops replicas leaves them in the ISR; the leader shrinks it. */
static bool may_be_left_over(const struct world *w, int32_t broker)
{
    return broker >= 1 && broker <= BROKERS && w->epoch > 1;
}

static void check_partition(struct world *w, int t, int id, const struct zk_topic *topic)
{
    struct zk_partition_state now = {.topic = str_of(name_of(t)), .partition = id};
    struct seen *was = &w->seen[t][id];
    const struct fake_broker *active = fake_cluster_active(&w->f);

    ck_assert_int_eq(zk_states_read(w->f.admin, &w->f.arena, &now, 1), ZK_OK);
    if (now.result == ZK_NO_NODE) {
        was->is_there = false;
        return;
    }
    ck_assert_int_eq(now.result, ZK_OK);
    ck_assert_int_ge(now.state.isr.count, 1);
    ck_assert(now.state.leader == NO_LEADER || node_ids_has(&now.state.isr, now.state.leader));
    ck_assert_int_le(now.state.controller_epoch, w->epoch);
    for (int32_t i = 0; i < now.state.isr.count; i++)
        ck_assert(node_ids_has(&topic->node.partitions[id].replicas, now.state.isr.list[i]) ||
                  may_be_left_over(w, now.state.isr.list[i]));
    if (was->is_there && uuid_eq(was->topic_id, topic->node.id))
        check_history(w, was, &now);
    remember(was, &now, topic->node.id);
    if (active)
        check_context(w, active, context_partition(&active->c->x, now.topic, id), &now);
}

static void check_term(struct world *w)
{
    const struct fake_broker *active = fake_cluster_active(&w->f);
    struct zk_controller seen;
    int up = 0;

    ck_assert_int_eq(zk_controller_read(w->f.admin, 99, &seen), ZK_OK);
    for (int id = 1; id <= BROKERS; id++) {
        struct fake_broker *b = &w->f.brokers[id];
        up += b->is_up;
        if (!b->is_up)
            continue;
        ck_assert_int_eq(controller_active_id(b->c), seen.broker_id);
        ck_assert_ptr_null(b->c->fanout.memory);
        if (b != active)
            ck_assert_int_eq((int)b->channels.broker_count, 0);
    }
    ck_assert_int_eq(up > 0, active != NULL);
    if (!active)
        return;
    ck_assert_int_eq(active->id, seen.broker_id);
    ck_assert_int_ge(active->c->epoch, w->epoch);
    w->epoch = active->c->epoch;
    ck_assert_int_eq(active->c->x.broker_count, up);
    for (int id = 1; id <= BROKERS; id++)
        ck_assert_int_eq(fake_channels_has(&active->channels, id), w->f.brokers[id].is_up);
}

/* Figures that are counted as things change equal what counting everything gives. */
static void check_figures(const struct fake_broker *active)
{
    const struct context *x = &active->c->x;
    int32_t offline = 0, fresh = 0, imbalanced = 0, partitions = 0;

    CONTEXT_EACH_TOPIC(x, t)
    {
        int32_t in_state[REPLICA_STATE_COUNT] = {0};
        TOPIC_EACH_PARTITION(t, p)
        {
            partitions++;
            for (int i = 0; i < p->replica_count; i++)
                in_state[replica_state(p, p->ids[i])]++;
            if (t->is_queued)
                continue;
            offline += p->state == PARTITION_OFFLINE;
            fresh += p->state == PARTITION_NEW;
            imbalanced += p->has_leadership && p->leader != p->ids[0];
        }
        ck_assert_mem_eq(in_state, t->in_state, sizeof in_state);
    }
    ck_assert_int_eq(x->offline_partitions, offline);
    ck_assert_int_eq(x->new_partitions, fresh);
    ck_assert_int_eq(x->preferred_imbalance, imbalanced);
    ck_assert_int_eq(x->partition_count, partitions);
}

static void check(struct world *w)
{
    check_term(w);
    for (int t = 0; t < TOPICS; t++) {
        struct zk_topic topic = {.name = str_of(name_of(t))};
        ck_assert_int_eq(zk_topics_read(w->f.admin, &w->f.arena, &topic, 1), ZK_OK);
        for (int id = 0; id < PARTITIONS; id++) {
            if (topic.result == ZK_OK)
                check_partition(w, t, id, &topic);
            else
                w->seen[t][id].is_there = false;
        }
    }
    if (fake_cluster_active(&w->f))
        check_figures(fake_cluster_active(&w->f));
    arena_reset(&w->f.arena);
}

/* With every broker up and quiet, everything is led and every wish is fulfilled. */
static void check_end(struct world *w)
{
    struct zk_names wishes;

    for (int id = 1; id <= BROKERS; id++) {
        if (w->f.brokers[id].is_up) {
            fake_zk_hook(w->f.brokers[id].zk, NULL, NULL);
            fake_cluster_kill(&w->f, id);
        }
    }
    for (int id = 1; id <= BROKERS; id++)
        fake_cluster_start(&w->f, id);
    check(w);
    const struct context *x = &fake_cluster_active(&w->f)->c->x;
    ck_assert_int_eq(zk_delete_topics_list(w->f.admin, false, &w->f.arena, &wishes), ZK_OK);
    ck_assert_int_eq((int)wishes.count, 0);
    ck_assert_int_eq(x->queued_count, 0);
    ck_assert_int_eq(x->offline_partitions + x->new_partitions, 0);
}

static void run_seed(uint64_t seed, bool leaders_write)
{
    struct world *w = xnew(struct world);

    w->leaders_write = leaders_write;
    w->random = seed * 0x9e3779b97f4a7c15u + 1;
    fake_cluster_prepare(&w->f, BROKERS);
    for (int id = 1; id <= BROKERS; id++) {
        fake_cluster_start(&w->f, id);
        fake_zk_hook(w->f.brokers[id].zk, maybe_expire, &w->f.brokers[id]);
    }
    renew_expired(w);
    for (int i = 0; i < STEPS; i++) {
        do_something(w);
        check(w);
    }
    check_end(w);
    fake_cluster_deinit(&w->f);
    free(w);
}

static void run_seeds(uint64_t count, bool leaders_write)
{
    const char *only = getenv("SEED");

    say_set_level(only ? SAY_INFO : SAY_ERROR + 1);
    if (only) {
        run_seed(strtoull(only, NULL, 10), leaders_write);
        return;
    }
    for (uint64_t seed = 1; seed <= count; seed++) {
        fprintf(stderr, "seed %d\n", (int)seed); /* the last one is the one to replay */
        run_seed(seed, leaders_write);
    }
}

START_TEST(invariants_hold_whatever_happens)
{
    run_seeds(SEEDS, false);
}
END_TEST

START_TEST(invariants_hold_where_leaders_write_isrs)
{
    run_seeds(SEEDS / 2, true);
}
END_TEST

TEST_MAIN("controller/random", invariants_hold_whatever_happens,
          invariants_hold_where_leaders_write_isrs)
