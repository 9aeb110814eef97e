#include "common/conf/ibp.h"

#include "tests/support/test_main.h"

#include <errno.h>

static enum ibp parsed(const char *text)
{
    enum ibp ibp;

    ck_assert_int_eq(ibp_parse(str_of(text), &ibp), 0);
    return ibp;
}

START_TEST(full_and_short_names)
{
    ck_assert_int_eq(parsed("3.9-IV0"), IBP_3_9_IV0);
    ck_assert_int_eq(parsed("3.9"), IBP_3_9_IV0);
    ck_assert_int_eq(parsed("3.9.1"), IBP_3_9_IV0);
    ck_assert_int_eq(parsed("2.7"), IBP_2_7_IV2);
    ck_assert_int_eq(parsed("0.10.2.1"), IBP_0_10_2_IV0);
    ck_assert_int_eq(parsed("0.10.1"), IBP_0_10_1_IV2);
    ck_assert_int_eq(parsed("0.9.0.1"), IBP_0_9_0);
}
END_TEST

START_TEST(later_versions_compare_greater)
{
    ck_assert_int_lt(parsed("2.7-IV1"), parsed("2.7-IV2"));
    ck_assert_int_lt(parsed("0.11.0"), parsed("1.0"));
}
END_TEST

START_TEST(an_unknown_version_is_refused)
{
    enum ibp ibp;

    ck_assert_int_eq(ibp_parse(STR("5.0"), &ibp), -EINVAL);
    ck_assert_int_eq(ibp_parse(STR(""), &ibp), -EINVAL);
    ck_assert_int_eq(ibp_parse(STR("3.9-IV7"), &ibp), -EINVAL);
}
END_TEST

START_TEST(versions_have_a_record_format)
{
    ck_assert_int_eq(ibp_record_version(parsed("0.8.2")), 0);
    ck_assert_int_eq(ibp_record_version(parsed("0.9.0")), 0);
    ck_assert_int_eq(ibp_record_version(parsed("0.10.0-IV0")), 1);
    ck_assert_int_eq(ibp_record_version(parsed("0.10.2")), 1);
    ck_assert_int_eq(ibp_record_version(parsed("0.11.0-IV0")), 2);
    ck_assert_int_eq(ibp_record_version(parsed("3.9")), 2);
    for (int8_t v = 0; v <= RECORD_VERSION_NEWEST; v++)
        ck_assert_int_eq(ibp_record_version(ibp_of_record_version(v)), v);
    ck_assert(str_eqz(ibp_line(ibp_of_record_version(1)), "0.10.0"));
    ck_assert(!ibp_ignores_message_format(parsed("3.0-IV0")));
    ck_assert(ibp_ignores_message_format(parsed("3.0-IV1")));
}
END_TEST

TEST_MAIN("common/conf/ibp", full_and_short_names, later_versions_compare_greater,
          an_unknown_version_is_refused, versions_have_a_record_format)
