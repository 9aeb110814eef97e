#include "common/record/batch.h"

#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(the_worked_example_is_read)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_BATCH));

    ck_assert_uint_eq(b.size, 85);
    ck_assert(batch_is_valid(&b));
    ck_assert_uint_eq(batch_crc(&b), 0xaf2ff9f6);
    ck_assert_int_eq(batch_base_offset(&b), 100);
    ck_assert_int_eq(batch_last_offset(&b), 101);
    ck_assert_int_eq(batch_next_offset(&b), 102);
    ck_assert_int_eq(batch_leader_epoch(&b), 7);
    ck_assert_int_eq(batch_base_timestamp(&b), 1700000000000);
    ck_assert_int_eq(batch_max_timestamp(&b), 1700000000005);
    ck_assert_int_eq(batch_codec(&b), COMPRESSION_NONE);
    ck_assert_int_eq(batch_count(&b), 2);
    ck_assert(!batch_has_producer_id(&b));
    ck_assert_int_eq(batch_last_sequence(&b), NO_SEQUENCE);
    ck_assert(!batch_is_control(&b) && !batch_is_transactional(&b));
}
END_TEST

START_TEST(the_worked_marker_is_read)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_MARKER));

    ck_assert_uint_eq(b.size, 78);
    ck_assert(batch_is_valid(&b));
    ck_assert(batch_is_control(&b) && batch_is_transactional(&b));
    ck_assert_int_eq(batch_producer_id(&b), 4000);
    ck_assert_int_eq(batch_producer_epoch(&b), 2);
    ck_assert_int_eq(batch_last_sequence(&b), NO_SEQUENCE);
}
END_TEST

START_TEST(every_cut_of_a_batch_is_a_torn_end)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice whole = hex_bytes(&a, GOLDEN_BATCH);

    for (size_t n = 0; n < whole.len; n++) {
        struct slice rest = slice_sub(whole, 0, n);
        struct batch b;

        ck_assert_int_eq(batch_next(&rest, &b), 0);
        ck_assert_uint_eq(rest.len, n);
    }
}
END_TEST

START_TEST(a_length_or_magic_out_of_range_is_refused)
{
    static const struct {
        int32_t length;
        uint8_t magic;
    } bad[] = {{13, 0},   {-1, 2},        {INT32_MIN, 2},     {21, 1}, {48, 2}, {60, 3},
               {60, 255}, {INT32_MAX, 2}, {INT32_MAX - 11, 2}};
    uint8_t bytes[128] = {0};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct slice rest = slice_of(bytes, sizeof bytes);
        struct batch b;

        be32_write(bytes + 8, (uint32_t)bad[i].length);
        bytes[BATCH_MAGIC_AT] = bad[i].magic;
        ck_assert_int_eq(batch_next(&rest, &b), -EBADMSG);
    }
}
END_TEST

START_TEST(the_least_length_of_each_magic_is_taken)
{
    static const int32_t least[] = {14, 22, 49};
    uint8_t bytes[64] = {0};

    for (uint8_t magic = 0; magic <= 2; magic++) {
        struct slice rest = slice_of(bytes, sizeof bytes);
        struct batch b;

        be32_write(bytes + 8, (uint32_t)least[magic]);
        bytes[BATCH_MAGIC_AT] = magic;
        ck_assert_int_eq(batch_next(&rest, &b), 1);
        ck_assert_uint_eq(b.size, least[magic] + 12);
        ck_assert_int_eq(b.magic, magic);
    }
}
END_TEST

START_TEST(any_flipped_bit_behind_the_magic_is_noticed)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice whole = hex_bytes(&a, GOLDEN_BATCH);
    uint8_t *p = (uint8_t *)(uintptr_t)whole.p;

    for (size_t bit = 17 * 8; bit < whole.len * 8; bit++) {
        p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct batch b = only_batch(whole);
        ck_assert(!batch_is_valid(&b));
        p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}
END_TEST

START_TEST(sequences_wrap_to_zero)
{
    ck_assert_int_eq(sequence_add(5, 3), 8);
    ck_assert_int_eq(sequence_add(INT32_MAX, 0), INT32_MAX);
    ck_assert_int_eq(sequence_add(INT32_MAX, 1), 0);
    ck_assert_int_eq(sequence_add(INT32_MAX - 1, 4), 2);
}
END_TEST

START_TEST(a_size_is_known_from_seventeen_bytes)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice whole = hex_bytes(&a, GOLDEN_BATCH);
    uint32_t size;

    ck_assert_int_eq(batch_peek_size(slice_sub(whole, 0, 17), &size), 0);
    ck_assert_uint_eq(size, 85);
    ck_assert_int_eq(batch_peek_size(slice_sub(whole, 0, 16), &size), 0);
    ck_assert_uint_eq(size, 0);
    /* Whatever length is told, but for one that none can have. */
    static const uint8_t most[BATCH_MAGIC_AT] = {[8] = 0x7f, 0xff, 0xff, 0xff};
    static const uint8_t least[BATCH_MAGIC_AT] = {[11] = 13};
    ck_assert_int_eq(batch_peek_size(slice_of(most, sizeof most), &size), 0);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(batch_peek_size(slice_of(least, sizeof least), &size), -EBADMSG);
}
END_TEST

TEST_MAIN("common/record/batch", the_worked_example_is_read, the_worked_marker_is_read,
          every_cut_of_a_batch_is_a_torn_end, a_length_or_magic_out_of_range_is_refused,
          the_least_length_of_each_magic_is_taken, any_flipped_bit_behind_the_magic_is_noticed,
          sequences_wrap_to_zero, a_size_is_known_from_seventeen_bytes)
