#include "broker/meta/topic_names.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static int check(const char *name, const char *part)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str why = STR("");
    int r = topic_name_check(&a, str_of(name), &why);
    CLEANUP(arena_deinit) struct arena text = {0};

    ck_assert_ptr_nonnull(strstr(arena_strz(&text, why), part));
    return r;
}

START_TEST(names_that_kafka_takes)
{
    char longest[250] = {0};

    memset(longest, 'a', 249);
    ck_assert_int_eq(check("a", ""), 0);
    ck_assert_int_eq(check("A.b_c-9", ""), 0);
    ck_assert_int_eq(check("...", ""), 0);
    ck_assert_int_eq(check(longest, ""), 0);
}
END_TEST

START_TEST(names_that_kafka_refuses)
{
    char too_long[251] = {0};

    memset(too_long, 'a', 250);
    ck_assert_int_eq(check("", "empty string"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check(".", "'.' is not"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check("..", "'..' is not"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check(too_long, "249"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check("a b", "ASCII alphanumerics"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check("a/b", "ASCII alphanumerics"), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(check("\xc3\xa9", "ASCII alphanumerics"), INVALID_TOPIC_EXCEPTION);
}
END_TEST

TEST_MAIN("broker/meta/topic_names", names_that_kafka_takes, names_that_kafka_refuses)
