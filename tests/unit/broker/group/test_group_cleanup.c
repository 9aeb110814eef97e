/*
 * test_group_cleanup.c - what expires, is deleted, or goes with its topic, is gone from memory and,
 * by tombstones, for whoever reads the log next (disk.md 12.8, protocol.md 11.14)
 */
#include "broker/group/group_cleanup.h"

#include "broker/storage/log.h"
#include "common/base/err.h"
#include "tests/support/group_node.h"

enum { RETENTION_MS = 1000000 }; /* of group_node.h */

static struct group_node n;

static void begin(void)
{
    n = (struct group_node){0};
    group_node_open(&n);
    group_node_elect(&n);
}

static void end(void)
{
    group_node_close(&n);
}

static bool is_there(const char *group)
{
    struct group *CLEANUP(group_unref_p) g = group_node_find(&n, group);

    return g != NULL;
}

/* One look at a group, ms from now. */
static void look(const char *group, int64_t ms)
{
    struct group *CLEANUP(group_unref_p) g = group_node_find(&n, group);

    ck_assert_ptr_nonnull(g);
    group_cleanup(n.m, g, clock_wall_ms(&n.world.clock.clock) + ms);
}

START_TEST(group_that_only_commits_loses_each_offset_by_its_age)
{
    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    group_node_run(&n, 500);
    ck_assert_int_eq(group_node_commit(&n, "g", 1, 2), 0);
    look("g", RETENTION_MS - 501);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), 1);
    look("g", RETENTION_MS - 500);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    ck_assert_int_eq(group_node_offset(&n, "g", 1), 2);
    group_node_move(&n);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    ck_assert_int_eq(group_node_offset(&n, "g", 1), 2);
    look("g", RETENTION_MS);
    ck_assert(!is_there("g"));
    group_node_move(&n);
    ck_assert(!is_there("g"));
    end();
}
END_TEST

START_TEST(group_with_members_keeps_what_they_read)
{
    struct fake_join j;

    begin();
    ck_assert_int_eq(group_node_commit(&n, "reads", 0, 1), 0);
    ck_assert_int_eq(group_node_commit(&n, "other", 0, 1), 0);
    ck_assert_int_eq(group_node_commit(&n, "connect", 0, 1), 0);
    group_node_member(&n, &j, "reads", "consumer", "t");
    group_node_member(&n, &j, "other", "consumer", "u");
    group_node_member(&n, &j, "connect", "connect", "u");
    look("reads", RETENTION_MS);
    look("other", RETENTION_MS);
    look("connect", RETENTION_MS);
    ck_assert_int_eq(group_node_offset(&n, "reads", 0), 1);
    ck_assert_int_eq(group_node_offset(&n, "other", 0), -1);
    ck_assert_int_eq(group_node_offset(&n, "connect", 0), 1);
    ck_assert(is_there("other")); /* has members */
    end();
}
END_TEST

START_TEST(empty_group_keeps_its_offsets_from_when_it_became_empty)
{
    struct fake_join j;

    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    group_node_member(&n, &j, "g", "consumer", "t");
    group_node_run(&n, 20000); /* the session of its member ended after 10 s */
    look("g", RETENTION_MS - 11000);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), 1);
    look("g", RETENTION_MS - 8000);
    ck_assert(!is_there("g"));
    group_node_move(&n);
    ck_assert(!is_there("g")); /* a tombstone for its record too */
    end();
}
END_TEST

START_TEST(group_with_nothing_is_dropped_however_young)
{
    struct fake_join j;

    begin();
    group_node_join(&n, &j, "g", (struct joining){.must_know_id = true});
    ASSERT_ENDED(&j, MEMBER_ID_REQUIRED);
    ck_assert(is_there("g"));
    look("g", 0);
    ck_assert(!is_there("g"));
    end();
}
END_TEST

/* The first commit of a group is on its way: it is not over. */
START_TEST(group_with_a_pending_commit_stays)
{
    struct fake_commit c;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_start_commit(&n, &c, "g", 0, 5);
    ck_assert_int_eq(c.ended, 0);
    look("g", RETENTION_MS * 2);
    ck_assert(is_there("g"));
    group_node_run(&n, 5100);
    ck_assert_int_eq(c.ended, 1);
    look("g", 0);
    ck_assert(!is_there("g"));
    end();
}
END_TEST

