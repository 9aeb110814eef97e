#include "common/base/base64.h"

#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(known_values_of_rfc_4648)
{
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        char text[32];
        uint8_t back[32];
        size_t n;

        base64_encode(slice_of_str(str_of(pairs[i][0])), text);
        ck_assert_str_eq(text, pairs[i][1]);
        ck_assert_int_eq(base64_decode(str_of(text), back, sizeof back, &n), 0);
        ck_assert_mem_eq(back, pairs[i][0], n);
        ck_assert_uint_eq(n, strlen(pairs[i][0]));
    }
}
END_TEST

START_TEST(what_is_not_base64_is_refused)
{
    uint8_t out[8];
    size_t n;

    ck_assert_int_eq(base64_decode(STR("Z"), out, sizeof out, &n), -EINVAL);
    ck_assert_int_eq(base64_decode(STR("Z!=="), out, sizeof out, &n), -EINVAL);
    ck_assert_int_eq(base64_decode(STR("-_-_"), out, sizeof out, &n), -EINVAL);
    ck_assert_int_eq(base64url_decode(STR("-_-_"), out, sizeof out, &n), 0);
    ck_assert_int_eq(base64_decode(STR("Zm9vYmFyZm9v"), out, sizeof out, &n), -ENOSPC);
}
END_TEST

TEST_MAIN("common/base/base64", known_values_of_rfc_4648, what_is_not_base64_is_refused)
