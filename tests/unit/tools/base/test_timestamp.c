#include "tools/base/timestamp.h"

#include "tests/support/test_main.h"

#include <errno.h>
#include <inttypes.h>

static int64_t at(const char *text)
{
    int64_t ms = -1;

    ck_assert_msg(timestamp_parse(text, &ms) == 0, "%s", text);
    return ms;
}

START_TEST(moments_that_are_read)
{
    ck_assert_int_eq(at("@0"), 0);
    ck_assert_int_eq(at("@1796005581073"), 1796005581073);
    ck_assert_int_eq(at("1970-01-02"), 86400000);
    ck_assert_int_eq(at("1970-01-01T00:00:01"), 1000);
    ck_assert_int_eq(at("1970-01-01T00:00:01Z"), 1000);
    ck_assert_int_eq(at("1970-01-01 00:00:01.25Z"), 1250);
    ck_assert_int_eq(at("1970-01-01T01:00:00.5+01:00"), 500);
    ck_assert_int_eq(at("1969-12-31T19:00:00-0500"), 0);
}
END_TEST

START_TEST(what_is_no_moment)
{
    static const char *const bad[] = {
        "",
        "now",
        "@",
        "@-1",
        "12:00",
        "1970-01-01T",
        "1970-01-01T00:00:01.",
        "1970-01-01T00:00:01X",
        "@1x",
        "1970-13-01",
        "1970-01-01x",
    };
    int64_t ms;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(timestamp_parse(bad[i], &ms) == -EINVAL, "%s", bad[i]);
}
END_TEST

TEST_MAIN("tools/base/timestamp", moments_that_are_read, what_is_no_moment)
