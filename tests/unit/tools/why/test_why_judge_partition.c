#include "common/base/err.h"
#include "tests/support/test_main.h"
#include "tests/support/why_world.h"

static struct why_world w;

/* Three brokers and one partition, judged. */
static struct why_partition *begin(const char *replicas, const char *isr, int min_isr)
{
    world_start(&w, 3);
    world_topic(&w, "t", 1, min_isr);
    return world_partition(&w, "t", 0, replicas, isr);
}

static void judge(const struct why_partition *p)
{
    why_judge_partition(&w.f, p, &w.all);
    why_finish(&w.all);
}

static void expect_severity(enum why_severity severity)
{
    ck_assert_uint_eq(w.all.count, 1);
    ck_assert_int_eq(w.all.v[0].severity, severity);
}

START_TEST(a_whole_partition_is_not_mentioned)
{
    judge(begin("1,2,3", "2,1,3", 2));
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
    judge(begin("1", "1", 1));
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(a_replica_of_a_dead_broker_is_missed)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    p->changed_ms = INT64_C(1796033472000);
    world_down(&w, 3);
    judge(p);
    expect_severity(WHY_DEGRADED);
    EXPECT_SAYS(&w, "partition", "t-0", "under-replicated: [3] not in sync");
    EXPECT_SAYS(&w, "partition", "t-0", "since 2026-11-30 10:11:12Z, ISR [1,2] of [1,2,3]");
    EXPECT_BECAUSE(&w, "partition", "t-0", "broker 3 is not registered: it is down");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 3 again");
    world_end(&w);
}
END_TEST

START_TEST(where_it_was_concluded_from_is_said)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    world_down(&w, 3);
    judge(p);
    ck_assert(str_eqz(w.all.v[0].reasons[0].source, "/brokers/ids/3"));
    world_end(&w);
    p = begin("1,2,3", "1,2", 1);
    world_down(&w, 3);
    world_without_zk(&w);
    judge(p);
    ck_assert(str_eqz(w.all.v[0].reasons[0].source, "Metadata of broker 1"));
    world_end(&w);
}
END_TEST

START_TEST(a_broker_nobody_has_heard_of_is_down)
{
    judge(begin("1,2,9", "1,2", 1));
    EXPECT_BECAUSE(&w, "partition", "t-0", "broker 9 is not registered");
    world_end(&w);
}
END_TEST

START_TEST(a_registered_broker_that_is_not_listed_waits_for_the_controller)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    why_find_broker(&w.f, 3)->is_listed = false;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "the brokers do not list it");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "klamm why controller");
    world_end(&w);
}
END_TEST

START_TEST(a_silent_broker_is_to_go_on)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    world_silent(&w, 3);
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "broker 3 (host3:9092) is registered, but does not");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "make the process of broker 3 go on");
    world_end(&w);
}
END_TEST

START_TEST(an_offline_dir_is_named)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);
    struct why_broker *b = why_find_broker(&w.f, 3);
    struct why_dir dirs[] = {{STR("/good"), 0}, {STR("/bad"), KAFKA_STORAGE_ERROR}};

    p->offline = world_ids(&w, "3");
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "a log dir of broker 3 is offline");
    world_judge_anew(&w);
    b->dirs = dirs;
    b->dirs_count = 2;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "the log dir /bad of broker 3 is offline");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "mend that disk");
    world_end(&w);
}
END_TEST

START_TEST(a_lagging_replica_is_measured)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    world_copy(&w, p, 1, 1000, 500);
    world_copy(&w, p, 3, 400, 180);
    judge(p);
    EXPECT_SAYS(&w, "partition", "t-0", "broker 3 is 320 records behind");
    EXPECT_BECAUSE(&w, "partition", "t-0", "the replica on broker 3 lags behind");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "num.replica.fetchers");
    world_end(&w);
}
END_TEST

START_TEST(a_replica_that_has_caught_up_waits_for_its_leader)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    world_copy(&w, p, 1, 1000, 500);
    world_copy(&w, p, 3, 1000, 501);
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "has caught up");
    world_end(&w);
}
END_TEST

START_TEST(a_lag_that_is_not_known_is_not_made_up)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "could not be asked");
    world_judge_anew(&w);
    world_copy(&w, p, 1, 1000, 500);
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "could not be asked");
    world_end(&w);
}
END_TEST

START_TEST(a_replica_without_a_log_has_not_heard)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    world_copy(&w, p, 1, 1000, 500);
    p->copies[2].was_asked = true;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "broker 3 is alive, but has no log of it");
    world_end(&w);
}
END_TEST

START_TEST(a_throttle_is_found_with_its_rate)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    p->topic->follower_throttle = why_throttle_parse(&w.arena, STR("0:3"));
    judge(p);
    ck_assert(!world_because(&w, "partition", "t-0", "throttled"));
    world_judge_anew(&w);
    why_find_broker(&w.f, 3)->follower_rate = 1000;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "throttled to 1000 bytes/s");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "--throttle BYTES");
    world_judge_anew(&w);
    p->topic->leader_throttle = why_throttle_parse(&w.arena, STR("*"));
    why_find_broker(&w.f, 1)->leader_rate = 500;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "throttled to 500 bytes/s");
    world_end(&w);
}
END_TEST

