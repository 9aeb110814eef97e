#include "tools/elect/elect.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct arena arena;
static struct strbuf why;
static struct elect_parts parts;

static int parse(const char *json)
{
    strbuf_reset(&why);
    return elect_parse(str_of(json), &arena, &parts, &why);
}

START_TEST(partitions_are_read)
{
    ck_assert_int_eq(parse("{\"partitions\":[{\"topic\":\"t\",\"partition\":3},"
                           "{\"partition\":0,\"topic\":\"u\",\"x\":1}],\"y\":2}"),
                     0);
    ck_assert_uint_eq(parts.count, 2);
    ck_assert(str_eqz(parts.v[0].topic, "t") && parts.v[0].partition == 3);
    ck_assert(str_eqz(parts.v[1].topic, "u") && parts.v[1].partition == 0);
    ck_assert_int_eq(parse("{\"partitions\":[]}"), 0);
    ck_assert_uint_eq(parts.count, 0);
}
END_TEST

static void refused(const char *json, const char *words)
{
    ck_assert_int_eq(parse(json), -EINVAL);
    ck_assert_str_eq(why.s, words);
}

START_TEST(what_is_wrong_is_told_in_kafkas_words)
{
    refused("", "Replica election data is empty");
    refused("xx", "Replica election data is empty");
    refused("{}", "Replica election data is missing \"partitions\" field");
    refused("{\"partitions\":[{\"topic\":\"t\"}]}",
            "com.fasterxml.jackson.databind.JsonMappingException: No such field exists: "
            "`partition`");
    refused("{\"partitions\":[{\"topic\":\"t\",\"partition\":\"0\"}]}",
            "com.fasterxml.jackson.databind.JsonMappingException: Expected `Integer` value, "
            "received \"0\"");
    refused("{\"partitions\":[{\"topic\":\"t\",\"partition\":99999999999}]}",
            "com.fasterxml.jackson.databind.JsonMappingException: Expected `Integer` value, "
            "received 99999999999");
    ck_assert_int_eq(parse("{\"partitions\":5}"), -EINVAL);
    ck_assert_int_eq(parse("{\"partitions\":[5]}"), -EINVAL);
    ck_assert_int_eq(parse("[1]"), -EINVAL);
}
END_TEST

#define PART(topic, n) "{\"topic\":\"" topic "\",\"partition\":" n "}"

START_TEST(doubles_are_listed_once_in_javas_order)
{
    refused("{\"partitions\":[" PART("t", "0") "," PART("t", "0") "," PART("t", "0") "," PART(
                "a.b", "1") "," PART("a.b", "1") "," PART("t", "1") "]}",
            "Replica election data contains duplicate partitions: [a.b-1, t-0]");
    /* of one bucket: as they came */
    refused("{\"partitions\":[" PART("t", "0") "," PART("t", "0") "," PART("e", "1") "," PART(
                "e", "1") "]}",
            "Replica election data contains duplicate partitions: [t-0, e-1]");
}
END_TEST

START_TEST(partitions_stand_in_javas_order)
{
    struct elect_part v[] = {{.topic = {"t", 1}, .partition = 0},
                             {.topic = {"t", 1}, .partition = 1}};
    struct elect_parts p = {v, 2};

    elect_sort(&p);
    ck_assert_int_eq(v[0].partition, 1);
    ck_assert_int_eq(v[1].partition, 0);
}
END_TEST

TEST_MAIN("tools/elect/elect_plan", partitions_are_read, what_is_wrong_is_told_in_kafkas_words,
          doubles_are_listed_once_in_javas_order, partitions_stand_in_javas_order)
