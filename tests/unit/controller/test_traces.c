/*
 * test_traces.c - what leaves the controller for each event, in the order of the brokers' queues
 *
 * Brokers 1, 2, 3; 1 is the controller.
 */
#include "tests/support/fake_cluster.h"

#include "tests/support/test_main.h"

static void expect(struct fake_cluster *f, const char *trace)
{
    ck_assert_str_eq(fake_cluster_trace(f), trace);
}

START_TEST(first_broker_hears_of_itself_alone)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 3);
    fake_cluster_start(&f, 1);
    expect(&f, "UMR 1\n");
    fake_cluster_start(&f, 2);
    expect(&f, "UMR 1\nUMR 2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(new_topic_is_led_by_its_first_replica)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    expect(&f, "LISR 1,2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3 new\n"
               "UMR 1,2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3\n");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2,3 v0");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(shrunk_isr_is_told_to_all_without_leader_and_isr)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
    expect(&f, "UMR 1,2,3: t-0 L1 e0 isr 1,2 rs 1,2,3\n");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(dead_leader_is_replaced_and_returns_as_a_follower)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,1,3");
    fake_cluster_alter(&f, "t", 0, "2,1");
    fake_cluster_trace(&f);

    fake_cluster_kill(&f, 2);
    expect(&f, "LISR 1,3: t-0 L1 e1 isr 1 rs 2,1,3\n"
               "UMR 1,3: t-0 L1 e1 isr 1 rs 2,1,3 off 2\n"
               "LISR 1,3: t-0 L1 e1 isr 1 rs 2,1,3\n"
               "UMR 1,3: t-0 L1 e1 isr 1 rs 2,1,3 off 2\n");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1 v2");

    fake_cluster_start(&f, 2);
    expect(&f, "UMR 1,3\n"
               "UMR 2: t-0 L1 e1 isr 1 rs 2,1,3\n"
               "LISR 2: t-0 L1 e1 isr 1 rs 2,1,3\n"
               "UMR 1,2,3: t-0 L1 e1 isr 1 rs 2,1,3\n");

    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
    expect(&f, "UMR 1,2,3: t-0 L1 e1 isr 1,2 rs 2,1,3\n");

    clock_fake_advance(&f.clock, 5000);
    fake_cluster_run(&f);
    expect(&f, "LISR 1,2,3: t-0 L2 e2 isr 1,2 rs 2,1,3\n"
               "UMR 1,2,3: t-0 L2 e2 isr 1,2 rs 2,1,3\n");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e2 isr 1,2 v4");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(controlled_shutdown_moves_leadership_first)
{
    struct fake_cluster f;
    int left = -1;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,1,3");
    fake_cluster_create(&f, "u", "1,2,3");
    fake_cluster_create(&f, "alone", "2");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_shutdown(&f, 2, &left), 0);
    ck_assert_int_eq(left, 0);
    expect(&f, "LISR 1,2,3: t-0 L1 e1 isr 1,3 rs 2,1,3\n"
               "UMR 1,2,3: t-0 L1 e1 isr 1,3 rs 2,1,3 off 2\n"
               "SR 2: u-0 e0\n"
               "LISR 1,3: u-0 L1 e1 isr 1,3 rs 1,2,3\n"
               "UMR 1,2,3: u-0 L1 e1 isr 1,3 rs 1,2,3 off 2\n"
               "SR 2: u-0 e0\n");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1,3 v1");
    ck_assert_str_eq(fake_cluster_state(&f, "alone", 0), "L2 e0 isr 2 v0");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(deleted_topic_goes_from_brokers_then_from_zookeeper)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    fake_cluster_trace(&f);
    fake_cluster_delete(&f, "t");
    expect(&f, "UMR 1,2,3: t-0 L-2 e0 isr 1,2 rs 1,2\n"
               "SR 1,2: t-0 e-2\n"
               "SR 1,2: t-0 e-2 delete\n");
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    ck_assert_int_eq(fake_cluster_active(&f)->c->x.topic_count, 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(failover_tells_every_broker_all_its_partitions_once)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,3");
    fake_cluster_create(&f, "u", "3,1");
    fake_cluster_kill(&f, 1);
    ck_assert_int_eq(fake_cluster_active(&f)->id, 2);
    /* Replicas first (leaders of dead ones fall to -1), then elections. */
    expect(&f, "UMR 2,3\n"
               "LISR 2: t-0 L2 e0 isr 2,3 rs 2,3\n"
               "LISR 3: t-0 L2 e0 isr 2,3 rs 2,3; u-0 L3 e0 isr 3,1 rs 3,1\n"
               "UMR 2,3: t-0 L2 e0 isr 2,3 rs 2,3; u-0 L3 e0 isr 3,1 rs 3,1 off 1\n"
               "LISR 3: u-0 L3 e1 isr 3 rs 3,1\n"
               "UMR 2,3: u-0 L3 e1 isr 3 rs 3,1 off 1\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(leader_that_died_with_the_controller_costs_one_epoch)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_kill(&f, 1);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2,3 v1");
    expect(&f, "UMR 2,3\n"
               "LISR 2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3\n"
               "UMR 2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3 off 1\n"
               "LISR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3\n"
               "UMR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3 off 1\n"
               "LISR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3\n"
               "UMR 2,3: t-0 L2 e1 isr 2,3 rs 1,2,3 off 1\n");
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/traces", first_broker_hears_of_itself_alone,
          new_topic_is_led_by_its_first_replica, shrunk_isr_is_told_to_all_without_leader_and_isr,
          dead_leader_is_replaced_and_returns_as_a_follower,
          controlled_shutdown_moves_leadership_first,
          deleted_topic_goes_from_brokers_then_from_zookeeper,
          failover_tells_every_broker_all_its_partitions_once,
          leader_that_died_with_the_controller_costs_one_epoch)
