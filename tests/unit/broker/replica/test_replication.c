/*
 * Three replicas of one partition, a small controller, and a network that delays, cuts and breaks,
 * all in one thread from a seed: whatever is killed, cut off, asleep, elected or moved to another
 * log dir, no record that was confirmed to an acks=all producer is lost, and the logs become the
 * same.
 */
#include "broker/replica/alter_queue.h"
#include "broker/replica/dir_mover.h"
#include "broker/replica/partition.h"
#include "broker/replica/partition_isr.h"
#include "broker/replica/partition_move.h"
#include "broker/replica/replica_dirs.h"
#include "broker/replica/replica_internal.h"
#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "tests/support/random_msg.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

enum { NODES = 3, CONTROLLER = 9, SESSION_MS = 300, MAX_RECORDS = 4000 };

/* ---- the world of one run ---- */

struct sim_node {
    struct node node;
    bool is_up;
    bool is_cut;
    bool is_alive; /* in the controller's eyes */
    int64_t gone_since_ms;
    int64_t order_at_ms; /* when what the controller wants arrives; 0: nothing is on its way */
};

struct sim_record {
    struct node_produce *produce;
    char value[24];
    bool is_counted;
};

static struct node_world world;
static struct sim_node nodes[NODES];
static struct random_source rnd;
static struct node_state_of part;
static int32_t part_isr[NODES];
static const int32_t replicas[NODES] = {1, 2, 3};
static struct sim_record records[MAX_RECORDS];
static int record_count;
static int confirmed, elections, moves;

static int64_t now_ms(void)
{
    return clock_mono_ms(&world.clock.clock);
}

static uint32_t pick(uint32_t n)
{
    return random_to(&rnd, n);
}

/* ---- requests take their time ---- */

struct pending {
    struct fake_call *fc;
    struct node *node; /* NULL: the controller's */
    int64_t at_ms;
    struct pending *prev, *next;
};

static struct pending *pending;

static void serve_alter(struct fake_call *fc);

static void delay(struct node *n, struct fake_call *fc)
{
    struct pending *p = xnew(struct pending);

    *p = (struct pending){.fc = fc, .node = n, .at_ms = now_ms() + (pick(4) ? 0 : pick(40))};
    DL_APPEND(pending, p);
}

static bool on_request(struct node *n, struct fake_call *fc)
{
    delay(n, fc);
    return true;
}

static void on_controller_request(void *ctx UNUSED, struct fake_call *fc)
{
    delay(NULL, fc);
}

static void deliver(void)
{
    struct pending *p, *tmp;

    DL_FOREACH_SAFE (pending, p, tmp) {
        if (p->at_ms > now_ms())
            continue;
        DL_DELETE(pending, p);
        if (!p->fc->call)
            fake_call_reply(p->fc, NULL); /* nobody waits any more */
        else if (p->node)
            node_serve(p->node, p->fc);
        else
            serve_alter(p->fc);
        free(p);
    }
}

/* Requests that a broker had not looked at when it died. */
static void drop_pending(const struct node *n)
{
    struct pending *p, *tmp;

    DL_FOREACH_SAFE (pending, p, tmp) {
        if (p->node != n)
            continue;
        DL_DELETE(pending, p);
        fake_call_reply(p->fc, NULL);
        free(p);
    }
}

/* ---- the controller ---- */

static struct sim_node *sim(int32_t id)
{
    return &nodes[id - 1];
}

static bool in_isr(int32_t id)
{
    for (int32_t i = 0; i < part.isr_count; i++)
        if (part_isr[i] == id)
            return true;
    return false;
}

/* Every live broker is told of the new state, each in its own time. */
static void publish(void)
{
    for (int i = 0; i < NODES; i++)
        if (nodes[i].is_alive)
            nodes[i].order_at_ms = now_ms() + 1 + pick(30);
}

static void elect(int32_t leader)
{
    part.leader = leader;
    part.leader_epoch++;
    part.partition_epoch++;
    elections++;
    publish();
}

