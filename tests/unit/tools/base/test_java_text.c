#include "tools/base/java_text.h"

#include "tests/support/test_main.h"

#include <errno.h>
#include <math.h>
#include <time.h>

static struct strbuf out;

static void expect(const char *text)
{
    ck_assert_str_eq(out.len ? out.s : "", text);
    strbuf_reset(&out);
}

static void expect_float(float v, const char *text)
{
    java_add_float(&out, v);
    expect(text);
}

static void expect_fixed(double v, int digits, const char *text)
{
    java_add_fixed(&out, v, digits);
    expect(text);
}

START_TEST(floats_as_java_prints_them)
{
    expect_float(0, "0.0");
    expect_float(-0.0f, "-0.0");
    expect_float(1, "1.0");
    expect_float(0.1f, "0.1");
    expect_float(123.456f, "123.456");
    expect_float(0.001f, "0.001");
    expect_float(0.00012f, "1.2E-4");
    expect_float(1234567, "1234567.0");
    expect_float(1e7f, "1.0E7");
    expect_float(3.4028235e38f, "3.4028235E38");
    expect_float(NAN, "NaN");
    expect_float(-INFINITY, "-Infinity");
}
END_TEST

START_TEST(halves_round_away_from_zero)
{
    expect_fixed(0.125, 2, "0.13");
    expect_fixed(4.125, 2, "4.13");
    expect_fixed(-0.125, 2, "-0.13");
    expect_fixed(0.994, 2, "0.99");
    expect_fixed(0.995, 2, "1.00");
    expect_fixed(9.999, 2, "10.00");
    expect_fixed(99.95, 1, "100.0");
    expect_fixed(0.0004, 2, "0.00");
    expect_fixed(0.005, 2, "0.01");
    expect_fixed(0, 4, "0.0000");
    expect_fixed(1e9, 1, "1000000000.0");
    expect_fixed(4999.50005, 6, "4999.500050");
    expect_fixed(INFINITY, 2, "Infinity");
    expect_fixed(NAN, 2, "NaN");
}
END_TEST

START_TEST(dates_by_pattern)
{
    setenv("TZ", "UTC", 1);
    tzset();
    int64_t ms = 1796034360005; /* 2026-11-30 10:26:00.005, a Monday */

    java_add_date(&out, "yyyy-MM-dd HH:mm:ss:SSS", ms);
    expect("2026-11-30 10:26:00:005");
    java_add_date(&out, "yy M d H h k K m s S", ms);
    expect("26 11 30 10 10 10 10 26 0 5");
    java_add_date(&out, "'at' ''H''; EEE EEEE MMM a Z", ms);
    expect("at '10'; Mon Monday Nov AM +0000");
    ck_assert_int_eq(java_date_check("qq", &out), -EINVAL);
    expect("Illegal pattern character 'q'");
    ck_assert_int_eq(java_date_check("'open", &out), -EINVAL);
    expect("Unterminated quote");
    ck_assert_int_eq(java_date_check("", &out), 0);
}
END_TEST

START_TEST(names_of_exceptions)
{
    ck_assert_str_eq(java_exception(17), "org.apache.kafka.common.errors.InvalidTopicException");
    ck_assert_str_eq(java_exception(-192), "org.apache.kafka.common.errors.TimeoutException");
    ck_assert_str_eq(java_exception(9999), "org.apache.kafka.common.KafkaException");
    ck_assert(java_bool(" True\t"));
    ck_assert(!java_bool("truer"));
    ck_assert(!java_bool(""));
}
END_TEST

TEST_MAIN("tools/base/java_text", floats_as_java_prints_them, halves_round_away_from_zero,
          dates_by_pattern, names_of_exceptions)
