#include "tools/base/opts.h"

#include "tests/support/test_main.h"

#include <errno.h>

enum { TOPIC, PARTITIONS, CONFIG, LIST, OUTPUT, STATE };

static const struct opt_spec specs[] = {
    [TOPIC] = {"topic", "name", "a topic", 0, 't'},
    [PARTITIONS] = {"partitions", "N", "how many", 0, 'p'},
    [CONFIG] = {"config", "key=value", "a setting", 0, 0},
    [LIST] = {"list", NULL, "list them", 0, 0},
    [OUTPUT] = {"output", "json", "the form", OPT_OURS, 'o'},
    [STATE] = {"state", "states", "which", OPT_OPTIONAL, 0},
};

static const struct opts_def def = {"about", specs, ARRAY_LEN(specs)};

static struct opts o;
static struct strbuf why;

static int parse(bool as_kafka, int argc, const char *const *argv)
{
    static struct invocation inv;

    inv = (struct invocation){"klamm test", as_kafka, argc, (char **)(uintptr_t)argv};
    opts_deinit(&o);
    strbuf_reset(&why);
    return opts_parse(&o, &def, &inv, &why);
}

#define PARSE(as_kafka, ...)                                                                       \
    ({                                                                                             \
        const char *const words_[] = {__VA_ARGS__};                                                \
        parse(as_kafka, (int)ARRAY_LEN(words_), words_);                                           \
    })

static const char *text(int id)
{
    const char *value = "unset";

    ck_assert_int_eq(opts_text(&o, id, &value, &why), 0);
    return value;
}

START_TEST(value_stands_behind_a_blank_or_an_equals_sign)
{
    ck_assert_int_eq(PARSE(true, "--topic", "a", "--partitions=3", "--list"), 0);
    ck_assert_str_eq(text(TOPIC), "a");
    ck_assert_str_eq(text(PARTITIONS), "3");
    ck_assert(opts_has(&o, LIST));
    ck_assert(!opts_has(&o, CONFIG));
    ck_assert_ptr_null(text(CONFIG));
}
END_TEST

START_TEST(one_dash_is_enough)
{
    ck_assert_int_eq(PARSE(true, "-topic", "a", "-list"), 0);
    ck_assert_str_eq(text(TOPIC), "a");
    ck_assert(opts_has(&o, LIST));
}
END_TEST

START_TEST(value_may_look_like_a_flag)
{
    ck_assert_int_eq(PARSE(true, "--topic", "--list"), 0);
    ck_assert_str_eq(text(TOPIC), "--list");
    ck_assert(!opts_has(&o, LIST));
}
END_TEST

START_TEST(value_may_be_empty_and_hold_equals_signs)
{
    ck_assert_int_eq(PARSE(true, "--topic=", "--config=a=b=c"), 0);
    ck_assert_str_eq(text(TOPIC), "");
    ck_assert_str_eq(text(CONFIG), "a=b=c");
}
END_TEST

START_TEST(flag_without_value_ignores_one)
{
    ck_assert_int_eq(PARSE(true, "--list=yes"), 0);
    ck_assert(opts_has(&o, LIST));
    ck_assert_ptr_null(opts_nth(&o, LIST, 0));
}
END_TEST

START_TEST(optional_value_is_the_next_word_that_is_no_flag)
{
    ck_assert_int_eq(PARSE(true, "--state", "stable", "--list"), 0);
    ck_assert_str_eq(text(STATE), "stable");
    ck_assert_int_eq(PARSE(true, "--state", "--list"), 0);
    ck_assert(opts_has(&o, STATE) && opts_has(&o, LIST));
    ck_assert_ptr_null(text(STATE));
    ck_assert_int_eq(PARSE(true, "--list", "--state"), 0);
    ck_assert(opts_has(&o, STATE));
    ck_assert_int_eq(PARSE(true, "--state=", "a"), 0);
    ck_assert_str_eq(text(STATE), "");
    ck_assert_int_eq(PARSE(true, "--state", "-"), 0);
    ck_assert_str_eq(text(STATE), "-");
}
END_TEST

START_TEST(words_and_what_follows_two_dashes_are_kept_apart)
{
    ck_assert_int_eq(PARSE(true, "one", "-", "--", "--list"), 0);
    ck_assert_int_eq(opts_count(&o, -1), 3);
    ck_assert_str_eq(opts_nth(&o, -1, 1), "-");
    ck_assert_str_eq(opts_nth(&o, -1, 2), "--list");
    ck_assert_ptr_null(opts_nth(&o, -1, 3));
}
END_TEST

START_TEST(abbreviation_is_refused)
{
    ck_assert_int_eq(PARSE(true, "--lis"), -EINVAL);
    ck_assert_str_eq(why.s, "lis is not a recognized option");
}
END_TEST

START_TEST(missing_value_is_refused)
{
    ck_assert_int_eq(PARSE(true, "--topic"), -EINVAL);
    ck_assert_str_eq(why.s, "Option topic requires an argument");
}
END_TEST

START_TEST(our_own_flags_are_unknown_to_kafkas_tool)
{
    ck_assert_int_eq(PARSE(true, "--output", "json"), -EINVAL);
    ck_assert_int_eq(PARSE(true, "-t", "a"), -EINVAL);
    ck_assert_int_eq(PARSE(false, "--output", "json", "-t", "a"), 0);
    ck_assert_str_eq(text(OUTPUT), "json");
    ck_assert_str_eq(text(TOPIC), "a");
}
END_TEST

START_TEST(letter_takes_its_value_in_the_same_word)
{
    ck_assert_int_eq(PARSE(false, "-p3"), 0);
    ck_assert_str_eq(text(PARTITIONS), "3");
}
END_TEST