static int32_t first_in_sync(void)
{
    for (int32_t id = 1; id <= NODES; id++)
        if (sim(id)->is_alive && in_isr(id))
            return id;
    return -1;
}

static void leave_isr(int32_t id)
{
    int32_t n = 0;

    if (part.isr_count == 1)
        return;
    for (int32_t i = 0; i < part.isr_count; i++)
        if (part_isr[i] != id)
            part_isr[n++] = part_isr[i];
    part.isr_count = n;
}

static void on_broker_gone(int32_t id)
{
    sim(id)->is_alive = false;
    sim(id)->order_at_ms = 0;
    if (in_isr(id))
        leave_isr(id);
    elect(part.leader == id ? first_in_sync() : part.leader);
}

static void on_broker_back(int32_t id)
{
    sim(id)->is_alive = true;
    sim(id)->node.broker_epoch++;
    if (part.leader < 0 && first_in_sync() >= 0)
        elect(first_in_sync());
    else
        publish();
}

static void send_order(struct sim_node *sn)
{
    int32_t alive[NODES + 1] = {CONTROLLER};
    int32_t n = 1;
    struct node_state_of st = part;
    int32_t isr[NODES];

    memcpy(isr, part_isr, sizeof isr);
    st.isr = isr;
    for (int i = 0; i < NODES; i++)
        if (nodes[i].is_alive)
            alive[n++] = i + 1;
    node_tell(&sn->node, CONTROLLER, alive, n, &st);
    node_order(&sn->node, 1, &st);
}

/* Its session with the controller ends while it is cut off or down for long enough. */
static void watch_brokers(void)
{
    for (int32_t id = 1; id <= NODES; id++) {
        struct sim_node *sn = sim(id);
        bool is_reachable = sn->is_up && !sn->is_cut;
        if (is_reachable)
            sn->gone_since_ms = 0;
        else if (!sn->gone_since_ms)
            sn->gone_since_ms = now_ms();
        if (!is_reachable && sn->is_alive && now_ms() - sn->gone_since_ms >= SESSION_MS)
            on_broker_gone(id);
        if (is_reachable && !sn->is_alive)
            on_broker_back(id);
        if (is_reachable && sn->order_at_ms && sn->order_at_ms <= now_ms()) {
            sn->order_at_ms = 0;
            send_order(sn);
        }
    }
}

static int judge(int32_t broker, int64_t broker_epoch,
                 const struct alter_partition_request_partition *p, int16_t *ret_top)
{
    if (!sim(broker)->is_alive || sim(broker)->node.broker_epoch != broker_epoch) {
        *ret_top = STALE_BROKER_EPOCH;
        return 0;
    }
    if (p->partition_epoch > part.partition_epoch || p->leader_epoch > part.leader_epoch)
        return NOT_CONTROLLER;
    if (p->leader_epoch < part.leader_epoch)
        return FENCED_LEADER_EPOCH;
    if (p->partition_epoch < part.partition_epoch)
        return INVALID_UPDATE_VERSION;
    for (int32_t i = 0; i < p->new_isr_count; i++)
        if (!sim(p->new_isr[i])->is_alive)
            return INELIGIBLE_REPLICA;
    return 0;
}

static void serve_alter(struct fake_call *fc)
{
    const struct alter_partition_request *req = fc->request;
    const struct alter_partition_request_partition *q = req->topics[0].partitions;
    struct alter_partition_response resp;
    struct alter_partition_response_topic t;
    struct alter_partition_response_partition p;

    msg_init(&alter_partition_response_desc, &resp);
    struct_init(&alter_partition_response_topic_desc, &t);
    struct_init(&alter_partition_response_partition_desc, &p);
    p.error_code = (int16_t)judge(req->broker_id, req->broker_epoch, q, &resp.error_code);
    if (!p.error_code && !resp.error_code) {
        part.isr_count = q->new_isr_count;
        memcpy(part_isr, q->new_isr, (size_t)q->new_isr_count * sizeof *part_isr);
        part.partition_epoch++;
    }
    t.topic_name = req->topics[0].topic_name;
    t.topic_id = req->topics[0].topic_id;
    t.partitions = &p;
    t.partitions_count = 1;
    p.leader_id = part.leader;
    p.leader_epoch = part.leader_epoch;
    p.partition_epoch = part.partition_epoch;
    p.isr = part_isr;
    p.isr_count = part.isr_count;
    if (!resp.error_code) {
        resp.topics = &t;
        resp.topics_count = 1;
    }
    fake_call_reply(fc, &resp);
}

