#include "tools/client/source.h"

#include "tests/support/test_main.h"
#include "tools/client/line_format.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct strbuf why;

/* A descriptor from which text is read. */
static int fd_of(const char *text)
{
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fflush(f);
    int fd = dup(fileno(f));
    fclose(f);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static struct source *source_of(enum source_kind kind, const char *text, const char *separator)
{
    const struct source_opts opts = {.kind = kind,
                                     .fd = fd_of(text),
                                     .key_separator = separator,
                                     .null_marker = "NIL",
                                     .count = UINT64_MAX};

    strbuf_reset(&why);
    return source_new(&opts);
}

static void expect(struct source *s, const char *key, const char *value)
{
    struct source_record rec;

    ck_assert_int_eq(source_next(s, &rec, &why), 1);
    ck_assert_msg(str_eq(rec.key, str_of(key)), "key %.*s", STR_ARG(rec.key));
    ck_assert_msg(str_eq(rec.value, str_of(value)), "value %.*s", STR_ARG(rec.value));
}

static void expect_end(struct source *s)
{
    struct source_record rec;

    ck_assert_int_eq(source_next(s, &rec, &why), 0);
    ck_assert_int_eq(source_next(s, &rec, &why), 0);
    source_free(s);
}

static void expect_refused(struct source *s, const char *part)
{
    struct source_record rec;

    ck_assert_int_eq(source_next(s, &rec, &why), -EINVAL);
    ck_assert_msg(strstr(why.s, part) != NULL, "%s", why.s);
    source_free(s);
}

START_TEST(lines_with_empty_ones_and_without_the_last_line_feed)
{
    struct source *s = source_of(SOURCE_LINES, "a\n\nbc", NULL);

    expect(s, NULL, "a");
    expect(s, NULL, "");
    expect(s, NULL, "bc");
    expect_end(s);
    expect_end(source_of(SOURCE_LINES, "", NULL));
}
END_TEST

START_TEST(line_longer_than_a_read)
{
    char *text = malloc(1 << 20);

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', (1 << 20) - 1);
    text[(1 << 20) - 1] = '\0';
    struct source *s = source_of(SOURCE_LINES, text, NULL);
    expect(s, NULL, text);
    expect_end(s);
    free(text);
}
END_TEST

START_TEST(key_ends_at_the_first_separator)
{
    struct source *s = source_of(SOURCE_LINES, "k::v::w\n::v\nNIL::NIL\n", "::");

    expect(s, "k", "v::w");
    expect(s, "", "v");
    expect(s, NULL, NULL);
    expect_end(s);
    expect_refused(source_of(SOURCE_LINES, "no key\n", ":"), "line 1 has no key");
}
END_TEST

START_TEST(formatted_lines_end_as_java_has_it)
{
    struct source_opts opts = {.kind = SOURCE_FORMATTED, .count = UINT64_MAX};
    const struct props none = {0};

    ck_assert_int_eq(line_format_new(&none, &opts.format, &why), 0);
    opts.fd = fd_of("a\r\nb\r\rc\n\nd");
    struct source *s = source_new(&opts);
    expect(s, NULL, "a");
    expect(s, NULL, "b");
    expect(s, NULL, "");
    expect(s, NULL, "c");
    expect(s, NULL, "");
    expect(s, NULL, "d");
    expect_end(s);
    opts.fd = fd_of("a\r\n");
    s = source_new(&opts);
    expect(s, NULL, "a");
    expect_end(s);
    line_format_free(opts.format);
}
END_TEST

START_TEST(json_takes_text_nulls_bytes_and_values)
{
    struct source *s = source_of(SOURCE_JSON,
                                 "{\"key\":\"k\",\"value\":{\"a\":[1]}}\n"
                                 "{\"value\":{\"base64\":\"YWI=\"}}\n"
                                 "{\"value\":null}\n{\"value\":5}\n",
                                 NULL);

    expect(s, "k", "{\"a\":[1]}");
    expect(s, NULL, "ab");
    expect(s, NULL, NULL);
    expect(s, NULL, "5");
    expect_end(s);
}
END_TEST

START_TEST(json_headers_are_an_object_or_pairs)
{
    struct source *s = source_of(SOURCE_JSON,
                                 "{\"headers\":{\"a\":\"1\"},\"partition\":2,\"timestamp\":9}\n"
                                 "{\"headers\":[[\"b\",null],[\"b\",\"2\"]]}\n",
                                 NULL);
    struct source_record rec;

    ck_assert_int_eq(source_next(s, &rec, &why), 1);
    ck_assert_int_eq(rec.header_count, 1);
    ck_assert(str_eqz(rec.headers[0].name, "a") && str_eqz(rec.headers[0].value, "1"));
    ck_assert_int_eq(rec.partition, 2);
    ck_assert_int_eq(rec.timestamp_ms, 9);
    ck_assert_int_eq(source_next(s, &rec, &why), 1);
    ck_assert_int_eq(rec.header_count, 2);
    ck_assert(str_is_null(rec.headers[0].value) && str_eqz(rec.headers[1].value, "2"));
    ck_assert_int_eq(rec.partition, -1);
    expect_end(s);
}
END_TEST

START_TEST(json_that_is_no_record_is_refused_with_its_line)
{
    expect_refused(source_of(SOURCE_JSON, "[1]\n", NULL), "line 1 is no JSON object");
    expect_refused(source_of(SOURCE_JSON, "{\n", NULL), "line 1 is no JSON object");
    expect_refused(source_of(SOURCE_JSON, "{\"headers\":5}\n", NULL), "headers is");
    expect_refused(source_of(SOURCE_JSON, "{\"headers\":[[\"a\"]]}\n", NULL), "headers is");
    expect_refused(source_of(SOURCE_JSON, "{\"partition\":\"x\"}\n", NULL), "are numbers");
    expect_refused(source_of(SOURCE_JSON, "{\"partition\":-7}\n", NULL), "are numbers");
}
END_TEST

START_TEST(generated_records_count_and_have_their_size)
{
    const struct source_opts opts = {.kind = SOURCE_GENERATED, .count = 11, .size = 4};
    struct source *s = source_new(&opts);

    expect(s, NULL, "0 xx");
    for (int i = 1; i < 10; i++) {
        struct source_record rec;
        ck_assert_int_eq(source_next(s, &rec, &why), 1);
    }
    expect(s, NULL, "10 x");
    expect_end(s);
}
END_TEST

START_TEST(generated_records_are_never_shorter_than_their_number)
{
    const struct source_opts opts = {.kind = SOURCE_GENERATED, .count = 1, .size = 0};
    struct source *s = source_new(&opts);

    expect(s, NULL, "0");
    expect_end(s);
}
END_TEST

TEST_MAIN("tools/client/source", lines_with_empty_ones_and_without_the_last_line_feed,
          line_longer_than_a_read, key_ends_at_the_first_separator,
          formatted_lines_end_as_java_has_it, json_takes_text_nulls_bytes_and_values,
          json_headers_are_an_object_or_pairs, json_that_is_no_record_is_refused_with_its_line,
          generated_records_count_and_have_their_size,
          generated_records_are_never_shorter_than_their_number)
