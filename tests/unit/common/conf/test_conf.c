#include "common/conf/conf.h"

#include "tests/support/test_main.h"

#include <errno.h>

struct values {
    bool flag;
    int32_t count;
    int64_t big;
    char *text;
};

static const struct conf_option options[] = {
    {"flag",
     CONF_BOOLEAN,
     "true",
     {CONF_ANY},
     CONF_HIGH,
     CONF_READ_ONLY,
     offsetof(struct values, flag)},
    {"count",
     CONF_INT,
     "3",
     {CONF_BETWEEN, 1, 10},
     CONF_HIGH,
     CONF_READ_ONLY,
     offsetof(struct values, count)},
    {"big",
     CONF_LONG,
     NULL,
     {CONF_AT_LEAST, 0},
     CONF_HIGH,
     CONF_READ_ONLY,
     offsetof(struct values, big)},
    {"text",
     CONF_STRING,
     "a",
     {CONF_ONE_OF, .names = "a,b"},
     CONF_HIGH,
     CONF_READ_ONLY,
     offsetof(struct values, text)},
    {"list",
     CONF_LIST,
     "",
     {CONF_LIST_OF, .names = "delete,compact"},
     CONF_HIGH,
     CONF_READ_ONLY,
     -1},
};

static void check_refused(const char *key, const char *text, const char *words)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct conf_option *o = conf_find(options, ARRAY_LEN(options), str_of(key));

    ck_assert_int_eq(conf_validate(o, str_of(text), &why), -EINVAL);
    ck_assert_str_eq(why.s, words);
}

START_TEST(defaults_are_set_and_null_is_told_apart)
{
    struct values v = {0};

    conf_set_defaults(options, ARRAY_LEN(options), &v);
    ck_assert(v.flag);
    ck_assert_int_eq(v.count, 3);
    ck_assert(v.big == CONF_UNSET_LONG);
    ck_assert_str_eq(v.text, "a");
    conf_release(options, ARRAY_LEN(options), &v);
}
END_TEST

START_TEST(values_are_trimmed_and_replace_the_old_ones)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct values v = {0};

    conf_set_defaults(options, ARRAY_LEN(options), &v);
    ck_assert_int_eq(conf_set(&options[3], &v, STR(" b "), &why), 0);
    ck_assert_str_eq(v.text, "b");
    ck_assert_int_eq(conf_set(&options[0], &v, STR("FALSE"), &why), 0);
    ck_assert(!v.flag);
    conf_release(options, ARRAY_LEN(options), &v);
}
END_TEST

START_TEST(refusals_use_the_words_of_kafka)
{
    check_refused("count", "0",
                  "Invalid value 0 for configuration count: Value must be at least 1");
    check_refused("count", "11",
                  "Invalid value 11 for configuration count: Value must be no more than 10");
    check_refused("count", "x",
                  "Invalid value x for configuration count: Not a number of type INT");
    check_refused("count", " x ",
                  "Invalid value  x  for configuration count: Not a number of type INT");
    check_refused("count", " 007700 ",
                  "Invalid value 7700 for configuration count: Value must be no more than 10");
    check_refused("big", "-9223372036854775807",
                  "Invalid value -9223372036854775807 for configuration big: Value must be at "
                  "least 0");
    check_refused(
        "flag", " ",
        "Invalid value   for configuration flag: Expected value to be either true or false");
    check_refused(
        "flag", "yes",
        "Invalid value yes for configuration flag: Expected value to be either true or false");
    check_refused("text", "c",
                  "Invalid value c for configuration text: String must be one of: a, b");
    check_refused("list", "delete,x",
                  "Invalid value x for configuration list: String must be one of: delete, compact");
}
END_TEST

TEST_MAIN("common/conf/conf", defaults_are_set_and_null_is_told_apart,
          values_are_trimmed_and_replace_the_old_ones, refusals_use_the_words_of_kafka)
