#include "common/base/err.h"
#include "tests/support/fake_groups.h"
#include "tests/support/test_main.h"

/* So long that the commit of all partitions takes two requests. */
#define LONG "-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"

static struct fake_groups f;
static struct group group;
static struct new_offset rows[FAKE_TOPIC_PARTITIONS];
static size_t steps, stop_after;

static bool step(void *ctx UNUSED, size_t count UNUSED)
{
    return ++steps != stop_after;
}

static int commit(size_t count)
{
    const struct commit_opts opts = {rows, count, step, NULL};

    return groups_commit(&f.g, &group, &opts);
}

static void start(void)
{
    fake_groups_start(&f);
    group = (struct group){.id = STR("a-group" LONG), .coordinator = -1};
    steps = stop_after = 0;
    for (int i = 0; i < FAKE_TOPIC_PARTITIONS; i++)
        rows[i] = (struct new_offset){{STR("t"), i}, -1, 7 + i, false};
}

static size_t applied(void)
{
    size_t n = 0;

    for (int i = 0; i < FAKE_TOPIC_PARTITIONS; i++) {
        ck_assert_int_eq(f.committed[i], rows[i].is_applied ? 7 + i : -1);
        n += rows[i].is_applied;
    }
    return n;
}

START_TEST(a_short_commit_is_one_request)
{
    start();
    ck_assert_int_eq(commit(100), 0);
    ck_assert_int_eq(f.finds, 1);
    ck_assert_int_eq(f.commits, 1);
    ck_assert_uint_eq(applied(), 100);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_long_commit_is_cut_so_that_it_fits_into_a_batch)
{
    start();
    ck_assert_int_eq(commit(FAKE_TOPIC_PARTITIONS), 0);
    ck_assert_int_eq(f.commits, 2);
    ck_assert_int_le(f.commit_of[0], 10000);
    ck_assert_uint_eq(applied(), FAKE_TOPIC_PARTITIONS);
    ck_assert_uint_eq(steps, 2);
    ck_assert_int_eq(f.finds, 1);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(what_is_refused_as_too_large_is_halved)
{
    start();
    f.too_many = 1000;
    ck_assert_int_eq(commit(FAKE_TOPIC_PARTITIONS), 0);
    ck_assert_uint_eq(applied(), FAKE_TOPIC_PARTITIONS);
    ck_assert_int_le(f.commits, 4 + FAKE_TOPIC_PARTITIONS / 500 + 1);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_group_that_becomes_active_keeps_the_rest)
{
    start();
    f.refuse_at = 2;
    f.refuse_code = UNKNOWN_MEMBER_ID;
    ck_assert_int_eq(commit(FAKE_TOPIC_PARTITIONS), UNKNOWN_MEMBER_ID);
    ck_assert_str_eq(f.g.why.s,
                     "group 'a-group" LONG "' has members again, so its offsets are theirs");
    ck_assert_uint_eq(applied(), (size_t)f.commit_of[0]);
    ck_assert_uint_gt(applied(), 0);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_partition_that_is_refused_is_named)
{
    start();
    f.partition_code = UNKNOWN_TOPIC_OR_PARTITION;
    ck_assert_int_eq(commit(3), UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_str_eq(f.g.why.s,
                     "group 'a-group" LONG "': This server does not host this topic-partition. "
                     "Refused: t-1");
    ck_assert_uint_eq(applied(), 2);
    ck_assert(!rows[1].is_applied);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_coordinator_that_moves_or_dies_is_found_again)
{
    start();
    f.refuse_at = 1;
    f.refuse_code = NOT_COORDINATOR;
    f.hang_up_at = 2;
    ck_assert_int_eq(commit(10), 0);
    ck_assert_int_eq(f.commits, 3);
    ck_assert_int_eq(f.finds, 3);
    ck_assert_uint_eq(applied(), 10);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_coordinator_that_is_slow_is_asked_again)
{
    start();
    f.refuse_at = 1;
    f.refuse_code = REQUEST_TIMED_OUT;
    ck_assert_int_eq(commit(10), 0);
    ck_assert_int_eq(f.finds, 1);
    ck_assert_int_eq(f.commits, 2);
    ck_assert_uint_eq(applied(), 10);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(what_was_sent_and_not_answered_is_in_doubt)
{
    start();
    f.hang_up_at = 2;
    f.find_code = GROUP_AUTHORIZATION_FAILED;
    ck_assert_int_eq(commit(FAKE_TOPIC_PARTITIONS), GROUP_AUTHORIZATION_FAILED);
    ck_assert_uint_eq(applied(), (size_t)f.commit_of[0]);
    for (int i = 0; i < FAKE_TOPIC_PARTITIONS; i++)
        ck_assert_int_eq(rows[i].is_in_doubt, !rows[i].is_applied);
    fake_groups_stop(&f);
}
END_TEST

START_TEST(a_stop_is_obeyed_between_requests)
{
    start();
    stop_after = 1;
    ck_assert_int_eq(commit(FAKE_TOPIC_PARTITIONS), -EINTR);
    ck_assert_int_eq(f.commits, 1);
    ck_assert_uint_eq(applied(), (size_t)f.commit_of[0]);
    fake_groups_stop(&f);
}
END_TEST

TEST_MAIN("tools/groups/groups_commit", a_short_commit_is_one_request,
          a_long_commit_is_cut_so_that_it_fits_into_a_batch, what_is_refused_as_too_large_is_halved,
          a_group_that_becomes_active_keeps_the_rest, a_partition_that_is_refused_is_named,
          a_coordinator_that_moves_or_dies_is_found_again,
          a_coordinator_that_is_slow_is_asked_again, what_was_sent_and_not_answered_is_in_doubt,
          a_stop_is_obeyed_between_requests)
