/*
 * test_rebalance_sync.c - SyncGroup: the leader's assignment, the order of checks, and what becomes
 * of it when it cannot be stored (protocol.md 11.9)
 */
#include "common/base/err.h"
#include "tests/support/group_world.h"

/* A leader L and a follower F that have been told generation 1. */
static void two_joined(struct group_world *w, struct fake_join *l, struct fake_join *f)
{
    group_world_init(w);
    fake_join(w, l, (struct joining){.protocols = "range=x"});
    fake_join(w, f, (struct joining){.protocols = "range=y"});
    group_world_run(w, 6000);
    ASSERT_ENDED(l, 0);
    ASSERT_ENDED(f, 0);
}

static const char *give(const char *id, const char *bytes)
{
    static char text[WORLD_TEXT];

    snprintf(text, sizeof text, "%s=%s,stranger=x", id, bytes);
    return text;
}

START_TEST(everybody_is_told_once_the_assignment_is_stored)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    ASSERT_WAITS(&sf);
    ck_assert_int_eq(group_world_storing(&w), 0);
    fake_sync(&w, &sl,
              (struct syncing){.id = l.member_id,
                               .generation = 1,
                               .type = "consumer",
                               .protocol = "range",
                               .assignments = give(f.member_id, "p0")});
    ASSERT_WAITS(&sl);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    char text[WORLD_TEXT];
    snprintf(text, sizeof text, "1 range %s %s/=,%s/=p0", l.member_id, l.member_id, f.member_id);
    ck_assert_str_eq(w.stores[0].text, text);
    group_world_stored(&w, 0);
    ASSERT_ENDED(&sl, 0);
    ASSERT_ENDED(&sf, 0);
    ck_assert_str_eq(sl.assignment, ""); /* the leader left itself out */
    ck_assert_str_eq(sf.assignment, "p0");
    ck_assert_str_eq(sf.protocol, "range");
    ASSERT_STATE(&w, GROUP_STABLE);
    /* Later ones are told the same. */
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    ASSERT_ENDED(&sf, 0);
    ck_assert_str_eq(sf.assignment, "p0");
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(l.member_id, "other")});
    ASSERT_ENDED(&sl, 0);
    ck_assert_str_eq(sl.assignment, "");
    ck_assert_int_eq(group_world_storing(&w), 0);
    group_world_deinit(&w);
}
END_TEST

/* Who syncs while the leader's assignment is on its way waits for it. */
START_TEST(follower_may_sync_while_it_is_stored)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    ASSERT_WAITS(&sf);
    group_world_stored(&w, 0);
    ck_assert_str_eq(sf.assignment, "p0");
    group_world_deinit(&w);
}
END_TEST

START_TEST(checks_come_in_their_order)
{
    struct group_world w;
    struct fake_join l, f, again;
    struct fake_sync s;

    two_joined(&w, &l, &f);
    fake_sync(&w, &s, (struct syncing){.id = "x", .generation = 9, .type = "other"});
    ASSERT_ENDED(&s, UNKNOWN_MEMBER_ID);
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .instance = "i", .generation = 1});
    ASSERT_ENDED(&s, UNKNOWN_MEMBER_ID);
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .generation = 2, .type = "other"});
    ASSERT_ENDED(&s, ILLEGAL_GENERATION);
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .generation = 1, .type = "other"});
    ASSERT_ENDED(&s, INCONSISTENT_GROUP_PROTOCOL);
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .generation = 1, .protocol = "rr"});
    ASSERT_ENDED(&s, INCONSISTENT_GROUP_PROTOCOL);
    fake_join(&w, &again, (struct joining){.id = f.member_id, .protocols = "range=new"});
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .generation = 1, .protocol = "rr"});
    ASSERT_ENDED(&s, INCONSISTENT_GROUP_PROTOCOL);
    fake_sync(&w, &s, (struct syncing){.id = l.member_id, .generation = 1});
    ASSERT_ENDED(&s, REBALANCE_IN_PROGRESS);
    group_world_kill(&w, NOT_COORDINATOR);
    fake_sync(&w, &s, (struct syncing){.id = "x", .generation = 1});
    ASSERT_ENDED(&s, COORDINATOR_NOT_AVAILABLE);
    group_world_deinit(&w);
}
END_TEST

START_TEST(empty_group_knows_nobody)
{
    struct group_world w;
    struct fake_sync s;

    group_world_init(&w);
    fake_sync(&w, &s, (struct syncing){.id = "x", .generation = 0});
    ASSERT_ENDED(&s, UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

START_TEST(assignment_that_cannot_be_stored_begins_a_rebalance)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    group_world_stored(&w, COORDINATOR_NOT_AVAILABLE);
    ASSERT_ENDED(&sl, COORDINATOR_NOT_AVAILABLE);
    ASSERT_ENDED(&sf, COORDINATOR_NOT_AVAILABLE);
    ck_assert_str_eq(sf.assignment, "");
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    ck_assert_int_eq(fake_heartbeat(&w, l.member_id, NULL, 1), REBALANCE_IN_PROGRESS);
    group_world_deinit(&w);
}
END_TEST

/* What is stored after another rebalance has begun counts for nobody. */
START_TEST(assignment_of_an_earlier_generation_is_forgotten)
{
    struct group_world w;
    struct fake_join l, f, l2, f2;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "old")});
    fake_join(&w, &f2, (struct joining){.id = f.member_id, .protocols = "range=new"});
    ASSERT_ENDED(&sl, REBALANCE_IN_PROGRESS);
    fake_join(&w, &l2, (struct joining){.id = l.member_id, .protocols = "range=x"});
    ASSERT_ENDED(&l2, 0);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    group_world_stored(&w, 0);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 2});
    ASSERT_WAITS(&sf);
    group_world_deinit(&w);
    ASSERT_ENDED(&sf, NOT_COORDINATOR);
}
END_TEST

