#include "tools/base/argparse.h"

#include "tests/support/test_main.h"

#include <errno.h>

enum { TOPIC, COUNT, RATE, PROPS, QUIET, PRINT, SIZE, FILE_NAME, ACKS };

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "T", "", 0, 0},  [COUNT] = {"count", "N", "", 0, 0},
    [RATE] = {"rate", "R", "", 0, 0},    [PROPS] = {"props", "P=V", "", 0, 0},
    [QUIET] = {"quiet", NULL, "", 0, 0}, [PRINT] = {"print", NULL, "", OPT_OURS, 0},
    [SIZE] = {"size", "S", "", 0, 0},    [FILE_NAME] = {"file", "F", "", 0, 0},
    [ACKS] = {"acks", "A", "", 0, 0},
};
static const struct arg_rule rules[] = {
    [TOPIC] = {ARG_TEXT, .required = true},
    [COUNT] = {ARG_LONG, .required = true},
    [RATE] = {ARG_DOUBLE},
    [PROPS] = {ARG_TEXT, .many = true},
    [QUIET] = {ARG_SWITCH},
    [PRINT] = {ARG_SWITCH},
    [SIZE] = {ARG_INT, .one_of = true},
    [FILE_NAME] = {ARG_TEXT, .one_of = true},
    [ACKS] = {ARG_INT, .choices = "0,1,-1"},
};
static const struct opts_def opts_def = {"about", specs, ARRAY_LEN(specs)};
static const struct argparse_def def = {&opts_def, rules, "prog"};

static struct opts o;
static struct strbuf why;
static char *words[16];

static int parse(const char *line)
{
    static struct invocation inv;
    struct str rest = str_of(line), word;

    inv = (struct invocation){"prog", true, 0, words};
    while (*line && str_split(&rest, ' ', &word)) {
        if (word.len == 0)
            continue;
        free(words[inv.argc]);
        words[inv.argc++] = str_dup(word);
    }
    opts_deinit(&o);
    strbuf_reset(&why);
    return argparse(&o, &def, &inv, &why);
}

static void expect_refused(const char *line, const char *reason)
{
    ck_assert_int_eq(parse(line), -EINVAL);
    ck_assert_str_eq(why.s, reason);
}

#define GOOD "--topic t --count 3 --size 1 "

START_TEST(flags_and_their_values)
{
    ck_assert_int_eq(parse(GOOD "--rate -1 --props a=b c=d --quiet --acks=-1"), 0);
    ck_assert_str_eq(argparse_text(&o, TOPIC), "t");
    ck_assert_int_eq(argparse_int(&o, COUNT, 0), 3);
    ck_assert_str_eq(argparse_text(&o, RATE), "-1");
    ck_assert_int_eq(opts_count(&o, PROPS), 2);
    ck_assert_str_eq(opts_nth(&o, PROPS, 1), "c=d");
    ck_assert(opts_has(&o, QUIET));
    ck_assert_int_eq(argparse_int(&o, ACKS, 0), -1);
    ck_assert_int_eq(argparse_int(&o, FILE_NAME, 9), 9);
    ck_assert_int_eq(parse(GOOD "--topic u"), 0);
    ck_assert_str_eq(argparse_text(&o, TOPIC), "u");
}
END_TEST

START_TEST(beginnings_of_names)
{
    ck_assert_int_eq(parse("--t t --c 3 --s=1 --q"), 0);
    ck_assert(opts_has(&o, QUIET));
    /* of our own flags Kafka's name knows nothing */
    ck_assert_int_eq(parse(GOOD "--p x"), 0);
    ck_assert_str_eq(argparse_text(&o, PROPS), "x");
}
END_TEST

START_TEST(mistakes)
{
    expect_refused("", "argument --count is required");
    expect_refused("--count 1", "argument --topic is required");
    expect_refused("--topic t --count 1", "one of the arguments --size --file is required");
    expect_refused(GOOD "--file x", "argument --file: not allowed with argument --size");
    expect_refused("--topic --count", "argument --topic: expected one argument");
    expect_refused(GOOD "--props", "argument --props: expected 1 argument(s)");
    expect_refused("--count z",
                   "argument --count: could not convert 'z' to Long (For input string: \"z\")");
    expect_refused("--size 3000000000", "argument --size: could not convert '3000000000' to "
                                        "Integer (For input string: \"3000000000\")");
    expect_refused(GOOD "--acks 5", "argument --acks: invalid choice: '5' (choose from {0,1,-1})");
    expect_refused(GOOD "--foo=3", "unrecognized arguments: '--foo=3'");
    expect_refused(GOOD "-x", "unrecognized arguments: '-x'");
    expect_refused(GOOD "a b", "unrecognized arguments: 'a b'");
    expect_refused(GOOD "--quiet=1", "argument --quiet: ignore implicit argument '1'");
    expect_refused("--", "ambiguous option: -- could match --acks, --count, --file, --props, "
                         "--quiet, --rate, --size, --topic");
}
END_TEST

TEST_MAIN("tools/base/argparse", flags_and_their_values, beginnings_of_names, mistakes)
