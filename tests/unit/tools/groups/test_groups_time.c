#include "tests/support/test_main.h"
#include "tools/groups/groups_plan.h"

#include <errno.h>

/* What Kafka's tool made of the same words. */
static const int64_t moment = INT64_C(1700000005000); /* 2023-11-14T22:13:25Z */

static void expect_moment(const char *text, int64_t ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t got = 0;

    ck_assert_msg(datetime_parse(text, &got, &why) == 0, "%s: %s", text, why.s);
    ck_assert_msg(got == ms, "%s: %lld", text, (long long)got);
}

static void expect_no_moment(const char *text, const char *reason)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t got;

    ck_assert_int_eq(datetime_parse(text, &got, &why), -EINVAL);
    ck_assert_str_eq(why.s, reason);
}

START_TEST(moments_are_read_as_java_reads_them)
{
    expect_moment("2023-11-14T22:13:25.000", moment);
    expect_moment("2023-11-14T22:13:25.000Z", moment);
    expect_moment("2023-11-14T23:13:25.000+01:00", moment);
    expect_moment("2023-11-14T23:13:25.000+01", moment);
    expect_moment("2023-11-14T21:13:25.000-0100", moment);
    expect_moment("2023-11-15T03:43:25.000+05:30", moment);
    expect_moment("2023-11-14T22:13:25.5", moment + 5); /* a number of ms, not a fraction */
    expect_moment(" 2023-11-14T22:13:25.000 ", moment);
    expect_moment("2023-11-14T22:13:25.000Zjunk", moment);
    expect_moment("2024-2-29T0:0:0.0", INT64_C(1709164800000));
    expect_moment("1969-12-31T23:59:59.999Z", -1);
}
END_TEST

START_TEST(what_is_no_moment_is_refused_in_javas_words)
{
    static const char no_t[] =
        "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format";

    for (const char *const *text =
             (const char *const[]){"", "T", "2023-11-14", "2023-11-14T", "junk", NULL};
         *text; text++)
        expect_no_moment(*text, no_t);
    expect_no_moment("2023-11-14T22:13:25", "Unparseable date: \"2023-11-14T22:13:25Z\"");
    expect_no_moment("2023-02-30T22:13:25.000", "Unparseable date: \"2023-02-30T22:13:25.000Z\"");
    expect_no_moment("2023-13-01T22:13:25.000", "Unparseable date: \"2023-13-01T22:13:25.000Z\"");
    expect_no_moment("2023-11-14T24:13:25.000", "Unparseable date: \"2023-11-14T24:13:25.000Z\"");
    expect_no_moment("2023-11-14T22:13:25.1234", "Unparseable date: \"2023-11-14T22:13:25.1234Z\"");
    expect_no_moment("2023-11-14T22:13:25.000junk",
                     "Unparseable date: \"2023-11-14T22:13:25.000junkZ\"");
    expect_no_moment("2023-11-14T22:13:25.000+1",
                     "Unparseable date: \"2023-11-14T22:13:25.000+1\"");
    expect_no_moment("2023-11-14T22:13:25.000+25",
                     "Unparseable date: \"2023-11-14T22:13:25.000+25\"");
    expect_no_moment("2023-00-01T22:13:25.000", "Unparseable date: \"2023-00-01T22:13:25.000Z\"");
}
END_TEST

static void expect_before(const char *text, int64_t ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t got = 0;

    ck_assert_msg(duration_before(text, moment, &got, &why) == 0, "%s: %s", text, why.s);
    ck_assert_msg(moment - got == ms, "%s: %lld", text, (long long)(moment - got));
}

START_TEST(durations_are_taken_from_now)
{
    expect_before("PT0S", 0);
    expect_before("P1D", 86400000);
    expect_before("P1DT2H3M4.5S", 93784500);
    expect_before("pt1.5s", 1500);
    expect_before("PT5,25S", 5250);
    expect_before("PT1.S", 1000);
    expect_before("-PT1H", -3600000);
    expect_before("-PT-1H", 3600000);
    expect_before("+P-1DT+2H", -79200000);
    expect_before("PT-1.5S", -1500);
}
END_TEST

static void expect_no_duration(const char *text, const char *reason)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int64_t got;

    ck_assert_msg(duration_before(text, moment, &got, &why) == -EINVAL, "%s", text);
    ck_assert_str_eq(why.s, reason);
}

START_TEST(what_is_no_duration_is_refused_in_javas_words)
{
    static const char no[] = "Text cannot be parsed to a Duration";
    static const char *const texts[] = {
        "",    "junk",  "P",        "PT",     "P1DT",           "P1M",   "P1H",
        "1D",  "PT1D",  "P2DT3M1H", "PT.5S",  " PT5S",          "PT5S ", "PT1.5H",
        "PT1", "PTT1S", "--PT1S",   "PT1S2S", "PT1.0000000001S"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        expect_no_duration(texts[i], no);
    expect_no_duration("P99999999999999999999D", "Text cannot be parsed to a Duration: days");
    expect_no_duration("PT99999999999999999999H", "Text cannot be parsed to a Duration: hours");
    expect_no_duration("P106751991167300DT9223372036854775807S",
                       "Text cannot be parsed to a Duration: overflow");
    expect_no_duration("P99999999999999D", "Instant exceeds minimum or maximum instant");
    expect_no_duration("PT9223372036854775807S", "Instant exceeds minimum or maximum instant");
}
END_TEST

START_TEST(states_and_types_are_spelled_as_brokers_do)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str *v;
    int32_t n;

    ck_assert_int_eq(states_parse("stable, EMPTY,,", &a, &v, &n, &why), 0);
    ck_assert_int_eq(n, 2);
    ck_assert(str_eqz(v[0], "Stable") && str_eqz(v[1], "Empty"));
    ck_assert_int_eq(states_parse(",", &a, &v, &n, &why), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(types_parse("Consumer,classic", &a, &v, &n, &why), 0);
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(states_parse("Stable,bogus", &a, &v, &n, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Invalid state list 'Stable,bogus'. Valid states are: "
                            "PreparingRebalance, CompletingRebalance, Stable, Dead, Empty, "
                            "Assigning, Reconciling");
    strbuf_reset(&why);
    ck_assert_int_eq(types_parse("unknown", &a, &v, &n, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Invalid types list 'unknown'. Valid types are: Consumer, Classic");
}
END_TEST

TEST_MAIN("tools/groups/groups_time", moments_are_read_as_java_reads_them,
          what_is_no_moment_is_refused_in_javas_words, durations_are_taken_from_now,
          what_is_no_duration_is_refused_in_javas_words, states_and_types_are_spelled_as_brokers_do)
