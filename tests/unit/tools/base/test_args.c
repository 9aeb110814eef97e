#include "tools/base/args.h"

#include "tests/support/test_main.h"

#include <stdlib.h>

enum { BOOTSTRAP, CONTROLLER, OUTPUT };
enum { ID, DRY };

static const struct opt_spec root_specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "a", "Where the cluster is.", OPT_ONE_OF | OPT_LETTER, 'b'},
    [CONTROLLER] = {"bootstrap-controller", "a", "Where the quorum is.", OPT_ONE_OF, 0},
    [OUTPUT] = {"output", "table|json", "how", OPT_OURS, 'o'},
};
static const struct opt_spec drop_specs[] = {
    [ID] = {"id", "N", "Which.", OPT_REQUIRED | OPT_INT | OPT_LETTER, 'i'},
    [DRY] = {"dry-run", NULL, "Do nothing.", 0, 0},
};
static const struct args_command commands[] = {
    {"describe", {"Says what is there.", NULL, 0}},
    {"drop", {"Drops one.", drop_specs, ARRAY_LEN(drop_specs)}},
};
static const struct args_def def = {"kafka-things",
                                    {"The tool for things.", root_specs, ARRAY_LEN(root_specs)},
                                    commands,
                                    ARRAY_LEN(commands)};

enum { TOPIC, COUNT, RATE, PROPS, QUIET, PRINT, SIZE, FILE_NAME, ACKS };

static const struct opt_spec send_specs[] = {
    [TOPIC] = {"topic", "T", "Where.", OPT_REQUIRED, 0},
    [COUNT] = {"count", "N-OF", "How many.", OPT_REQUIRED | OPT_LONG | OPT_METAVAR, 0},
    [RATE] = {"rate", "R", "", OPT_DOUBLE, 0},
    [PROPS] = {"props", "P=V", "", OPT_MANY | OPT_METAVAR, 0},
    [QUIET] = {"quiet", NULL, "", OPT_LETTER, 'q'},
    [PRINT] = {"print", NULL, "", OPT_OURS, 0},
    [SIZE] = {"size", "S", "", OPT_INT | OPT_ONE_OF, 0},
    [FILE_NAME] = {"file", "F", "", OPT_ONE_OF, 0},
    [ACKS] = {"acks", "A", "", OPT_INT, 0, "0,1,-1"},
};
static const struct args_def send_def = {
    "send", {"Sends.", send_specs, ARRAY_LEN(send_specs)}, NULL, 0};

static struct args args;
static char *said;

/* The words of a line; what is said goes to said. -1: there is something to do. */
static int parse_by(const struct args_def *by, bool as_kafka, const char *line)
{
    static char words[256], *argv[16];
    struct invocation inv = {as_kafka ? "kafka-things" : "klamm things", as_kafka, 0, argv};
    static struct invocation kept;
    FILE *old_out = stdout, *old_err = stderr;
    size_t len;
    int code = 0;

    args_deinit(&args);
    free(said);
    memset(words, 0, sizeof words);
    snprintf(words, sizeof words, "%s", line);
    for (char *w = words; *w; w += strlen(w) + 1) { /* blanks become ends of words */
        argv[inv.argc++] = w;
        w[strcspn(w, " ")] = '\0';
    }
    kept = inv;
    stdout = stderr = open_memstream(&said, &len);
    bool answered = args_answered(&args, by, &kept, &code);
    fclose(stdout);
    stdout = old_out;
    stderr = old_err;
    return answered ? code : -1;
}

static int parse(bool as_kafka, const char *line)
{
    return parse_by(&def, as_kafka, line);
}

/* Of the tool without commands. */
static int send(const char *line)
{
    return parse_by(&send_def, true, line);
}

static void expect_wrong(const char *line, const char *what)
{
    ck_assert_int_eq(parse(true, line), TOOL_FAILED);
    ck_assert_ptr_nonnull(strstr(said, "usage: kafka-things "));
    if (!strstr(said, what))
        ck_abort_msg("%s\n%s", line, said);
}

static void expect_send_wrong(const char *line, const char *what)
{
    ck_assert_int_eq(send(line), TOOL_FAILED);
    if (!strstr(said, what))
        ck_abort_msg("%s\n%s", line, said);
}

START_TEST(values_are_found_on_both_sides)
{
    ck_assert_int_eq(parse(true, "--bootstrap-server h:1 drop --id -3 --dry-run"), -1);
    ck_assert_str_eq(args_text(&args.root, BOOTSTRAP), "h:1");
    ck_assert_str_eq(args_text(&args.sub, ID), "-3");
    ck_assert(opts_has(&args.sub, DRY));
    ck_assert_ptr_eq(args.command, &commands[1]);
    ck_assert_ptr_null(args_text(&args.root, CONTROLLER));
}
END_TEST

