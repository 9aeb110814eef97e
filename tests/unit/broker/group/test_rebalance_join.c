/*
 * test_rebalance_join.c - JoinGroup: who is let in, what it is told, and which of it is a rebalance
 * (protocol.md 11.8)
 */
#include "common/base/err.h"
#include "tests/support/group_world.h"

/* ---- new members ---- */

START_TEST(first_member_waits_for_the_initial_delay_and_leads)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.client = "app", .protocols = "range=x,rr=y"});
    group_world_run(&w, 2999);
    ASSERT_WAITS(&a);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_run(&w, 1);
    ASSERT_ENDED(&a, 0);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    ck_assert_int_eq(a.generation, 1);
    ck_assert_str_eq(a.protocol, "range");
    ck_assert_str_eq(a.leader, a.member_id);
    ck_assert_int_eq(strncmp(a.member_id, "app-", 4), 0);
    ck_assert_int_eq(strlen(a.member_id), 4 + 36);
    char list[WORLD_TEXT];
    snprintf(list, sizeof list, "%s/=x", a.member_id);
    ck_assert_str_eq(a.members, list);
    group_world_deinit(&w);
}
END_TEST

/* Whoever comes while the delay runs extends it once for all, up to the rebalance timeout. */
START_TEST(initial_delay_is_extended_while_members_come)
{
    struct group_world w;
    struct fake_join v[4];

    group_world_init(&w);
    fake_join(&w, &v[0], (struct joining){.rebalance_ms = 8000});
    group_world_run(&w, 2000);
    fake_join(&w, &v[1], (struct joining){.rebalance_ms = 8000});
    group_world_run(&w, 1000);
    ASSERT_WAITS(&v[0]); /* 3 s are over; 3 of the 5 that are left are added */
    group_world_run(&w, 1000);
    fake_join(&w, &v[2], (struct joining){.rebalance_ms = 8000});
    group_world_run(&w, 2000);
    ASSERT_WAITS(&v[0]); /* 6 s; the last 2 */
    fake_join(&w, &v[3], (struct joining){.rebalance_ms = 8000});
    group_world_run(&w, 1999);
    ASSERT_WAITS(&v[0]);
    group_world_run(&w, 1);
    for (int i = 0; i < 4; i++)
        ASSERT_ENDED(&v[i], 0);
    ck_assert_int_eq(v[3].generation, 1);
    ck_assert_str_eq(v[3].leader, v[0].member_id);
    ck_assert(v[0].has_members && !v[1].has_members);
    group_world_deinit(&w);
}
END_TEST

START_TEST(initial_delay_without_newcomers_is_not_extended)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.rebalance_ms = 60000});
    group_world_run(&w, 1000);
    fake_join(&w, &b, (struct joining){0});
    group_world_run(&w, 2000);
    ASSERT_WAITS(&a);
    group_world_run(&w, 3000); /* nobody came in the second round */
    ASSERT_ENDED(&a, 0);
    ASSERT_ENDED(&b, 0);
    group_world_deinit(&w);
}
END_TEST

START_TEST(new_dynamic_member_is_told_its_id_first)
{
    struct group_world w;
    struct fake_join a, b;
    int32_t n;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.client = "x", .must_know_id = true});
    ASSERT_ENDED(&a, MEMBER_ID_REQUIRED);
    ck_assert_int_eq(a.generation, -1);
    ck_assert_str_eq(a.leader, "");
    ck_assert_int_eq(strncmp(a.member_id, "x-", 2), 0);
    ASSERT_STATE(&w, GROUP_EMPTY);
    fake_join(&w, &b, (struct joining){.id = a.member_id, .must_know_id = true});
    ASSERT_WAITS(&b);
    n = group_world_size(&w);
    ck_assert_int_eq(n, 1);
    group_world_run(&w, 3000);
    ASSERT_ENDED(&b, 0);
    ck_assert_str_eq(b.member_id, a.member_id);
    group_world_deinit(&w);
}
END_TEST

START_TEST(pending_id_with_an_instance_is_an_internal_error)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.must_know_id = true});
    fake_join(&w, &b, (struct joining){.id = a.member_id, .instance = "i"});
    ASSERT_ENDED(&b, UNKNOWN_SERVER_ERROR);
    ck_assert_str_eq(b.member_id, "");
    group_world_deinit(&w);
}
END_TEST