START_TEST(cleaner_looks_by_itself)
{
    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    group_node_run(&n, 1199000); /* looked at 600 s; the next is at 1200 s */
    ck_assert(is_there("g"));
    group_node_run(&n, 2000);
    ck_assert(!is_there("g"));
    end();
}
END_TEST

START_TEST(deleted_group_is_gone_for_good)
{
    struct fake_join j;

    begin();
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("g")), GROUP_ID_NOT_FOUND);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    group_node_member(&n, &j, "g", "consumer", "t");
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("g")), NON_EMPTY_GROUP);
    group_node_run(&n, 11000);
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("g")), 0);
    ck_assert(!is_there("g"));
    group_node_move(&n);
    ck_assert(!is_there("g"));
    group_node_resign(&n);
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("g")), NOT_COORDINATOR);
    end();
}
END_TEST

/* Somebody holds it while it is deleted: it is told, and starts anew. */
/* A commit that is not acknowledged yet is in the log already. */
START_TEST(commit_under_way_is_deleted_for_whoever_loads_it)
{
    struct offset_deletion d = {.topic = STR("t"), .partition = 0};
    struct fake_commit alone, other;

    n = (struct group_node){.has_follower = true};
    group_node_open(&n);
    group_node_elect(&n);
    group_node_start_commit(&n, &alone, "whole", 0, 5);
    group_node_start_commit(&n, &other, "one", 0, 5);
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("whole")), 0);
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("one"), &d, 1), 0);
    group_node_run(&n, 5100);
    ck_assert_int_eq(alone.ended + other.ended, 2);
    ck_assert_int_eq(group_node_offset(&n, "one", 0), -1);
    group_node_move(&n);
    ck_assert(!is_there("whole"));
    ck_assert_int_eq(group_node_offset(&n, "one", 0), -1);
    end();
}
END_TEST

START_TEST(call_that_found_a_group_before_it_was_deleted_is_refused)
{
    struct group *g;

    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    g = group_node_find(&n, "g");
    ck_assert_int_eq(group_cleanup_delete(n.m, STR("g")), 0);
    ck_assert_int_eq(rebalance_heartbeat(g, STR("m"), STR_NULL, 0), COORDINATOR_NOT_AVAILABLE);
    group_cleanup(n.m, g, 0); /* a dead one has nothing to clean */
    group_unref(g);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 2), 0);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), 2);
    end();
}
END_TEST

START_TEST(offsets_are_deleted_where_nobody_reads_them)
{
    struct fake_join j;
    struct offset_deletion v[3] = {
        {STR("t"), 0, 0}, {STR("t"), 1, UNKNOWN_TOPIC_OR_PARTITION}, {STR("t"), 9, 0}};

    begin();
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR(""), v, 3), INVALID_GROUP_ID);
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 3), GROUP_ID_NOT_FOUND);
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    ck_assert_int_eq(group_node_commit(&n, "g", 1, 1), 0);
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 3), 0);
    ck_assert_int_eq(v[0].error, 0);
    ck_assert_int_eq(v[1].error, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(v[2].error, 0); /* nothing was there */
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    ck_assert_int_eq(group_node_offset(&n, "g", 1), 1);
    group_node_move(&n);
    ck_assert_int_eq(group_node_offset(&n, "g", 0), -1);
    ck_assert_int_eq(group_node_offset(&n, "g", 1), 1);
    group_node_member(&n, &j, "g", "consumer", "t");
    v[1].error = 0;
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 3), 0);
    ck_assert_int_eq(v[1].error, GROUP_SUBSCRIBED_TO_TOPIC);
    ck_assert_int_eq(group_node_offset(&n, "g", 1), 1);
    end();
}
END_TEST

START_TEST(empty_group_stays_where_nothing_is_deleted)
{
    struct fake_join j;
    struct offset_deletion unknown = {STR("t"), 1, UNKNOWN_TOPIC_OR_PARTITION};

    begin();
    group_node_join(&n, &j, "new", (struct joining){.must_know_id = true});
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("new"), &unknown, 1), 0);
    ck_assert(is_there("new"));
    end();
}
END_TEST

