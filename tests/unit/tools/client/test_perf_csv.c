#include "tools/client/perf_csv.h"

#include "tests/support/test_main.h"

static struct strbuf out;

static void expect(const char *text)
{
    ck_assert_str_eq(out.len ? out.s : "", text);
    strbuf_reset(&out);
}

START_TEST(total)
{
    const struct perf_reading r = {.messages = 3000, .bytes = 3 << 20};
    const struct perf_span span = {1000, 4000, 1500};

    setenv("TZ", "UTC", 1);
    perf_csv_total(&out, &r, &span, "ss");
    expect("01, 04, 3.0000, 1.0000, 3000, 1000.0000, 1500, 1500, 2.0000, 2000.0000\n");
    perf_csv_total_json(&out, &r, &span);
    ck_assert_ptr_nonnull(strstr(out.s, "\"records_per_second\":1000.0"));
    strbuf_reset(&out);
}
END_TEST

START_TEST(interval_since_the_last_line)
{
    const struct perf_reading r = {3000, 3 << 20, 1000, 1 << 20};
    const struct perf_span span = {1000, 3000, 0}, joining = {1000, 3000, 2000};

    setenv("TZ", "UTC", 1);
    perf_csv_interval(&out, &r, &span, "ss");
    expect("03, 0, 3.0000, 1.0000, 3000, 1000.0000, 0, 2000, 1.0000, 1000.0000\n");
    perf_csv_interval(&out, &r, &joining, "ss");
    expect("03, 0, 3.0000, 1.0000, 3000, 1000.0000, 2000, 0, 0.0000, 0.0000\n");
}
END_TEST

TEST_MAIN("tools/client/perf_csv", total, interval_since_the_last_line)
