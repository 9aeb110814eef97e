/*
 * group_node.c - see group_node.h
 */
#include "tests/support/group_node.h"

#include "common/base/err.h"
#include "common/base/mem.h"

#define OFFSETS "__consumer_offsets"

static const int32_t both[] = {1, 2};

static int order(struct group_node *n, int32_t leader)
{
    int32_t replicas = n->has_follower || leader != 1 ? 2 : 1;
    struct node_state_of st = {.topic = OFFSETS,
                               .leader = leader,
                               .leader_epoch = n->epoch,
                               .partition_epoch = n->epoch,
                               .isr = both,
                               .isr_count = replicas,
                               .replicas = both,
                               .replica_count = replicas,
                               .is_new = n->epoch == 1};

    return node_order(&n->node, 1, &st);
}

static void refuse(struct node *node UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static struct group_manager *make(struct group_node *n)
{
    return group_manager_new(&(struct group_manager_opts){
        .clock = &n->world.clock.clock,
        .metadata = n->node.metadata,
        .replicas = n->node.m,
        .reactors = &n->world.pool,
        .workq = n->workq,
        .ibp = IBP_3_9_IV0,
        .partitions = 1,
        .load_buffer_size = n->load_buffer_size ? n->load_buffer_size : 5242880,
        .min_session_timeout_ms = 6000,
        .max_session_timeout_ms = 1800000,
        .initial_rebalance_delay_ms = 0,
        .max_size = INT32_MAX,
        .max_metadata_bytes = 4096,
        .commit_timeout_ms = 5000,
        .commit_acks = -1,
        .retention_ms = 1000000,
        .check_interval_ms = 600000,
    });
}

void group_node_open(struct group_node *n)
{
    world_init(&n->world);
    n->node.serve_other = refuse;
    node_open(&n->node, &n->world, 1);
    n->epoch = 1;
    node_tell(&n->node, 1, both, 2, NULL);
    ck_assert_int_eq(order(n, 1), 0);
    if (workq_new("work", 1, &n->workq))
        abort();
    n->m = make(n);
    group_manager_start(n->m);
    group_node_settle(n);
}

void group_node_close(struct group_node *n)
{
    if (group_manager_is_running(n->m))
        group_manager_stop(n->m);
    n->workq = workq_free(n->workq);
    world_run(&n->world, 0);
    node_close(&n->node);
    world_run(&n->world, 0);
    n->m = group_manager_free(n->m);
    world_deinit(&n->world);
}

void group_node_settle(struct group_node *n)
{
    for (int i = 0; i < 20000 && workq_pending(n->workq) > 0; i++)
        reactor_turn(n->world.reactor, 1000);
    ck_assert_int_eq(workq_pending(n->workq), 0);
    world_run(&n->world, 0);
}

void group_node_run(struct group_node *n, int64_t ms)
{
    while (ms > 0) {
        int64_t step = MIN(ms, 100);

        clock_fake_advance(&n->world.clock, step);
        ms -= step;
        group_node_settle(n);
    }
}

void group_node_elect(struct group_node *n)
{
    group_manager_elected(n->m, 0, ++n->epoch);
    group_node_settle(n);
}

void group_node_resign(struct group_node *n)
{
    group_manager_resigned(n->m, 0, ++n->epoch);
    group_node_settle(n);
}

void group_node_move(struct group_node *n)
{
    group_node_resign(n);
    group_node_elect(n);
}

void group_node_follow(struct group_node *n)
{
    n->epoch++;
    ck_assert_int_eq(order(n, 2), 0);
    world_run(&n->world, 0);
}

/* What appends runs on a reactor. */
struct task {
    struct message message;
    struct group_node *node;
    struct str group;
    struct group_commit *commit;
    const struct join_request *join;
    const struct sync_request *sync;
    struct join_call *join_call;
    struct sync_call *sync_call;
};

static void run_task(struct message *msg)
{
    struct task *t = container_of(msg, struct task, message);

    if (t->commit)
        group_commit_start(t->node->m, t->commit);
    if (t->join)
        coordinator_join(t->node->m, t->group, t->join, t->join_call);
    if (t->sync)
        coordinator_sync(t->node->m, t->group, t->sync, t->sync_call);
}

static void on_reactor(struct group_node *n, struct task *t)
{
    t->message.run = run_task;
    t->node = n;
    reactor_post(n->world.reactor, &t->message);
    world_run(&n->world, 0);
}

/* ---- what is in the log ---- */

static void append_bytes(struct group_node *n, const struct strbuf *sb)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct partition *part = node_partition(&n->node, OFFSETS, 0);
    struct partition_append ret = {0};
    struct partition_append_opts opts = {
        .records = slice_of(sb->s, sb->len), .origin = APPEND_COORDINATOR, .arena = &a};

    ck_assert_int_eq(partition_append(part, &opts, &ret), 0);
}

