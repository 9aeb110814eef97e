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

TEST_MAIN("common/conf/ibp", full_and_short_names, later_versions_compare_greater,
          an_unknown_version_is_refused)
