#include "tools/client/perf_stats.h"

#include "tests/support/test_main.h"

static struct perf_stats s;
static struct strbuf out;

static void expect(const char *text)
{
    ck_assert_str_eq(out.len ? out.s : "", text);
    strbuf_reset(&out);
}

START_TEST(percentiles_are_values_of_the_sorted_list)
{
    perf_stats_init(&s, 1000, 50);
    for (int i = 1000; i > 0; i--)
        perf_stats_record(&s, i, 100, 60, &out);
    expect("");
    perf_stats_print(&s, 2050, &out);
    expect("1000 records sent, 500.000000 records/sec (0.05 MB/sec), 500.50 ms avg latency, "
           "1000.00 ms max latency, 501 ms 50th, 951 ms 95th, 991 ms 99th, 1000 ms 99.9th.\n");
    perf_stats_print_json(&s, 2050, &out);
    ck_assert_ptr_nonnull(strstr(out.s, "\"latency_99_9_ms\":1000}"));
    perf_stats_deinit(&s);
}
END_TEST

START_TEST(windows_of_five_seconds)
{
    perf_stats_init(&s, 10, 0);
    perf_stats_record(&s, 1, 1 << 20, 4999, &out);
    expect("");
    perf_stats_record(&s, 4, 1 << 20, 5000, &out);
    expect("2 records sent, 0.4 records/sec (0.40 MB/sec), 2.5 ms avg latency, 4.0 ms max "
           "latency.\n");
    perf_stats_record(&s, 3, 10, 9999, &out);
    expect("");
    perf_stats_record(&s, 3, 10, 10000, &out);
    ck_assert(strncmp(out.s, "2 records sent, 0.4 ", 20) == 0);
    strbuf_reset(&out);
    perf_stats_deinit(&s);
}
END_TEST

START_TEST(nothing_was_sent)
{
    perf_stats_init(&s, 5, 0);
    perf_stats_print(&s, 1000, &out);
    expect("0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max "
           "latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th.\n");
    perf_stats_deinit(&s);
}
END_TEST

START_TEST(all_within_one_millisecond)
{
    perf_stats_init(&s, 500, 7);
    for (int i = 0; i < 500; i++)
        perf_stats_record(&s, 0, 3, 7, &out);
    perf_stats_print(&s, 7, &out);
    expect("500 records sent, 500000.000000 records/sec (1.43 MB/sec), 0.00 ms avg latency, 0.00 "
           "ms max latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th.\n");
    perf_stats_deinit(&s);
}
END_TEST

START_TEST(of_many_every_nth_latency_is_kept)
{
    perf_stats_init(&s, 1500000, 0);
    for (int i = 0; i < 1500000; i++)
        perf_stats_record(&s, i % 3 == 0 ? 7 : 90, 1, 1, &out);
    ck_assert_uint_eq(s.kept, 500000);
    perf_stats_print(&s, 1000, &out);
    ck_assert_ptr_nonnull(strstr(out.s, "90.00 ms max latency, 7 ms 50th, 7 ms 95th"));
    strbuf_reset(&out);
    perf_stats_deinit(&s);
}
END_TEST

TEST_MAIN("tools/client/perf_stats", percentiles_are_values_of_the_sorted_list,
          windows_of_five_seconds, nothing_was_sent, all_within_one_millisecond,
          of_many_every_nth_latency_is_kept)
