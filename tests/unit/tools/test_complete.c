#include "tools/complete.h"

#include "tests/support/test_main.h"

enum { BOOTSTRAP, TOPIC, OUTPUT, OLD };

static const struct opt_spec specs[] = {
    [BOOTSTRAP] = {"bootstrap-server", "host:port", "where", 0, 'b'},
    [TOPIC] = {"topic", "name", "which", 0, 't'},
    [OUTPUT] = {"output", "table|json", "how", OPT_OURS, 'o'},
    [OLD] = {"old", NULL, "for scripts", OPT_KAFKAS, 0},
};
static const struct opt_spec drop_specs[] = {{"id", "N", "Which.", OPT_REQUIRED, 0}};
static const struct args_command commands[] = {{"describe", {"Says.", NULL, 0}},
                                               {"drop", {"Drops.", drop_specs, 1}}};
static const struct args_def args_def = {"kafka-things", {"about", specs, 2}, commands, 2};

static struct complete_found found;

/* The words that could be typed, with a blank behind each. */
static const char *words(bool as_kafka, const void *args, int argc, const char *const *argv)
{
    static char ret[256];
    struct str rest, line, word;
    const struct complete_line q = {
        .flags = {args ? NULL : specs, args ? 0 : ARRAY_LEN(specs), args},
        .as_kafka = as_kafka,
        .argc = argc,
        .argv = (char *const *)(uintptr_t)argv};

    complete_found_deinit(&found);
    found = (struct complete_found){0};
    complete_find(&q, &found);
    rest = strbuf_str(&found.text);
    ret[0] = '\0';
    while (str_split(&rest, '\n', &line)) {
        str_split(&line, '\t', &word);
        if (word.len)
            snprintf(ret + strlen(ret), sizeof ret - strlen(ret), "%.*s ", STR_ARG(word));
    }
    return ret;
}

#define WORDS(as_kafka, args, ...)                                                                 \
    ({                                                                                             \
        const char *const words_[] = {__VA_ARGS__};                                                \
        words(as_kafka, args, (int)ARRAY_LEN(words_), words_);                                     \
    })

START_TEST(flags)
{
    ck_assert_str_eq(WORDS(false, NULL, ""), "--bootstrap-server --topic --output ");
    ck_assert_str_eq(WORDS(true, NULL, "--"), "--bootstrap-server --topic --old ");
    ck_assert_str_eq(WORDS(false, NULL, "--topic", "x", "--to"), "--topic ");
    ck_assert_str_eq(WORDS(false, NULL, "word"), "");
}
END_TEST

START_TEST(values)
{
    ck_assert_str_eq(WORDS(false, NULL, "-o", ""), "table json ");
    ck_assert_str_eq(WORDS(false, NULL, "--output", "j"), "json ");
    ck_assert_str_eq(WORDS(false, NULL, "--output=j"), "--output=json ");
    ck_assert_str_eq(WORDS(false, NULL, "-b", "h:1", "--topic", "a"), "");
    ck_assert_int_eq(found.names, COMPLETE_TOPICS);
    ck_assert_str_eq(found.bootstrap, "h:1");
    ck_assert(str_eqz(found.start, "a"));
    ck_assert_str_eq(WORDS(false, NULL, "--topic=b"), "");
    ck_assert_int_eq(found.names, COMPLETE_TOPICS);
    ck_assert(str_eqz(found.before, "--topic="));
    ck_assert_ptr_null(found.bootstrap);
}
END_TEST

START_TEST(tools_with_commands)
{
    ck_assert_str_eq(WORDS(true, &args_def, "d"), "describe drop ");
    ck_assert_str_eq(WORDS(true, &args_def, "-b", "drop", "--"), "--bootstrap-server --topic ");
    ck_assert_str_eq(WORDS(true, &args_def, "-b", "h:1", "drop", "--"), "--id ");
    ck_assert_str_eq(WORDS(false, &args_def, "drop", "--"), "--id --bootstrap-server --topic ");
    ck_assert_str_eq(WORDS(true, &args_def, "drop", "--id", ""), "");
    complete_found_deinit(&found);
}
END_TEST

TEST_MAIN("tools/complete", flags, values, tools_with_commands)
