#include "tools/base/msg_json.h"

#include "tests/support/test_main.h"

static void check_text(const char *in, size_t len, const char *want)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    msg_json_text((struct str){in, len}, &sb);
    ck_assert_str_eq(sb.s, want);
}

START_TEST(text_is_escaped_as_jackson_does)
{
    check_text("plain", 5, "\"plain\"");
    check_text("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
    check_text("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
    check_text("\x01\x1f\x00x", 4, "\"\\u0001\\u001F\\u0000x\"");
    check_text("gr\xc3\xbc\x7f/", 6, "\"gr\xc3\xbc\x7f/\"");
    check_text(NULL, 0, "null");
    check_text("", 0, "\"\"");
}
END_TEST

START_TEST(names_are_camel_case_and_follow_the_version)
{
    CLEANUP(strbuf_deinit) struct strbuf v3 = {0}, v1 = {0};
    struct offset_commit_value v;

    msg_init(&offset_commit_value_desc, &v);
    v.offset = 5;
    v.metadata = STR("");
    v.commit_timestamp = 17;
    msg_json(&offset_commit_value_desc, 3, &v, NULL, &v3);
    ck_assert_str_eq(v3.s,
                     "{\"offset\":5,\"leaderEpoch\":-1,\"metadata\":\"\",\"commitTimestamp\":17}");
    msg_json(&offset_commit_value_desc, 1, &v, NULL, &v1);
    ck_assert_str_eq(
        v1.s, "{\"offset\":5,\"metadata\":\"\",\"commitTimestamp\":17,\"expireTimestamp\":-1}");
}
END_TEST

static bool shout(void *ctx UNUSED, const char *field, struct slice bytes UNUSED, struct strbuf *sb)
{
    if (strcmp(field, "assignment") != 0)
        return false;
    strbuf_addz(sb, "HERE");
    return true;
}

START_TEST(bytes_are_base64_unless_the_hook_takes_them)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    const struct msg_json_hook hook = {.bytes = shout};
    struct group_metadata_value_member member;
    struct group_metadata_value v;

    msg_init(&group_metadata_value_desc, &v);
    struct_init(&group_metadata_value_member_desc, &member);
    member.member_id = member.client_id = member.client_host = STR("m");
    member.subscription = slice_of("\0\1\2", 3);
    member.assignment = slice_of("x", 1);
    v.protocol_type = STR("");
    v.protocol = STR_NULL;
    v.members = &member;
    v.members_count = 1;
    msg_json(&group_metadata_value_desc, 0, &v, &hook, &sb);
    ck_assert_ptr_nonnull(strstr(sb.s, "\"subscription\":\"AAEC\",\"assignment\":HERE}"));
    ck_assert_ptr_nonnull(strstr(sb.s, "\"protocol\":null"));
}
END_TEST

TEST_MAIN("tools/base/msg_json", text_is_escaped_as_jackson_does,
          names_are_camel_case_and_follow_the_version, bytes_are_base64_unless_the_hook_takes_them)
