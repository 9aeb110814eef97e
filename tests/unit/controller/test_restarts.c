/*
 * test_restarts.c - brokers that went and came back while nobody was controller
 */
#include "controller/restarts.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

static int32_t ids[] = {1, 2, 3};
static const struct node_ids controller_alone = {ids, 1}, all = {ids, 3};

static void begin(struct fake_cluster *f, const char *partitions)
{
    fake_cluster_init(f, 3);
    fake_cluster_create(f, "t", partitions);
    fake_cluster_trace(f);
}

START_TEST(leader_follows_whoever_stayed)
{
    struct fake_cluster f;

    begin(&f, "1,2,3");
    fake_cluster_blink(&f, &controller_alone);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2,3 v1");
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2,3\n"
                                             "LISR 2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3\n"
                                             "UMR 1,2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3 off 1\n"
                                             "LISR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3\n"
                                             "UMR 1,2,3: t-0 L2 e1 isr 2,3 rs 1,2,3 off 1\n"
                                             "LISR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3\n"
                                             "UMR 1,2,3: t-0 L2 e1 isr 2,3 rs 1,2,3 off 1\n"
                                             "SR 1: t-0 e1\n"
                                             "LISR 1: t-0 L2 e1 isr 2,3 rs 1,2,3\n"
                                             "UMR 1,2,3: t-0 L2 e1 isr 2,3 rs 1,2,3\n");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "2,3,1"), 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(follower_is_in_sync_only_when_it_has_caught_up)
{
    struct fake_cluster f;

    begin(&f, "2,1,3;3,2");
    fake_cluster_blink(&f, &controller_alone);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2,3 v1");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 1), "L3 e0 isr 3,2 v0");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(where_all_restarted_the_next_restart_is_seen)
{
    struct fake_cluster f;

    begin(&f, "1,2,3");
    fake_cluster_blink(&f, &all);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1,2,3 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(the_only_one_in_sync_goes_on)
{
    struct fake_cluster f;

    begin(&f, "1,2,3");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1"), 0);
    fake_cluster_blink(&f, &controller_alone);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(topic_in_deletion_is_deleted)
{
    struct fake_cluster f;

    begin(&f, "1,2,3");
    fake_zk_hold_events(f.server, true);
    fake_cluster_delete(&f, "t");
    fake_cluster_blink(&f, &controller_alone);
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/restarts", leader_follows_whoever_stayed,
          follower_is_in_sync_only_when_it_has_caught_up,
          where_all_restarted_the_next_restart_is_seen, the_only_one_in_sync_goes_on,
          topic_in_deletion_is_deleted)