START_TEST(pending_id_lasts_one_session_timeout)
{
    struct group_world w;
    struct fake_join a, b, c, d;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.must_know_id = true, .session_ms = 6000});
    fake_join(&w, &c, (struct joining){.must_know_id = true, .session_ms = 6000});
    group_world_run(&w, 5999);
    fake_join(&w, &b, (struct joining){.id = a.member_id});
    ASSERT_WAITS(&b);
    group_world_run(&w, 1);
    fake_join(&w, &d, (struct joining){.id = c.member_id});
    ASSERT_ENDED(&d, UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

/* Other rebalances wait for who was given an id, until its time is over. */
START_TEST(rebalance_waits_for_pending_members)
{
    struct group_world w;
    struct fake_join a, b, p;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){0});
    fake_join(&w, &p, (struct joining){.must_know_id = true, .session_ms = 6000});
    ASSERT_ENDED(&p, MEMBER_ID_REQUIRED);
    ASSERT_STATE(&w, GROUP_STABLE);
    fake_join(&w, &b, (struct joining){.id = a.member_id, .protocols = "range=new"});
    ASSERT_WAITS(&b);
    group_world_run(&w, 5999);
    ASSERT_WAITS(&b);
    group_world_run(&w, 1);
    ASSERT_ENDED(&b, 0);
    ck_assert_int_eq(b.generation, 2);
    group_world_deinit(&w);
}
END_TEST

/* Ids that nobody joins with are bounded: the oldest is forgotten for the newest. */
START_TEST(pending_ids_are_bounded)
{
    struct group_world w;
    struct fake_join first, j;

    group_world_init(&w);
    fake_join(&w, &first, (struct joining){.must_know_id = true});
    for (int i = 0; i < GROUP_PENDING_MAX; i++)
        fake_join(&w, &j, (struct joining){.must_know_id = true});
    WITH_LOCK(&w.group->lock)
    ck_assert_int_eq(HASH_COUNT(w.group->pending), GROUP_PENDING_MAX);
    struct fake_join again;
    fake_join(&w, &again, (struct joining){.id = first.member_id});
    ASSERT_ENDED(&again, UNKNOWN_MEMBER_ID);
    fake_join(&w, &again, (struct joining){.id = j.member_id});
    ASSERT_WAITS(&again);
    group_world_deinit(&w);
}
END_TEST

/* ---- the order of checks ---- */

START_TEST(dead_group_refuses)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    group_world_kill(&w, NOT_COORDINATOR);
    fake_join(&w, &a, (struct joining){.id = "m", .protocols = ""});
    ASSERT_ENDED(&a, COORDINATOR_NOT_AVAILABLE);
    ck_assert_str_eq(a.member_id, "m");
    ck_assert_int_eq(a.generation, -1);
    ck_assert(a.is_protocol_null);
    group_world_deinit(&w);
}
END_TEST

START_TEST(empty_group_needs_a_type_and_a_protocol)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.type = ""});
    ASSERT_ENDED(&a, INCONSISTENT_GROUP_PROTOCOL);
    fake_join(&w, &a, (struct joining){.protocols = ""});
    ASSERT_ENDED(&a, INCONSISTENT_GROUP_PROTOCOL);
    /* Before the member id is looked at. */
    fake_join(&w, &a, (struct joining){.id = "nobody", .protocols = ""});
    ASSERT_ENDED(&a, INCONSISTENT_GROUP_PROTOCOL);
    ck_assert_str_eq(a.member_id, "nobody");
    fake_join(&w, &a, (struct joining){.id = "nobody"});
    ASSERT_ENDED(&a, UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

START_TEST(protocols_must_have_one_that_all_know)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){.protocols = "range=x,rr=y"});
    fake_join(&w, &b, (struct joining){.protocols = "sticky=z"});
    ASSERT_ENDED(&b, INCONSISTENT_GROUP_PROTOCOL);
    fake_join(&w, &b, (struct joining){.type = "connect", .protocols = "rr=y"});
    ASSERT_ENDED(&b, INCONSISTENT_GROUP_PROTOCOL);
    fake_join(&w, &b, (struct joining){.protocols = "sticky=z,rr=y"});
    ASSERT_WAITS(&b);
    group_world_deinit(&w);
}
END_TEST

