#include "common/base/be.h"

#include "tests/support/test_main.h"

START_TEST(round_trip_at_every_length)
{
    for (int bits = 0; bits < 64; bits++) {
        uint64_t v = (uint64_t)1 << bits, back;
        uint8_t b[VARLONG_MAX_BYTES];
        size_t n = varint_write_u(b, v);

        ck_assert_uint_eq(n, varint_size_u(v));
        ck_assert_uint_eq(varint_read_u(b, n, VARLONG_MAX_BYTES, &back), n);
        ck_assert(back == v);
        ck_assert_uint_eq(varint_read_u(b, n - 1, VARLONG_MAX_BYTES, &back), 0);
    }
}
END_TEST

START_TEST(an_endless_varint_is_refused)
{
    uint8_t b[16];
    uint64_t v;

    memset(b, 0x80, sizeof b);
    ck_assert_uint_eq(varint_read_u(b, sizeof b, VARINT_MAX_BYTES, &v), 0);
    ck_assert_uint_eq(varint_read_u(b, sizeof b, VARLONG_MAX_BYTES, &v), 0);
}
END_TEST

START_TEST(zigzag_of_the_extremes)
{
    static const int64_t v[] = {0, -1, 1, INT64_MIN, INT64_MAX};

    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        ck_assert(unzigzag(zigzag(v[i])) == v[i]);
    ck_assert_uint_eq(zigzag(-1), 1);
}
END_TEST

TEST_MAIN("common/base/varint", round_trip_at_every_length, an_endless_varint_is_refused,
          zigzag_of_the_extremes)
