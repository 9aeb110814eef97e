#include "broker/storage/cleaner_throttle.h"

#include "tests/support/test_main.h"

START_TEST(a_rate_is_kept)
{
    struct cleaner_throttle t;
    int64_t now = 5000000;

    cleaner_throttle_init(&t, 1e6, now);
    for (int i = 0; i < 20000; i++) {
        now += 100; /* a quick disk */
        now += cleaner_throttle_add(&t, 1000, now);
    }
    /* 20 MB in 20 s, but for what was not added up yet. */
    ck_assert_int_ge(now - 5000000, 17000000);
    ck_assert_int_le(now - 5000000, 20000000);
}
END_TEST

START_TEST(a_disk_that_is_slower_anyway_is_not_paused)
{
    struct cleaner_throttle t;
    int64_t now = 0;

    cleaner_throttle_init(&t, 1e6, now);
    for (int i = 0; i < 100; i++) {
        now += 20000;
        ck_assert_int_eq(cleaner_throttle_add(&t, 10000, now), 0);
    }
}
END_TEST

START_TEST(the_default_rate_never_pauses_and_zero_is_none)
{
    const double rates[] = {1.7976931348623157e308, 0, -1};

    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        struct cleaner_throttle t;

        cleaner_throttle_init(&t, rates[i], 0);
        for (int64_t now = 0; now < 10000000; now += 100000)
            ck_assert_int_eq(cleaner_throttle_add(&t, 1 << 30, now), 0);
    }
}
END_TEST

START_TEST(a_pause_has_an_end)
{
    struct cleaner_throttle t;

    cleaner_throttle_init(&t, 1e-300, 0);
    int64_t pause = cleaner_throttle_add(&t, 1 << 30, 1000000);
    ck_assert_int_gt(pause, 0);
    ck_assert_int_le(pause, INT64_C(3600000000));
}
END_TEST

TEST_MAIN("broker/storage/cleaner_throttle", a_rate_is_kept,
          a_disk_that_is_slower_anyway_is_not_paused,
          the_default_rate_never_pauses_and_zero_is_none, a_pause_has_an_end)