START_TEST(most_votes_choose_among_what_all_know)
{
    struct group_world w;
    struct fake_join v[3];

    group_world_init(&w);
    fake_join(&w, &v[0], (struct joining){.protocols = "a=1,b=2,c=3"});
    fake_join(&w, &v[1], (struct joining){.protocols = "x=0,c=1,b=2,c=9"});
    fake_join(&w, &v[2], (struct joining){.protocols = "c=1,b=2"});
    group_world_run(&w, 6000);
    for (int i = 0; i < 3; i++) {
        ASSERT_ENDED(&v[i], 0);
        ck_assert_str_eq(v[i].protocol, "c");
    }
    group_world_deinit(&w);
}
END_TEST

START_TEST(full_group_takes_nobody)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    w.env.max_size = 1;
    group_world_first(&w, &a, (struct joining){0});
    fake_join(&w, &b, (struct joining){.protocols = "other=x"}); /* before the protocols */
    ASSERT_ENDED(&b, GROUP_MAX_SIZE_REACHED);
    ck_assert_str_eq(b.member_id, "");
    fake_join(&w, &b, (struct joining){.id = "nobody"});
    ASSERT_ENDED(&b, GROUP_MAX_SIZE_REACHED);
    fake_join(&w, &again, (struct joining){.id = a.member_id});
    ASSERT_ENDED(&again, 0); /* is in it: a rebalance of its own, which ends at once */
    ck_assert_int_eq(again.generation, 2);
    group_world_deinit(&w);
}
END_TEST

START_TEST(as_many_wait_in_a_rebalance_as_there_is_room)
{
    struct group_world w;
    struct fake_join a, b, c, d;

    group_world_init(&w);
    w.env.max_size = 2;
    fake_join(&w, &a, (struct joining){0});
    fake_join(&w, &b, (struct joining){0});
    fake_join(&w, &c, (struct joining){0});
    ASSERT_ENDED(&c, GROUP_MAX_SIZE_REACHED);
    group_world_run(&w, 6000);
    ASSERT_ENDED(&a, 0);
    ASSERT_ENDED(&b, 0);
    /* Of a group that has shrunk: who does not fit is taken out. */
    w.env.max_size = 1;
    fake_join(&w, &c, (struct joining){.id = a.member_id, .protocols = "range=new"});
    ASSERT_WAITS(&c);
    fake_join(&w, &d, (struct joining){.id = b.member_id});
    ASSERT_ENDED(&d, GROUP_MAX_SIZE_REACHED);
    ck_assert_str_eq(d.member_id, "");
    ASSERT_ENDED(&c, 0);
    ck_assert_int_eq(group_world_size(&w), 1);
    group_world_deinit(&w);
}
END_TEST

/* ---- known members ---- */

START_TEST(while_assigning_the_same_join_is_told_again)
{
    struct group_world w;
    struct fake_join a, b, again;
    struct fake_sync s;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.protocols = "range=x"});
    fake_join(&w, &b, (struct joining){.protocols = "range=y"});
    group_world_run(&w, 6000);
    fake_join(&w, &again, (struct joining){.id = a.member_id, .protocols = "range=x"});
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(again.generation, 1);
    ck_assert_str_eq(again.members, a.members);
    fake_join(&w, &again, (struct joining){.id = b.member_id, .protocols = "range=y"});
    ASSERT_ENDED(&again, 0);
    ck_assert(!again.has_members);
    ASSERT_STATE(&w, GROUP_COMPLETING_REBALANCE);
    /* With other metadata it is another rebalance, of which who waits to sync is told. */
    fake_sync(&w, &s, (struct syncing){.id = b.member_id, .generation = 1});
    ASSERT_WAITS(&s);
    fake_join(&w, &again, (struct joining){.id = a.member_id, .protocols = "range=new"});
    ASSERT_WAITS(&again);
    ASSERT_ENDED(&s, REBALANCE_IN_PROGRESS);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_deinit(&w);
}
END_TEST

