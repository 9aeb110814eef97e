#include "broker/replica/delayed_delete.h"

#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2};

struct deletion {
    struct delete_records work;
    struct delete_records_part part;
    bool is_done;
};

static void ignore(struct node *n UNUSED, struct fake_call *fc)
{
    struct alter_partition_response resp;

    msg_init(&alter_partition_response_desc, &resp);
    resp.error_code = STALE_BROKER_EPOCH;
    fake_call_reply(fc, &resp);
}

static void order(int32_t leader, int32_t epoch)
{
    struct node_state_of st = {.topic = "t",
                               .leader = leader,
                               .leader_epoch = epoch,
                               .partition_epoch = epoch,
                               .isr = all,
                               .isr_count = 2,
                               .replicas = all,
                               .replica_count = 2,
                               .is_new = true};

    node_tell(&node, 1, all, 2, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
}

/* A fetch of the follower, at this offset and with this log start. */
static void follower_fetch(int64_t offset, int64_t log_start)
{
    struct node_fetch *f = node_fetch_new(17, 2);

    f->req.max_wait_ms = 0;
    node_fetch_add(f, "t", 0, offset)->log_start_offset = log_start;
    node_fetch_start(&node, f);
    node_fetch_free(f);
    world_run(&world, 0);
}

static void begin(void)
{
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    order(1, 0);
    for (int i = 0; i < 5; i++)
        node_produce_free(node_produce(&node, "t", 1, 100, "v"));
    follower_fetch(4, 0);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static void on_done(struct delete_records *d)
{
    container_of(d, struct deletion, work)->is_done = true;
}

static void start(struct deletion *d, int64_t offset, int32_t timeout_ms)
{
    *d = (struct deletion){
        .part = {.topic = STR("t"), .offset = offset},
        .work = {.count = 1, .timeout_ms = timeout_ms, .reactor = world.reactor, .done = on_done}};
    d->work.parts = &d->part;
    delete_records_start(node.m, &d->work);
}

START_TEST(waits_for_the_followers_log_start)
{
    struct deletion d;

    begin();
    start(&d, 3, 1000);
    ck_assert(!d.is_done);
    ck_assert_int_eq(log_start_offset(node_partition(&node, "t", 0)->log), 3);
    follower_fetch(4, 2);
    ck_assert(!d.is_done);
    follower_fetch(4, 3);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, 0);
    ck_assert_int_eq(d.part.low_watermark, 3);
    end();
}
END_TEST

START_TEST(minus_one_is_the_watermark_and_nothing_above_it_goes)
{
    struct deletion d;

    begin();
    start(&d, -1, 1000);
    follower_fetch(4, 4);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.low_watermark, 4);
    start(&d, 5, 1000);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, OFFSET_OUT_OF_RANGE);
    ck_assert_int_eq(d.part.low_watermark, -1);
    start(&d, -2, 1000);
    ck_assert_int_eq(d.part.error, OFFSET_OUT_OF_RANGE);
    end();
}
END_TEST

START_TEST(times_out_with_what_was_reached)
{
    struct deletion d;

    begin();
    start(&d, 3, 50);
    world_run(&world, 51);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, REQUEST_TIMED_OUT);
    ck_assert_int_eq(d.part.low_watermark, 0);
    end();
}
END_TEST

START_TEST(dead_replicas_are_not_waited_for)
{
    static const int32_t alive[] = {1};
    struct deletion d;

    begin();
    node_tell(&node, 1, alive, 1, NULL);
    start(&d, 3, 1000);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, 0);
    end();
}
END_TEST

START_TEST(lost_leadership_is_told)
{
    struct deletion d;

    begin();
    start(&d, 3, 1000);
    order(2, 1);
    world_run(&world, 0);
    ck_assert(d.is_done);
    ck_assert_int_eq(d.part.error, NOT_LEADER_OR_FOLLOWER);
    start(&d, 3, 1000);
    ck_assert_int_eq(d.part.error, NOT_LEADER_OR_FOLLOWER);
    end();
}
END_TEST

TEST_MAIN("broker/replica/delayed_delete", waits_for_the_followers_log_start,
          minus_one_is_the_watermark_and_nothing_above_it_goes, times_out_with_what_was_reached,
          dead_replicas_are_not_waited_for, lost_leadership_is_told)
