#include "broker/quota/repl_quota.h"

#include "tests/support/test_main.h"

static struct clock_fake clock_;
static struct repl_quota q;

static void begin(int64_t limit)
{
    clock_fake_init(&clock_, 1700000000000);
    repl_quota_init(&q, &clock_.clock, (struct repl_window){11, 1000});
    repl_quota_set_rate(&q, limit);
}

START_TEST(without_a_limit_nothing_is_too_much)
{
    begin(REPL_QUOTA_UNLIMITED);
    repl_quota_record(&q, INT64_MAX / 2);
    ck_assert(!repl_quota_is_limited(&q));
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(rate_is_over_one_window_at_least)
{
    begin(1000);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_record(&q, 1000);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_record(&q, 1);
    ck_assert(repl_quota_is_exceeded(&q));
    clock_fake_advance(&clock_, 1100); /* 1001 bytes in 1.1 s */
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(burst_is_paid_off_by_waiting)
{
    begin(1000);
    repl_quota_record(&q, 5000);
    clock_fake_advance(&clock_, 4999);
    ck_assert(repl_quota_is_exceeded(&q));
    clock_fake_advance(&clock_, 1);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(wait_is_what_the_rate_needs)
{
    begin(1000);
    ck_assert_int_eq(repl_quota_wait_ms(&q), 0);
    repl_quota_record(&q, 1250);
    ck_assert_int_eq(repl_quota_wait_ms(&q), 250);
    clock_fake_advance(&clock_, 1100); /* the first second was that of the window */
    ck_assert_int_eq(repl_quota_wait_ms(&q), 150);
    clock_fake_advance(&clock_, 150);
    ck_assert_int_eq(repl_quota_wait_ms(&q), 0);
    repl_quota_record(&q, 1000000); /* a sample's length at most, as samples fall out */
    ck_assert_int_eq(repl_quota_wait_ms(&q), 1000);
    repl_quota_set_rate(&q, 0);
    ck_assert_int_eq(repl_quota_wait_ms(&q), 1000);
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(what_is_older_than_all_windows_is_forgotten)
{
    begin(1000);
    repl_quota_record(&q, 1000000);
    clock_fake_advance(&clock_, 10999);
    ck_assert(repl_quota_is_exceeded(&q));
    clock_fake_advance(&clock_, 1);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(steady_traffic_at_the_limit_passes)
{
    int passed = 0;

    begin(1000);
    for (int ms = 0; ms < 60000; ms += 10) {
        if (!repl_quota_is_exceeded(&q)) {
            repl_quota_record(&q, 100);
            passed += 100;
        }
        clock_fake_advance(&clock_, 10);
    }
    ck_assert_int_ge(passed, 57000);
    ck_assert_int_le(passed, 63000);
    repl_quota_deinit(&q);
}
END_TEST

START_TEST(limit_of_zero_stops_what_was_counted)
{
    begin(0);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_record(&q, 1);
    ck_assert(repl_quota_is_exceeded(&q));
    repl_quota_set_rate(&q, REPL_QUOTA_UNLIMITED);
    ck_assert(!repl_quota_is_exceeded(&q));
    repl_quota_deinit(&q);
}
END_TEST

TEST_MAIN("broker/quota/repl_quota", without_a_limit_nothing_is_too_much,
          rate_is_over_one_window_at_least, burst_is_paid_off_by_waiting,
          wait_is_what_the_rate_needs, what_is_older_than_all_windows_is_forgotten,
          steady_traffic_at_the_limit_passes, limit_of_zero_stops_what_was_counted)
