/*
 * test_group_manager.c - who answers for a group, and what becomes of everything when that changes
 * (disk.md 12.7)
 */
#include "broker/group/group_manager.h"

#include "common/base/err.h"
#include "tests/support/group_node.h"

#include <sched.h>

static struct group_node n;

static void begin(void)
{
    n = (struct group_node){0};
    group_node_open(&n);
}

/* Keeps the only worker busy, so that a load stays under way until it is let go. */
struct blocker {
    struct job job;
    _Atomic bool is_free;
};

static void block(struct job *j)
{
    const struct blocker *b = container_of(j, struct blocker, job);

    while (!atomic_load(&b->is_free))
        sched_yield();
}

static void hold_worker(struct blocker *b)
{
    *b = (struct blocker){.job = {.work = block}};
    workq_submit(n.workq, &b->job);
}

static void free_worker(struct blocker *b)
{
    atomic_store(&b->is_free, true);
    group_node_settle(&n);
}

START_TEST(partition_is_the_hash_of_the_id)
{
    ck_assert_int_eq(group_partition_of(STR("abc"), 50), 96354 % 50);
    ck_assert_int_eq(group_partition_of(STR("polygenelubricants"), 50), 0); /* INT32_MIN */
    ck_assert_int_eq(group_partition_of(STR(""), 50), 0);
}
END_TEST

START_TEST(nobody_is_answered_before_start_and_after_stop)
{
    struct group *g = NULL;

    n = (struct group_node){0};
    group_node_open(&n);
    group_node_elect(&n);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), 0);
    group_manager_stop(n.m);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), COORDINATOR_NOT_AVAILABLE);
    ck_assert_int_eq(group_manager_obtain(n.m, STR("g"), &g), COORDINATOR_NOT_AVAILABLE);
    ck_assert_ptr_null(g);
    group_node_close(&n);
}
END_TEST

START_TEST(broker_that_does_not_lead_is_no_coordinator)
{
    struct fake_join j;
    struct fake_sync s;
    struct leaving l = {.member_id = STR("m")};

    begin();
    group_node_join(&n, &j, "g", (struct joining){0});
    ASSERT_ENDED(&j, NOT_COORDINATOR);
    group_node_join(&n, &j, "", (struct joining){0});
    ASSERT_ENDED(&j, INVALID_GROUP_ID);
    group_node_sync(&n, &s, "g", (struct syncing){.id = "m"});
    ASSERT_ENDED(&s, NOT_COORDINATOR);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), STR("m"), STR_NULL, 0), NOT_COORDINATOR);
    ck_assert_int_eq(coordinator_leave(n.m, STR("g"), &l, 1), NOT_COORDINATOR);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), NOT_COORDINATOR);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -NOT_COORDINATOR);
    group_node_close(&n);
}
END_TEST

START_TEST(unknown_group_has_no_members)
{
    struct fake_join j;
    struct fake_sync s;
    struct leaving l[2] = {{.member_id = STR("m")}, {.member_id = STR("o")}};

    begin();
    group_node_elect(&n);
    group_node_join(&n, &j, "g", (struct joining){.session_ms = 5999});
    ASSERT_ENDED(&j, INVALID_SESSION_TIMEOUT);
    group_node_join(&n, &j, "g", (struct joining){.session_ms = 1800001});
    ASSERT_ENDED(&j, INVALID_SESSION_TIMEOUT);
    ck_assert_ptr_null(group_node_find(&n, "g"));
    group_node_join(&n, &j, "g", (struct joining){.id = "m"});
    ASSERT_ENDED(&j, UNKNOWN_MEMBER_ID);
    ck_assert_str_eq(j.member_id, "m");
    group_node_sync(&n, &s, "g", (struct syncing){.id = "m"});
    ASSERT_ENDED(&s, UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), STR("m"), STR_NULL, 0),
                     UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(coordinator_leave(n.m, STR("g"), l, 2), 0);
    ck_assert_int_eq(l[0].error, UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(l[1].error, UNKNOWN_MEMBER_ID);
    ck_assert_ptr_null(group_node_find(&n, "g"));
    group_node_close(&n);
}
END_TEST

START_TEST(clients_are_told_to_wait_while_groups_are_loaded)
{
    struct blocker b;
    struct fake_join j;
    struct fake_sync s;

    begin();
    hold_worker(&b);
    group_manager_elected(n.m, 0, 1);
    group_node_join(&n, &j, "g", (struct joining){.session_ms = 1}); /* before its timeout */
    ASSERT_ENDED(&j, COORDINATOR_LOAD_IN_PROGRESS);
    group_node_sync(&n, &s, "g", (struct syncing){.id = "m"});
    ASSERT_ENDED(&s, REBALANCE_IN_PROGRESS);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), STR("m"), STR_NULL, 0), 0);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), COORDINATOR_LOAD_IN_PROGRESS);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -COORDINATOR_LOAD_IN_PROGRESS);
    free_worker(&b);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), 0);
    group_node_close(&n);
}
END_TEST

