#include "tools/groups/groups_speed.h"

#include "tests/support/test_main.h"

static void expect_eta(double seconds, const char *text)
{
    char room[32];

    lag_eta_text(seconds, room, sizeof room);
    ck_assert_str_eq(room, text);
}

START_TEST(times_are_short)
{
    expect_eta(0, "0s");
    expect_eta(59.4, "59s");
    expect_eta(185, "3m 05s");
    expect_eta(7800, "2h 10m");
    expect_eta(349200, "4d 01h");
    expect_eta(-1, "never");
    expect_eta(1e300, "never");
}
END_TEST

START_TEST(one_look_has_no_speed)
{
    struct lag_track t = {0};
    double rate, eta;

    ck_assert(!lag_speed(&t, &rate, &eta));
    lag_look(&t, &(struct lag_look){1000, 5, 100});
    ck_assert(!lag_speed(&t, &rate, &eta));
    lag_look(&t, &(struct lag_look){1000, 6, 100}); /* in no time */
    ck_assert(!lag_speed(&t, &rate, &eta));
}
END_TEST

START_TEST(rate_is_what_is_read_and_eta_what_the_lag_loses)
{
    struct lag_track t = {0};
    double rate, eta;

    lag_look(&t, &(struct lag_look){0, 0, 1000});
    lag_look(&t, &(struct lag_look){10000, 500, 800}); /* 300 more were written meanwhile */
    ck_assert(lag_speed(&t, &rate, &eta));
    ck_assert_double_eq_tol(rate, 50, 1e-9);
    ck_assert_double_eq_tol(eta, 40, 1e-9);
    lag_look(&t, &(struct lag_look){20000, 900, 1200});
    ck_assert(lag_speed(&t, &rate, &eta));
    ck_assert_double_eq_tol(eta, -1, 1e-9);
    lag_look(&t, &(struct lag_look){30000, 3000, 0});
    ck_assert(lag_speed(&t, &rate, &eta));
    ck_assert_double_eq_tol(eta, 0, 1e-9);
}
END_TEST

START_TEST(only_the_last_looks_count)
{
    struct lag_track t = {0};
    double rate, eta;

    for (int i = 0; i < 3 * LAG_LOOKS; i++)
        lag_look(&t, &(struct lag_look){i * 1000, i < 2 * LAG_LOOKS ? 0 : i, 10});
    ck_assert_int_eq(t.count, LAG_LOOKS);
    ck_assert(lag_speed(&t, &rate, &eta));
    ck_assert_double_eq_tol(rate, 1, 1e-9);
}
END_TEST

START_TEST(offsets_that_go_back_begin_anew)
{
    struct lag_track t = {0};
    double rate, eta;

    lag_look(&t, &(struct lag_look){0, 500, 10});
    lag_look(&t, &(struct lag_look){1000, 0, 510});
    ck_assert(!lag_speed(&t, &rate, &eta));
    lag_look(&t, &(struct lag_look){2000, 100, 410});
    ck_assert(lag_speed(&t, &rate, &eta));
    ck_assert_double_eq_tol(rate, 100, 1e-9);
    ck_assert_double_eq_tol(eta, 4.1, 1e-9);
}
END_TEST

START_TEST(tracks_are_found_again)
{
    struct lag_track *tracks = NULL;
    const struct part p0 = {STR("t"), 0}, p1 = {STR("t"), 1};
    struct lag_track *a = lag_track(&tracks, STR("g"), &p0);

    ck_assert_ptr_ne(lag_track(&tracks, STR("g"), &p1), a);
    ck_assert_ptr_ne(lag_track(&tracks, STR("h"), &p0), a);
    ck_assert_ptr_ne(lag_track(&tracks, STR("g"), NULL), a);
    ck_assert_ptr_eq(lag_track(&tracks, STR("g"), &p0), a);
    lag_tracks_free(&tracks);
    ck_assert_ptr_null(tracks);
}
END_TEST

TEST_MAIN("tools/groups/groups_speed", times_are_short, one_look_has_no_speed,
          rate_is_what_is_read_and_eta_what_the_lag_loses, only_the_last_looks_count,
          offsets_that_go_back_begin_anew, tracks_are_found_again)