START_TEST(unknown_flag_of_ours_is_answered_with_the_nearest)
{
    ck_assert_int_eq(PARSE(false, "--partitoins", "1"), -EINVAL);
    ck_assert_str_eq(why.s, "partitoins is not a recognized option; did you mean --partitions?");
    ck_assert_int_eq(PARSE(false, "--zzz"), -EINVAL);
    ck_assert_str_eq(why.s, "zzz is not a recognized option");
}
END_TEST

START_TEST(repeated_flag_is_refused_where_one_is_wanted)
{
    const char *value;

    ck_assert_int_eq(PARSE(true, "--config", "a=1", "--config", "b=2"), 0);
    ck_assert_int_eq(opts_count(&o, CONFIG), 2);
    ck_assert_str_eq(opts_nth(&o, CONFIG, 1), "b=2");
    ck_assert_int_eq(opts_text(&o, CONFIG, &value, &why), -EINVAL);
    ck_assert_str_eq(why.s,
                     "Found multiple arguments for option config, but you asked for only one");
}
END_TEST

START_TEST(number_is_checked_when_it_is_asked_for)
{
    int32_t n = 7;

    ck_assert_int_eq(PARSE(true, "--partitions", "abc"), 0);
    ck_assert_int_eq(opts_i32(&o, PARTITIONS, &n, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Cannot parse argument 'abc' of option partitions");
    ck_assert_int_eq(PARSE(true, "--partitions", "2147483648"), 0);
    ck_assert_int_eq(opts_i32(&o, PARTITIONS, &n, &why), -EINVAL);
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(PARSE(true, "--list"), 0);
    ck_assert_int_eq(opts_i32(&o, PARTITIONS, &n, &why), 0);
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(PARSE(true, "--partitions", "-5"), 0);
    ck_assert_int_eq(opts_i32(&o, PARTITIONS, &n, &why), 0);
    ck_assert_int_eq(n, -5);
}
END_TEST

START_TEST(required_and_excluded_flags_are_named_in_brackets)
{
    static const int others[] = {CONFIG, LIST, -1};

    ck_assert_int_eq(PARSE(true, "--list", "--partitions", "1"), 0);
    ck_assert_int_eq(opts_require(&o, LIST, &why), 0);
    ck_assert_int_eq(opts_require(&o, TOPIC, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Missing required argument \"[topic]\"");
    strbuf_reset(&why);
    ck_assert_int_eq(opts_exclude(&o, TOPIC, others, &why), 0);
    ck_assert_int_eq(opts_exclude(&o, PARTITIONS, others, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Option \"[partitions]\" can't be used with option \"[list]\"");
}
END_TEST

static char *help(bool as_kafka)
{
    const struct invocation inv = {"klamm test", as_kafka, 0, NULL};
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    opts_help(&def, &inv, f);
    fclose(f);
    return out;
}

START_TEST(help_is_sorted_and_aligned)
{
    char *ours = help(false), *kafkas = help(true);

    ck_assert_str_eq(ours, "klamm test - about\n\n"
                           "--config <key=value>  a setting\n"
                           "--list                list them\n"
                           "-o, --output <json>   the form\n"
                           "-p, --partitions <N>  how many\n"
                           "--state [states]      which\n"
                           "-t, --topic <name>    a topic\n");
    ck_assert_ptr_nonnull(strstr(kafkas, "Option                Description\n"));
    ck_assert_ptr_null(strstr(kafkas, "--output"));
    free(ours);
    free(kafkas);
}
END_TEST

START_TEST(the_flag_at_fault_is_named)
{
    ck_assert_int_eq(PARSE(false, "--topic", "["), 0);
    strbuf_addz(&why, "no expression");
    ck_assert_int_eq(opts_blame(&o, TOPIC, -EINVAL, &why), -EINVAL);
    ck_assert_str_eq(why.s, "no expression (--topic [)");
    ck_assert_int_eq(PARSE(true, "--topic", "["), 0);
    strbuf_addz(&why, "no expression");
    ck_assert_int_eq(opts_blame(&o, TOPIC, -EINVAL, &why), -EINVAL);
    ck_assert_str_eq(why.s, "no expression"); /* the words are Kafka's */
}
END_TEST

START_TEST(only_the_table_of_flags_is_wanted)
{
    struct tool_flags flags = {0};
    const struct invocation inv = {.program = "klamm test", .wanted = &flags};

    opts_deinit(&o);
    strbuf_reset(&why);
    ck_assert_int_eq(opts_parse(&o, &def, &inv, &why), -ECANCELED);
    ck_assert_ptr_eq(flags.specs, specs);
}
END_TEST

TEST_MAIN("tools/base/opts", value_stands_behind_a_blank_or_an_equals_sign, one_dash_is_enough,
          value_may_look_like_a_flag, value_may_be_empty_and_hold_equals_signs,
          optional_value_is_the_next_word_that_is_no_flag, flag_without_value_ignores_one,
          words_and_what_follows_two_dashes_are_kept_apart, abbreviation_is_refused,
          missing_value_is_refused, our_own_flags_are_unknown_to_kafkas_tool,
          letter_takes_its_value_in_the_same_word,
          unknown_flag_of_ours_is_answered_with_the_nearest,
          repeated_flag_is_refused_where_one_is_wanted, number_is_checked_when_it_is_asked_for,
          required_and_excluded_flags_are_named_in_brackets, help_is_sorted_and_aligned,
          the_flag_at_fault_is_named, only_the_table_of_flags_is_wanted)
