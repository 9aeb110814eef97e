#include "common/base/props.h"

#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(everything_that_java_reads)
{
    CLEANUP(props_deinit) struct props p = {0};
    int line;

    ck_assert_int_eq(
        props_parse(&p,
                    STR("# comment\n! other\n\n  a = 1\r\nb:2\nc 3\nd\nlong = x,\\\n    y\n"
                        "k\\=e\\ y=v\\tw\\u00e9\na=last\npath=C:\\\\x\n"),
                    &line),
        0);
    ck_assert_str_eq(props_get(&p, "a"), "last");
    ck_assert_str_eq(props_get(&p, "b"), "2");
    ck_assert_str_eq(props_get(&p, "c"), "3");
    ck_assert_str_eq(props_get(&p, "d"), "");
    ck_assert_str_eq(props_get(&p, "long"), "x,y");
    ck_assert_str_eq(props_get(&p, "k=e y"), "v\tw\xc3\xa9");
    ck_assert_str_eq(props_get(&p, "path"), "C:\\x");
    ck_assert_ptr_null(props_get(&p, "# comment"));
}
END_TEST

START_TEST(a_malformed_escape_names_its_line)
{
    CLEANUP(props_deinit) struct props p = {0};
    int line = 0;

    ck_assert_int_eq(props_parse(&p, STR("a=1\nb=\\u12\n"), &line), -EINVAL);
    ck_assert_int_eq(line, 2);
}
END_TEST

START_TEST(what_is_printed_is_read_back)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(props_deinit) struct props p = {0};
    int line;

    props_print_one(&out, "a b=c", " x:#\\\n");
    ck_assert_int_eq(props_parse(&p, strbuf_str(&out), &line), 0);
    ck_assert_str_eq(props_get(&p, "a b=c"), " x:#\\\n");
}
END_TEST

START_TEST(a_missing_file_and_a_directory_are_errors)
{
    CLEANUP(props_deinit) struct props p = {0};
    int line;

    ck_assert_int_eq(props_load(&p, "/nonexistent/x", &line), -ENOENT);
    ck_assert_int_eq(props_load(&p, "/tmp", &line), -EISDIR);
}
END_TEST

TEST_MAIN("common/base/props", everything_that_java_reads, a_malformed_escape_names_its_line,
          what_is_printed_is_read_back, a_missing_file_and_a_directory_are_errors)
