#include "broker/replica/delayed_produce.h"

#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2, 3};

static void ignore(struct node *n UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static struct node_state_of state(int32_t leader, int32_t epoch)
{
    return (struct node_state_of){.topic = "t",
                                  .leader = leader,
                                  .leader_epoch = epoch,
                                  .partition_epoch = epoch,
                                  .isr = all,
                                  .isr_count = 3,
                                  .replicas = all,
                                  .replica_count = 3,
                                  .is_new = true};
}

static void begin(void)
{
    struct node_state_of st = state(1, 0);

    world.min_isr = 2;
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static void follower_fetch(int32_t replica, int64_t offset)
{
    struct node_fetch *f = node_fetch_new(17, replica);

    f->req.max_wait_ms = 0;
    node_fetch_add(f, "t", 0, offset);
    node_fetch_start(&node, f);
    ck_assert(f->is_done);
    node_fetch_free(f);
}

START_TEST(is_confirmed_when_every_member_has_it)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 1000, "v");
    ck_assert(!p->is_done);
    follower_fetch(2, 1);
    world_run(&world, 0);
    ck_assert(!p->is_done);
    follower_fetch(3, 1);
    world_run(&world, 0);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, 0);
    ck_assert_int_eq(p->offset, 0);
    node_produce_free(p);
    end();
}
END_TEST

START_TEST(times_out_with_its_offset)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 100, "v");
    world_run(&world, 99);
    ck_assert(!p->is_done);
    world_run(&world, 2);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, REQUEST_TIMED_OUT);
    ck_assert_int_eq(p->offset, 0);
    node_produce_free(p);
    end();
}
END_TEST

START_TEST(many_wait_and_those_below_the_watermark_go)
{
    struct node_produce *p[5];

    begin();
    for (int i = 0; i < 5; i++)
        p[i] = node_produce(&node, "t", -1, 1000, "v");
    follower_fetch(2, 5);
    follower_fetch(3, 3);
    world_run(&world, 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(p[i]->is_done, i < 3);
    follower_fetch(3, 5);
    world_run(&world, 0);
    for (int i = 0; i < 5; i++) {
        ck_assert(p[i]->is_done);
        ck_assert_int_eq(p[i]->offset, i);
        node_produce_free(p[i]);
    }
    end();
}
END_TEST

START_TEST(lost_leadership_is_told_at_once)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 1000, "v");
    struct node_state_of st = state(2, 1);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    world_run(&world, 0);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, NOT_LEADER_OR_FOLLOWER);
    node_produce_free(p);
    end();
}
END_TEST

/* leader: of the partition, as the controller told before; -2 where the topic is deleted. */
static void check_deleted(int32_t leader, int expected)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 1000, "v");
    struct node_state_of st = state(leader, 1);
    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -2, true), 0);
    world_run(&world, 0);
    ck_assert(p->is_done);
    ck_assert_int_eq(p->error, expected);
    node_produce_free(p);
    end();
}

START_TEST(deleted_partition_is_told_at_once)
{
    check_deleted(-2, UNKNOWN_TOPIC_OR_PARTITION);
}
END_TEST

/* A reassignment took it away from here. */
START_TEST(partition_that_has_moved_away_is_led_elsewhere)
{
    check_deleted(2, NOT_LEADER_OR_FOLLOWER);
}
END_TEST

/* A leader that slept while it was replaced: its followers fetch in a newer epoch, from another. */
START_TEST(replaced_leader_confirms_nothing)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 100, "v");
    for (int32_t replica = 2; replica <= 3; replica++) {
        struct node_fetch *f = node_fetch_new(17, replica);
        f->req.max_wait_ms = 0;
        node_fetch_add(f, "t", 0, 1)->current_leader_epoch = 1;
        node_fetch_start(&node, f);
        ck_assert_int_eq(node_fetch_part(f, "t", 0)->error_code, UNKNOWN_LEADER_EPOCH);
        node_fetch_free(f);
    }
    world_run(&world, 101);
    ck_assert_int_eq(p->error, REQUEST_TIMED_OUT);
    node_produce_free(p);
    end();
}
END_TEST

START_TEST(stopping_ends_all_waits)
{
    begin();
    struct node_produce *p = node_produce(&node, "t", -1, 100000, "v");
    struct node_fetch *f = node_fetch_new(17, -1);
    f->req.max_wait_ms = 100000;
    node_fetch_add(f, "t", 0, 0);
    node_fetch_start(&node, f);
    ck_assert(!p->is_done && !f->is_done);
    end();
    ck_assert(p->is_done && f->is_done);
    node_produce_free(p);
    node_fetch_free(f);
}
END_TEST

TEST_MAIN("broker/replica/delayed_produce", is_confirmed_when_every_member_has_it,
          times_out_with_its_offset, many_wait_and_those_below_the_watermark_go,
          lost_leadership_is_told_at_once, deleted_partition_is_told_at_once,
          partition_that_has_moved_away_is_led_elsewhere, replaced_leader_confirms_nothing,
          stopping_ends_all_waits)