START_TEST(below_min_isr_writes_are_refused)
{
    struct why_partition *p = begin("1,2,3", "1", 2);

    world_down(&w, 2);
    world_down(&w, 3);
    judge(p);
    expect_severity(WHY_BLOCKED);
    EXPECT_SAYS(&w, "partition", "t-0", "below min ISR (1 of 2)");
    EXPECT_BECAUSE(&w, "partition", "t-0", "min.insync.replicas=2");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 2 again");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 3 again");
    world_end(&w);
}
END_TEST

START_TEST(at_min_isr_the_next_loss_counts)
{
    struct why_partition *p = begin("1,2,3", "1,2", 2);

    world_down(&w, 3);
    judge(p);
    expect_severity(WHY_DEGRADED);
    EXPECT_SAYS(&w, "partition", "t-0", "at min ISR (2)");
    world_end(&w);
}
END_TEST

START_TEST(an_unknown_min_isr_blocks_nothing)
{
    struct why_partition *p = begin("1,2,3", "1", -1);

    judge(p);
    expect_severity(WHY_DEGRADED);
    ck_assert(!world_says(&w, "partition", "t-0", "min ISR"));
    world_end(&w);
}
END_TEST

START_TEST(more_in_sync_than_there_are_replicas_is_impossible)
{
    judge(begin("1,2", "1,2", 3));
    expect_severity(WHY_BLOCKED);
    EXPECT_BECAUSE(&w, "partition", "t-0", "min.insync.replicas=3, but it has 2 replica(s)");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "--topic t --add-config min.insync.replicas=2");
    world_end(&w);
}
END_TEST

START_TEST(a_replica_that_is_only_added_is_the_moves)
{
    struct why_partition *p = begin("1,2,3", "1,2", 1);

    p->adding = world_ids(&w, "3");
    judge(p);
    ck_assert_uint_eq(w.all.count, 0);
    world_end(&w);
}
END_TEST

START_TEST(a_leader_that_does_not_serve_stops_clients)
{
    struct why_partition *p = begin("1,2,3", "2,1,3", 1);

    world_silent(&w, 2);
    judge(p);
    expect_severity(WHY_DOWN);
    EXPECT_SAYS(&w, "partition", "t-0", "its leader, broker 2, does not serve");
    world_judge_anew(&w);
    world_down(&w, 2);
    judge(p);
    expect_severity(WHY_DOWN);
    EXPECT_SAYS(&w, "partition", "t-0", "its leader, broker 2, is down");
    EXPECT_BECAUSE(&w, "partition", "t-0", "[1,3] of the ISR are alive");
    world_judge_anew(&w);
    world_down(&w, 1);
    world_down(&w, 3);
    judge(p);
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 1 again");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 2 again");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 3 again");
    world_end(&w);
}
END_TEST

/* ---- without a leader ---- */

static struct why_partition *leaderless(const char *replicas, const char *isr)
{
    struct why_partition *p = begin(replicas, isr, 1);

    p->leader = -1;
    return p;
}

START_TEST(the_last_in_sync_replica_has_to_return)
{
    struct why_partition *p = leaderless("1,2,3", "3");

    world_down(&w, 3);
    world_copy(&w, p, 1, 10, 42);
    judge(p);
    expect_severity(WHY_DOWN);
    EXPECT_SAYS(&w, "partition", "t-0", "the copy of broker 1 ends at offset 42");
    EXPECT_BECAUSE(&w, "partition", "t-0", "[3] had every acknowledged record");
    EXPECT_BECAUSE(&w, "partition", "t-0", "[1,2] are alive, but were not in the ISR, and unclean");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 3 again");
    EXPECT_UNBLOCKS(&w, "partition", "t-0",
                    "--bootstrap-server b:9092 --election-type unclean --topic t --partition 0");
    world_end(&w);
}
END_TEST

START_TEST(nobody_is_left_to_be_elected_uncleanly)
{
    struct why_partition *p = leaderless("2,3", "3");

    world_down(&w, 2);
    world_down(&w, 3);
    judge(p);
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "start broker 3 again");
    ck_assert(!world_unblocks(&w, "partition", "t-0", "start broker 2 again"));
    ck_assert(!world_unblocks(&w, "partition", "t-0", "unclean"));
    world_end(&w);
}
END_TEST

START_TEST(a_state_that_nobody_can_read_is_not_waited_for)
{
    struct why_partition *p = leaderless("1,2,3", "2,3");

    p->is_garbled = true;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "no controller can read it");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "with [2,3] as its isr");
    ck_assert(!world_unblocks(&w, "partition", "t-0", "wait a moment"));
    world_end(&w);
}
END_TEST

START_TEST(an_unclean_election_that_is_allowed_is_the_controllers)
{
    struct why_partition *p = leaderless("1,3", "3");

    world_down(&w, 3);
    p->topic->unclean = WHY_YES;
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "unclean.leader.election.enable=true, so [1]");
    EXPECT_UNBLOCKS(&w, "partition", "t-0", "klamm why controller");
    world_judge_anew(&w);
    p->topic->unclean = WHY_UNKNOWN;
    judge(p);
    ck_assert(!world_because(&w, "partition", "t-0", "unclean.leader.election.enable"));
    world_end(&w);
}
END_TEST

