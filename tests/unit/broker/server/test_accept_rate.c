#include "broker/server/accept_rate.h"

#include "tests/support/test_main.h"

/* Accepts as fast as it is let for so long; how many came in the last part. */
static int64_t run(struct accept_rate *r, int64_t *now_ms, int64_t for_ms, int64_t last_ms)
{
    int64_t end = *now_ms + for_ms, count = 0;

    while (*now_ms < end) {
        count += *now_ms >= end - last_ms;
        *now_ms += MAX(accept_rate_record(r, *now_ms), (int64_t)1);
    }
    return count;
}

START_TEST(in_the_long_run_no_more_come_than_the_limit)
{
    struct accept_rate r;
    int64_t now_ms = 1000;

    accept_rate_init(&r, 11, 1000, 20);
    /* Whole rounds of the ring, as the first burst comes back with each. */
    int64_t n = run(&r, &now_ms, 110000, 55000);
    ck_assert_int_ge(n, 20 * 55 * 9 / 10);
    ck_assert_int_le(n, 20 * 55 * 11 / 10);
}
END_TEST

/* As in Kafka, where ten windows count as whole from the start. */
START_TEST(a_burst_may_come_at_first)
{
    struct accept_rate r;

    accept_rate_init(&r, 11, 1000, 20);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(accept_rate_record(&r, 1000), 0);
    ck_assert_int_gt(accept_rate_record(&r, 1000), 0);
}
END_TEST

START_TEST(no_wait_is_longer_than_a_window)
{
    struct accept_rate r;

    accept_rate_init(&r, 11, 1000, 0);
    ck_assert_int_eq(accept_rate_record(&r, 5), 1000);
    r.limit = INT32_MAX;
    ck_assert_int_eq(accept_rate_record(&r, 5), 0);
}
END_TEST

TEST_MAIN("broker/server/accept_rate", in_the_long_run_no_more_come_than_the_limit,
          a_burst_may_come_at_first, no_wait_is_longer_than_a_window)
