/*
 * test_rebalance.c - phases and time: heartbeats, sessions, leaving, who is waited for and how
 * long, and groups that come from and go to other brokers (protocol.md 11.8, 11.10, 11.11)
 */
#include "broker/group/rebalance.h"

#include "common/base/err.h"
#include "common/wire/messages.h"
#include "tests/support/group_world.h"

/* ---- heartbeat ---- */

START_TEST(heartbeat_is_checked_in_its_order)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    ck_assert_int_eq(fake_heartbeat(&w, "x", NULL, 0), UNKNOWN_MEMBER_ID);
    group_world_first(&w, &a, (struct joining){.instance = "i"});
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "i", 1), 0);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 1), 0);
    ck_assert_int_eq(fake_heartbeat(&w, "x", "i", 9), FENCED_INSTANCE_ID);
    ck_assert_int_eq(fake_heartbeat(&w, "x", NULL, 9), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "j", 9), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "i", 0), ILLEGAL_GENERATION);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "i", 2), ILLEGAL_GENERATION);
    fake_join(&w, &b, (struct joining){0});
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "i", 0), ILLEGAL_GENERATION);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "i", 1), REBALANCE_IN_PROGRESS);
    group_world_kill(&w, NOT_COORDINATOR);
    ck_assert_int_eq(fake_heartbeat(&w, "x", NULL, 9), COORDINATOR_NOT_AVAILABLE);
    group_world_deinit(&w);
}
END_TEST

START_TEST(heartbeat_while_assigning_is_fine)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){0});
    group_world_run(&w, 3000);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 1), 0);
    group_world_deinit(&w);
}
END_TEST

/* ---- sessions ---- */

START_TEST(silent_member_is_removed_after_its_session_timeout)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){.session_ms = 7000});
    for (int i = 0; i < 5; i++) {
        group_world_run(&w, 6999);
        ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 1), 0);
    }
    group_world_run(&w, 6999);
    ck_assert_int_eq(group_world_size(&w), 1);
    group_world_run(&w, 1);
    ck_assert_int_eq(group_world_size(&w), 0);
    ASSERT_STATE(&w, GROUP_EMPTY);
    ck_assert_int_eq(group_world_storing(&w), 1); /* that it is empty */
    ck_assert_str_eq(w.stores[w.store_count - 1].text, "2  ");
    group_world_stored(&w, REBALANCE_IN_PROGRESS); /* nobody waits for that */
    ASSERT_STATE(&w, GROUP_EMPTY);
    group_world_deinit(&w);
}
END_TEST

START_TEST(session_that_ends_means_a_rebalance_for_the_others)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.session_ms = 30000});
    fake_join(&w, &b, (struct joining){.session_ms = 6000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    group_world_run(&w, 6000);
    ck_assert_int_eq(fake_heartbeat(&w, b.member_id, NULL, 1), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 1), REBALANCE_IN_PROGRESS);
    fake_join(&w, &again, (struct joining){.id = a.member_id});
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(again.generation, 2);
    group_world_deinit(&w);
}
END_TEST

/* Who waits for the others is not asked for heartbeats. */
START_TEST(session_does_not_run_while_a_join_is_parked)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.session_ms = 6000});
    fake_join(&w, &b, (struct joining){.session_ms = 30000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    fake_join(&w, &again, (struct joining){.id = a.member_id, .session_ms = 6000});
    group_world_run(&w, 25000);
    ASSERT_WAITS(&again);
    group_world_run(&w, 5000); /* the session of the other one */
    ASSERT_ENDED(&again, 0);
    group_world_run(&w, 5999); /* begins when it is told */
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 2), 0);
    group_world_deinit(&w);
}
END_TEST

/* It cannot be heard of before it knows its id: five minutes, whatever its session timeout. */
START_TEST(new_member_is_removed_after_five_minutes)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){.session_ms = 1800000, .rebalance_ms = 1800000});
    fake_join(&w, &b, (struct joining){.session_ms = 6000});
    group_world_run(&w, 5 * 60000 - 1);
    ASSERT_WAITS(&b);
    ck_assert_int_eq(group_world_size(&w), 2);
    group_world_run(&w, 1);
    ASSERT_ENDED(&b, UNKNOWN_MEMBER_ID);
    ck_assert_str_eq(b.member_id, "");
    ck_assert_int_eq(group_world_size(&w), 1);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_deinit(&w);
}
END_TEST

