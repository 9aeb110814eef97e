#include "tools/leaders.h"
#include "tools/progress.h"

#include "tests/support/test_main.h"

START_TEST(answers_are_found_from_the_last_one_on)
{
    struct led v[] = {{.topic = STR("a"), .partition = 0},
                      {.topic = STR("a"), .partition = 7},
                      {.topic = STR("b"), .partition = 0}};
    struct led *const parts[] = {&v[0], &v[1], &v[2]};
    size_t at = 0;

    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("a"), 0), &v[0]);
    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("b"), 0), &v[2]);
    ck_assert_ptr_eq(leaders_find(parts, 3, &at, STR("a"), 7), &v[1]);
    ck_assert_ptr_null(leaders_find(parts, 3, &at, STR("b"), 1));
    ck_assert_ptr_null(leaders_find(parts, 3, &at, STR("c"), 0));
}
END_TEST

START_TEST(time_left_is_that_of_the_pace_so_far)
{
    ck_assert_int_eq((int)progress_left(10, 40, 5.0), 15);
    ck_assert_int_eq((int)progress_left(0, 40, 5.0), -1);
    ck_assert_int_eq((int)progress_left(40, 40, 5.0), -1);
}
END_TEST

TEST_MAIN("tools/leaders", answers_are_found_from_the_last_one_on,
          time_left_is_that_of_the_pace_so_far)
