#include "controller/balance.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"

static void note_done(struct controller_call *call)
{
    *(bool *)call->ctx = true;
}

static void elect_now(struct fake_cluster *f, bool unclean, struct controller_election *list,
                      size_t count)
{
    bool done = false;
    struct controller_elections call = {
        .call = {.arena = &f->arena, .done = note_done, .ctx = &done},
        .unclean = unclean,
        .list = list,
        .count = count,
    };

    controller_elect_leaders(fake_cluster_active(f)->c, &call);
    fake_cluster_run(f);
    ck_assert(done);
}

/* Broker 3 has been away: it is in the ISR again, but leads nothing. */
static void with_imbalance(struct fake_cluster *f)
{
    fake_cluster_init(f, 3);
    fake_cluster_create(f, "t", "3,2,1");
    fake_cluster_kill(f, 3);
    fake_cluster_start(f, 3);
}

START_TEST(preferred_election_says_what_became_of_each)
{
    struct fake_cluster f;
    struct controller_election e[] = {
        {.topic = STR("t"), .partition = 0}, {.topic = STR("u"), .partition = 0},
        {.topic = STR("t"), .partition = 9}, {.topic = STR("nope"), .partition = 0},
        {.topic = STR("d"), .partition = 0}, {.topic = STR("t"), .partition = 0},
        {.topic = STR("n"), .partition = 0},
    };

    with_imbalance(&f);
    fake_cluster_create(&f, "u", "1,2");
    fake_cluster_create(&f, "d", "1,7");
    fake_cluster_create(&f, "n", "7");
    fake_cluster_delete(&f, "d");
    elect_now(&f, false, e, ARRAY_LEN(e));
    ck_assert_int_eq(e[0].error, PREFERRED_LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(e[1].error, ELECTION_NOT_NEEDED);
    ck_assert_int_eq(e[2].error, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(e[3].error, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(e[4].error, INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(e[6].error, PREFERRED_LEADER_NOT_AVAILABLE);

    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "2,1,3"), 0);
    elect_now(&f, false, e, ARRAY_LEN(e));
    ck_assert_int_eq(e[0].error, 0);
    ck_assert_int_eq(e[0].leader, 3);
    ck_assert_int_eq(e[5].error, 0); /* named twice, elected once */
    ck_assert_int_eq(e[5].leader, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L3 e2 isr 2,1,3 v3");
    elect_now(&f, false, e, 1);
    ck_assert_int_eq(e[0].error, ELECTION_NOT_NEEDED);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(unclean_election_asks_no_configuration)
{
    struct fake_cluster f;
    struct controller_election e = {.topic = STR("t"), .partition = 0};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "3,2");
    elect_now(&f, true, &e, 1);
    ck_assert_int_eq(e.error, ELECTION_NOT_NEEDED);
    fake_cluster_alter(&f, "t", 0, "3");
    fake_cluster_kill(&f, 3);
    elect_now(&f, true, &e, 1);
    ck_assert_int_eq(e.error, 0);
    ck_assert_int_eq(e.leader, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e2 isr 2 v3 recovering");
    fake_cluster_kill(&f, 2);
    elect_now(&f, true, &e, 1);
    ck_assert_int_eq(e.error, ELIGIBLE_LEADERS_NOT_AVAILABLE);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(leadership_goes_back_only_above_the_percentage)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 2);
    f.opts.leader_imbalance_per_broker_percentage = 50;
    fake_cluster_start_all(&f);
    fake_cluster_create(&f, "t", "2,1;2,1;1,2");
    fake_cluster_kill(&f, 2);
    fake_cluster_start(&f, 2);
    fake_cluster_alter(&f, "t", 0, "1,2");
    fake_cluster_alter(&f, "t", 1, "1,2");
    struct controller_election e = {.topic = STR("t"), .partition = 0};
    elect_now(&f, false, &e, 1); /* now half of broker 2's partitions are led by it */
    ck_assert_int_eq(f.brokers[1].c->x.preferred_imbalance, 1);
    clock_fake_advance(&f.clock, 5000);
    fake_cluster_run(&f);
    ck_assert_int_eq(f.brokers[1].c->x.preferred_imbalance, 1);
    f.brokers[1].c->opts.leader_imbalance_per_broker_percentage = 49;
    clock_fake_advance(&f.clock, 299000);
    fake_cluster_run(&f);
    ck_assert_int_eq(f.brokers[1].c->x.preferred_imbalance, 1);
    clock_fake_advance(&f.clock, 1000);
    fake_cluster_run(&f);
    ck_assert_int_eq(f.brokers[1].c->x.preferred_imbalance, 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(leader_out_of_sync_is_not_preferred)
{
    struct fake_cluster f;

    with_imbalance(&f);
    fake_cluster_trace(&f);
    clock_fake_advance(&f.clock, 5000);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_trace(&f), "");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(old_tools_wish_is_granted_deleted_and_watched_again)
{
    struct fake_cluster f;
    struct node_partition_name names[] = {{STR("t"), 0}, {STR("nope"), 3}};
    struct node_partition_names wish = {names, 2};

    with_imbalance(&f);
    fake_cluster_alter(&f, "t", 0, "2,1,3");
    for (int round = 1; round <= 2; round++) {
        struct zk_stat stat;
        ck_assert_int_eq(zk_store_create(f.admin, ZK_PATH_PREFERRED_ELECTION,
                                         node_partition_names_encode(&f.arena, &wish), 0),
                         ZK_OK);
        fake_cluster_run(&f);
        ck_assert_int_eq(zk_store_exists(f.admin, ZK_PATH_PREFERRED_ELECTION, &stat), ZK_NO_NODE);
        ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L3 e2 isr 2,1,3 v3");
    }
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/balance", preferred_election_says_what_became_of_each,
          unclean_election_asks_no_configuration, leadership_goes_back_only_above_the_percentage,
          leader_out_of_sync_is_not_preferred, old_tools_wish_is_granted_deleted_and_watched_again)