/* ---- who is waited for ---- */

START_TEST(dynamic_member_that_does_not_come_again_is_removed)
{
    struct group_world w;
    struct fake_join a, b, c, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.rebalance_ms = 20000, .session_ms = 1800000});
    fake_join(&w, &b, (struct joining){.rebalance_ms = 8000, .session_ms = 1800000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    fake_join(&w, &c, (struct joining){.rebalance_ms = 5000});
    fake_join(&w, &again, (struct joining){.id = b.member_id, .rebalance_ms = 8000});
    group_world_run(&w, 19999); /* the longest timeout counts */
    ASSERT_WAITS(&again);
    group_world_run(&w, 1);
    ASSERT_ENDED(&again, 0);
    ASSERT_ENDED(&c, 0);
    ck_assert_int_eq(again.generation, 2);
    ck_assert_str_eq(again.leader, b.member_id); /* the leader did not come */
    ck_assert(again.has_members && !c.has_members);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 2), UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

START_TEST(static_member_that_does_not_come_again_stays_until_its_session_ends)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.instance = "a", .session_ms = 30000, .rebalance_ms = 8000});
    fake_join(&w, &b, (struct joining){.session_ms = 30000, .rebalance_ms = 8000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    fake_join(&w, &again,
              (struct joining){.id = b.member_id,
                               .protocols = "range=new",
                               .session_ms = 30000,
                               .rebalance_ms = 8000});
    group_world_run(&w, 8000);
    ASSERT_ENDED(&again, 0);
    ck_assert_str_eq(again.leader, b.member_id); /* who came leads */
    ck_assert_ptr_nonnull(strstr(again.members, "/a=m"));
    ck_assert_int_eq(group_world_size(&w), 2);
    group_world_deinit(&w);
}
END_TEST

/* Only static members, and none comes: waits again, until their sessions end. */
START_TEST(rebalance_that_nobody_joins_waits_on)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.instance = "a", .session_ms = 30000, .rebalance_ms = 8000});
    fake_join(&w, &b, (struct joining){.instance = "b", .session_ms = 6000, .rebalance_ms = 8000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    ck_assert_int_eq(fake_leave(&w, "", "b"), 0);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_run(&w, 20000);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, "a", 1), REBALANCE_IN_PROGRESS);
    fake_join(&w, &again, (struct joining){.id = a.member_id, .instance = "a"});
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(again.generation, 2);
    group_world_deinit(&w);
}
END_TEST

START_TEST(group_whose_static_members_are_silent_ends_empty)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.instance = "a", .session_ms = 30000, .rebalance_ms = 8000});
    fake_join(&w, &b, (struct joining){.instance = "b", .session_ms = 6000, .rebalance_ms = 8000});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    group_world_run(&w, 29999);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_run(&w, 1);
    ASSERT_STATE(&w, GROUP_EMPTY);
    group_world_deinit(&w);
}
END_TEST

/* ---- leaving ---- */

START_TEST(leaving_is_checked_in_its_order)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.instance = "i"});
    fake_join(&w, &b, (struct joining){0});
    group_world_run(&w, 6000);
    ck_assert_int_eq(fake_leave(&w, "", "nobody"), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_leave(&w, "", NULL), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_leave(&w, "x", NULL), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_leave(&w, "x", "i"), FENCED_INSTANCE_ID);
    ck_assert_int_eq(fake_leave(&w, a.member_id, "j"), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(group_world_size(&w), 2);
    ck_assert_int_eq(fake_leave(&w, b.member_id, NULL), 0);
    ck_assert_int_eq(group_world_size(&w), 1);
    ck_assert_int_eq(fake_leave(&w, "", "i"), 0);
    ck_assert_int_eq(group_world_size(&w), 0);
    group_world_kill(&w, NOT_COORDINATOR);
    ck_assert_int_eq(fake_leave(&w, "x", "i"), COORDINATOR_NOT_AVAILABLE);
    group_world_deinit(&w);
}
END_TEST

