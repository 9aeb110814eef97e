#include "common/base/str.h"

#include "common/base/strbuf.h"
#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(numbers_are_parsed_whole_and_in_range)
{
    int64_t v;

    ck_assert_int_eq(str_to_i64(STR("-9223372036854775808"), INT64_MIN, INT64_MAX, &v), 0);
    ck_assert(v == INT64_MIN);
    ck_assert_int_eq(str_to_i64(STR("9223372036854775807"), INT64_MIN, INT64_MAX, &v), 0);
    ck_assert(v == INT64_MAX);
    ck_assert_int_eq(str_to_i64(STR("9223372036854775808"), INT64_MIN, INT64_MAX, &v), -ERANGE);
    ck_assert_int_eq(str_to_i64(STR("11"), 0, 10, &v), -ERANGE);
    ck_assert_int_eq(str_to_i64(STR(""), 0, 10, &v), -EINVAL);
    ck_assert_int_eq(str_to_i64(STR("-"), 0, 10, &v), -EINVAL);
    ck_assert_int_eq(str_to_i64(STR("1x"), 0, 10, &v), -EINVAL);
}
END_TEST

START_TEST(split_gives_every_part_and_then_ends)
{
    struct str rest = STR("a,,b"), part;

    ck_assert(str_split(&rest, ',', &part) && str_eqz(part, "a"));
    ck_assert(str_split(&rest, ',', &part) && part.len == 0);
    ck_assert(str_split(&rest, ',', &part) && str_eqz(part, "b"));
    ck_assert(!str_split(&rest, ',', &part));
}
END_TEST

START_TEST(null_and_empty_differ)
{
    ck_assert(!str_eq(STR_NULL, STR("")));
    ck_assert(str_eq(STR_NULL, STR_NULL));
    ck_assert_int_lt(str_cmp(STR("a"), STR("ab")), 0);
    ck_assert_int_gt(str_cmp(STR("b"), STR("ab")), 0);
}
END_TEST

START_TEST(a_capped_buffer_remembers_that_it_was_full)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {.max = 4};

    strbuf_addz(&sb, "abc");
    strbuf_addz(&sb, "de");
    ck_assert(sb.full);
    ck_assert_str_eq(sb.s, "abc");
}
END_TEST

TEST_MAIN("common/base/str", numbers_are_parsed_whole_and_in_range,
          split_gives_every_part_and_then_ends, null_and_empty_differ,
          a_capped_buffer_remembers_that_it_was_full)