/* ---- below IBP 2.7-IV2 leaders write the state themselves ---- */

struct write {
    struct sim_node *sn;
    struct partition *part;
    int32_t leader_epoch;
    int32_t partition_epoch;
    int32_t isr[NODES];
    int32_t isr_count;
    int64_t at_ms;
    struct write *prev, *next;
};

static struct write *writes;

static bool propose_write(void *ctx, const struct isr_proposal *p)
{
    struct write *w;

    DL_FOREACH (writes, w) {
        if (w->part == p->part)
            return false;
    }
    w = xnew(struct write);
    w->sn = ctx;
    w->part = partition_ref(p->part);
    w->leader_epoch = p->leader_epoch;
    w->partition_epoch = p->partition_epoch;
    w->isr_count = p->isr->count;
    memcpy(w->isr, p->isr->v, (size_t)p->isr->count * sizeof *w->isr);
    w->at_ms = now_ms() + 1 + pick(20);
    DL_APPEND(writes, w);
    return true;
}

/* Conditional on the version, as ZooKeeper does it. */
static void write_state(struct write *w)
{
    struct isr_answer answer = {.proposed_leader_epoch = w->leader_epoch,
                                .proposed_partition_epoch = w->partition_epoch,
                                .leader_epoch = w->leader_epoch,
                                .partition_epoch = w->partition_epoch + 1,
                                .isr = w->isr,
                                .isr_count = w->isr_count};

    if (w->partition_epoch != part.partition_epoch) {
        answer.error = INVALID_UPDATE_VERSION;
    } else {
        part.partition_epoch++;
        part.leader = w->sn->node.id;
        part.isr_count = w->isr_count;
        memcpy(part_isr, w->isr, sizeof part_isr);
    }
    partition_isr_answered(w->part, &answer);
}

static void write_states(void)
{
    struct write *w, *tmp;

    DL_FOREACH_SAFE (writes, w, tmp) {
        if (w->at_ms > now_ms() || w->sn->is_cut)
            continue;
        DL_DELETE(writes, w);
        write_state(w);
        partition_unref(w->part);
        free(w);
    }
}

static void drop_writes(const struct sim_node *sn)
{
    struct write *w, *tmp;

    DL_FOREACH_SAFE (writes, w, tmp) {
        if (w->sn != sn)
            continue;
        DL_DELETE(writes, w);
        partition_unref(w->part);
        free(w);
    }
}

/* ---- what goes wrong ---- */

static void set_cut(struct sim_node *sn, bool is_cut)
{
    char fetcher[32], own[8];

    snprintf(fetcher, sizeof fetcher, "broker-%d-fetcher-", sn->node.id);
    snprintf(own, sizeof own, "%d", sn->node.id);
    sn->is_cut = is_cut;
    fake_broker_cut(NODE_PORT + sn->node.id, "", is_cut);
    fake_broker_cut(NODE_PORT + CONTROLLER, own, is_cut);
    for (int32_t id = 1; id <= NODES; id++)
        fake_broker_cut(NODE_PORT + id, fetcher, is_cut);
    if (!is_cut)
        fake_peers_break();
}

static void kill_node(struct sim_node *sn)
{
    fake_broker_close(NODE_PORT + sn->node.id);
    drop_pending(&sn->node);
    drop_writes(sn);
    node_crash(&sn->node);
    sn->is_up = false;
}