START_TEST(names_are_cut_short_and_the_last_value_counts)
{
    ck_assert_int_eq(parse(true, "--bootstrap-s=h:1 -bh:2 -b h:3 dr -i 1 -i 2"), -1);
    ck_assert_str_eq(args_text(&args.root, BOOTSTRAP), "h:3");
    ck_assert_str_eq(args_text(&args.sub, ID), "2");
}
END_TEST

START_TEST(mistakes_are_told_in_argparse4j_s_words)
{
    expect_wrong("", "kafka-things: error: too few arguments\n");
    expect_wrong("describe", "of   the   arguments  --bootstrap-server/-b");
    expect_wrong("d", "error: ambiguous command: d could match describe, drop\n");
    expect_wrong("fly", "invalid  choice:   'fly'  (choose  from  'describe',\n'drop')\n");
    expect_wrong("--boot x describe", "ambiguous  option:  --boot");
    expect_wrong("-b x drop", "kafka-things: error: argument --id/-i is required\n");
    expect_wrong("drop --id", "argument --id/-i: expected one argument\n");
    expect_wrong("drop --id x", "argument --id/-i:");
    expect_wrong("drop --id 1 word -b x", "error: unrecognized arguments: 'word -b x'\n");
    expect_wrong(
        "drop",
        "the   arguments  --bootstrap-server/-b"); /* what is missing in front is told first */
    expect_wrong("-b x drop --id 1 -- --dry-run", "unrecognized arguments: '--dry-run'\n");
    expect_wrong("-- drop", "unrecognized arguments: 'drop'\n");
    expect_wrong("-b x drop --id 1 -b y", "error: unrecognized arguments: '-b'\n");
    expect_wrong("-b x --bootstrap-controller y describe",
                 "argument  --bootstrap-controller:  not  allowed");
    expect_wrong("--output json -b x describe", "unrecognized arguments: '--output'");
}
END_TEST

#define GOOD "--topic t --count 3 --size 1 "

START_TEST(a_tool_without_commands_has_flags_and_values)
{
    const struct opts *o = &args.root;

    ck_assert_int_eq(send(GOOD "--rate -1 --props a=b c=d --quiet --acks=-1"), -1);
    ck_assert_str_eq(args_text(o, TOPIC), "t");
    ck_assert_int_eq(args_int(o, COUNT, 0), 3);
    ck_assert_str_eq(args_text(o, RATE), "-1");
    ck_assert_int_eq(opts_count(o, PROPS), 2);
    ck_assert_str_eq(opts_nth(o, PROPS, 1), "c=d");
    ck_assert(opts_has(o, QUIET));
    ck_assert_int_eq(args_int(o, ACKS, 0), -1);
    ck_assert_int_eq(args_int(o, FILE_NAME, 9), 9);
    ck_assert_int_eq(send("--t t --c 3 --s=1 -q"), -1);
    ck_assert(opts_has(o, QUIET));
    /* of our own flags Kafka's name knows nothing */
    ck_assert_int_eq(send(GOOD "--p x"), -1);
    ck_assert_str_eq(args_text(o, PROPS), "x");
}
END_TEST

static void expect_rate(const char *line, bool is_good)
{
    if ((send(line) == -1) != is_good)
        ck_abort_msg("%s\n%s", line, said);
}

START_TEST(numbers_are_java_s)
{
    static const char *const good[] = {"1d", "1e400", "\t5", "5\t", "NaN", "-Infinity", "0x1p3"};
    static const char *const bad[] = {"inf", "nan", "0x10", "1_0", "1L", "5x"};
    char line[64];

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        snprintf(line, sizeof line, GOOD "--rate=%s", good[i]);
        expect_rate(line, true);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        snprintf(line, sizeof line, GOOD "--rate=%s", bad[i]);
        expect_rate(line, false);
    }
    expect_send_wrong("--rate=\tx\t", "string: \"x\")\n");
    expect_send_wrong("--rate=\t", "(empty\nString)\n");
    ck_assert_int_eq(send(GOOD "--acks +01"), -1);
    ck_assert_int_eq(args_int(&args.root, ACKS, 9), 1);
    expect_send_wrong(GOOD "--acks +2", "invalid choice: '+2' (choose from {0,1,-1})\n");
}
END_TEST

