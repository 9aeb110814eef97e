#include "tools/configs/configs_scram.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct strbuf why;
static struct scram_given given;

static int parse(const char *text, bool for_zookeeper)
{
    strbuf_reset(&why);
    return scram_parse(SCRAM_SHA_256, text, for_zookeeper, &given, &why);
}

START_TEST(iterations_may_be_left_out)
{
    ck_assert_int_eq(parse("password=a,b=c", false), 0);
    ck_assert_int_eq(given.iterations, 4096);
    ck_assert(str_eqz(given.password, "a,b=c"));
    ck_assert_int_eq(parse("iterations=8192,password=", false), 0);
    ck_assert_int_eq(given.iterations, 8192);
    ck_assert_uint_eq(given.password.len, 0);
}
END_TEST

START_TEST(minus_one_is_the_default_but_in_zookeeper)
{
    ck_assert_int_eq(parse("iterations=-1,password=x", false), 0);
    ck_assert_int_eq(given.iterations, 4096);
    ck_assert_int_eq(parse("iterations=-1,password=x", true), -EINVAL);
    ck_assert_str_eq(why.s, "Invalid credential property SCRAM_SHA_256=iterations=-1,password=x");
}
END_TEST

START_TEST(few_iterations_are_refused_in_kafkas_words)
{
    ck_assert_int_eq(parse("iterations=1,password=x", false), -EINVAL);
    ck_assert_str_eq(why.s,
                     "Iterations 1 is less than the minimum 4096 required for SCRAM-SHA-256");
    ck_assert_int_eq(parse("iterations=1,password=x", true), -EINVAL);
    ck_assert_str_eq(why.s,
                     "Iterations 1 is less than the minimum 4096 required for SCRAM_SHA_256");
}
END_TEST

START_TEST(what_is_no_number_or_no_password_is_refused)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "iterations=4096",
                                      "iterations=4096,x",
                                      "Password=x",
                                      "iterations=4x,password=y",
                                      "password=a\nb"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(parse(bad[i], false) == -EINVAL, "%s", bad[i]);
    ck_assert_int_eq(parse("iterations=,password=x", false), -EINVAL);
    ck_assert_str_eq(why.s, "For input string: \"\"");
    ck_assert_int_eq(parse("iterations=99999999999,password=x", false), -EINVAL);
    ck_assert_str_eq(why.s, "For input string: \"99999999999\"");
}
END_TEST

/* The keys are those of RFC 7677's example. */
START_TEST(what_is_stored_has_kafkas_form)
{
    static const uint8_t salt[] = {0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                                   0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    ck_assert_int_eq(parse("iterations=4096,password=pencil", true), 0);
    scram_print_stored(&given, slice_of(salt, sizeof salt), &out);
    ck_assert_str_eq(out.s, "salt=W22ZaJ0SNY7soEsUEjb6gQ==,"
                            "stored_key=WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=,"
                            "server_key=wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=,"
                            "iterations=4096");
}
END_TEST

TEST_MAIN("tools/configs/configs_scram_text", iterations_may_be_left_out,
          minus_one_is_the_default_but_in_zookeeper, few_iterations_are_refused_in_kafkas_words,
          what_is_no_number_or_no_password_is_refused, what_is_stored_has_kafkas_form)
