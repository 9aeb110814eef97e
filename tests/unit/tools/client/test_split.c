#include "tools/client/split.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct strbuf out, why;

static int add(struct str piece, void *ctx UNUSED)
{
    strbuf_addf(&out, "[%.*s]", STR_ARG(piece));
    return 0;
}

static void expect(const char *pattern, const char *text, const char *pieces)
{
    struct splitter *s;

    strbuf_reset(&out);
    ck_assert_int_eq(splitter_new(pattern, &s, &why), 0);
    ck_assert_int_eq(splitter_each(s, str_of(text), add, NULL), 0);
    ck_assert_str_eq(out.len ? out.s : "", pieces);
    splitter_free(s);
}

START_TEST(pieces_as_java_has_them)
{
    expect(",", "a,b", "[a][b]");
    expect(",", "", "[]");
    expect(",", "abc", "[abc]");
    expect(",", ",a,,b,,", "[][a][][b]");
    expect(",", ",,", "");
    expect("\n", "one\ntwo\n\nfour", "[one][two][][four]");
    expect("o+", "one two", "[][ne tw]");
    expect("", "abc", "[a][b][c]");
    expect("x*", "axxb", "[a][][b]");
    expect("x*", "xxab", "[][][a][b]");
    expect("(?=b)", "abab", "[a][ba][b]");
    expect("[;|]", "a;b|c", "[a][b][c]");
}
END_TEST

static int stop(struct str piece UNUSED, void *ctx)
{
    ++*(int *)ctx;
    return -EIO;
}

START_TEST(it_stops_where_told)
{
    struct splitter *s;
    int calls = 0;

    ck_assert_int_eq(splitter_new(",", &s, &why), 0);
    ck_assert_int_eq(splitter_each(s, STR("a,b"), stop, &calls), -EIO);
    ck_assert_int_eq(calls, 1);
    splitter_free(s);
    ck_assert_int_eq(splitter_new("(", &s, &why), -EINVAL);
    ck_assert_ptr_null(s);
    ck_assert_ptr_nonnull(strstr(why.s, "( is no regular expression"));
}
END_TEST

TEST_MAIN("tools/client/split", pieces_as_java_has_them, it_stops_where_told)
