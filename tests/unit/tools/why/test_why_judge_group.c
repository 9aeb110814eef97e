#include "common/base/err.h"
#include "common/base/hash.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

/* Topic t of two partitions, and four of __consumer_offsets, all well. */
static struct why_group *start(const char *state)
{
    world_start(&w, 3);
    world_topic(&w, "__consumer_offsets", 4, 1);
    world_topic(&w, "t", 2, 1);
    for (int i = 0; i < 4; i++)
        world_partition(&w, "__consumer_offsets", i, "1,2", "1,2");
    for (int i = 0; i < 2; i++)
        world_partition(&w, "t", i, "1,2", "1,2");
    return world_group(&w, "g", state);
}

static struct why_partition *home(void)
{
    return why_find_partition(&w.f, STR("__consumer_offsets"),
                              (hash_java(STR("g")) & INT32_MAX) % 4);
}

static void judge(const struct why_group *g)
{
    world_judge_anew(&w);
    why_judge_group(&w.f, g, &w.all);
}

static void commit(struct why_group *g, int partition, int64_t committed, int64_t latest,
                   bool is_assigned)
{
    const struct why_commit c = {{STR("t"), partition}, committed, 5, latest, is_assigned};

    world_commit(&w, g, &c);
}

/* ---- the coordinator ---- */

static struct why_group *without_coordinator(void)
{
    struct why_group *g = start("Stable");

    g->coordinator = -1;
    g->state = STR_NULL;
    g->find_error = COORDINATOR_NOT_AVAILABLE;
    return g;
}

START_TEST(offsets_without_a_leader_stop_the_group)
{
    struct why_group *g = without_coordinator();

    home()->leader = -1;
    home()->isr = world_ids(&w, "2");
    world_down(&w, 2);
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "no coordinator");
    EXPECT_BECAUSE(&w, "group", "g", "COORDINATOR_NOT_AVAILABLE");
    EXPECT_BECAUSE(&w, "group", "g", ", which keeps it, has no leader");
    EXPECT_BECAUSE(&w, "group", "g", "[2] had every acknowledged record");
    EXPECT_UNBLOCKS(&w, "group", "g", "start broker 2 again");
    world_end(&w);
}
END_TEST

START_TEST(offsets_led_by_a_silent_broker_stop_the_group)
{
    struct why_group *g = without_coordinator();

    world_silent(&w, 1);
    judge(g);
    EXPECT_BECAUSE(&w, "group", "g", "is led by broker 1, which does not serve");
    g->coordinator = 1;
    g->find_error = 0;
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "its coordinator, broker 1, does not answer");
    EXPECT_UNBLOCKS(&w, "group", "g", "make the process of broker 1 go on");
    world_end(&w);
}
END_TEST

START_TEST(a_coordinator_that_reads_is_waited_for)
{
    struct why_group *g = without_coordinator();

    g->find_error = 0;
    g->coordinator = 1;
    g->error = COORDINATOR_LOAD_IN_PROGRESS;
    judge(g);
    EXPECT_BECAUSE(&w, "group", "g", "COORDINATOR_LOAD_IN_PROGRESS");
    EXPECT_UNBLOCKS(&w, "group", "g", "wait: reading takes");
    world_end(&w);
}
END_TEST

START_TEST(without_consumer_offsets_there_was_never_a_group)
{
    world_start(&w, 1);
    struct why_group *g = world_group(&w, "g", "");
    g->coordinator = -1;
    g->state = STR_NULL;
    judge(g);
    EXPECT_BECAUSE(&w, "group", "g", "__consumer_offsets does not exist");
    EXPECT_UNBLOCKS(&w, "group", "g", "offsets.topic.replication.factor");
    world_end(&w);
}
END_TEST

START_TEST(a_group_that_may_not_be_seen)
{
    struct why_group *g = without_coordinator();

    g->find_error = GROUP_AUTHORIZATION_FAILED;
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "cannot be looked at");
    EXPECT_UNBLOCKS(&w, "group", "g", "--command-config");
    world_end(&w);
}
END_TEST

/* ---- members ---- */

START_TEST(a_group_without_members)
{
    struct why_group *g = start("Dead");

    judge(g);
    EXPECT_SAYS(&w, "group", "g", "there is no such group");
    g->state = STR("Empty");
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "there is no such group");
    commit(g, 0, 10, 10, false);
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "no members");
    ck_assert_int_eq(w.all.v[0].severity, WHY_DEGRADED);
    commit(g, 1, 10, 25, false);
    judge(g);
    ck_assert_int_eq(w.all.v[0].severity, WHY_BLOCKED);
    EXPECT_BECAUSE(&w, "group", "g", "15 record(s) wait in 2 partition(s)");
    EXPECT_UNBLOCKS(&w, "group", "g", "group.id");
    world_end(&w);
}
END_TEST

START_TEST(a_group_that_rebalances)
{
    struct why_group *g = start("PreparingRebalance");

    world_member(&w, g, "a", "t", "");
    for (int i = 0; i < 4; i++)
        world_member(&w, g, "b", "t", "");
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "waits for its members to join");
    EXPECT_BECAUSE(&w, "group", "g", "5 member(s): a at /h, b at /h, b at /h and 2 more");
    EXPECT_UNBLOCKS(&w, "group", "g", "max.poll.interval.ms");
    g->state = STR("CompletingRebalance");
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "waits for the assignment");
    world_end(&w);
}
END_TEST

