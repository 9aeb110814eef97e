#include "broker/replica/alter_zk.h"

#include "broker/replica/partition.h"
#include "broker/replica/replica_internal.h"
#include "tests/support/fake_zk.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_cluster.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"

static struct node_world world;
static struct node node;
static struct fake_zk_server *server;
static struct fake_zk *zk;
static struct arena arena;
static const int32_t all[] = {1, 2, 3};

static struct zk_partition_state stored(void)
{
    struct zk_partition_state st = {.topic = STR("t")};

    ck_assert_int_eq(zk_states_read(fake_zk_store(zk), &arena, &st, 1), ZK_OK);
    ck_assert_int_eq(st.result, ZK_OK);
    return st;
}

static void write_state(void)
{
    int32_t isr[] = {1};
    struct zk_partition_state st = {
        .topic = STR("t"),
        .state = {.leader = 1, .controller_epoch = 1, .isr = {.list = isr, .count = 1}}};

    ck_assert_int_eq(
        zk_store_create_deep(fake_zk_store(zk), "/brokers/topics/t", slice_of("{}", 2)), ZK_OK);
    ck_assert_int_eq(zk_states_create(fake_zk_store(zk), &arena, &st, 1, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(st.result, ZK_OK);
}

static void begin(void)
{
    struct node_state_of st = {.topic = "t",
                               .leader = 1,
                               .isr = all,
                               .isr_count = 1,
                               .replicas = all,
                               .replica_count = 3,
                               .is_new = true};

    world = (struct node_world){.ibp = IBP_2_6_IV0};
    ck_assert_int_eq(workq_new("work", 1, &world.workq), 0);
    world_init(&world);
    server = fake_zk_server_new(&world.clock.clock);
    zk = fake_zk_new(server);
    ck_assert_int_eq(zk_cluster_prepare(fake_zk_store(zk)), ZK_OK);
    world.zk = fake_zk_store(zk);
    write_state();
    node_open(&node, &world, 1);
    alter_zk_start(node.m->alter_zk);
    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

static void end(void)
{
    world.workq = workq_free(world.workq);
    node_close(&node);
    world_deinit(&world);
    fake_zk_free(zk);
    fake_zk_server_free(server);
    arena_deinit(&arena);
}

/* What was handed to the workers is done. */
static void settle(void)
{
    while (workq_pending(world.workq))
        sched_yield();
}

static void follower_fetch(void)
{
    struct node_fetch *f = node_fetch_new(11, 2);

    f->req.max_wait_ms = 0;
    node_fetch_add(f, "t", 0, 0);
    node_fetch_start(&node, f);
    node_fetch_free(f);
    settle();
}

static int announced(void)
{
    struct zk_names names;

    ck_assert_int_eq(
        zk_notifications_list(fake_zk_store(zk), ZK_PATH_ISR_CHANGES, false, &arena, &names),
        ZK_OK);
    return (int)names.count;
}

START_TEST(leader_writes_the_node_and_announces_it_later)
{
    begin();
    follower_fetch();
    struct zk_partition_state st = stored();
    ck_assert_int_eq(st.state.isr.count, 2);
    ck_assert_int_eq(st.state.isr.list[1], 2);
    ck_assert_int_eq(st.state.controller_epoch, 1);
    struct partition *part = node_partition(&node, "t", 0);
    ck_assert_int_eq(part->partition_epoch, st.version);
    ck_assert_int_eq(part->isr.committed.count, 2);
    ck_assert_int_eq(announced(), 0);
    world_run(&world, 7600);
    settle();
    ck_assert_int_eq(announced(), 1);
    world_run(&world, 70000);
    settle();
    ck_assert_int_eq(announced(), 1);
    end();
}
END_TEST

START_TEST(node_that_has_changed_keeps_the_change_pending)
{
    begin();
    struct zk_partition_state st = stored();
    st.state.leader_epoch = 9;
    ck_assert_int_eq(zk_states_update(fake_zk_store(zk), &st, 1, ZK_NO_FENCE), ZK_OK);
    follower_fetch();
    struct partition *part = node_partition(&node, "t", 0);
    ck_assert_int_eq(part->isr.change, ISR_EXPANDING);
    ck_assert_int_eq(part->isr.committed.count, 1);
    ck_assert_int_eq(stored().state.isr.count, 1);
    end();
}
END_TEST

START_TEST(lost_session_takes_the_change_back)
{
    begin();
    fake_zk_expire(zk);
    follower_fetch();
    struct partition *part = node_partition(&node, "t", 0);
    ck_assert_int_eq(part->isr.change, ISR_STABLE);
    fake_zk_renew(zk);
    follower_fetch();
    ck_assert_int_eq(part->isr.committed.count, 2);
    end();
}
END_TEST

TEST_MAIN("broker/replica/alter_zk", leader_writes_the_node_and_announces_it_later,
          node_that_has_changed_keeps_the_change_pending, lost_session_takes_the_change_back)
