#include "common/base/hash.h"

#include "tests/support/test_main.h"

START_TEST(java_string_hash)
{
    ck_assert_int_eq(hash_java(STR("")), 0);
    ck_assert_int_eq(hash_java(STR("hello")), 99162322);
    ck_assert_int_eq(hash_java(STR("__consumer_offsets")), -970371369);
    ck_assert_int_eq(hash_java(STR("gr\xc3\xbcppe")), -1233264812);
    ck_assert_int_eq(hash_java(STR("polygenelubricants")), INT32_MIN);
    /* U+1F600 is two units of UTF-16: d83d, de00. */
    ck_assert_int_eq(hash_java(STR("\xf0\x9f\x98\x80")), 31 * 0xd83d + 0xde00);
    ck_assert_int_eq(hash_java(STR("\xff")), 0xfffd);
    ck_assert_int_eq(hash_java(STR("\xc3")), 0xfffd);
}
END_TEST

/* The values that Kafka's own unit test holds. */
START_TEST(murmur2_of_the_default_partitioner)
{
    ck_assert_int_eq(hash_murmur2(slice_of_str(STR("21"))), -973932308);
    ck_assert_int_eq(hash_murmur2(slice_of_str(STR("foobar"))), -790332482);
    ck_assert_int_eq(hash_murmur2(slice_of_str(STR("a-little-bit-long-string"))), -985981536);
    ck_assert_int_eq(hash_murmur2(slice_of_str(STR("abc"))), 479470107);
}
END_TEST

TEST_MAIN("common/base/hash", java_string_hash, murmur2_of_the_default_partitioner)
