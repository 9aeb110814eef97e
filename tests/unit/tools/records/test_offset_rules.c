#include "tools/records/offset_rules.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct offset_rules rules;
static struct strbuf why;

static void end(void)
{
    offset_rules_deinit(&rules);
    strbuf_deinit(&why);
}

static bool list_matches(const char *list, const char *topic, int partition)
{
    end();
    ck_assert_int_eq(offset_rules_of_list(list, &rules, &why), 0);
    return offset_rules_match(&rules, str_of(topic), partition);
}

static void expect_refused(int r, const char *words)
{
    ck_assert_int_eq(r, -EINVAL);
    ck_assert_str_eq(why.s, words);
    end();
}

START_TEST(a_list_of_rules)
{
    ck_assert(list_matches("foo:3", "foo", 3));
    ck_assert(!list_matches("foo:3", "foo", 4));
    ck_assert(!list_matches("foo:3", "food", 3));
    ck_assert(list_matches("foo:2-5", "foo", 2));
    ck_assert(!list_matches("foo:2-5", "foo", 5));
    ck_assert(list_matches("foo:2-", "foo", 1000));
    ck_assert(list_matches("foo:-2", "foo", 1));
    ck_assert(!list_matches("foo:-2", "foo", 2));
    ck_assert(list_matches("foo:-", "foo", 7));
    ck_assert(list_matches("foo:", "foo", 7));
    ck_assert(list_matches("a,:0", "anything", 0));
    ck_assert(list_matches("f.*:1,bar", "bar", 9));
    ck_assert(!list_matches(",", "bar", 9));
    ck_assert(list_matches("", "bar", 9));
    end();
    expect_refused(offset_rules_of_list("t:x", &rules, &why), "Invalid rule specification: t:x");
    expect_refused(offset_rules_of_list("t:99999999999", &rules, &why),
                   "For input string: \"99999999999\"");
}
END_TEST

START_TEST(a_topic_and_partitions)
{
    ck_assert_int_eq(offset_rules_of_topic("foo|bar", "0,2,", &rules, &why), 0);
    ck_assert(offset_rules_match(&rules, STR("bar"), 2));
    ck_assert(!offset_rules_match(&rules, STR("bar"), 1));
    ck_assert(str_is_null(offset_rules_literal(&rules)));
    end();
    ck_assert_int_eq(offset_rules_of_topic("foo", NULL, &rules, &why), 0);
    ck_assert(offset_rules_match(&rules, STR("foo"), 99));
    ck_assert(str_eqz(offset_rules_literal(&rules), "foo"));
    end();
    expect_refused(offset_rules_of_topic(NULL, "0,,1", &rules, &why),
                   "--partitions expects a comma separated list of numeric partition ids, but "
                   "received: 0,,1");
    expect_refused(offset_rules_of_topic("[", NULL, &rules, &why), "[ is an invalid regex.");
}
END_TEST

START_TEST(times)
{
    int64_t t = 0;

    ck_assert_int_eq(offset_time("latest", &t, &why), 0);
    ck_assert_int_eq(t, -1);
    ck_assert_int_eq(offset_time("latest-tiered", &t, &why), 0);
    ck_assert_int_eq(t, -5);
    ck_assert_int_eq(offset_time("1700000000000", &t, &why), 0);
    ck_assert_int_eq(t, 1700000000000);
    ck_assert_int_eq(offset_time("LATEST", &t, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "Malformed time argument LATEST."));
    end();
}
END_TEST

TEST_MAIN("tools/records/offset_rules", a_list_of_rules, a_topic_and_partitions, times)
