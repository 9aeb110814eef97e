#include "common/base/utf8.h"
#include "tests/support/test_main.h"

static uint32_t first(struct str s, size_t *ret_len)
{
    *ret_len = 0;
    return utf8_next(s, ret_len);
}

START_TEST(characters_of_one_to_four_bytes)
{
    size_t len;

    ck_assert_uint_eq(first(STR("a"), &len), 'a');
    ck_assert_uint_eq(len, 1);
    ck_assert_uint_eq(first(STR("\xc3\xbc"), &len), 0xfc);
    ck_assert_uint_eq(len, 2);
    ck_assert_uint_eq(first(STR("\xe2\x82\xac"), &len), 0x20ac);
    ck_assert_uint_eq(len, 3);
    ck_assert_uint_eq(first(STR("\xf0\x9f\x98\x80"), &len), 0x1f600);
    ck_assert_uint_eq(len, 4);
}
END_TEST

START_TEST(what_is_no_utf8_counts_byte_by_byte)
{
    static const struct str bad[] = {
        STR("\x80"),             /* no head */
        STR("\xff"),             /* no such head */
        STR("\xc3"),             /* cut off */
        STR("\xc3g"),            /* no tail */
        STR("\xc0\x80"),         /* longer than it need be */
        STR("\xed\xa0\x80"),     /* half of a surrogate pair */
        STR("\xf4\x90\x80\x80"), /* beyond the last one */
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        size_t len;

        ck_assert_uint_eq(first(bad[i], &len), 0xfffd);
        ck_assert_uint_eq(len, 1);
    }
}
END_TEST

START_TEST(length_is_java_s)
{
    ck_assert_uint_eq(utf8_java_length(STR("")), 0);
    ck_assert_uint_eq(utf8_java_length(STR("gr\xc3\xbcppe")), 6);
    ck_assert_uint_eq(utf8_java_length(STR("\xf0\x9f\x98\x80")), 2);
}
END_TEST

TEST_MAIN("common/base/utf8", characters_of_one_to_four_bytes, what_is_no_utf8_counts_byte_by_byte,
          length_is_java_s)
