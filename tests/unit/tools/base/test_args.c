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

static struct args args;
static char *said;

/* The words of a line; what is said goes to said. -1: there is something to do. */
static int parse(bool as_kafka, const char *line)
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
    bool answered = args_answered(&args, &def, &kept, &code);
    fclose(stdout);
    stdout = old_out;
    stderr = old_err;
    return answered ? code : -1;
}

static void expect_wrong(const char *line, const char *what)
{
    ck_assert_int_eq(parse(true, line), TOOL_FAILED);
    ck_assert_ptr_nonnull(strstr(said, "usage: kafka-things "));
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
    expect_wrong("fly", "error: invalid choice: 'fly' (choose from 'describe', 'drop')\n");
    expect_wrong("--boot x describe", "ambiguous  option:  --boot");
    expect_wrong("-b x drop", "kafka-things: error: argument --id/-i is required\n");
    expect_wrong("drop --id", "argument --id/-i: expected one argument\n");
    expect_wrong("drop --id x", "argument --id/-i:");
    expect_wrong("drop --id 1 word", "error: unrecognized arguments: 'word'\n");
    expect_wrong("-b x drop --id 1 -b y", "error: unrecognized arguments: '-b'\n");
    expect_wrong("-b x --bootstrap-controller y describe",
                 "argument  --bootstrap-controller:  not  allowed");
    expect_wrong("--output json -b x describe", "unrecognized arguments: '--output'");
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
          help_has_straight_margins, our_own_takes_flags_anywhere_and_says_one_line)