START_TEST(mistakes_without_commands)
{
    expect_send_wrong("--quiet", "error: argument --count is required\n");
    expect_send_wrong("--count 1", "error: argument --topic is required\n");
    expect_send_wrong("--topic t --count 1", "one of the arguments --size --file is required\n");
    expect_send_wrong(GOOD "--file x", "argument --file: not allowed with argument --size\n");
    expect_send_wrong("--topic --count", "argument --topic: expected one argument\n");
    expect_send_wrong("--topic --", "argument --topic: expected one argument\n");
    expect_send_wrong(GOOD "--props", "argument --props: expected 1 argument(s)\n");
    expect_send_wrong("--count z", "argument --count:");
    expect_send_wrong("--count z", "'z'  to Long (For input\nstring: \"z\")\n");
    expect_send_wrong("--size 3000000000", "'3000000000'");
    expect_send_wrong("--rate=", "''  to  Double (empty\nString)\n");
    expect_send_wrong("--hel=3", "argument -h/--help: ignore implicit argument '3'\n");
    expect_send_wrong(GOOD "--acks 5", "invalid choice: '5' (choose from {0,1,-1})\n");
    expect_send_wrong(GOOD "--foo=3", "unrecognized arguments: '--foo=3'\n");
    expect_send_wrong(GOOD "-x", "unrecognized arguments: '-x'\n");
    expect_send_wrong(GOOD "-qx", "unrecognized arguments: '-qx'\n");
    expect_send_wrong(GOOD "--rate -1.5", "--rate: expected one argument\n");
    expect_send_wrong(GOOD "a b", "unrecognized arguments: 'a b'\n");
    expect_send_wrong(GOOD "--quiet=1", "argument --quiet/-q: ignore implicit argument '1'\n");
}
END_TEST

START_TEST(what_is_spelled_alike_is_named)
{
    expect_send_wrong("--tpoic t", "'--tpoic'\n\nDid you mean:\n\t--topic\n");
    expect_send_wrong("--ile t", "\nDid you mean:\n\t--file\n");
    expect_send_wrong("--xxxtopic t", "\nDid you mean:\n\t--topic\n");
    expect_wrong("-b x drp", "\nDid you mean:\n\tdrop\n");
    ck_assert_int_eq(send("--entirely-else"), TOOL_FAILED);
    ck_assert_ptr_null(strstr(said, "Did you"));
}
END_TEST

START_TEST(help_of_a_tool_without_commands)
{
    ck_assert_int_eq(send("-h"), TOOL_FAILED);
    ck_assert_str_eq(said,
                     "usage: send [-h] --topic TOPIC --count N-OF [--rate RATE]\n"
                     "            [--props P=V [P=V ...]] [--quiet] [--acks ACKS] (--size SIZE |\n"
                     "            --file FILE)\n"
                     "\n"
                     "Sends.\n"
                     "\n"
                     "optional arguments:\n"
                     "  -h, --help             show this help message and exit\n"
                     "  --topic TOPIC          Where.\n"
                     "  --count N-OF           How many.\n"
                     "  --rate RATE\n"
                     "  --props P=V [P=V ...]\n"
                     "  --quiet, -q\n"
                     "  --size SIZE\n"
                     "  --file FILE\n"
                     "  --acks ACKS\n");
    ck_assert_int_eq(send(""), 0);
    ck_assert_ptr_nonnull(strstr(said, "Sends."));
}
END_TEST

START_TEST(help_has_straight_margins)
{
    ck_assert_int_eq(parse(true, "drop -h"), TOOL_FAILED);
    ck_assert_str_eq(said,
                     "usage: kafka-things (--bootstrap-server BOOTSTRAP_SERVER |\n"
                     "                    --bootstrap-controller BOOTSTRAP_CONTROLLER) drop [-h]\n"
                     "                    --id ID [--dry-run]\n"
                     "\n"
                     "optional arguments:\n"
                     "  -h, --help             show this help message and exit\n"
                     "  --id ID, -i ID         Which.\n"
                     "  --dry-run              Do nothing.\n");
    ck_assert_int_eq(parse(true, "--help"), TOOL_FAILED);
    ck_assert_ptr_nonnull(strstr(said, "positional arguments:\n  {describe,drop}\n"
                                       "    describe             Says what is there.\n"));
}
END_TEST

START_TEST(our_own_takes_flags_anywhere_and_says_one_line)
{
    ck_assert_int_eq(parse(false, "drop --id 4 -b h:1 -o json"), -1);
    ck_assert_str_eq(args_text(&args.root, OUTPUT), "json");
    ck_assert_str_eq(args_text(&args.root, BOOTSTRAP), "h:1");
    ck_assert_int_eq(parse(false, "drop --dryrun"), TOOL_MISUSED);
    ck_assert_str_eq(said,
                     "klamm things: unrecognized arguments: '--dryrun'; did you mean --dry-run? "
                     "(klamm things --help shows the flags)\n");
    ck_assert_int_eq(parse(false, "--help"), 0);
    ck_assert_ptr_nonnull(strstr(said, "drop - Drops one."));
    args_deinit(&args);
    free(said);
    said = NULL;
}
END_TEST

TEST_MAIN("tools/base/args", values_are_found_on_both_sides,
          names_are_cut_short_and_the_last_value_counts, mistakes_are_told_in_argparse4j_s_words,
          a_tool_without_commands_has_flags_and_values, numbers_are_java_s,
          mistakes_without_commands, what_is_spelled_alike_is_named,
          help_of_a_tool_without_commands, help_has_straight_margins,
          our_own_takes_flags_anywhere_and_says_one_line)