START_TEST(stable_group_rebalances_for_its_leader_and_for_what_changed)
{
    struct group_world w;
    struct fake_join a, b, again, lead;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.protocols = "range=x"});
    fake_join(&w, &b, (struct joining){.protocols = "range=y"});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    fake_join(&w, &again, (struct joining){.id = b.member_id, .protocols = "range=y"});
    ASSERT_ENDED(&again, 0);
    ck_assert(!again.has_members);
    ck_assert_str_eq(again.leader, a.member_id);
    ASSERT_STATE(&w, GROUP_STABLE);
    fake_join(&w, &lead, (struct joining){.id = a.member_id, .protocols = "range=x"});
    ASSERT_WAITS(&lead);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    fake_join(&w, &again, (struct joining){.id = b.member_id, .protocols = "range=y"});
    ASSERT_ENDED(&again, 0);
    ASSERT_ENDED(&lead, 0);
    ck_assert_int_eq(lead.generation, 2);
    group_world_deinit(&w);
}
END_TEST

START_TEST(follower_with_other_metadata_begins_a_rebalance)
{
    struct group_world w;
    struct fake_join a, b, again;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.protocols = "range=x"});
    fake_join(&w, &b, (struct joining){.protocols = "range=y"});
    group_world_run(&w, 6000);
    group_world_assign(&w, &a, "%s=1");
    fake_join(&w, &again, (struct joining){.id = b.member_id, .protocols = "range=z"});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(fake_heartbeat(&w, a.member_id, NULL, 1), REBALANCE_IN_PROGRESS);
    group_world_deinit(&w);
}
END_TEST

START_TEST(second_join_of_a_member_takes_the_place_of_the_first)
{
    struct group_world w;
    struct fake_join p, a, b;

    group_world_init(&w);
    fake_join(&w, &p, (struct joining){.must_know_id = true});
    fake_join(&w, &a, (struct joining){.id = p.member_id});
    fake_join(&w, &b, (struct joining){.id = p.member_id});
    ck_assert_int_eq(a.superseded, 1);
    ck_assert_int_eq(a.ended, 0);
    group_world_run(&w, 3000);
    ck_assert_int_eq(a.superseded, 1);
    ck_assert_int_eq(a.ended, 0);
    ASSERT_ENDED(&b, 0);
    ck_assert_int_eq(group_world_size(&w), 1);
    group_world_deinit(&w);
}
END_TEST

START_TEST(unknown_and_fenced_members_are_told_so)
{
    struct group_world w;
    struct fake_join a, b;

    group_world_init(&w);
    group_world_first(&w, &a, (struct joining){.instance = "i"});
    fake_join(&w, &b, (struct joining){.id = "nobody"});
    ASSERT_ENDED(&b, UNKNOWN_MEMBER_ID);
    ck_assert_str_eq(b.member_id, "nobody");
    fake_join(&w, &b, (struct joining){.id = "nobody", .instance = "i"});
    ASSERT_ENDED(&b, FENCED_INSTANCE_ID);
    fake_join(&w, &b, (struct joining){.id = a.member_id, .instance = "j"});
    ASSERT_ENDED(&b, UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

/* ---- static members ---- */

START_TEST(static_member_joins_at_once_with_an_id_of_its_instance)
{
    struct group_world w;
    struct fake_join a;

    group_world_init(&w);
    fake_join(&w, &a, (struct joining){.instance = "inst", .client = "app"});
    ASSERT_WAITS(&a);
    group_world_run(&w, 3000);
    ASSERT_ENDED(&a, 0);
    ck_assert_int_eq(strncmp(a.member_id, "inst-", 5), 0);
    ck_assert_ptr_nonnull(strstr(a.members, "/inst=m"));
    group_world_deinit(&w);
}
END_TEST

/* A stable group with the leader L (instance l) and the member F (instance f). */
static void two_statics(struct group_world *w, struct fake_join *l, struct fake_join *f)
{
    group_world_init(w);
    fake_join(w, l, (struct joining){.instance = "l"});
    fake_join(w, f, (struct joining){.instance = "f"});
    group_world_run(w, 6000);
    group_world_assign(w, l, "%s=1");
}

START_TEST(restarted_static_member_comes_back_without_a_rebalance)
{
    struct group_world w;
    struct fake_join l, f, again;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "f"});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(group_world_storing(&w), 1);
    ck_assert_ptr_nonnull(strstr(w.stores[w.store_count - 1].text, "/f="));
    ck_assert_ptr_null(strstr(w.stores[w.store_count - 1].text, f.member_id));
    group_world_stored(&w, 0);
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(again.generation, 1);
    ck_assert_str_eq(again.leader, l.member_id);
    ck_assert(!again.has_members && !again.skip_assignment);
    ck_assert_str_ne(again.member_id, f.member_id);
    ASSERT_STATE(&w, GROUP_STABLE);
    ck_assert_int_eq(fake_heartbeat(&w, f.member_id, "f", 1), FENCED_INSTANCE_ID);
    ck_assert_int_eq(fake_heartbeat(&w, f.member_id, NULL, 1), UNKNOWN_MEMBER_ID);
    ck_assert_int_eq(fake_heartbeat(&w, again.member_id, "f", 1), 0);
    group_world_deinit(&w);
}
END_TEST