START_TEST(second_sync_of_a_member_takes_the_place_of_the_first)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync one, two, sl;

    two_joined(&w, &l, &f);
    fake_sync(&w, &one, (struct syncing){.id = f.member_id, .generation = 1});
    fake_sync(&w, &two, (struct syncing){.id = f.member_id, .generation = 1});
    ck_assert_int_eq(one.superseded, 1);
    ck_assert_int_eq(one.ended, 0);
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    group_world_stored(&w, 0);
    ck_assert_int_eq(one.superseded, 1);
    ck_assert_int_eq(one.ended, 0);
    ASSERT_ENDED(&two, 0);
    group_world_deinit(&w);
}
END_TEST

/* Two of the leader: whichever is stored first counts, and the other changes nothing. */
START_TEST(leader_that_syncs_twice_assigns_once)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync one, two, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &one,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    fake_sync(&w, &two,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p1")});
    ck_assert_int_eq(one.superseded, 1);
    group_world_stored(&w, 0);
    ASSERT_ENDED(&two, 0);
    group_world_stored(&w, NOT_COORDINATOR);
    ASSERT_STATE(&w, GROUP_STABLE);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    ck_assert_str_eq(sf.assignment, "p0");
    group_world_deinit(&w);
}
END_TEST

START_TEST(who_does_not_sync_in_time_is_removed)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    group_world_stored(&w, 0);
    for (int i = 0; i < 11; i++) { /* both live */
        group_world_run(&w, 5000);
        ck_assert_int_eq(fake_heartbeat(&w, l.member_id, NULL, 1), 0);
        ck_assert_int_eq(fake_heartbeat(&w, f.member_id, NULL, 1), 0);
    }
    group_world_run(&w, 4999);
    ck_assert_int_eq(fake_heartbeat(&w, f.member_id, NULL, 1), 0);
    group_world_run(&w, 1);
    ck_assert_int_eq(fake_heartbeat(&w, f.member_id, NULL, 1), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_heartbeat(&w, l.member_id, NULL, 1), REBALANCE_IN_PROGRESS);
    group_world_deinit(&w);
}
END_TEST

START_TEST(time_to_sync_ends_when_all_have)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    group_world_stored(&w, 0);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    for (int i = 0; i < 20; i++) {
        group_world_run(&w, 5000);
        ck_assert_int_eq(fake_heartbeat(&w, l.member_id, NULL, 1), 0);
        ck_assert_int_eq(fake_heartbeat(&w, f.member_id, NULL, 1), 0);
    }
    ASSERT_STATE(&w, GROUP_STABLE);
    group_world_deinit(&w);
}
END_TEST

/* A leader that stays silent: who waited for it joins again, and another leads. */
START_TEST(leader_that_does_not_sync_is_replaced)
{
    struct group_world w;
    struct fake_join l, f, again;
    struct fake_sync sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    for (int i = 0; i < 11; i++) {
        group_world_run(&w, 5000);
        ck_assert_int_eq(fake_heartbeat(&w, l.member_id, NULL, 1), 0);
        ASSERT_WAITS(&sf); /* whose session does not end, as its call is parked */
    }
    group_world_run(&w, 5000);
    ASSERT_ENDED(&sf, REBALANCE_IN_PROGRESS);
    fake_join(&w, &again, (struct joining){.id = f.member_id, .protocols = "range=y"});
    ASSERT_ENDED(&again, 0);
    ck_assert_str_eq(again.leader, f.member_id);
    ck_assert_int_eq(again.generation, 2);
    group_world_deinit(&w);
}
END_TEST

START_TEST(group_that_dies_while_it_is_stored_stays_dead)
{
    struct group_world w;
    struct fake_join l, f;
    struct fake_sync sl, sf;

    two_joined(&w, &l, &f);
    fake_sync(&w, &sf, (struct syncing){.id = f.member_id, .generation = 1});
    fake_sync(&w, &sl,
              (struct syncing){
                  .id = l.member_id, .generation = 1, .assignments = give(f.member_id, "p0")});
    group_world_kill(&w, NOT_COORDINATOR);
    ASSERT_ENDED(&sl, NOT_COORDINATOR);
    ASSERT_ENDED(&sf, NOT_COORDINATOR);
    group_world_stored(&w, 0);
    ASSERT_STATE(&w, GROUP_DEAD);
    ASSERT_ENDED(&sl, NOT_COORDINATOR);
    group_world_deinit(&w);
}
END_TEST

TEST_MAIN("broker/group/rebalance_sync", everybody_is_told_once_the_assignment_is_stored,
          follower_may_sync_while_it_is_stored, checks_come_in_their_order,
          empty_group_knows_nobody, assignment_that_cannot_be_stored_begins_a_rebalance,
          assignment_of_an_earlier_generation_is_forgotten,
          second_sync_of_a_member_takes_the_place_of_the_first,
          leader_that_syncs_twice_assigns_once, who_does_not_sync_in_time_is_removed,
          time_to_sync_ends_when_all_have, leader_that_does_not_sync_is_replaced,
          group_that_dies_while_it_is_stored_stays_dead)
