#include "broker/meta/replica_lists.h"

#include "tests/support/test_main.h"

static struct arena arena;

/* For a topic of three partitions with two replicas each, in a cluster of brokers 1, 2, 3; "" for
 * nothing wrong. */
static const char *why(const struct replica_list *lists, int32_t count, int32_t wanted)
{
    static const int32_t brokers[] = {1, 2, 3};
    struct str s = replica_lists_check(&(struct replica_lists){.lists = lists,
                                                               .count = count,
                                                               .first_partition = 3,
                                                               .wanted = wanted,
                                                               .factor = 2,
                                                               .brokers = brokers,
                                                               .broker_count = 3},
                                       &arena);

    return str_is_null(s) ? "" : s.p;
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const int32_t[]){__VA_ARGS__}, sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)           \
    }

START_TEST(known_brokers_once_each_are_taken)
{
    const struct replica_list lists[] = {LIST(1, 2), LIST(3, 1)};

    ck_assert_str_eq(why(lists, 2, 2), "");
    arena_deinit(&arena);
}
END_TEST

START_TEST(unknown_brokers_are_told_before_all_else_and_once)
{
    const struct replica_list lists[] = {{NULL, 0}, LIST(77, 1), LIST(9, 77, 9)};

    ck_assert_str_eq(why(lists, 3, 2), "Unknown broker(s) in replica assignment: 77, 9.");
    arena_deinit(&arena);
}
END_TEST

START_TEST(the_number_of_lists_counts_before_any_of_them)
{
    const struct replica_list lists[] = {{NULL, 0}};

    ck_assert_str_eq(why(lists, 1, 2),
                     "Increasing the number of partitions by 2 but 1 assignments provided.");
    ck_assert_str_eq(why(lists, 1, 1), "Cannot have replication factor of 0 for partition id 3.");
    arena_deinit(&arena);
}
END_TEST

START_TEST(each_list_is_looked_at_before_their_lengths)
{
    const struct replica_list twice[] = {LIST(1), LIST(2, 2)};
    const struct replica_list longer[] = {LIST(1, 2), LIST(1, 2, 3, 1)};
    const struct replica_list uneven[] = {LIST(1), LIST(1, 2), LIST(1, 2, 3)};

    ck_assert_str_eq(
        why(twice, 2, 2),
        "Duplicate brokers not allowed in replica assignment: 2, 2 for partition id 4.");
    ck_assert_str_eq(
        why(longer, 2, 2),
        "Duplicate brokers not allowed in replica assignment: 1, 2, 3, 1 for partition id 4.");
    ck_assert_str_eq(why(uneven, 3, 3),
                     "Inconsistent replication factor between partitions, partition 0 has 2 while "
                     "partitions [3, 5] have replication factors [1, 3], respectively.");
    arena_deinit(&arena);
}
END_TEST

START_TEST(a_message_does_not_grow_with_the_request)
{
    int32_t ids[1000];
    const struct replica_list lists[] = {{ids, ARRAY_LEN(ids)}};

    for (int32_t i = 0; i < (int32_t)ARRAY_LEN(ids); i++)
        ids[i] = 1000 + i;
    ck_assert_uint_lt(strlen(why(lists, 1, 1)), 1000);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ids[i] = 1;
    ck_assert_uint_lt(strlen(why(lists, 1, 1)), 1000);
    arena_deinit(&arena);
}
END_TEST

TEST_MAIN("broker/meta/replica_lists", known_brokers_once_each_are_taken,
          unknown_brokers_are_told_before_all_else_and_once,
          the_number_of_lists_counts_before_any_of_them,
          each_list_is_looked_at_before_their_lengths, a_message_does_not_grow_with_the_request)