static void start_node(struct sim_node *sn)
{
    /* Registered anew before its old session ended: the controller sees a new broker epoch. */
    if (sn->is_alive && sn->node.id)
        on_broker_gone(sn->node.id);
    sn->node.intercept = on_request;
    node_open(&sn->node, &world, (int32_t)(sn - nodes) + 1);
    if (world.ibp < IBP_2_7_IV2) {
        replica_manager_env(sn->node.m)->propose = propose_write;
        replica_manager_env(sn->node.m)->ctx = sn;
    }
    sn->node.m->mover = dir_mover_free(sn->node.m->mover);
    sn->node.m->mover = dir_mover_new(&(struct dir_mover_opts){
        .clock = &world.clock.clock, .max_bytes = 300, .window = {11, 1000}});
    sn->is_up = true;
}

static void produce(struct sim_node *sn)
{
    struct sim_record *r = &records[record_count];

    if (record_count == MAX_RECORDS || !sn->is_up)
        return;
    snprintf(r->value, sizeof r->value, "r%d", record_count++);
    r->produce = node_produce(&sn->node, "t", -1, 200 + (int32_t)pick(3000), r->value);
}

/* To any of its dirs, also the one it is in. */
static void move(struct sim_node *sn)
{
    struct str dir = str_of(sn->node.dirs[pick(NODE_DIRS_MAX)]);

    if (sn->is_up && node_partition(&sn->node, "t", 0))
        ck_assert_int_ne(replica_dirs_alter(sn->node.m, STR("t"), 0, dir), KAFKA_STORAGE_ERROR);
}

static void turn_movers(void)
{
    for (int i = 0; i < NODES; i++) {
        struct partition *p = nodes[i].is_up ? node_partition(&nodes[i].node, "t", 0) : NULL;
        bool was_moving = p && partition_move_dir(p);

        if (was_moving && pick(8) == 0)
            dir_mover_turn(nodes[i].node.m->mover, 0);
        moves += was_moving && !partition_move_dir(p);
    }
}

static void shrink(struct sim_node *sn)
{
    struct partition *p = sn->is_up ? node_partition(&sn->node, "t", 0) : NULL;

    if (p)
        partition_maybe_shrink(p);
}

static void one_event(void)
{
    struct sim_node *sn = &nodes[pick(NODES)];
    uint32_t what = pick(1000);

    if (what < 700) {
        produce(part.leader > 0 && pick(10) ? sim(part.leader) : sn);
    } else if (what < 715 && sn->is_up) {
        kill_node(sn);
    } else if (what < 760 && !sn->is_up) {
        start_node(sn);
    } else if (what < 775 && !sn->is_cut) {
        set_cut(sn, true);
    } else if (what < 820 && sn->is_cut) {
        set_cut(sn, false);
    } else if (what < 830 && part.leader > 0 && sn->is_alive && in_isr(sn->node.id)) {
        elect(sn->node.id);
    } else if (what < 850) {
        shrink(sn);
    } else if (what < 870) {
        move(sn);
    }
}

static void step(int64_t ms)
{
    for (int64_t i = 0; i < ms; i++) {
        clock_fake_advance(&world.clock, 1);
        deliver();
        write_states();
        watch_brokers();
        turn_movers();
        for (int k = 0; k < 4; k++) {
            reactor_turn(world.reactor, 0);
            deliver();
        }
    }
}

/* ---- the judgement ---- */

static void heal(void)
{
    for (int i = 0; i < NODES; i++) {
        if (nodes[i].is_cut)
            set_cut(&nodes[i], false);
        if (!nodes[i].is_up)
            start_node(&nodes[i]);
    }
    step(40000);
}

