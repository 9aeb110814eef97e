#include "broker/request/part_list.h"

#include "tests/support/test_main.h"

START_TEST(a_partition_that_is_named_again_keeps_its_place)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct part_list CLEANUP(part_list_deinit) l = part_list_new(&a, 4, 6);

    ck_assert_int_eq(part_list_add(&l, STR("t"), 1), 0);
    ck_assert_int_eq(part_list_add(&l, STR("u"), 1), 1);
    ck_assert_int_eq(part_list_add(&l, STR("t"), -1), 2);
    ck_assert_int_eq(part_list_add(&l, STR("t"), 1), 0);
    ck_assert_int_eq(part_list_add(&l, STR("u"), 1), 1);
    ck_assert_int_eq(part_list_add(&l, STR("t"), 0), 3);
    ck_assert_int_eq(l.part_count, 4);
}
END_TEST

START_TEST(topics_know_their_partitions_as_they_were_named)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct part_list CLEANUP(part_list_deinit) l = part_list_new(&a, 3, 4);

    part_list_add(&l, STR("t"), 9);
    ck_assert_int_eq(part_list_add_topic(&l, STR("none")), 1);
    ck_assert_int_eq(part_list_add_topic(&l, STR("t")), 0);
    part_list_add(&l, STR("u"), 3);
    part_list_add(&l, STR("t"), 2);
    part_list_add(&l, STR("t"), 9);
    part_list_sort(&l);
    ck_assert_int_eq(l.topic_count, 3);
    ck_assert(str_eqz(l.topics[0].name, "t"));
    ck_assert_int_eq(l.topics[0].count, 2);
    ck_assert_int_eq(l.topics[0].at[0], 0);
    ck_assert_int_eq(l.topics[0].at[1], 2);
    ck_assert_int_eq(l.topics[1].count, 0);
    ck_assert_int_eq(l.topics[2].count, 1);
    ck_assert_int_eq(l.topics[2].at[0], 1);
}
END_TEST

TEST_MAIN("broker/request/part_list", a_partition_that_is_named_again_keeps_its_place,
          topics_know_their_partitions_as_they_were_named)
