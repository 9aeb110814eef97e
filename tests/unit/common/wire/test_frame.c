#include "common/wire/frame.h"

#include "tests/support/test_main.h"

#include <errno.h>

#define BYTES(...) slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

START_TEST(needs_the_whole_frame)
{
    const struct slice in = BYTES(0, 0, 0, 2, 'a', 'b', 'c');
    struct slice body = {0};

    for (size_t n = 0; n < 6; n++)
        ck_assert_int_eq(frame_next(slice_sub(in, 0, n), 100, &body), 0);
    ck_assert_int_eq(frame_next(in, 100, &body), 6);
    ck_assert_uint_eq(body.len, 2);
    ck_assert_ptr_eq(body.p, in.p + 4);
}
END_TEST

START_TEST(empty_frame_is_one)
{
    struct slice body = {0};

    ck_assert_int_eq(frame_next(BYTES(0, 0, 0, 0), 100, &body), 4);
    ck_assert_uint_eq(body.len, 0);
}
END_TEST

START_TEST(size_above_max_or_below_zero_is_refused_at_once)
{
    struct slice body = {0};

    ck_assert_int_eq(frame_next(BYTES(0, 0, 0, 101), 100, &body), -EMSGSIZE);
    ck_assert_int_eq(frame_next(BYTES(0xff, 0xff, 0xff, 0xff), UINT32_MAX, &body), -EMSGSIZE);
    ck_assert_int_eq(frame_next(BYTES(0, 0, 0, 100), 100, &body), 0);
}
END_TEST

TEST_MAIN("common/wire/frame", needs_the_whole_frame, empty_frame_is_one,
          size_above_max_or_below_zero_is_refused_at_once)