/* At once: whoever comes next, or deletes the group, finds it empty. */
START_TEST(group_is_empty_when_its_last_member_has_left)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){0});
    ck_assert_int_eq(fake_leave(&w, a.member_id, NULL), 0);
    ASSERT_STATE(&w, GROUP_EMPTY);
    ck_assert_int_eq(group_world_storing(&w), 1);
    fake_join(&w, &b, (struct joining){.type = "connect", .protocols = "other=x"});
    ASSERT_WAITS(&b);
    group_world_run(&w, 3000);
    ASSERT_ENDED(&b, 0);
    ck_assert_int_eq(b.generation, 3);
    ck_assert_str_eq(b.protocol, "other");
    group_world_deinit(&w);
}
END_TEST

/* Its delay runs on without members; what the next one knows is known by all. */
START_TEST(only_member_may_leave_while_the_initial_delay_runs)
{
    struct group_world w;
    struct fake_join p, a, b;

    group_world_init(&w);
    fake_join(&w, &p, (struct joining){.must_know_id = true});
    fake_join(&w, &a, (struct joining){.id = p.member_id});
    ck_assert_int_eq(fake_leave(&w, p.member_id, NULL), 0);
    ASSERT_ENDED(&a, UNKNOWN_MEMBER_ID);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    fake_join(&w, &b, (struct joining){.protocols = "other=x"});
    ASSERT_WAITS(&b);
    group_world_run(&w, 6000);
    ASSERT_ENDED(&b, 0);
    ck_assert_str_eq(b.leader, b.member_id);
    group_world_deinit(&w);
}
END_TEST

START_TEST(pending_member_may_leave_and_is_not_waited_for)
{
    struct group_world w;
    struct fake_join a, p, again, gone;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){0});
    fake_join(&w, &p, (struct joining){.must_know_id = true});
    fake_join(&w, &again, (struct joining){.id = a.member_id});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(fake_leave(&w, p.member_id, NULL), 0);
    ASSERT_ENDED(&again, 0);
    fake_join(&w, &gone, (struct joining){.id = p.member_id});
    ASSERT_ENDED(&gone, UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

START_TEST(member_that_leaves_has_its_calls_answered)
{
    struct group_world w;
    struct fake_join a, b, again;
    struct fake_sync s;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){0});
    fake_join(&w, &b, (struct joining){0});
    group_world_run(&w, 6000);
    fake_sync(&w, &s, (struct syncing){.id = b.member_id, .generation = 1});
    ck_assert_int_eq(fake_leave(&w, b.member_id, NULL), 0);
    ASSERT_ENDED(&s, UNKNOWN_MEMBER_ID);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    fake_join(&w, &b, (struct joining){.must_know_id = true});
    fake_join(&w, &again, (struct joining){.id = b.member_id});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(fake_leave(&w, b.member_id, NULL), 0);
    ASSERT_ENDED(&again, UNKNOWN_MEMBER_ID);
    ck_assert_str_eq(again.member_id, "");
    group_world_deinit(&w);
}
END_TEST

/* The last one that was waited for. */
START_TEST(rebalance_completes_when_who_was_awaited_leaves)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){0});
    fake_join(&w, &b, (struct joining){0});
    group_world_run(&w, 6000);
    fake_join(&w, &again, (struct joining){.id = b.member_id, .protocols = "range=new"});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(fake_leave(&w, a.member_id, NULL), 0);
    ASSERT_ENDED(&again, 0);
    ck_assert_str_eq(again.leader, b.member_id);
    group_world_deinit(&w);
}
END_TEST

/* ---- commits ---- */

static int check_commit(struct group_world *w, const char *id, const char *instance,
                        int32_t generation)
{
    LOCK_SCOPE(&w->group->lock);
    return rebalance_check_commit(w->group, str_of(id), instance ? str_of(instance) : STR_NULL,
                                  generation);
}

