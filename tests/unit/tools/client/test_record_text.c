#include "tools/client/record_text.h"

#include "tests/support/test_main.h"

static struct record_text record(void)
{
    static const struct record_header headers[] = {{"h", {"1", 1}}, {"n", {NULL, 0}}};

    return (struct record_text){.topic = "t",
                                .partition = 3,
                                .offset = 42,
                                .timestamp_ms = 1000,
                                .key = STR("k"),
                                .value = STR("v\xc3\xa9"),
                                .headers = headers,
                                .header_count = 2};
}

static char *format(const char *text, const struct record_text *rec)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0}, why = {0};
    size_t len = 0;
    char *f = record_format(text, &len, &why);

    ck_assert_msg(f != NULL, "%s", why.s);
    record_print(&out, (struct str){f, len}, rec);
    free(f);
    return strbuf_detach(&out);
}

START_TEST(every_field_of_a_format)
{
    const struct record_text rec = record();
    char *out = format("%t-%p@%o %T %k=%s (%K,%S) [%h] %%\\t\\\\\\n", &rec);

    ck_assert_str_eq(out, "t-3@42 1000 k=v\xc3\xa9 (1,3) [h=1,n=] %\t\\\n");
    free(out);
}
END_TEST

START_TEST(nulls_print_as_nothing_with_length_minus_one)
{
    struct record_text rec = record();

    rec.key = rec.value = STR_NULL;
    char *out = format("<%k%s>%K%S", &rec);
    ck_assert_str_eq(out, "<>-1-1");
    free(out);
}
END_TEST

START_TEST(unknown_letters_of_a_format_are_refused)
{
    static const char *const bad[] = {"%q", "%", "\\q", "\\"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(strbuf_deinit) struct strbuf why = {0};
        size_t len;
        ck_assert_ptr_null(record_format(bad[i], &len, &why));
        ck_assert_ptr_nonnull(strstr(why.s, "means nothing"));
    }
}
END_TEST

START_TEST(json_holds_every_field)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct record_text rec = record();

    record_print_json(&out, &rec);
    ck_assert_str_eq(out.s, "{\"topic\":\"t\",\"partition\":3,\"offset\":42,\"timestamp\":1000,"
                            "\"key\":\"k\",\"value\":\"v\xc3\xa9\","
                            "\"headers\":[[\"h\",\"1\"],[\"n\",null]]}\n");
}
END_TEST

START_TEST(json_shows_what_is_no_text_in_base64)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct record_text rec = {.topic = "t", .timestamp_ms = -1, .value = STR("\xff\x00")};

    record_print_json(&out, &rec);
    ck_assert_str_eq(out.s, "{\"topic\":\"t\",\"partition\":0,\"offset\":0,\"timestamp\":null,"
                            "\"key\":null,\"value\":{\"base64\":\"/wA=\"}}\n");
}
END_TEST

TEST_MAIN("tools/client/record_text", every_field_of_a_format,
          nulls_print_as_nothing_with_length_minus_one, unknown_letters_of_a_format_are_refused,
          json_holds_every_field, json_shows_what_is_no_text_in_base64)