START_TEST(restarted_leader_is_told_the_old_leader_below_v9)
{
    struct group_world w;
    struct fake_join l, f, again;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "l"});
    group_world_stored(&w, 0);
    ASSERT_ENDED(&again, 0);
    ck_assert_str_eq(again.leader, l.member_id);
    ck_assert(!again.has_members && !again.skip_assignment);
    group_world_deinit(&w);
}
END_TEST

START_TEST(restarted_leader_skips_the_assignment_in_v9)
{
    struct group_world w;
    struct fake_join l, f, again;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "l", .can_skip = true});
    group_world_stored(&w, 0);
    ASSERT_ENDED(&again, 0);
    ck_assert_str_eq(again.leader, again.member_id);
    ck_assert(again.has_members && again.skip_assignment);
    fake_join(&w, &again, (struct joining){.instance = "f", .can_skip = true});
    group_world_stored(&w, 0);
    ASSERT_ENDED(&again, 0);
    ck_assert(!again.has_members && !again.skip_assignment);
    group_world_deinit(&w);
}
END_TEST

START_TEST(static_member_that_cannot_be_stored_is_as_before)
{
    struct group_world w;
    struct fake_join l, f, again;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "l", .protocols = "range=new"});
    group_world_stored(&w, NOT_COORDINATOR);
    ASSERT_ENDED(&again, NOT_COORDINATOR);
    ck_assert_str_eq(again.member_id, "");
    ck_assert_str_eq(again.leader, l.member_id);
    ck_assert_int_eq(again.generation, 1);
    ck_assert_int_eq(fake_heartbeat(&w, l.member_id, "l", 1), 0);
    ck_assert_int_eq(group_world_size(&w), 2);
    /* With the metadata that it had: nothing is parked, and the same join begins a rebalance. */
    WITH_LOCK(&w.group->lock)
    {
        struct member *m = group_find_static(w.group, STR("l"));
        const struct member_protocol *p = member_protocol(m, STR("range"));

        ck_assert(str_eqz(str_of_slice(p->metadata), "m"));
        ck_assert(group_is_leader(w.group, m));
        ck_assert_int_eq(w.group->joined, 0);
    }
    group_world_deinit(&w);
}
END_TEST

START_TEST(static_member_that_changes_the_choice_begins_a_rebalance)
{
    struct group_world w;
    struct fake_join l, f, again;

    group_world_init(&w);
    fake_join(&w, &l, (struct joining){.instance = "l", .protocols = "a=1,b=2"});
    fake_join(&w, &f, (struct joining){.instance = "f", .protocols = "a=1,b=2"});
    group_world_run(&w, 6000);
    ck_assert_str_eq(l.protocol, "a");
    group_world_assign(&w, &l, "%s=1");
    fake_join(&w, &again, (struct joining){.instance = "f", .protocols = "b=2"});
    ASSERT_WAITS(&again);
    ck_assert_int_eq(group_world_storing(&w), 0);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_deinit(&w);
}
END_TEST

START_TEST(static_member_that_comes_back_fences_its_earlier_calls)
{
    struct group_world w;
    struct fake_join l, f, again, third;
    struct fake_sync s;

    group_world_init(&w);
    fake_join(&w, &l, (struct joining){.instance = "l"});
    fake_join(&w, &f, (struct joining){.instance = "f"});
    fake_join(&w, &again, (struct joining){.instance = "f"}); /* it just joins */
    ASSERT_ENDED(&f, FENCED_INSTANCE_ID);
    group_world_run(&w, 6000);
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(group_world_size(&w), 2);
    fake_sync(&w, &s, (struct syncing){.id = again.member_id, .instance = "f", .generation = 1});
    ASSERT_WAITS(&s);
    fake_join(&w, &third, (struct joining){.instance = "f"}); /* in the middle of assigning */
    ASSERT_ENDED(&s, FENCED_INSTANCE_ID);
    ASSERT_WAITS(&third);
    ASSERT_STATE(&w, GROUP_PREPARING_REBALANCE);
    group_world_deinit(&w);
}
END_TEST

