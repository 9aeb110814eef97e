#include "common/record/batch_stamp.h"

#include "common/record/legacy.h"
#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(offset_and_leader_epoch_leave_the_checksum_alone)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_BATCH));

    batch_set_last_offset(&b, 5001);
    batch_set_leader_epoch(&b, 12);
    ck_assert_int_eq(batch_base_offset(&b), 5000);
    ck_assert_int_eq(batch_last_offset(&b), 5001);
    ck_assert_int_eq(batch_leader_epoch(&b), 12);
    ck_assert_uint_eq(batch_crc(&b), 0xaf2ff9f6);
    ck_assert(batch_is_valid(&b));
}
END_TEST

START_TEST(the_append_time_sets_its_bit_and_a_new_checksum)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_BATCH));

    batch_set_max_timestamp(&b, TIMESTAMP_LOG_APPEND_TIME, 99);
    ck_assert_int_eq(batch_timestamp_type(&b), TIMESTAMP_LOG_APPEND_TIME);
    ck_assert_int_eq(batch_max_timestamp(&b), 99);
    ck_assert(batch_is_valid(&b));
    batch_set_max_timestamp(&b, TIMESTAMP_CREATE_TIME, 1700000000005);
    ck_assert_uint_eq(batch_crc(&b), 0xaf2ff9f6);
}
END_TEST

START_TEST(an_unchanged_timestamp_is_not_written_again)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice bytes = hex_bytes(&a, GOLDEN_BATCH);
    struct batch b = only_batch(bytes);

    ((uint8_t *)(uintptr_t)bytes.p)[20] ^= 1; /* the checksum is wrong and stays so */
    batch_set_max_timestamp(&b, TIMESTAMP_CREATE_TIME, 1700000000005);
    ck_assert_uint_eq(batch_crc(&b), 0xaf2ff9f7);
}
END_TEST

START_TEST(a_v1_message_gets_offset_timestamp_and_checksum)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    const struct legacy_opts opts = {.magic = 1};

    legacy_message_add(&(struct legacy_message){.timestamp = 5, .value = slice_of("v", 1)}, &opts,
                       &sb);
    struct batch b = only_batch(slice_of_str(strbuf_str(&sb)));
    batch_set_last_offset(&b, 77);
    batch_set_max_timestamp(&b, TIMESTAMP_LOG_APPEND_TIME, 6);
    ck_assert_int_eq(batch_last_offset(&b), 77);
    ck_assert_int_eq(batch_max_timestamp(&b), 6);
    ck_assert_int_eq(batch_timestamp_type(&b), TIMESTAMP_LOG_APPEND_TIME);
    ck_assert(batch_is_valid(&b));
}
END_TEST

TEST_MAIN("common/record/batch_stamp", offset_and_leader_epoch_leave_the_checksum_alone,
          the_append_time_sets_its_bit_and_a_new_checksum,
          an_unchanged_timestamp_is_not_written_again,
          a_v1_message_gets_offset_timestamp_and_checksum)
