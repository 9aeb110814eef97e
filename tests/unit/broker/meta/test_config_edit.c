#include "broker/meta/config_edit.h"

#include "common/base/err.h"
#include "tests/support/test_main.h"

static const struct conf_option options[] = {
    {.key = "list", .type = CONF_LIST, .default_text = "delete", .at = -1},
    {.key = "empty", .type = CONF_LIST, .default_text = "", .at = -1},
    {.key = "number", .type = CONF_INT, .default_text = "1", .at = -1},
};

static const struct config_keys keys = {options, ARRAY_LEN(options)};

static int16_t edit(struct props *p, int8_t op, const char *key, const char *value)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct config_edit e = {.key = str_of(key), .value = str_of(value), .op = op};
    struct str message = STR_NULL;

    return config_edit_apply(&e, keys, p, &a, &message);
}

START_TEST(values_are_set_and_deleted)
{
    CLEANUP(props_deinit) struct props p = {0};

    ck_assert_int_eq(edit(&p, CONFIG_OP_SET, "anything", "x"), NONE);
    ck_assert_str_eq(props_get(&p, "anything"), "x");
    ck_assert_int_eq(edit(&p, CONFIG_OP_DELETE, "anything", NULL), NONE);
    ck_assert_int_eq(edit(&p, CONFIG_OP_DELETE, "anything", NULL), NONE);
    ck_assert_uint_eq(p.count, 0);
}
END_TEST

START_TEST(lists_grow_from_their_default_and_hold_nothing_twice)
{
    CLEANUP(props_deinit) struct props p = {0};

    ck_assert_int_eq(edit(&p, CONFIG_OP_APPEND, "list", "compact,delete"), NONE);
    ck_assert_str_eq(props_get(&p, "list"), "delete,compact");
    ck_assert_int_eq(edit(&p, CONFIG_OP_APPEND, "empty", "a,,"), NONE);
    ck_assert_str_eq(props_get(&p, "empty"), "a");
}
END_TEST

START_TEST(lists_shrink_to_nothing)
{
    CLEANUP(props_deinit) struct props p = {0};

    ck_assert_int_eq(edit(&p, CONFIG_OP_SUBTRACT, "list", "other"), NONE);
    ck_assert_str_eq(props_get(&p, "list"), "delete");
    ck_assert_int_eq(edit(&p, CONFIG_OP_SUBTRACT, "list", "delete"), NONE);
    ck_assert_str_eq(props_get(&p, "list"), "");
}
END_TEST

START_TEST(only_lists_can_be_appended_to)
{
    CLEANUP(props_deinit) struct props p = {0};

    ck_assert_int_eq(edit(&p, CONFIG_OP_APPEND, "number", "2"), INVALID_CONFIG);
    ck_assert_int_eq(edit(&p, CONFIG_OP_SUBTRACT, "number", "2"), INVALID_CONFIG);
    ck_assert_int_eq(edit(&p, CONFIG_OP_APPEND, "unknown", "2"), UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(edit(&p, 7, "list", "2"), UNKNOWN_SERVER_ERROR);
    ck_assert_uint_eq(p.count, 0);
}
END_TEST

TEST_MAIN("broker/meta/config_edit", values_are_set_and_deleted,
          lists_grow_from_their_default_and_hold_nothing_twice, lists_shrink_to_nothing,
          only_lists_can_be_appended_to)
