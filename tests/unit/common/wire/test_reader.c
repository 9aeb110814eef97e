#include "common/wire/reader.h"

#include "tests/support/test_main.h"

#define BYTES(...) slice_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

START_TEST(reads_past_the_end_give_zeroes_and_stick)
{
    struct reader r = reader_on(BYTES(1, 2, 3));

    ck_assert_int_eq(reader_i16(&r), 0x102);
    ck_assert_int_eq(reader_i32(&r), 0);
    ck_assert(r.bad);
    ck_assert_int_eq(reader_i8(&r), 0);
    ck_assert_ptr_null(reader_slice(&r, 1).p);
    ck_assert(r.bad);
}
END_TEST

START_TEST(empty_slice_at_the_end_is_not_null)
{
    struct reader r = reader_on(BYTES(1));

    ck_assert_int_eq(reader_i8(&r), 1);
    ck_assert_ptr_nonnull(reader_slice(&r, 0).p);
    ck_assert(!r.bad);
}
END_TEST

START_TEST(uvarint_takes_five_bytes_at_most)
{
    struct reader r = reader_on(BYTES(0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f));

    ck_assert_uint_eq(reader_uvarint(&r), 127);
    ck_assert_uint_eq(reader_uvarint(&r), 128);
    ck_assert_uint_eq(reader_uvarint(&r), UINT32_MAX);
    ck_assert(!r.bad);
    r = reader_on(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0x01));
    ck_assert_uint_eq(reader_uvarint(&r), 0);
    ck_assert(r.bad);
    r = reader_on(BYTES(0x80));
    ck_assert_uint_eq(reader_uvarint(&r), 0);
    ck_assert(r.bad);
}
END_TEST

TEST_MAIN("common/wire/reader", reads_past_the_end_give_zeroes_and_stick,
          empty_slice_at_the_end_is_not_null, uvarint_takes_five_bytes_at_most)
