#include "broker/meta/placement.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct arena arena;

static const int32_t *assign(const struct placement *p)
{
    int32_t *ids;

    ck_assert_int_eq(placement_assign(p, &arena, &ids), 0);
    return ids;
}

START_TEST(leaders_go_round_and_followers_shift)
{
    const struct placement_broker b[] = {{.id = 0}, {.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
    const struct placement p = {
        .brokers = b, .broker_count = 5, .partitions = 10, .replication_factor = 3};
    /* The table of Kafka's own documentation of the rule, with start and shift 0. */
    static const int32_t expected[] = {0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 0, 4, 0, 1,
                                       0, 2, 3, 1, 3, 4, 2, 4, 0, 3, 0, 1, 4, 1, 2};
    const int32_t *ids = assign(&p);

    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        ck_assert_msg(ids[i] == expected[i], "at %zu: %d is not %d", i, ids[i], expected[i]);
}
END_TEST

START_TEST(replicas_of_a_partition_lie_in_different_racks)
{
    const struct placement_broker b[] = {{0, STR("a")}, {1, STR("a")}, {2, STR("b")},
                                         {3, STR("b")}, {4, STR("c")}, {5, STR("c")}};

    for (uint32_t start = 0; start < 6; start++) {
        const struct placement p = {.brokers = b,
                                    .broker_count = 6,
                                    .partitions = 30,
                                    .replication_factor = 3,
                                    .start = start,
                                    .shift = start};
        const int32_t *ids = assign(&p);
        int leaders[6] = {0};

        for (int i = 0; i < 30; i++) {
            int racks = 0;

            for (int k = 0; k < 3; k++)
                racks |= 1 << ids[i * 3 + k] / 2;
            ck_assert_int_eq(racks, 7);
            leaders[ids[i * 3]]++;
        }
        for (int i = 0; i < 6; i++)
            ck_assert_int_eq(leaders[i], 5);
    }
}
END_TEST

START_TEST(no_broker_twice_even_with_fewer_racks_than_replicas)
{
    const struct placement_broker b[] = {
        {0, STR("a")}, {1, STR("a")}, {2, STR("b")}, {3, STR("b")}};
    const struct placement p = {
        .brokers = b, .broker_count = 4, .partitions = 8, .replication_factor = 4};
    const int32_t *ids = assign(&p);

    for (int i = 0; i < 8; i++) {
        int seen = 0;

        for (int k = 0; k < 4; k++)
            seen |= 1 << ids[i * 4 + k];
        ck_assert_int_eq(seen, 15);
    }
}
END_TEST

START_TEST(one_broker_is_enough_for_one_replica)
{
    const struct placement_broker b[] = {{.id = 7}};
    const struct placement p = {
        .brokers = b, .broker_count = 1, .partitions = 3, .replication_factor = 1};

    ck_assert_int_eq(assign(&p)[2], 7);
}
END_TEST

START_TEST(racks_on_some_brokers_only_are_refused)
{
    const struct placement_broker b[] = {{0, STR("a")}, {.id = 1}};
    const struct placement p = {
        .brokers = b, .broker_count = 2, .partitions = 1, .replication_factor = 1};
    int32_t *ids;

    ck_assert_int_eq(placement_assign(&p, &arena, &ids), -EINVAL);
}
END_TEST

TEST_MAIN("broker/meta/placement", leaders_go_round_and_followers_shift,
          replicas_of_a_partition_lie_in_different_racks,
          no_broker_twice_even_with_fewer_racks_than_replicas, one_broker_is_enough_for_one_replica,
          racks_on_some_brokers_only_are_refused)