START_TEST(more_members_than_partitions)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "0");
    world_member(&w, g, "b", "t", "1");
    judge(g);
    ck_assert(!why_is_wrong(&w.all));
    world_member(&w, g, "c", "t", "");
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "1 of 3 member(s) have no partition");
    EXPECT_BECAUSE(&w, "group", "g", "more members (3) than partitions (2)");
    EXPECT_UNBLOCKS(&w, "group", "g", "--partitions 3");
    world_end(&w);
}
END_TEST

START_TEST(a_member_without_a_partition_though_there_are_enough)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "0,1");
    world_member(&w, g, "b", "t", "");
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "1 of 2 member(s) have no partition");
    EXPECT_UNBLOCKS(&w, "group", "g", "there are enough partitions");
    world_end(&w);
}
END_TEST

START_TEST(a_subscription_to_nothing)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "absent", "");
    judge(g);
    EXPECT_BECAUSE(&w, "group", "g", "it subscribes to absent, which does not exist");
    world_end(&w);
}
END_TEST

/* ---- offsets ---- */

START_TEST(offsets_out_of_range)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "0,1");
    commit(g, 0, 2, 10, true);
    commit(g, 1, 11, 10, true);
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "its offset of t-0 is out of range");
    EXPECT_BECAUSE(&w, "group", "g", "has been deleted by retention");
    EXPECT_SAYS(&w, "group", "g", "its offset of t-1 is out of range");
    EXPECT_BECAUSE(&w, "group", "g", "it has committed 11; the log has 5 to 10");
    EXPECT_BECAUSE(&w, "group", "g", "the log is shorter");
    EXPECT_UNBLOCKS(&w, "group", "g", "--topic t:1 --reset-offsets");
    world_end(&w);
}
END_TEST

START_TEST(the_edges_of_the_log_are_in_range)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "0,1");
    commit(g, 0, 5, 10, true);
    commit(g, 1, 10, 10, true);
    judge(g);
    ck_assert(!why_is_wrong(&w.all));
    EXPECT_BECAUSE(&w, "group", "g", "5 record(s) wait");
    EXPECT_BECAUSE(&w, "group", "g", "--watch");
    world_end(&w);
}
END_TEST

START_TEST(offsets_that_are_not_known_are_not_judged)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "0");
    world_commit(&w, g, &(struct why_commit){{STR("t"), 0}, 3, -1, -1, true});
    judge(g);
    ck_assert(!why_is_wrong(&w.all));
    world_end(&w);
}
END_TEST

START_TEST(what_nobody_reads_or_commits)
{
    struct why_group *g = start("Stable");

    world_member(&w, g, "a", "t", "1");
    commit(g, 0, 7, 10, false);
    commit(g, 1, -1, 10, true);
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "no member reads t-0");
    EXPECT_BECAUSE(&w, "group", "g", "3 record(s) wait, and it is assigned to nobody");
    EXPECT_SAYS(&w, "group", "g", "nothing has been committed for t-1");
    EXPECT_BECAUSE(&w, "group", "g", "it is assigned, 5 record(s) wait");
    world_end(&w);
}
END_TEST

START_TEST(a_partition_that_it_reads_has_no_leader)
{
    struct why_group *g = start("Stable");
    struct why_partition *p = why_find_partition(&w.f, STR("t"), 0);

    world_member(&w, g, "a", "t", "0");
    commit(g, 0, 7, -1, true);
    p->leader = -1;
    p->isr = world_ids(&w, "2");
    world_down(&w, 2);
    judge(g);
    EXPECT_SAYS(&w, "group", "g", "t-0, which it reads, has no leader");
    EXPECT_UNBLOCKS(&w, "group", "g", "start broker 2 again");
    world_end(&w);
}
END_TEST

/* ---- two looks ---- */

static size_t progress(int64_t before, int64_t lag_before, int64_t now, int64_t lag_now)
{
    struct why_group *a = start("Stable"), *b = world_group(&w, "g", "Stable");

    world_member(&w, b, "slow", "t", "0");
    commit(a, 0, before, before + lag_before, true);
    commit(b, 0, now, now + lag_now, true);
    world_judge_anew(&w);
    why_judge_progress(&w.f, a, b, &w.all);
    size_t n = w.all.count;
    if (n)
        EXPECT_BECAUSE(&w, "group", "g", "slow at /h");
    world_end(&w);
    return n;
}

START_TEST(only_a_lag_without_commits_is_stuck)
{
    ck_assert_uint_eq(progress(10, 5, 10, 5), 1);
    ck_assert_uint_eq(progress(10, 5, 10, 9), 1);
    ck_assert_uint_eq(progress(10, 5, 11, 9), 0);
    ck_assert_uint_eq(progress(10, 0, 10, 9), 0);
    ck_assert_uint_eq(progress(10, 5, 10, 0), 0);
}
END_TEST

TEST_MAIN("tools/why/why_judge_group", offsets_without_a_leader_stop_the_group,
          offsets_led_by_a_silent_broker_stop_the_group, a_coordinator_that_reads_is_waited_for,
          without_consumer_offsets_there_was_never_a_group, a_group_that_may_not_be_seen,
          a_group_without_members, a_group_that_rebalances, more_members_than_partitions,
          a_member_without_a_partition_though_there_are_enough, a_subscription_to_nothing,
          offsets_out_of_range, the_edges_of_the_log_are_in_range,
          offsets_that_are_not_known_are_not_judged, what_nobody_reads_or_commits,
          a_partition_that_it_reads_has_no_leader, only_a_lag_without_commits_is_stuck)
