#include "zk/node_config.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

START_TEST(overrides_read_and_write_the_same_text)
{
    const char *text = "{\"version\":1,\"config\":{\"k\":\"v\",\"retention.ms\":\"-1\"}}";
    struct node_config c;

    ck_assert_int_eq(node_config_decode(bytes(text), &a, &why, &c), 0);
    ck_assert_int_eq(c.count, 2);
    ck_assert(str_eqz(node_config_get(&c, "retention.ms"), "-1"));
    ck_assert(str_is_null(node_config_get(&c, "x")));
    ck_text(node_config_encode(&a, &c), text);
}
END_TEST

START_TEST(what_is_no_config_is_no_overrides)
{
    static const char *const texts[] = {"", "x", "[]", "7", "{}", "{\"version\":1}"};
    struct node_config c;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        ck_assert_int_eq(node_config_decode(bytes(texts[i]), &a, &why, &c), 0);
        ck_assert_int_eq(c.is_unreadable, texts[i][0] != '{' && texts[i][0] != '\0');
        ck_assert_int_eq(c.count, 0);
    }
    ck_assert_int_eq(node_config_decode((struct slice){0}, &a, &why, &c), 0);
}
END_TEST

START_TEST(values_must_be_texts)
{
    struct node_config c;

    ck_assert_int_eq(node_config_decode(bytes("{\"config\":{\"k\":1}}"), &a, &why, &c), -EBADMSG);
    ck_assert(strstr(why.text, "\"k\""));
    ck_assert_int_eq(node_config_decode(bytes("{\"config\":[]}"), &a, &why, &c), -EBADMSG);
}
END_TEST

START_TEST(names_are_sanitised_as_kafka_does)
{
    struct str back;

    ck_assert(str_eqz(node_sanitize(&a, STR("<default>")), "<default>"));
    ck_assert(
        str_eqz(node_sanitize(&a, STR("a b*c/d+~\xc3\xa9.-_9")), "a%20b%2Ac%2Fd%2B%7E%C3%A9.-_9"));
    ck_assert_int_eq(node_desanitize(&a, STR("a%20b%2Ac+d%C3%A9"), &back), 0);
    ck_assert(str_eqz(back, "a b*c d\xc3\xa9"));
    ck_assert_int_eq(node_desanitize(&a, STR("a%2"), &back), -EINVAL);
    ck_assert_int_eq(node_desanitize(&a, STR("a%zz"), &back), -EINVAL);
    ck_assert_int_eq(node_desanitize(&a, STR("%"), &back), -EINVAL);
}
END_TEST

START_TEST(change_notification_splits_at_the_first_slash)
{
    struct node_config_change c;

    ck_assert_int_eq(
        node_config_change_decode(bytes("{\"version\":2,\"entity_path\":\"users/u/clients/c\"}"),
                                  &a, &why, &c),
        0);
    ck_assert(str_eqz(c.type, "users"));
    ck_assert(str_eqz(c.name, "u/clients/c"));
    ck_text(node_config_change_encode(&a, &c),
            "{\"version\":2,\"entity_path\":\"users/u/clients/c\"}");
}
END_TEST

START_TEST(version_1_notification_is_read)
{
    struct node_config_change c;

    ck_assert_int_eq(node_config_change_decode(
                         bytes("{\"version\":1,\"entity_type\":\"topics\",\"entity_name\":\"t\"}"),
                         &a, &why, &c),
                     0);
    ck_assert(str_eqz(c.type, "topics"));
    ck_assert(str_eqz(c.name, "t"));
}
END_TEST

START_TEST(bad_notifications_are_told_from_foreign_ones)
{
    static const char *const bad[] = {
        "{}",
        "{\"version\":3,\"entity_path\":\"topics/t\"}",
        "{\"version\":2,\"entity_path\":\"topics\"}",
        "{\"version\":2,\"entity_path\":\"topics/\"}",
        "{\"version\":2,\"entity_path\":\"planets/t\"}",
        "{\"version\":1,\"entity_type\":\"users\",\"entity_name\":\"t\"}",
        "{\"version\":1,\"entity_type\":\"topics\",\"entity_name\":\"\"}",
    };
    struct node_config_change c;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(node_config_change_decode(bytes(bad[i]), &a, &why, &c), -EBADMSG);
    ck_assert_int_eq(node_config_change_decode(bytes("plain text"), &a, &why, &c), -ENODATA);
}
END_TEST

TEST_MAIN("zk/node_config", overrides_read_and_write_the_same_text,
          what_is_no_config_is_no_overrides, values_must_be_texts,
          names_are_sanitised_as_kafka_does, change_notification_splits_at_the_first_slash,
          version_1_notification_is_read, bad_notifications_are_told_from_foreign_ones)