START_TEST(a_living_member_of_the_isr_waits_for_an_election)
{
    judge(leaderless("1,2,3", "2,3"));
    EXPECT_BECAUSE(&w, "partition", "t-0", "[2,3] of the ISR are alive");
    ck_assert(!world_unblocks(&w, "partition", "t-0", "unclean"));
    world_end(&w);
}
END_TEST

START_TEST(the_dir_of_the_last_in_sync_replica_is_offline)
{
    struct why_partition *p = leaderless("1,3", "3");

    p->offline = world_ids(&w, "3");
    judge(p);
    EXPECT_BECAUSE(&w, "partition", "t-0", "a log dir of broker 3 is offline");
    EXPECT_BECAUSE(&w, "partition", "t-0", "[1] are alive, but were not in the ISR");
    world_end(&w);
}
END_TEST

START_TEST(from_zookeeper_alone)
{
    struct why_partition *p = begin("1,2,3", "1,2", -1);

    w.f.brokers_answer = WHY_NO;
    for (int32_t i = 0; i < 3; i++)
        w.f.brokers[i].is_listed = false;
    world_down(&w, 3);
    judge(p);
    expect_severity(WHY_DEGRADED);
    EXPECT_BECAUSE(&w, "partition", "t-0", "broker 3 is not registered");
    world_end(&w);
}
END_TEST

/* ---- every state ---- */

enum { UP, SILENT, DOWN, STATES };

static const char *const subsets[] = {"", "1", "2", "1,2", "3", "1,3", "2,3", "1,2,3"};

static void set_brokers(int code)
{
    for (int id = 1; id <= 3; id++, code /= STATES) {
        if (code % STATES == SILENT)
            world_silent(&w, id);
        else if (code % STATES == DOWN)
            world_down(&w, id);
    }
}

/* Something is said just where something is wrong, as bad as it is, and with a way out. */
static void check_state(size_t isr, int brokers, int min_isr, int leader)
{
    struct why_partition *p = begin("1,2,3", subsets[isr], min_isr);

    set_brokers(brokers);
    p->leader = leader;
    judge(p);
    bool is_served = leader >= 0 && why_is_alive(&w.f, leader);
    int in_sync = p->isr.count;
    if (is_served && in_sync == 3) {
        ck_assert_uint_eq(w.all.count, 0);
    } else {
        expect_severity(!is_served ? WHY_DOWN : in_sync < min_isr ? WHY_BLOCKED : WHY_DEGRADED);
        ck_assert_uint_gt(w.all.v[0].what.len, 0);
        ck_assert(w.all.v[0].reasons_count > 0 || in_sync == 0);
        ck_assert(w.all.v[0].unblocks.count > 0 || in_sync == 0);
        for (size_t i = 0; i < w.all.v[0].reasons_count; i++)
            ck_assert_uint_gt(w.all.v[0].reasons[i].source.len, 0);
    }
    world_end(&w);
}

static void check_states(size_t isr, int brokers)
{
    for (int min_isr = 1; min_isr <= 3; min_isr++) {
        check_state(isr, brokers, min_isr, -1);
        for (int leader = 1; leader <= 3; leader++) {
            if (isr & BIT(leader - 1))
                check_state(isr, brokers, min_isr, leader);
        }
    }
}

START_TEST(every_state_is_judged)
{
    for (size_t isr = 0; isr < ARRAY_LEN(subsets); isr++) {
        for (int brokers = 0; brokers < STATES * STATES * STATES; brokers++)
            check_states(isr, brokers);
    }
}
END_TEST

TEST_MAIN("tools/why/why_judge_partition", a_whole_partition_is_not_mentioned,
          a_replica_of_a_dead_broker_is_missed, where_it_was_concluded_from_is_said,
          a_broker_nobody_has_heard_of_is_down,
          a_registered_broker_that_is_not_listed_waits_for_the_controller,
          a_silent_broker_is_to_go_on, an_offline_dir_is_named, a_lagging_replica_is_measured,
          a_replica_that_has_caught_up_waits_for_its_leader, a_lag_that_is_not_known_is_not_made_up,
          a_replica_without_a_log_has_not_heard, a_throttle_is_found_with_its_rate,
          below_min_isr_writes_are_refused, at_min_isr_the_next_loss_counts,
          an_unknown_min_isr_blocks_nothing, more_in_sync_than_there_are_replicas_is_impossible,
          a_replica_that_is_only_added_is_the_moves, a_leader_that_does_not_serve_stops_clients,
          the_last_in_sync_replica_has_to_return, nobody_is_left_to_be_elected_uncleanly,
          an_unclean_election_that_is_allowed_is_the_controllers,
          a_living_member_of_the_isr_waits_for_an_election,
          a_state_that_nobody_can_read_is_not_waited_for,
          the_dir_of_the_last_in_sync_replica_is_offline, from_zookeeper_alone,
          every_state_is_judged)