START_TEST(groups_survive_a_move)
{
    struct fake_join j;

    begin();
    group_node_elect(&n);
    group_node_member(&n, &j, "g", "consumer", "t");
    ck_assert_int_eq(group_node_commit(&n, "other", 3, 42), 0);
    group_node_move(&n);
    ck_assert_int_eq(group_node_offset(&n, "other", 3), 42);
    ck_assert_int_eq(
        coordinator_heartbeat(n.m, STR("g"), str_of(j.member_id), STR_NULL, j.generation), 0);
    group_node_close(&n);
}
END_TEST

/* What is in memory is newer than what a second load would find. */
START_TEST(newer_epoch_of_the_same_leader_loads_nothing)
{
    struct group *before, *after;

    begin();
    group_node_elect(&n);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    before = group_node_find(&n, "g");
    group_node_elect(&n);
    after = group_node_find(&n, "g");
    ck_assert_ptr_eq(before, after);
    group_unref(before);
    group_unref(after);
    group_node_close(&n);
}
END_TEST

START_TEST(stale_news_of_leadership_change_nothing)
{
    begin();
    group_manager_elected(n.m, 0, 5);
    group_node_settle(&n);
    group_manager_resigned(n.m, 0, 4);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), 0);
    group_manager_resigned(n.m, 0, 6);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), NOT_COORDINATOR);
    group_manager_elected(n.m, 0, 5);
    group_node_settle(&n);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), NOT_COORDINATOR);
    group_manager_elected(n.m, 0, 7);
    group_node_settle(&n);
    group_manager_resigned(n.m, 0, -1); /* deleted */
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), NOT_COORDINATOR);
    group_manager_resigned(n.m, 9, 3); /* never led */
    group_node_close(&n);
}
END_TEST

START_TEST(what_is_loaded_for_an_earlier_epoch_is_dropped)
{
    struct blocker b;

    begin();
    group_node_elect(&n);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 7), 0);
    group_node_resign(&n);
    hold_worker(&b);
    group_manager_elected(n.m, 0, ++n.epoch);
    group_manager_resigned(n.m, 0, ++n.epoch);
    free_worker(&b);
    ck_assert_int_eq(group_manager_check(n.m, STR("g")), NOT_COORDINATOR);
    /* Two loads at once: the second one counts. */
    hold_worker(&b);
    group_manager_elected(n.m, 0, ++n.epoch);
    group_manager_resigned(n.m, 0, ++n.epoch);
    group_manager_elected(n.m, 0, ++n.epoch);
    free_worker(&b);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), 7);
    group_node_close(&n);
}
END_TEST

START_TEST(partition_that_is_not_here_has_no_coordinator)
{
    begin();
    group_manager_elected(n.m, 4, 1);
    group_node_settle(&n);
    struct group *g;
    ck_assert_int_eq(group_manager_find(n.m, STR("g"), &g), NOT_COORDINATOR);
    group_node_close(&n);
}
END_TEST

START_TEST(parked_join_is_sent_to_the_next_coordinator)
{
    struct fake_join a, b, again;

    begin();
    group_node_elect(&n);
    group_node_member(&n, &a, "g", "consumer", "t");
    group_node_join(&n, &b, "g", (struct joining){0});
    ASSERT_WAITS(&b);
    group_node_resign(&n);
    ASSERT_ENDED(&b, NOT_COORDINATOR);
    group_node_elect(&n);
    group_node_join(&n, &again, "g", (struct joining){.id = a.member_id, .protocols = "range=n"});
    ASSERT_ENDED(&again, 0);
    group_node_close(&n);
    ck_assert_int_eq(b.ended, 1);
}
END_TEST

/* The record of an assignment is on its way when the coordinator moves. */
START_TEST(move_in_the_middle_of_a_sync)
{
    struct fake_join a;
    struct fake_sync s;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_join(&n, &a, "g", (struct joining){0});
    group_node_run(&n, 100);
    ASSERT_ENDED(&a, 0);
    group_node_sync(&n, &s, "g", (struct syncing){.id = a.member_id, .generation = 1});
    ASSERT_WAITS(&s);
    group_node_resign(&n);
    ASSERT_ENDED(&s, NOT_COORDINATOR);
    group_node_elect(&n); /* reads what it had appended */
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), str_of(a.member_id), STR_NULL, 1), 0);
    group_node_run(&n, 5100); /* the end of the append finds a dead group */
    ASSERT_ENDED(&s, NOT_COORDINATOR);
    ck_assert_int_eq(coordinator_heartbeat(n.m, STR("g"), str_of(a.member_id), STR_NULL, 1), 0);
    group_node_close(&n);
}
END_TEST