/* Twice restarted while the first is being stored: that one is fenced, the second stays. */
START_TEST(static_member_comes_back_twice)
{
    struct group_world w;
    struct fake_join l, f, one, two;

    two_statics(&w, &l, &f);
    fake_join(&w, &one, (struct joining){.instance = "f"});
    fake_join(&w, &two, (struct joining){.instance = "f"});
    ASSERT_ENDED(&one, FENCED_INSTANCE_ID);
    group_world_stored(&w, NOT_COORDINATOR); /* of one: nothing to be taken back any more */
    ASSERT_WAITS(&two);
    group_world_stored(&w, 0);
    ASSERT_ENDED(&two, 0);
    ck_assert_int_eq(fake_heartbeat(&w, two.member_id, "f", 1), 0);
    group_world_deinit(&w);
}
END_TEST

/* A rebalance that began and ended meanwhile has told it its new id, which must stay. */
START_TEST(failed_store_does_not_fence_who_was_told_its_id_since)
{
    struct group_world w;
    struct fake_join l, f, again, lead;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "f"});
    ASSERT_WAITS(&again);
    fake_join(&w, &lead, (struct joining){.id = l.member_id, .instance = "l"});
    ASSERT_ENDED(&lead, 0);
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(again.generation, 2);
    group_world_stored(&w, COORDINATOR_NOT_AVAILABLE);
    ASSERT_ENDED(&again, 0);
    ck_assert_int_eq(fake_heartbeat(&w, again.member_id, "f", 2), 0);
    group_world_deinit(&w);
}
END_TEST

/* It waits for the disk, not the group for it: its session begins when it is told. */
START_TEST(session_of_a_static_member_begins_when_it_is_told)
{
    struct group_world w;
    struct fake_join l, f, again;

    two_statics(&w, &l, &f);
    fake_join(&w, &again, (struct joining){.instance = "f", .session_ms = 1000});
    for (int i = 0; i < 12; i++) {
        group_world_run(&w, 900);
        ck_assert_int_eq(fake_heartbeat(&w, l.member_id, "l", 1), 0);
    }
    group_world_stored(&w, 0);
    ASSERT_ENDED(&again, 0);
    rebalance_tick(w.group, clock_mono_us(&w.clock.clock));
    group_world_run(&w, 900);
    ck_assert_int_eq(fake_heartbeat(&w, again.member_id, "f", 1), 0);
    group_world_run(&w, 1000);
    ck_assert_int_eq(fake_heartbeat(&w, again.member_id, "f", 1), UNKNOWN_MEMBER_ID);
    group_world_deinit(&w);
}
END_TEST

TEST_MAIN("broker/group/rebalance_join", first_member_waits_for_the_initial_delay_and_leads,
          initial_delay_is_extended_while_members_come,
          initial_delay_without_newcomers_is_not_extended, new_dynamic_member_is_told_its_id_first,
          pending_id_with_an_instance_is_an_internal_error, pending_id_lasts_one_session_timeout,
          rebalance_waits_for_pending_members, pending_ids_are_bounded, dead_group_refuses,
          empty_group_needs_a_type_and_a_protocol, protocols_must_have_one_that_all_know,
          most_votes_choose_among_what_all_know, full_group_takes_nobody,
          as_many_wait_in_a_rebalance_as_there_is_room, while_assigning_the_same_join_is_told_again,
          stable_group_rebalances_for_its_leader_and_for_what_changed,
          follower_with_other_metadata_begins_a_rebalance,
          second_join_of_a_member_takes_the_place_of_the_first,
          unknown_and_fenced_members_are_told_so,
          static_member_joins_at_once_with_an_id_of_its_instance,
          restarted_static_member_comes_back_without_a_rebalance,
          restarted_leader_is_told_the_old_leader_below_v9,
          restarted_leader_skips_the_assignment_in_v9,
          static_member_that_cannot_be_stored_is_as_before,
          static_member_that_changes_the_choice_begins_a_rebalance,
          static_member_that_comes_back_fences_its_earlier_calls, static_member_comes_back_twice,
          failed_store_does_not_fence_who_was_told_its_id_since,
          session_of_a_static_member_begins_when_it_is_told)
