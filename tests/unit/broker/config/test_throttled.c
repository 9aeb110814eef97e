#include "broker/config/throttled.h"

#include "tests/support/test_main.h"

START_TEST(listed_replicas_are_throttled)
{
    struct throttled *t = throttled_parse("1:2, 0:1,0:10,2147483647:0");

    ck_assert(throttled_has(t, 0, 1));
    ck_assert(throttled_has(t, 0, 10));
    ck_assert(throttled_has(t, 1, 2));
    ck_assert(throttled_has(t, INT32_MAX, 0));
    ck_assert(!throttled_has(t, 1, 1));
    ck_assert(!throttled_has(t, 2, 1));
    throttled_free(t);
}
END_TEST

START_TEST(star_is_all)
{
    struct throttled *t = throttled_parse(" * ");

    ck_assert(throttled_has(t, 7, 9));
    throttled_free(t);
}
END_TEST

START_TEST(what_is_no_replica_is_passed_over)
{
    static const char *const lists[] = {
        "", ",", "1", ":", "1:", ":1", "a:b", "1:2:3", "-1:2", "**"};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        ck_assert_ptr_null(throttled_parse(lists[i]));
    ck_assert(!throttled_has(NULL, 0, 1));
}
END_TEST

TEST_MAIN("broker/config/throttled", listed_replicas_are_throttled, star_is_all,
          what_is_no_replica_is_passed_over)