void group_node_append(struct group_node *n, struct batch_builder *bb)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    ck_assert_int_eq(batch_builder_finish(bb, &sb), 0);
    append_bytes(n, &sb);
}

void group_node_append_marker(struct group_node *n, int64_t producer_id, bool is_commit)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    txn_marker_build(
        &(struct txn_marker){.producer_id = producer_id, .is_commit = is_commit, .timestamp = 1},
        &sb);
    append_bytes(n, &sb);
}

/* ---- offsets ---- */

static void on_committed(struct group_commit *c)
{
    container_of(c, struct fake_commit, commit)->ended++;
}

void group_node_start_commit(struct group_node *n, struct fake_commit *c, const char *group,
                             int32_t partition, int64_t offset)
{
    *c = (struct fake_commit){
        .commit = {.group_id = str_of(group),
                   .member_id = STR(""),
                   .instance = STR_NULL,
                   .generation = -1,
                   .entries = &c->entry,
                   .count = 1,
                   .done = on_committed},
        .entry = {.topic = STR("t"),
                  .partition = partition,
                  .c = {.offset = offset,
                        .leader_epoch = -1,
                        .metadata = STR(""),
                        .commit_ms = clock_wall_ms(&n->world.clock.clock),
                        .expire_ms = -1}},
    };
    on_reactor(n, &(struct task){.commit = &c->commit});
}

int group_node_commit(struct group_node *n, const char *group, int32_t partition, int64_t offset)
{
    struct fake_commit c;

    group_node_start_commit(n, &c, group, partition, offset);
    ck_assert_int_eq(c.ended, 1);
    return c.entry.error;
}

int64_t group_node_offset(struct group_node *n, const char *group, int32_t partition)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct offset_read read = {.topic = STR("t"), .partition = partition};
    int r = group_offsets_read(n->m, str_of(group), true, &a, &(struct offset_reads){&read, 1});

    r = r ? r : read.error;
    return r ? -r : read.c.offset;
}

/* ---- members ---- */

struct group *group_node_find(struct group_node *n, const char *group)
{
    struct group *g = NULL;

    ck_assert_int_eq(group_manager_find(n->m, str_of(group), &g), 0);
    return g;
}

void group_node_join(struct group_node *n, struct fake_join *j, const char *group,
                     struct joining who)
{
    struct joining_args args;
    struct join_request req = fake_join_request(&args, j, who);

    on_reactor(n, &(struct task){.group = str_of(group), .join = &req, .join_call = &j->call});
}

void group_node_sync(struct group_node *n, struct fake_sync *s, const char *group,
                     struct syncing who)
{
    struct syncing_args args;
    struct sync_request req = fake_sync_request(&args, s, who);

    on_reactor(n, &(struct task){.group = str_of(group), .sync = &req, .sync_call = &s->call});
}

void group_node_member(struct group_node *n, struct fake_join *j, const char *group,
                       const char *type, const char *topic)
{
    uint8_t subscription[64] = {0, 0, 0, 0, 0, 1, 0, (uint8_t)strlen(topic)};
    size_t len = 8 + strlen(topic);
    struct member_protocol p = {STR("range"), slice_of(subscription, len + 4)};
    struct joining_args args;
    struct join_request req = fake_join_request(&args, j, (struct joining){.type = type});
    struct fake_sync s;

    memcpy(subscription + 8, topic, strlen(topic));
    memset(subscription + len, 0xff, 4); /* no user data */
    req.protocols = (struct member_protocols){&p, 1};
    on_reactor(n, &(struct task){.group = str_of(group), .join = &req, .join_call = &j->call});
    group_node_run(n, 100);
    ASSERT_ENDED(j, 0);
    group_node_sync(n, &s, group,
                    (struct syncing){.id = j->member_id, .generation = j->generation});
    ASSERT_ENDED(&s, 0);
}
