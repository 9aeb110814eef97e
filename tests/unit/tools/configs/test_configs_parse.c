#include "tools/configs/configs.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct props props;
static struct strbuf why;

/* "k=v|k=v" of what was read, or the reason. */
static const char *added(const char *given)
{
    static struct strbuf out;

    props_deinit(&props);
    strbuf_reset(&why);
    strbuf_reset(&out);
    if (configs_parse_add(given, &props, &why) < 0)
        return "refused";
    for (size_t i = 0; i < props.count; i++)
        strbuf_addf(&out, "%s%s=%s", i ? "|" : "", props.v[i].key, props.v[i].value);
    return out.len ? out.s : "";
}

START_TEST(commas_part_settings)
{
    ck_assert_str_eq(added("a=b"), "a=b");
    ck_assert_str_eq(added("a=b,c=d"), "a=b|c=d");
    ck_assert_str_eq(added(" a = b , c= d "), "a=b|c=d");
    ck_assert_str_eq(added("a=b,a=c"), "a=c");
    ck_assert_str_eq(added("a="), "a=");
    ck_assert_str_eq(added("=5"), "=5");
    ck_assert_str_eq(added("a=b,,"), "a=b");
    ck_assert_str_eq(added(",,"), "");
}
END_TEST

START_TEST(brackets_hold_a_value_together)
{
    ck_assert_str_eq(added("a=[b,c]"), "a=b,c");
    ck_assert_str_eq(added("a=[b,c],d=[e]"), "a=b,c|d=e");
    ck_assert_str_eq(added("a=[ b , c ]"), "a=b , c");
    ck_assert_str_eq(added("S=[iterations=8192,password=x=y]"), "S=iterations=8192,password=x=y");
    ck_assert_str_eq(added("a=[],b=c"), "a=|b=c");
    ck_assert_str_eq(added("a=[[b,c]"), "a=b,c");
}
END_TEST

START_TEST(what_is_no_pair_is_refused)
{
    static const char *const bad[] = {"",     "a",        "a=b=c", "a=[b,c",    "a=b]",
                                      ",a=b", "a=b,,c=d", "a=b,c", "[a=b],c=d", " "};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(strcmp(added(bad[i]), "refused") == 0, "%s gives %s", bad[i], added(bad[i]));
    ck_assert_str_eq(why.s, "requirement failed: Invalid entity config: all configs to be added "
                            "must be in the format \"key=val\".");
}
END_TEST

START_TEST(keys_have_few_characters)
{
    ck_assert_str_eq(added("a.B_c-9=x"), "a.B_c-9=x");
    ck_assert_int_eq(configs_check_keys(&props, &why), 0);
    added("a$=x");
    ck_assert_int_eq(configs_check_keys(&props, &why), -EINVAL);
    ck_assert_str_eq(why.s, "Invalid character found for config key: a$");
    added("\xc3\xa4=x");
    ck_assert_int_eq(configs_check_keys(&props, &why), -EINVAL);
}
END_TEST

/* ---- command lines ---- */

static const struct opt_spec specs[] = {
    [CONFIGS_TYPE] = {"entity-type", "x"},
    [CONFIGS_NAME] = {"entity-name", "x"},
    [CONFIGS_DEFAULT] = {"entity-default"},
    [CONFIGS_TOPIC] = {"topic", "x"},
    [CONFIGS_CLIENT] = {"client", "x"},
    [CONFIGS_USER] = {"user", "x"},
    [CONFIGS_BROKER] = {"broker", "x"},
    [CONFIGS_USER_DEFAULTS] = {"user-defaults"},
    [CONFIGS_CLIENT_DEFAULTS] = {"client-defaults"},
    [CONFIGS_DELETE] = {"delete-config", "x"},
};
static const char *const unnamed = "-"; /* of the gaps in the table */

static struct arena arena;

