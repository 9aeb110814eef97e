#include "tools/client/line_format.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct strbuf why;
static struct source_record rec;

/* Properties: "key=value;key=value". */
static int make(const char *text, struct line_format **ret)
{
    struct props p = {0};
    struct str rest = str_of(text), pair;

    while (*text && str_split(&rest, ';', &pair)) {
        char *copy = str_dup(pair), *eq = strchr(copy, '=');
        *eq = '\0';
        props_set(&p, copy, eq + 1);
        free(copy);
    }
    strbuf_reset(&why);
    int r = line_format_new(&p, ret, &why);
    props_deinit(&p);
    return r;
}

static int split(const char *props, const char *line)
{
    struct line_format *f;

    ck_assert_int_eq(make(props, &f), 0);
    rec = (struct source_record){0};
    int r = line_format_split(f, str_of(line), 3, &rec, &why);
    line_format_free(f);
    return r;
}

static void expect(const char *props, const char *line, const char *key, const char *value)
{
    ck_assert_int_eq(split(props, line), 0);
    ck_assert_msg(str_eq(rec.key, str_of(key)), "key %.*s", STR_ARG(rec.key));
    ck_assert_msg(str_eq(rec.value, str_of(value)), "value %.*s", STR_ARG(rec.value));
}

static void expect_header(int i, const char *name, const char *value)
{
    ck_assert_int_gt(rec.header_count, i);
    ck_assert_msg(str_eqz(rec.headers[i].name, name), "%.*s", STR_ARG(rec.headers[i].name));
    ck_assert_msg(str_eq(rec.headers[i].value, str_of(value)), "%.*s",
                  STR_ARG(rec.headers[i].value));
}

static void expect_refused(const char *props, const char *line, const char *reason)
{
    ck_assert_int_eq(split(props, line), -EINVAL);
    ck_assert_str_eq(why.s, reason);
}

#define ALL "parse.key=true;parse.headers=true"

START_TEST(lines_are_values_unless_more_is_asked_for)
{
    expect("", "a\tb", NULL, "a\tb");
    expect("", "", NULL, "");
    expect("parse.key=no", "a\tb", NULL, "a\tb");
    expect("parse.key= TRUE ", "a\tb\tc", "a", "b\tc");
    expect("parse.key=true;key.separator=::", "::", "", "");
}
END_TEST

START_TEST(missing_separators_are_named_with_the_line)
{
    expect_refused("parse.key=true", "abc", "No key separator found on line number 3: 'abc'");
    expect_refused("parse.headers=true", "abc",
                   "No headers delimiter found on line number 3: 'abc'");
    expect_refused("parse.headers=true", "h\tv",
                   "No header key separator found in pair 'h' on line number 3");
    expect("parse.key=true;ignore.error=true", "abc", NULL, "abc");
    expect(ALL ";ignore.error=true", "abc", NULL, "abc");
    expect(ALL ";ignore.error=true", "h\tabc", NULL, "abc");
    expect_header(0, "h", NULL);
}
END_TEST

START_TEST(headers_come_first)
{
    expect(ALL, "h1:v1,h2:a:b\tk\tv", "k", "v");
    ck_assert_int_eq(rec.header_count, 2);
    expect_header(0, "h1", "v1");
    expect_header(1, "h2", "a:b");
}
END_TEST

START_TEST(empty_headers_at_the_end_are_dropped)
{
    expect("parse.headers=true;ignore.error=true", "a:1,,b:2,,\tv", NULL, "v");
    ck_assert_int_eq(rec.header_count, 3);
    expect_header(1, "", NULL);
    expect("parse.headers=true;ignore.error=true", ",,\tv", NULL, "v");
    ck_assert_int_eq(rec.header_count, 0);
    expect("parse.headers=true;ignore.error=true", "\tv", NULL, "v");
    ck_assert_int_eq(rec.header_count, 1);
}
END_TEST

START_TEST(headers_are_parted_by_an_expression)
{
    expect("parse.headers=true;headers.separator=[|+];headers.key.separator=-", "a-1|b-2+c-\tv",
           NULL, "v");
    ck_assert_int_eq(rec.header_count, 3);
    expect_header(2, "c", "");
    expect("parse.headers=true;headers.separator=x*;headers.key.separator=:", "::\tv", NULL, "v");
    ck_assert_int_eq(rec.header_count, 2);
}
END_TEST

START_TEST(marker_stands_for_null)
{
    expect(ALL ";null.marker=NIL", "NIL\tNIL\tNIL", NULL, NULL);
    ck_assert_int_eq(rec.header_count, 0);
    expect(ALL ";null.marker=NIL", "h:NIL\tk\tNILS", "k", "NILS");
    expect_header(0, "h", NULL);
    expect_refused(
        ALL ";null.marker=NIL", "NIL:v\tk\tv",
        "Header keys should not be equal to the null marker 'NIL' as they can't be null");
}
END_TEST

START_TEST(separators_must_differ)
{
    static const char *const wrong[][2] = {
        {"headers.delimiter=,", "headers.delimiter and headers.separator may not be equal"},
        {"headers.delimiter=:", "headers.delimiter and headers.key.separator may not be equal"},
        {"headers.separator=:", "headers.separator and headers.key.separator may not be equal"},
        {"null.marker=\t", "null.marker and key.separator may not be equal"},
        {"key.separator=+;null.marker=\t", "null.marker and headers.delimiter may not be equal"},
        {"null.marker=,", "null.marker and headers.separator may not be equal"},
        {"null.marker=:", "null.marker and headers.key.separator may not be equal"},
        {"headers.separator=[", "[ is no regular expression (at character 1)"},
    };
    struct line_format *f;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        ck_assert_int_eq(make(wrong[i][0], &f), -EINVAL);
        ck_assert_ptr_null(f);
        ck_assert_str_eq(why.s, wrong[i][1]);
    }
}
END_TEST

START_TEST(more_headers_than_there_is_room_for)
{
    struct strbuf line = {0};

    for (int i = 0; i < SOURCE_HEADERS_MAX; i++)
        strbuf_addf(&line, "%sh:%d", i ? "," : "", i);
    strbuf_addz(&line, "\tv");
    ck_assert_int_eq(split("parse.headers=true", line.s), 0);
    ck_assert_int_eq(rec.header_count, SOURCE_HEADERS_MAX);
    strbuf_cut(&line, line.len - 2);
    strbuf_addz(&line, ",one:more\tv");
    ck_assert_int_eq(split("parse.headers=true", line.s), -EINVAL);
    strbuf_deinit(&line);
}
END_TEST

TEST_MAIN("tools/client/line_format", lines_are_values_unless_more_is_asked_for,
          missing_separators_are_named_with_the_line, headers_come_first,
          empty_headers_at_the_end_are_dropped, headers_are_parted_by_an_expression,
          marker_stands_for_null, separators_must_differ, more_headers_than_there_is_room_for)
