#include "broker/replica/offsets.h"

#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2};

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

static void follower_fetch(int64_t offset)
{
    struct node_fetch *f = node_fetch_new(17, 2);

    f->req.max_wait_ms = 0;
    node_fetch_add(f, "t", 0, offset);
    node_fetch_start(&node, f);
    node_fetch_free(f);
}

/* Five records a second apart, the follower has three of them. */
static void begin(void)
{
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    order(1, 3);
    for (int i = 0; i < 5; i++) {
        node_produce_free(node_produce(&node, "t", 1, 100, "v"));
        clock_fake_advance(&world.clock, 1000);
    }
    follower_fetch(3);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static struct offsets_query query(int64_t timestamp, int32_t replica)
{
    return (struct offsets_query){.topic = STR("t"),
                                  .replica_id = replica,
                                  .current_leader_epoch = -1,
                                  .timestamp = timestamp,
                                  .version = 9};
}

static int64_t find(int64_t timestamp, int32_t replica, int error)
{
    struct offsets_query q = query(timestamp, replica);
    struct timestamp_offset found;

    ck_assert_int_eq(offsets_find(node.m, &q, &found), error);
    return found.offset;
}

START_TEST(ends_depend_on_who_asks)
{
    begin();
    ck_assert_int_eq(find(OFFSETS_LATEST, -1, 0), 3);
    ck_assert_int_eq(find(OFFSETS_LATEST, 2, 0), 5);
    ck_assert_int_eq(find(OFFSETS_EARLIEST, -1, 0), 0);
    ck_assert_int_eq(find(OFFSETS_EARLIEST_LOCAL, -1, 0), 0);
    ck_assert_int_eq(find(OFFSETS_LATEST_TIERED, -1, 0), -1);
    end();
}
END_TEST

START_TEST(times_are_found_below_the_watermark_only)
{
    begin();
    int64_t t0 = 1700000000000;
    ck_assert_int_eq(find(t0, -1, 0), 0);
    ck_assert_int_eq(find(t0 + 1500, -1, 0), 2);
    ck_assert_int_eq(find(t0 + 2500, -1, 0), -1);
    ck_assert_int_eq(find(t0 + 2500, 2, 0), 3);
    ck_assert_int_eq(find(OFFSETS_MAX_TIMESTAMP, -1, 0), -1);
    ck_assert_int_eq(find(OFFSETS_MAX_TIMESTAMP, 2, 0), 4);
    end();
}
END_TEST

START_TEST(a_log_of_format_0_knows_its_ends_and_no_times)
{
    begin();
    struct log *log = log_manager_get(node.logs, STR("t"), 0);
    struct topic_conf *conf = topic_conf_new();
    conf->record_version = 0;
    log_set_conf(log, conf);
    ck_assert_int_eq(find(OFFSETS_LATEST, -1, 0), 3);
    ck_assert_int_eq(find(OFFSETS_EARLIEST, -1, 0), 0);
    ck_assert_int_eq(find(OFFSETS_EARLIEST_LOCAL, -1, 0), 0);
    ck_assert_int_eq(find(OFFSETS_MAX_TIMESTAMP, -1, UNSUPPORTED_FOR_MESSAGE_FORMAT), -1);
    ck_assert_int_eq(find(1700000000000, -1, UNSUPPORTED_FOR_MESSAGE_FORMAT), -1);
    ck_assert_int_eq(find(OFFSETS_LATEST_TIERED, -1, UNSUPPORTED_FOR_MESSAGE_FORMAT), -1);
    topic_conf_unref(conf);
    log_put(log);
    end();
}
END_TEST

START_TEST(fresh_leader_does_not_know_its_end_yet)
{
    struct timestamp_offset found;

    begin();
    order(2, 4);
    order(1, 5);
    ck_assert_int_eq(find(OFFSETS_LATEST, -1, OFFSET_NOT_AVAILABLE), -1);
    struct offsets_query q = query(OFFSETS_LATEST, -1);
    q.version = 4;
    ck_assert_int_eq(offsets_find(node.m, &q, &found), LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(find(OFFSETS_LATEST, 2, 0), 5);
    ck_assert_int_eq(find(OFFSETS_EARLIEST, -1, 0), 0);
    follower_fetch(5);
    ck_assert_int_eq(find(OFFSETS_LATEST, -1, 0), 5);
    end();
}
END_TEST

START_TEST(epochs_and_roles_are_checked)
{
    struct timestamp_offset found;

    begin();
    struct offsets_query q = query(OFFSETS_LATEST, -1);
    q.current_leader_epoch = 2;
    ck_assert_int_eq(offsets_find(node.m, &q, &found), FENCED_LEADER_EPOCH);
    q.current_leader_epoch = -2; /* only -1 says nothing */
    ck_assert_int_eq(offsets_find(node.m, &q, &found), FENCED_LEADER_EPOCH);
    q.current_leader_epoch = 4;
    ck_assert_int_eq(offsets_find(node.m, &q, &found), UNKNOWN_LEADER_EPOCH);
    order(2, 4);
    find(OFFSETS_LATEST, -1, NOT_LEADER_OR_FOLLOWER);
    ck_assert_int_eq(find(OFFSETS_LATEST, -2, 0), 5);
    q.topic = STR("nope");
    ck_assert_int_eq(offsets_find(node.m, &q, &found), UNKNOWN_TOPIC_OR_PARTITION);
    end();
}
END_TEST

START_TEST(end_of_an_epoch)
{
    int32_t epoch;
    int64_t end_offset;

    begin();
    order(1, 7);
    struct offsets_query q = query(0, 2);
    ck_assert_int_eq(offsets_end_of_epoch(node.m, &q, 3, &epoch, &end_offset), 0);
    ck_assert_int_eq(epoch, 3);
    ck_assert_int_eq(end_offset, 5);
    ck_assert_int_eq(offsets_end_of_epoch(node.m, &q, 5, &epoch, &end_offset), 0);
    ck_assert_int_eq(epoch, 3);
    ck_assert_int_eq(offsets_end_of_epoch(node.m, &q, 9, &epoch, &end_offset), 0);
    ck_assert_int_eq(epoch, -1);
    ck_assert_int_eq(end_offset, -1);
    end();
}
END_TEST

START_TEST(old_list_is_bounded_by_the_watermark)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct offset_list list;

    begin();
    struct offsets_query q = query(OFFSETS_LATEST, -1);
    q.version = 0;
    ck_assert_int_eq(offsets_find_old(node.m, &q, 5, &a, &list), 0);
    ck_assert_int_eq(list.count, 2);
    ck_assert_int_eq(list.v[0], 3);
    ck_assert_int_eq(list.v[1], 0);
    end();
}
END_TEST

START_TEST(versions_know_their_timestamps)
{
    begin();
    ck_assert(offsets_knows(0, 1));
    ck_assert(offsets_knows(OFFSETS_EARLIEST, 1));
    ck_assert(!offsets_knows(OFFSETS_MAX_TIMESTAMP, 6));
    ck_assert(offsets_knows(OFFSETS_MAX_TIMESTAMP, 7));
    ck_assert(!offsets_knows(OFFSETS_EARLIEST_LOCAL, 7));
    ck_assert(!offsets_knows(OFFSETS_LATEST_TIERED, 8));
    ck_assert(offsets_knows(OFFSETS_LATEST_TIERED, 9));
    ck_assert(!offsets_knows(-6, 9));
    end();
}
END_TEST

TEST_MAIN("broker/replica/offsets", ends_depend_on_who_asks,
          times_are_found_below_the_watermark_only, a_log_of_format_0_knows_its_ends_and_no_times,
          fresh_leader_does_not_know_its_end_yet, epochs_and_roles_are_checked, end_of_an_epoch,
          old_list_is_bounded_by_the_watermark, versions_know_their_timestamps)