START_TEST(commits_are_checked_by_state_and_member)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    ck_assert_int_eq(check_commit(&w, "", NULL, -1), 0); /* of no member, in no group */
    ck_assert_int_eq(check_commit(&w, "x", NULL, 0), UNKNOWN_MEMBER_ID);
    fake_join(&w, &a, (struct joining){.instance = "i"});
    group_world_run(&w, 3000);
    ck_assert_int_eq(check_commit(&w, a.member_id, "i", 1), REBALANCE_IN_PROGRESS);
    group_world_assign(&w, &a, "%s=1");
    ck_assert_int_eq(check_commit(&w, "", NULL, -1), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(check_commit(&w, "x", NULL, 1), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(check_commit(&w, "x", "i", 1), FENCED_INSTANCE_ID);
    ck_assert_int_eq(check_commit(&w, a.member_id, "i", 0), ILLEGAL_GENERATION);
    group_world_run(&w, 9999);
    ck_assert_int_eq(check_commit(&w, a.member_id, "i", 1), 0);
    group_world_run(&w, 9999); /* which renewed its session */
    fake_join(&w, &b, (struct joining){0});
    ck_assert_int_eq(check_commit(&w, a.member_id, "i", 1), 0); /* while members join again */
    group_world_kill(&w, NOT_COORDINATOR);
    ck_assert_int_eq(check_commit(&w, a.member_id, "i", 1), COORDINATOR_NOT_AVAILABLE);
    group_world_deinit(&w);
}
END_TEST

/* ---- from and to other brokers ---- */

START_TEST(dead_group_answers_everybody_once_and_no_timer_is_left)
{
    struct group_world w;
    struct fake_join a, b, p;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){0});
    fake_join(&w, &p, (struct joining){.must_know_id = true});
    fake_join(&w, &b, (struct joining){.id = p.member_id});
    ASSERT_WAITS(&b);
    group_world_kill(&w, NOT_COORDINATOR);
    ASSERT_ENDED(&b, NOT_COORDINATOR);
    ck_assert_str_eq(b.member_id, p.member_id);
    group_world_run(&w, 400000);
    ASSERT_ENDED(&b, NOT_COORDINATOR);
    ck_assert(!timer_is_armed(&w.group->timer));
    ck_assert_int_eq(atomic_load(&w.group->refs), 1);
    ck_assert_int_eq(group_world_storing(&w), 0);
    group_world_deinit(&w);
}
END_TEST

static struct group_metadata_value_member member_of(const char *id, const char *instance)
{
    return (struct group_metadata_value_member){
        .member_id = str_of(id),
        .group_instance_id = instance ? str_of(instance) : STR_NULL,
        .client_id = STR("c"),
        .client_host = STR("/1.2.3.4"),
        .rebalance_timeout = 20000,
        .session_timeout = 6000,
        .subscription = slice_of("sub", 3),
        .assignment = slice_of("asg", 3),
    };
}

static void resume(struct group_world *w, struct group_metadata_value_member *v, int32_t count)
{
    rebalance_resume(w->group, &(struct group_metadata_value){
                                   .protocol_type = STR("consumer"),
                                   .generation = 7,
                                   .protocol = STR("range"),
                                   .leader = STR("b"),
                                   .current_state_timestamp = 123,
                                   .members = v,
                                   .members_count = count,
                               });
}

