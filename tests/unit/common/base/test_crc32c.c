#include "common/base/crc32c.h"

#include "tests/support/test_main.h"

START_TEST(check_value_of_the_castagnoli_polynomial)
{
    ck_assert_uint_eq(crc32c(slice_of("123456789", 9)), 0xe3069283);
    ck_assert_uint_eq(crc32_legacy(slice_of("123456789", 9)), 0xcbf43926);
    ck_assert_uint_eq(crc32c(slice_of("", 0)), 0);
}
END_TEST

START_TEST(a_checksum_can_be_continued)
{
    ck_assert_uint_eq(crc32c_more(crc32c(slice_of("1234", 4)), slice_of("56789", 5)), 0xe3069283);
}
END_TEST

TEST_MAIN("common/base/crc32c", check_value_of_the_castagnoli_polynomial,
          a_checksum_can_be_continued)