static void check_records(uint64_t seed)
{
    struct strbuf CLEANUP(strbuf_deinit) lead_text = {0};

    ck_assert_msg(part.leader > 0, "seed %" PRIu64 ": nobody leads, isr has %d members, first %d",
                  seed, part.isr_count, part_isr[0]);
    struct log *lead = node_partition(&sim(part.leader)->node, "t", 0)->log;
    int64_t end = log_end_offset(lead);

    node_read_log(lead, end, &lead_text);
    ck_assert_int_eq(log_high_watermark(lead), end);
    ck_assert_msg(part.isr_count == NODES, "seed %" PRIu64 ": %d of 3 are in sync", seed,
                  part.isr_count);
    for (int32_t id = 1; id <= NODES; id++) {
        struct strbuf CLEANUP(strbuf_deinit) text = {0};
        struct log *log = node_partition(&sim(id)->node, "t", 0)->log;
        node_read_log(log, log_end_offset(log), &text);
        ck_assert_msg(text.len == lead_text.len && memcmp(text.s, lead_text.s, text.len) == 0,
                      "seed %" PRIu64 ": log of %d is not the leader's", seed, id);
    }
    for (int i = 0; i < record_count; i++) {
        struct sim_record *r = &records[i];
        char line[64];
        ck_assert(r->produce->is_done);
        if (r->produce->error == 0) {
            confirmed++;
            snprintf(line, sizeof line, "%" PRId64 ":%s\n", r->produce->offset, r->value);
            ck_assert_msg(strstr(lead_text.s, line) != NULL,
                          "seed %" PRIu64 ": confirmed record %s at %" PRId64 " is lost", seed,
                          r->value, r->produce->offset);
        }
        node_produce_free(r->produce);
    }
}

static void run(uint64_t seed, enum ibp ibp)
{
    rnd.state = seed * 0x9e3779b97f4a7c15u | 1;
    world = (struct node_world){
        .ibp = ibp, .min_isr = 2, .segment_bytes = 4096, .log_dirs = NODE_DIRS_MAX};
    world_init(&world);
    fake_broker_open(NODE_PORT + CONTROLLER, on_controller_request, NULL);
    memset(nodes, 0, sizeof nodes);
    record_count = 0;
    part = (struct node_state_of){.topic = "t",
                                  .leader = 1,
                                  .isr = part_isr,
                                  .isr_count = NODES,
                                  .replicas = replicas,
                                  .replica_count = NODES};
    memcpy(part_isr, replicas, sizeof replicas);
    for (int i = 0; i < NODES; i++)
        start_node(&nodes[i]);
    for (int i = 0; i < NODES; i++)
        nodes[i].is_alive = true;
    publish();
    step(50);
    for (int i = 0; i < 1500; i++) {
        one_event();
        step(pick(12));
    }
    heal();
    check_records(seed);
    for (int i = 0; i < NODES; i++)
        kill_node(&nodes[i]);
    fake_broker_close(NODE_PORT + CONTROLLER);
    drop_pending(NULL);
    world_deinit(&world);
    for (int i = 0; i < NODES; i++)
        for (int d = 0; d < NODE_DIRS_MAX; d++)
            ck_assert_int_eq(fs_remove_tree(nodes[i].node.dirs[d]), 0);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* KLAMM_SEED=n KLAMM_SEEDS=1 KLAMM_SAY=1 repeats one run with all that the brokers say. */
static void run_seeds(enum ibp ibp)
{
    uint64_t from = number("KLAMM_SEED", 1), count = number("KLAMM_SEEDS", 3);

    say_set_level(getenv("KLAMM_SAY") ? SAY_INFO : SAY_ERROR + 1);
    confirmed = 0;
    elections = 0;
    moves = 0;
    for (uint64_t seed = from; seed < from + count; seed++)
        run(seed, ibp);
    ck_assert_int_gt(confirmed, 20);
    ck_assert_int_gt(elections, 5);
    ck_assert_int_gt(moves, 5);
}

START_TEST(nothing_confirmed_is_lost)
{
    run_seeds(IBP_3_9_IV0);
}
END_TEST

START_TEST(nothing_confirmed_is_lost_when_followers_ask_for_epochs)
{
    run_seeds(IBP_2_6_IV0);
}
END_TEST

TEST_MAIN("broker/replica/replication", nothing_confirmed_is_lost,
          nothing_confirmed_is_lost_when_followers_ask_for_epochs)
