#include "common/base/err.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"
#include "tools/why/why_stop.h"

/* Two looks: one world each. */
static struct why_world one, two;
static struct stop_facts s;

static void start_world(struct why_world *w, const char *replicas, const char *isr, int min_isr)
{
    world_start(w, 3);
    world_without_zk(w);
    world_topic(w, "t", 1, min_isr);
    world_partition(w, "t", 0, replicas, isr);
}

static void start(const char *replicas, const char *isr, int min_isr)
{
    start_world(&one, replicas, isr, min_isr);
    start_world(&two, replicas, isr, -1);
    s = (struct stop_facts){.first = &one.f, .second = &two.f, .broker = 1};
}

static enum stop_verdict judge(void)
{
    world_judge_anew(&one);
    enum stop_verdict v = stop_judge(&s, &one.all);
    why_finish(&one.all);
    return v;
}

static void end(void)
{
    world_end(&one);
    world_end(&two);
}

/* What the second look does not ask. */
static void second_down(int broker)
{
    world_down(&two, broker);
}

START_TEST(a_broker_with_whole_partitions_may_stop)
{
    start("1,2,3", "1,2,3", 2);
    ck_assert_int_eq(judge(), STOP_YES);
    EXPECT_SAYS(&one, "broker", "1", "it is the controller");
    s.broker = 2;
    ck_assert_int_eq(judge(), STOP_YES);
    ck_assert_uint_eq(one.all.count, 0);
    end();
}
END_TEST

START_TEST(a_broker_without_replicas_may_stop)
{
    start("2", "2", 1);
    s.broker = 3;
    ck_assert_int_eq(judge(), STOP_YES);
    end();
    start("2,3", "2", 2); /* it is below, and broker 1 has nothing to do with it */
    ck_assert_int_eq(judge(), STOP_YES);
    end();
}
END_TEST

START_TEST(the_only_replica_may_not_stop)
{
    start("1", "1", 1);
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_SAYS(&one, "partition", "t-0", "would have no leader");
    EXPECT_BECAUSE(&one, "partition", "t-0", "broker 1 has its only replica");
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "klamm reassign");
    end();
}
END_TEST

START_TEST(the_last_in_sync_may_not_stop)
{
    start("1,2,3", "1", 1);
    world_down(&one, 2);
    second_down(2);
    ck_assert_int_eq(judge(), STOP_NO);
    ck_assert_int_eq(one.all.v[0].severity, WHY_DOWN);
    EXPECT_BECAUSE(&one, "partition", "t-0", "broker 2 is not registered");
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "start broker 2 again");
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "wait until broker 3 has caught up");
    end();
}
END_TEST

START_TEST(min_isr_is_kept)
{
    start("1,2,3", "1,2", 2);
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_SAYS(&one, "partition", "t-0", "would be below min ISR (1 of 2)");
    end();
    start("1,2,3", "1,2,3", 3);
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_BECAUSE(&one, "partition", "t-0", "min.insync.replicas=3 with 3 replicas leaves none");
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "--topic t --add-config min.insync.replicas=2");
    end();
}
END_TEST

START_TEST(one_that_is_to_come_back_may_not_stop)
{
    start("1,2,3", "2", 2);
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_SAYS(&one, "partition", "t-0",
                "has 1 in sync of the 2 it needs, and waits for broker 1");
    end();
}
END_TEST

START_TEST(a_silent_broker_carries_nothing)
{
    start("1,2", "1,2", 1);
    world_silent(&one, 2);
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "make the process of broker 2 go on");
    end();
}
END_TEST

START_TEST(a_broker_that_shuts_down_meanwhile_carries_nothing)
{
    start("1,2", "1,2", 1);
    second_down(2);
    ck_assert_int_eq(judge(), STOP_NO);
    end();
    start("1,2", "1,2", 1);
    world_partition(&two, "t", 0, "1,2", "1");
    ck_assert_int_eq(judge(), STOP_NO);
    end();
    start("1,2,3", "1,2,3", 1);
    world_partition(&two, "t", 0, "1,2,3", "3,1");
    ck_assert_int_eq(judge(), STOP_YES);
    end();
    start("1,2,3", "1,2", 2); /* in sync in neither of the two looks */
    world_partition(&two, "t", 0, "1,2,3", "1,3");
    ck_assert_int_eq(judge(), STOP_NO);
    end();
}
END_TEST

START_TEST(an_offline_dir_carries_nothing)
{
    start("1,2", "1,2", 1);
    one.f.topics[0].v[0].offline = world_ids(&one, "2");
    ck_assert_int_eq(judge(), STOP_NO);
    end();
}
END_TEST

START_TEST(an_unknown_broker_is_told)
{
    start("1,2", "1,2", 1);
    s.broker = 9;
    ck_assert_int_eq(judge(), STOP_UNKNOWN_BROKER);
    why_unasked(&one.f, "something");
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    end();
}
END_TEST

START_TEST(a_broker_that_is_down_may_stay_so)
{
    start("2,3", "2", 1);
    world_down(&one, 3);
    second_down(3);
    s.broker = 3;
    ck_assert_int_eq(judge(), STOP_YES);
    EXPECT_SAYS(&one, "broker", "3", "is down already");
    end();
}
END_TEST