START_TEST(group_goes_on_from_its_record)
{
    struct group_world w;
    struct fake_sync s;
    struct fake_join j;
    struct group_metadata_value_member v[] = {member_of("a", NULL), member_of("b", "i")};

    group_world_init(&w);
    resume(&w, v, 2);
    ASSERT_STATE(&w, GROUP_STABLE);
    ck_assert_int_eq(fake_heartbeat(&w, "a", NULL, 7), 0);
    ck_assert_int_eq(fake_heartbeat(&w, "b", "i", 7), 0);
    fake_sync(&w, &s, (struct syncing){.id = "a", .generation = 7, .protocol = "range"});
    ASSERT_ENDED(&s, 0);
    ck_assert_str_eq(s.assignment, "asg");
    fake_join(&w, &j, (struct joining){.id = "a", .protocols = "range=sub"});
    ASSERT_ENDED(&j, 0);
    ck_assert_str_eq(j.leader, "b");
    group_world_run(&w, 5999);
    ck_assert_int_eq(group_world_size(&w), 2);
    group_world_run(&w, 1); /* sessions began when it was read */
    ck_assert_int_eq(group_world_size(&w), 0);
    ASSERT_STATE(&w, GROUP_EMPTY);
    group_world_deinit(&w);
}
END_TEST

START_TEST(record_without_members_is_an_empty_group)
{
    struct group_world w;

    group_world_init(&w);
    resume(&w, NULL, 0);
    ASSERT_STATE(&w, GROUP_EMPTY);
    WITH_LOCK(&w.group->lock)
    {
        ck_assert_int_eq(w.group->generation, 7);
        ck_assert_int_eq(w.group->state_since_ms, 123);
        ck_assert(str_eqz(w.group->protocol_type, "consumer"));
    }
    group_world_deinit(&w);
}
END_TEST

START_TEST(record_of_too_many_members_begins_a_rebalance)
{
    struct group_world w;
    struct group_metadata_value_member v[] = {member_of("a", NULL), member_of("b", NULL)};

    group_world_init(&w);
    w.env.max_size = 1;
    resume(&w, v, 2);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_deinit(&w);
}
END_TEST

/* A record that makes little sense: nobody is in it twice, and nothing breaks. */
START_TEST(strange_record_is_read_as_far_as_it_goes)
{
    struct group_world w;
    struct group_metadata_value_member v[] = {member_of("a", "i"), member_of("a", NULL),
                                              member_of("c", "i"), member_of("", NULL)};

    group_world_init(&w);
    v[3].session_timeout = -5;
    v[3].rebalance_timeout = INT32_MIN;
    v[3].subscription = slice_of(NULL, 0);
    v[3].assignment = slice_of(NULL, 0);
    rebalance_resume(w.group, &(struct group_metadata_value){.protocol_type = STR_NULL,
                                                             .generation = INT32_MAX - 1,
                                                             .protocol = STR_NULL,
                                                             .leader = STR("nobody"),
                                                             .members = v,
                                                             .members_count = 4});
    ck_assert_int_eq(group_world_size(&w), 2);
    ASSERT_STATE(&w, GROUP_STABLE);
    group_world_run(&w, 0); /* the session of one ended before it began */
    ck_assert_int_eq(group_world_size(&w), 1);
    ck_assert_int_eq(fake_heartbeat(&w, "a", "i", INT32_MAX - 1), REBALANCE_IN_PROGRESS);
    group_world_deinit(&w);
}
END_TEST

TEST_MAIN("broker/group/rebalance", heartbeat_is_checked_in_its_order,
          heartbeat_while_assigning_is_fine, silent_member_is_removed_after_its_session_timeout,
          session_that_ends_means_a_rebalance_for_the_others,
          session_does_not_run_while_a_join_is_parked, new_member_is_removed_after_five_minutes,
          dynamic_member_that_does_not_come_again_is_removed,
          static_member_that_does_not_come_again_stays_until_its_session_ends,
          rebalance_that_nobody_joins_waits_on, group_whose_static_members_are_silent_ends_empty,
          leaving_is_checked_in_its_order, group_is_empty_when_its_last_member_has_left,
          only_member_may_leave_while_the_initial_delay_runs,
          pending_member_may_leave_and_is_not_waited_for, member_that_leaves_has_its_calls_answered,
          rebalance_completes_when_who_was_awaited_leaves, commits_are_checked_by_state_and_member,
          dead_group_answers_everybody_once_and_no_timer_is_left, group_goes_on_from_its_record,
          record_without_members_is_an_empty_group, record_of_too_many_members_begins_a_rebalance,
          strange_record_is_read_as_far_as_it_goes)