#define PARSE(o, ...)                                                                              \
    const char *words_[] = {__VA_ARGS__};                                                          \
    const struct invocation inv_ = {"kafka-configs", true, ARRAY_LEN(words_), (char **)words_};    \
    struct opt_spec all_[ARRAY_LEN(specs)];                                                        \
    for (size_t i_ = 0; i_ < ARRAY_LEN(specs); i_++) {                                             \
        all_[i_] = specs[i_];                                                                      \
        all_[i_].name = specs[i_].name ? specs[i_].name : unnamed;                                 \
    }                                                                                              \
    const struct opts_def def_ = {"", all_, ARRAY_LEN(all_)};                                      \
    CLEANUP(opts_deinit) struct opts o = {0};                                                      \
    ck_assert_int_eq(opts_parse(&o, &def_, &inv_, &why), 0)

static const char *joined(const struct texts *t)
{
    static struct strbuf out[2];
    static int which;
    struct strbuf *sb = &out[which++ % 2];

    strbuf_reset(sb);
    strbuf_addz(sb, "<");
    texts_join(t, ">,<", sb);
    strbuf_addz(sb, ">");
    return sb->s;
}

START_TEST(deleted_keys_are_trimmed_and_never_empty)
{
    struct texts drop;
    PARSE(o, "--delete-config", " a ,, b", "--delete-config", "c");

    configs_parse_drop(&o, &arena, &drop);
    ck_assert_str_eq(joined(&drop), "<a>,<b>,<c>");
}
END_TEST

START_TEST(a_text_of_commas_is_one_key)
{
    struct texts drop;
    PARSE(o, "--delete-config", ",,", "--delete-config", "");

    configs_parse_drop(&o, &arena, &drop);
    ck_assert_str_eq(joined(&drop), "<,,>,<>");
}
END_TEST

START_TEST(entities_stand_in_the_order_of_the_line)
{
    struct texts types, names;
    PARSE(o, "--entity-type", "clients", "--entity-default", "--entity-type", "users",
          "--entity-name", "u");

    configs_entity_types(&o, &arena, &types);
    ck_assert_int_eq(configs_entity_names(&o, &arena, &names, &why), 0);
    ck_assert_str_eq(joined(&types), "<clients>,<users>");
    ck_assert_str_eq(joined(&names), "<>,<u>");
}
END_TEST

START_TEST(shortcuts_stand_in_kafkas_order)
{
    struct texts types, names;
    PARSE(o, "--client-defaults", "--broker", "7", "--user", "u", "--topic", "t");

    configs_entity_types(&o, &arena, &types);
    ck_assert_int_eq(configs_entity_names(&o, &arena, &names, &why), 0);
    ck_assert_str_eq(joined(&types), "<topics>,<users>,<brokers>,<clients>");
    ck_assert_str_eq(joined(&names), "<t>,<u>,<7>,<>");
}
END_TEST

START_TEST(a_shortcut_stands_once)
{
    struct texts names;
    PARSE(o, "--topic", "a", "--topic", "b");

    ck_assert_int_eq(configs_entity_names(&o, &arena, &names, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "Found multiple arguments for option topic"));
}
END_TEST

START_TEST(texts_are_told_apart)
{
    struct texts list = {(const char *[]){"a", "b", "c"}, 3}, known = {(const char *[]){"b"}, 1};
    struct texts in = texts_filter(&arena, &list, &known, true);
    struct texts out = texts_filter(&arena, &list, &known, false);

    ck_assert_str_eq(joined(&in), "<b>");
    ck_assert_str_eq(joined(&out), "<a>,<c>");
}
END_TEST

TEST_MAIN("tools/configs/configs_parse", commas_part_settings, brackets_hold_a_value_together,
          what_is_no_pair_is_refused, keys_have_few_characters,
          deleted_keys_are_trimmed_and_never_empty, a_text_of_commas_is_one_key,
          entities_stand_in_the_order_of_the_line, shortcuts_stand_in_kafkas_order,
          a_shortcut_stands_once, texts_are_told_apart)
