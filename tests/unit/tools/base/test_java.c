#include "tools/base/java.h"

#include "common/base/hash.h"
#include "tests/support/test_main.h"

#include <errno.h>

#include <math.h>

static struct strbuf text;

static const char *as_double(double v)
{
    strbuf_reset(&text);
    java_double(v, &text);
    return text.s;
}

START_TEST(doubles_are_printed_as_java_does)
{
    ck_assert_str_eq(as_double(1000), "1000.0");
    ck_assert_str_eq(as_double(0), "0.0");
    ck_assert_str_eq(as_double(-2.5), "-2.5");
    ck_assert_str_eq(as_double(9999999), "9999999.0");
    ck_assert_str_eq(as_double(1e7), "1.0E7");
    ck_assert_str_eq(as_double(12345678901), "1.2345678901E10");
    ck_assert_str_eq(as_double(0.001), "0.001");
    ck_assert_str_eq(as_double(0.00012), "1.2E-4");
    ck_assert_str_eq(as_double(0.1), "0.1");
    ck_assert_str_eq(as_double(123456.789), "123456.789");
    ck_assert_str_eq(as_double(-INFINITY), "-Infinity");
    ck_assert_str_eq(as_double(NAN), "NaN");
    ck_assert_str_eq(as_double(1.7976931348623157e308), "1.7976931348623157E308");
}
END_TEST

static double parsed(const char *s)
{
    double v = -77;

    ck_assert_int_eq(java_parse_double(str_of(s), &v), 0);
    return v;
}

START_TEST(numbers_are_read_as_java_does)
{
    static const char *const bad[] = {"",    " ", "x", "1x", "inf", "nan", "0x10", "1,5",      "-",
                                      "1ff", "f", ".", "1e", "--1", "1 2", "NaNf", "Infinityd"};
    double v;

    ck_assert_double_eq(parsed(" 12 "), 12);
    ck_assert_double_eq(parsed("+5"), 5);
    ck_assert_double_eq(parsed(".5"), 0.5);
    ck_assert_double_eq(parsed("5."), 5);
    ck_assert_double_eq(parsed("5d"), 5);
    ck_assert_double_eq(parsed("1F"), 1);
    ck_assert_double_eq(parsed("0x10p0"), 16);
    ck_assert_double_eq(parsed("1e3"), 1000);
    ck_assert(isinf(parsed("-Infinity")) && isnan(parsed("NaN")) && isinf(parsed("1e400")));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(java_parse_double(str_of(bad[i]), &v) == -EINVAL, "%s", bad[i]);
}
END_TEST

/* As jshell prints the keys of such a table. */
START_TEST(properties_stand_in_javas_order)
{
    static const char *const keys[] = {"log.cleaner.threads", "num.io.threads",
                                       "background.threads"};
    CLEANUP(props_deinit) struct props p = {0};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        props_set(&p, keys[i], "1");
    java_properties_sort(&p);
    ck_assert_str_eq(p.v[0].key, "num.io.threads");
    ck_assert_str_eq(p.v[1].key, "log.cleaner.threads");
    ck_assert_str_eq(p.v[2].key, "background.threads");
}
END_TEST

/* Of one bucket, half of which leaves when the table grows: the last run keeps its order, what
 * stood before is turned round. */
START_TEST(a_growing_table_turns_chains_round)
{
    static const int32_t hashes[] = {0, 16, 32, 48, 64, 80, 96, 1, 2, 3, 4, 5};
    static const size_t expected[] = {4, 2, 0, 6, 7, 8, 9, 10, 11, 5, 3, 1};
    size_t order[ARRAY_LEN(hashes)];

    java_properties_order(hashes, ARRAY_LEN(hashes), order);
    ck_assert_mem_eq(order, expected, sizeof expected);
}
END_TEST

START_TEST(a_map_grows_with_what_it_holds)
{
    static const int32_t hashes[] = {3, 2, 1, 17};
    size_t order[4];

    java_map_order(hashes, 4, 0, order); /* 16 buckets: 17 stands behind 1 */
    ck_assert_mem_eq(order, ((size_t[]){2, 3, 1, 0}), sizeof order);
    java_map_order(hashes, 1, 1, order);
    ck_assert_uint_eq(order[0], 0);
    java_map_order(hashes, 3, 2, order); /* of 2, grown to 4 */
    ck_assert_mem_eq(order, ((size_t[]){2, 1, 0}), 3 * sizeof *order);
}
END_TEST

TEST_MAIN("tools/base/java", doubles_are_printed_as_java_does, numbers_are_read_as_java_does,
          properties_stand_in_javas_order, a_growing_table_turns_chains_round,
          a_map_grows_with_what_it_holds)
