#include "tools/base/topic_filter.h"

#include "tests/support/test_main.h"

#include <errno.h>

static bool matches(const char *regex, const char *name)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(topic_filter_free_p) struct topic_filter *f = NULL;

    ck_assert_int_eq(topic_filter_new(regex, &f, &why), 0);
    return topic_filter_match(f, str_of(name));
}

START_TEST(whole_name_has_to_match)
{
    ck_assert(matches("abc", "abc"));
    ck_assert(!matches("ab", "abc"));
    ck_assert(!matches("bc", "abc"));
    ck_assert(matches("a.*", "abc"));
    ck_assert(matches("a|ab", "ab"));
    ck_assert(!matches("", "a"));
    ck_assert(matches("", ""));
}
END_TEST

START_TEST(comma_means_or_and_blanks_and_quotes_are_dropped)
{
    ck_assert(matches("a, b", "a"));
    ck_assert(matches("a, b", "b"));
    ck_assert(!matches("a, b", " b"));
    ck_assert(matches(" 'a' ", "a"));
    ck_assert(matches("\"'a.b\"", "a.b"));
}
END_TEST

START_TEST(expressions_are_javas)
{
    ck_assert(matches("t(?!2).*", "t1"));
    ck_assert(!matches("t(?!2).*", "t2"));
    ck_assert(matches("\\w+\\.\\d{2}", "abc.12"));
    ck_assert(matches("(?i)ABC", "abc"));
}
END_TEST

START_TEST(broken_expression_is_refused_with_kafkas_words)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct topic_filter *f = NULL;

    ck_assert_int_eq(topic_filter_new("[", &f, &why), -EINVAL);
    ck_assert_str_eq(why.s, "[ is an invalid regex.");
    ck_assert_ptr_null(f);
}
END_TEST

static bool literal(const char *regex)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(topic_filter_free_p) struct topic_filter *f = NULL;

    ck_assert_int_eq(topic_filter_new(regex, &f, &why), 0);
    return !str_is_null(topic_filter_literal(f));
}

START_TEST(only_a_plain_name_is_literal)
{
    ck_assert(literal("abc_D-9"));
    ck_assert(literal("'abc'"));
    ck_assert(!literal("a.b"));
    ck_assert(!literal("a|b"));
    ck_assert(!literal("a,b"));
    ck_assert(!literal(""));
}
END_TEST

TEST_MAIN("tools/base/topic_filter", whole_name_has_to_match,
          comma_means_or_and_blanks_and_quotes_are_dropped, expressions_are_javas,
          broken_expression_is_refused_with_kafkas_words, only_a_plain_name_is_literal)