START_TEST(sync_that_is_not_replicated_in_time_is_a_rebalance)
{
    struct fake_join a;
    struct fake_sync s;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_join(&n, &a, "g", (struct joining){0});
    group_node_run(&n, 100);
    group_node_sync(&n, &s, "g", (struct syncing){.id = a.member_id, .generation = 1});
    group_node_run(&n, 4900);
    ASSERT_WAITS(&s);
    group_node_run(&n, 300);
    ASSERT_ENDED(&s, REBALANCE_IN_PROGRESS);
    group_node_close(&n);
}
END_TEST

START_TEST(move_in_the_middle_of_a_commit)
{
    struct fake_commit c, d;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_start_commit(&n, &c, "g", 0, 5);
    ck_assert_int_eq(c.ended, 0);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    group_node_follow(&n); /* the replica knows first */
    group_node_start_commit(&n, &d, "g", 1, 5);
    ck_assert_int_eq(d.ended, 1);
    ck_assert_int_eq(d.entry.error, NOT_COORDINATOR);
    group_manager_resigned(n.m, 0, n.epoch);
    group_node_settle(&n);
    ck_assert_int_eq(c.ended, 1);
    ck_assert_int_eq(c.entry.error, NOT_COORDINATOR);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -NOT_COORDINATOR);
    group_node_close(&n);
}
END_TEST

START_TEST(commit_that_is_not_replicated_in_time_does_not_show)
{
    struct fake_commit c;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_start_commit(&n, &c, "g", 0, 5);
    group_node_run(&n, 5100);
    ck_assert_int_eq(c.ended, 1);
    ck_assert_int_eq(c.entry.error, REQUEST_TIMED_OUT);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    group_node_close(&n);
}
END_TEST

START_TEST(stop_answers_what_is_parked_and_loads_no_more)
{
    struct fake_join a, b;
    struct fake_commit c;
    struct blocker bl;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_join(&n, &a, "g", (struct joining){0});
    group_node_run(&n, 100);
    ASSERT_ENDED(&a, 0);
    group_node_join(&n, &b, "g", (struct joining){0});
    ASSERT_WAITS(&b);
    group_node_start_commit(&n, &c, "h", 0, 5);
    hold_worker(&bl);
    group_manager_elected(n.m, 1, 1);
    group_manager_stop(n.m);
    ASSERT_ENDED(&b, NOT_COORDINATOR);
    group_manager_elected(n.m, 0, 100);
    group_manager_elected(n.m, 2, 1);
    ck_assert_int_eq(workq_pending(n.workq), 2); /* the blocker, and the load of before */
    free_worker(&bl);
    group_node_close(&n);
    ck_assert_int_eq(b.ended, 1);
    ck_assert_int_eq(c.ended, 1);
}
END_TEST

static bool count(struct group *g UNUSED, void *ctx)
{
    return ++*(int *)ctx < 3;
}

START_TEST(each_group_is_shown_once_until_told_to_stop)
{
    struct blocker b;
    int seen = 1;

    begin();
    group_node_elect(&n);
    for (int i = 0; i < 5; i++) {
        char id[] = {(char)('a' + i), 0};

        ck_assert_int_eq(group_node_commit(&n, id, 0, 1), 0);
    }
    ck_assert_int_eq(group_manager_each(n.m, count, &seen), 0);
    ck_assert_int_eq(seen, 3);
    seen = -100;
    hold_worker(&b);
    group_manager_elected(n.m, 1, 1);
    ck_assert_int_eq(group_manager_each(n.m, count, &seen), COORDINATOR_LOAD_IN_PROGRESS);
    ck_assert_int_eq(seen, -95);
    free_worker(&b);
    group_node_close(&n);
}
END_TEST

TEST_MAIN("broker/group/group_manager", partition_is_the_hash_of_the_id,
          nobody_is_answered_before_start_and_after_stop,
          broker_that_does_not_lead_is_no_coordinator, unknown_group_has_no_members,
          clients_are_told_to_wait_while_groups_are_loaded, groups_survive_a_move,
          newer_epoch_of_the_same_leader_loads_nothing, stale_news_of_leadership_change_nothing,
          what_is_loaded_for_an_earlier_epoch_is_dropped,
          partition_that_is_not_here_has_no_coordinator,
          parked_join_is_sent_to_the_next_coordinator, move_in_the_middle_of_a_sync,
          sync_that_is_not_replicated_in_time_is_a_rebalance, move_in_the_middle_of_a_commit,
          commit_that_is_not_replicated_in_time_does_not_show,
          stop_answers_what_is_parked_and_loads_no_more,
          each_group_is_shown_once_until_told_to_stop)
