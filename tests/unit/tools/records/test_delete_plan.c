#include "tools/records/delete_plan.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct arena arena;
static struct strbuf why;

static int parse(const char *json, struct delete_plan *ret)
{
    arena_reset(&arena);
    strbuf_reset(&why);
    return delete_plan_parse(str_of(json), &arena, ret, &why);
}

static void expect_refused(const char *json, const char *words)
{
    struct delete_plan p;

    ck_assert_int_eq(parse(json, &p), -EINVAL);
    ck_assert_str_eq(why.s, words);
}

START_TEST(plan_is_sorted)
{
    struct delete_plan p;

    ck_assert_int_eq(parse("{\"partitions\":[{\"topic\":\"u\",\"partition\":1,\"offset\":7},"
                           "{\"topic\":\"t\",\"partition\":10,\"offset\":-1},"
                           "{\"topic\":\"t\",\"partition\":9,\"offset\":3}],\"version\":1} more",
                           &p),
                     0);
    ck_assert_uint_eq(p.count, 3);
    ck_assert_int_eq(p.v[0].partition, 9);
    ck_assert_int_eq(p.v[1].offset, -1);
    ck_assert(str_eqz(p.v[2].topic, "u"));
    ck_assert_int_eq(parse("{\"partitions\":[]}", &p), 0);
    ck_assert_uint_eq(p.count, 0);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
    expect_refused("", "The input string is not a valid JSON");
    expect_refused("{\"partitions\":[", "The input string is not a valid JSON");
    expect_refused("[1,2]", "Expected JSON object, received [1,2]");
    expect_refused("{}", "Missing partitions field");
    expect_refused("{\"version\":3}", "Not supported version field value 3");
    expect_refused("{\"version\":\"1\"}", "Expected `Integer` value, received \"1\"");
    expect_refused("{\"partitions\":{}}", "Expected JSON array, received {}");
    expect_refused("{\"partitions\":[{}]}", "No such field exists: `topic`");
    expect_refused("{\"partitions\":[{\"topic\":\"t\",\"partition\":0}]}",
                   "No such field exists: `offset`");
    expect_refused("{\"partitions\":[{\"topic\":\"t\",\"partition\":3000000000,\"offset\":0}]}",
                   "Expected `Integer` value, received 3000000000");
    expect_refused(
        "{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"offset\":99999999999999999999}]}",
        "Expected `Long` value, received 99999999999999999999");
}
END_TEST

START_TEST(doubles_are_named_once)
{
    expect_refused("{\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"offset\":1},"
                   "{\"topic\":\"t\",\"partition\":0,\"offset\":2},"
                   "{\"topic\":\"t\",\"partition\":0,\"offset\":3},"
                   "{\"topic\":\"a\",\"partition\":1,\"offset\":3},"
                   "{\"topic\":\"a\",\"partition\":1,\"offset\":3}]}",
                   "Offset json file contains duplicate topic partitions: a-1,t-0");
    arena_deinit(&arena);
    strbuf_deinit(&why);
}
END_TEST

TEST_MAIN("tools/records/delete_plan", plan_is_sorted, what_is_wrong_is_named,
          doubles_are_named_once)
