#include "tools/base/nearest.h"

#include "tests/support/test_main.h"

static const char *nearest_of(const char *name)
{
    static const char *const known[] = {"retention.ms", "retention.bytes", "segment.ms"};
    struct nearest near = nearest_to(str_of(name));

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        nearest_try(&near, known[i]);
    return near.best;
}

START_TEST(a_slip_finds_its_name)
{
    ck_assert_str_eq(nearest_of("retention.mx"), "retention.ms");
    ck_assert_str_eq(nearest_of("retentionms"), "retention.ms");
    ck_assert_str_eq(nearest_of("segment.mss"), "segment.ms");
    ck_assert_str_eq(nearest_of("retention.byte"), "retention.bytes");
}
END_TEST

START_TEST(what_is_far_has_no_name)
{
    ck_assert_ptr_null(nearest_of("cleanup.policy"));
    ck_assert_ptr_null(nearest_of(""));
    ck_assert_ptr_null(nearest_of("a-name-of-more-than-sixty-four-letters-which-is-not-compared-"
                                  "with-anything"));
}
END_TEST

START_TEST(a_distance_is_the_cheapest_way)
{
    static const struct edit_costs costs = {
        .change = 5, .insert = 1, .leave_out = 4, .swap = 2, .leave_first = 3};

    ck_assert_int_eq(edit_distance(STR("topic"), STR("topic"), &costs), 0);
    ck_assert_int_eq(edit_distance(STR("topi"), STR("topics"), &costs), 2);
    ck_assert_int_eq(edit_distance(STR("topics"), STR("topi"), &costs), 8);
    ck_assert_int_eq(edit_distance(STR("tpoic"), STR("topic"), &costs), 2);
    ck_assert_int_eq(edit_distance(STR("tapic"), STR("topic"), &costs), 5);
    ck_assert_int_eq(edit_distance(STR(""), STR("abc"), &costs), 3);
    ck_assert_int_eq(edit_distance(STR("a-topic"), STR("topic"), &costs), 6);
    ck_assert_int_eq(edit_distance(STR("abc"), STR(""), &costs), 9);
}
END_TEST

TEST_MAIN("tools/base/nearest", a_slip_finds_its_name, what_is_far_has_no_name,
          a_distance_is_the_cheapest_way)