START_TEST(offsets_of_active_groups_are_deleted_by_what_they_are)
{
    struct fake_join j;
    struct offset_deletion v[1] = {{STR("t"), 0, 0}};

    begin();
    ck_assert_int_eq(group_node_commit(&n, "u", 0, 1), 0);
    group_node_member(&n, &j, "u", "consumer", "u");
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("u"), v, 1), 0);
    ck_assert_int_eq(v[0].error, 0);
    ck_assert_int_eq(group_node_offset(&n, "u", 0), -1);
    ck_assert_int_eq(group_node_commit(&n, "c", 0, 1), 0);
    group_node_member(&n, &j, "c", "connect", "u");
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("c"), v, 1), NON_EMPTY_GROUP);
    ck_assert_int_eq(group_node_offset(&n, "c", 0), 1);
    end();
}
END_TEST

START_TEST(offsets_go_with_their_topic)
{
    const struct gone_partition v[] = {{STR("t"), 1}, {STR("x"), 0}};

    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    ck_assert_int_eq(group_node_commit(&n, "g", 1, 2), 0);
    ck_assert_int_eq(group_node_commit(&n, "h", 1, 3), 0);
    group_cleanup_partitions(n.m, v, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(group_node_offset(&n, "g", 0), 1);
        ck_assert_int_eq(group_node_offset(&n, "g", 1), -1);
        ck_assert_int_eq(group_node_offset(&n, "h", 1), -1);
        ck_assert(is_there("g"));
        ck_assert(!is_there("h")); /* nothing is left of it */
        group_node_move(&n);
    }
    end();
}
END_TEST

START_TEST(group_ends_with_its_last_offset)
{
    struct offset_deletion v[2] = {{STR("t"), 0, 0}, {STR("t"), 1, 0}};

    begin();
    ck_assert_int_eq(group_node_commit(&n, "g", 0, 1), 0);
    ck_assert_int_eq(group_node_commit(&n, "g", 1, 1), 0);
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 1), 0);
    ck_assert(is_there("g"));
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 2), 0);
    ck_assert(!is_there("g"));
    ck_assert_int_eq(group_cleanup_delete_offsets(n.m, STR("g"), v, 2), GROUP_ID_NOT_FOUND);
    group_node_move(&n);
    ck_assert(!is_there("g"));
    end();
}
END_TEST

/* More than fits into one batch. */
START_TEST(many_offsets_go_in_several_batches)
{
    enum { COUNT = 6000 };
    char name[200];

    begin();
    memset(name, 'g', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < COUNT; i++) {
        struct group *g = NULL;
        struct committed c = {.offset = i, .metadata = STR(""), .commit_ms = 0, .expire_ms = -1};

        ck_assert_int_eq(group_manager_obtain(n.m, str_of(name), &g), 0);
        WITH_LOCK(&g->lock)
        commits_put(&g->offsets, STR("t"), i, &c);
        group_unref(g);
    }
    struct partition *part = node_partition(&n.node, "__consumer_offsets", 0);
    int64_t before = log_end_offset(part->log);
    ck_assert_int_eq(group_cleanup_delete(n.m, str_of(name)), 0);
    ck_assert_int_eq(log_end_offset(part->log) - before, COUNT);
    end();
}
END_TEST

TEST_MAIN("broker/group/group_cleanup", group_that_only_commits_loses_each_offset_by_its_age,
          group_with_members_keeps_what_they_read,
          empty_group_keeps_its_offsets_from_when_it_became_empty,
          group_with_nothing_is_dropped_however_young, group_with_a_pending_commit_stays,
          cleaner_looks_by_itself, deleted_group_is_gone_for_good,
          commit_under_way_is_deleted_for_whoever_loads_it,
          call_that_found_a_group_before_it_was_deleted_is_refused,
          offsets_are_deleted_where_nobody_reads_them, empty_group_stays_where_nothing_is_deleted,
          offsets_of_active_groups_are_deleted_by_what_they_are, offsets_go_with_their_topic,
          group_ends_with_its_last_offset, many_offsets_go_in_several_batches)
