#include "common/conf/show.h"

#include "tests/support/test_main.h"

static void check(enum conf_type type, const char *text, const char *shown)
{
    const struct conf_option o = {.key = "k", .type = type};
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    conf_show(&o, str_of(text), &sb);
    ck_assert_str_eq(sb.s ? sb.s : "", shown);
}

START_TEST(values_are_printed_as_they_were_understood)
{
    check(CONF_BOOLEAN, " TRUE ", "true");
    check(CONF_BOOLEAN, "False", "false");
    check(CONF_INT, "+5", "5");
    check(CONF_LONG, " -7", "-7");
    check(CONF_LIST, " a , b,c ", "a,b,c");
    check(CONF_LIST, "", "");
    check(CONF_STRING, " x y ", "x y");
    check(CONF_INT, "many", "many");
}
END_TEST

/* What java.lang.Double.toString() gives. */
START_TEST(doubles_are_printed_as_java_does)
{
    check(CONF_DOUBLE, ".25", "0.25");
    check(CONF_DOUBLE, "5", "5.0");
    check(CONF_DOUBLE, "0", "0.0");
    check(CONF_DOUBLE, "-1.5", "-1.5");
    check(CONF_DOUBLE, "0.001", "0.001");
    check(CONF_DOUBLE, "0.0001", "1.0E-4");
    check(CONF_DOUBLE, "1234567", "1234567.0");
    check(CONF_DOUBLE, "12345678", "1.2345678E7");
    check(CONF_DOUBLE, "1.7976931348623157E308", "1.7976931348623157E308");
    check(CONF_DOUBLE, "100", "100.0");
}
END_TEST

TEST_MAIN("common/conf/show", values_are_printed_as_they_were_understood,
          doubles_are_printed_as_java_does)