START_TEST(a_broker_that_is_down_and_waited_for_is_to_start)
{
    start("2,3", "3", 1);
    world_down(&one, 3);
    second_down(3);
    s.broker = 3;
    one.f.topics[0].v[0].leader = two.f.topics[0].v[0].leader = -1;
    ck_assert_int_eq(judge(), STOP_NO);
    EXPECT_SAYS(&one, "partition", "t-0", "waits for broker 3, which is down");
    EXPECT_UNBLOCKS(&one, "partition", "t-0", "start broker 3 again");
    end();
}
END_TEST

/* ---- doubts ---- */

START_TEST(whatever_is_not_known_is_a_doubt)
{
    start("1,2,3", "1,2,3", -1);
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "1", "min.insync.replicas of t is not known");
    end();

    start("1,2,3", "1,2,3", 1);
    why_unasked(&one.f, "settings of topics: no answer");
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "1", "settings of topics: no answer");
    end();

    start("1,2,3", "1,2,3", 1);
    two.f.brokers_answer = WHY_NO;
    two.f.silence = STR("refused");
    two.f.topics_count = 0;
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "1", "refused");
    end();

    start("1,2,3", "1,2,3", 1);
    why_texts_add(&one.arena, &s.hidden, STR("secret"));
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "1", "secret lies on it, and may not be looked at");
    end();

    start("1,2,3", "1,2,3", 1);
    two.f.topics[0].error = TOPIC_AUTHORIZATION_FAILED;
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    end();
}
END_TEST

START_TEST(a_change_of_controller_is_a_doubt)
{
    start("1,2,3", "1,2,3", 1);
    two.f.controller = 2;
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    end();
    start("1,2,3", "1,2,3", 1);
    one.f.controller = two.f.controller = -1;
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    end();
    start("1,2,3", "1,2,3", 1);
    world_silent(&one, 1);
    s.broker = 2;
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "2", "no controller that answers");
    end();
}
END_TEST

START_TEST(a_new_partition_is_a_doubt)
{
    start("2,3", "2,3", 1);
    world_topic(&two, "new", 1, -1);
    world_partition(&two, "new", 0, "1,2", "1,2");
    ck_assert_int_eq(judge(), STOP_IN_DOUBT);
    EXPECT_BECAUSE(&one, "broker", "1", "new-0 has just been made");
    end();
}
END_TEST

START_TEST(a_no_is_a_no_whatever_is_in_doubt)
{
    start("1", "1", 1);
    two.f.controller = 2;
    ck_assert_int_eq(judge(), STOP_NO);
    end();
}
END_TEST

START_TEST(a_move_to_it_is_mentioned)
{
    start("1,2,3", "1,2,3", 1);
    one.f.topics[0].v[0].adding = world_ids(&one, "1");
    ck_assert_int_eq(judge(), STOP_YES);
    EXPECT_SAYS(&one, "broker", "1", "1 partition(s) are being moved to it");
    end();
}
END_TEST

/* ---- every state ---- */

enum { UP, SILENT, DOWN, STATES };

static const char *const subsets[] = {"", "1", "2", "1,2", "3", "1,3", "2,3", "1,2,3"};

static void set_broker(int id, int state)
{
    if (state == SILENT)
        world_silent(&one, id);
    else if (state == DOWN)
        world_down(&one, id);
    if (state == DOWN)
        second_down(id);
}

/* Never a yes where fewer than min ISR are left of those that were in sync twice and serve. */
static void check_state(size_t isr, size_t later, int state2, int state3, int min_isr)
{
    unsigned both = (unsigned)(isr & later);
    int left = ((both & 2) && state2 == UP) + ((both & 4) && state3 == UP);

    start("1,2,3", subsets[isr], min_isr);
    world_partition(&two, "t", 0, "1,2,3", subsets[later]);
    set_broker(2, state2);
    set_broker(3, state3);
    ck_assert_int_eq(judge(), left >= min_isr ? STOP_YES : STOP_NO);
    end();
}

START_TEST(every_state_is_judged)
{
    for (size_t isr = 0; isr < ARRAY_LEN(subsets); isr++) {
        for (size_t later = 0; later < ARRAY_LEN(subsets); later++) {
            for (int states = 0; states < STATES * STATES; states++) {
                for (int min_isr = 1; min_isr <= 3; min_isr++)
                    check_state(isr, later, states / STATES, states % STATES, min_isr);
            }
        }
    }
}
END_TEST

TEST_MAIN("tools/why/why_judge_stop", a_broker_with_whole_partitions_may_stop,
          a_broker_without_replicas_may_stop, the_only_replica_may_not_stop,
          the_last_in_sync_may_not_stop, min_isr_is_kept, one_that_is_to_come_back_may_not_stop,
          a_silent_broker_carries_nothing, a_broker_that_shuts_down_meanwhile_carries_nothing,
          an_offline_dir_carries_nothing, an_unknown_broker_is_told,
          a_broker_that_is_down_may_stay_so, a_broker_that_is_down_and_waited_for_is_to_start,
          whatever_is_not_known_is_a_doubt, a_change_of_controller_is_a_doubt,
          a_new_partition_is_a_doubt, a_no_is_a_no_whatever_is_in_doubt, a_move_to_it_is_mentioned,
          every_state_is_judged)
