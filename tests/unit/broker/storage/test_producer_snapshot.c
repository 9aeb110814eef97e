#include "broker/storage/producer_snapshot.h"

#include "common/base/err.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

static const char golden[] =
    "00 01 d2 2f 49 0b 00 00 00 01 00 00 00 00 00 00 0f a0 00 02 00 00 00 09 "
    "00 00 00 00 00 00 00 65 00 00 00 09 00 00 01 8b cf e5 68 05 00 00 00 03 "
    "ff ff ff ff ff ff ff ff";

static const struct producer_info golden_entry = {
    .producer_id = 4000,
    .epoch = 2,
    .first_sequence = 0,
    .last_sequence = 9,
    .last_offset = 101,
    .last_offset_delta = 9,
    .last_timestamp = 1700000000005,
    .coordinator_epoch = 3,
    .txn_first_offset = -1,
};

struct seen {
    struct producer_info v[4];
    size_t count;
};

static void note(void *ctx, const struct producer_info *p)
{
    struct seen *s = ctx;

    ck_assert_uint_lt(s->count, ARRAY_LEN(s->v));
    s->v[s->count++] = *p;
}

static bool same_info(const struct producer_info *a, const struct producer_info *b)
{
    return a->producer_id == b->producer_id && a->epoch == b->epoch &&
           a->first_sequence == b->first_sequence && a->last_sequence == b->last_sequence &&
           a->last_offset == b->last_offset && a->last_offset_delta == b->last_offset_delta &&
           a->last_timestamp == b->last_timestamp && a->coordinator_epoch == b->coordinator_epoch &&
           a->txn_first_offset == b->txn_first_offset;
}

START_TEST(the_worked_example_both_ways)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct slice bytes = hex_bytes(&a, golden);
    struct seen seen = {0};
    const char *why;

    ck_assert_int_eq(producer_snapshot_parse(bytes, note, &seen, &why), 0);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert(same_info(&seen.v[0], &golden_entry));
    producer_snapshot_begin(&sb, 1);
    producer_snapshot_add(&sb, &golden_entry);
    producer_snapshot_end(&sb);
    ck_assert(slice_eq(slice_of_str(strbuf_str(&sb)), bytes));
}
END_TEST

START_TEST(a_producer_without_data_has_no_sequence)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    const struct producer_info p = {.producer_id = 1,
                                    .first_sequence = -1,
                                    .last_sequence = -1,
                                    .last_offset = -1,
                                    .txn_first_offset = 77};
    struct seen seen = {0};
    const char *why;

    producer_snapshot_begin(&sb, 1);
    producer_snapshot_add(&sb, &p);
    producer_snapshot_end(&sb);
    ck_assert_int_eq(producer_snapshot_parse(slice_of_str(strbuf_str(&sb)), note, &seen, &why), 0);
    ck_assert(same_info(&seen.v[0], &p));
}
END_TEST

START_TEST(every_cut_and_every_flipped_bit_is_noticed)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct slice bytes = hex_bytes(&a, golden);
    uint8_t *p = (uint8_t *)(uintptr_t)bytes.p;
    struct seen seen = {0};
    const char *why;

    for (size_t n = 0; n < bytes.len; n++)
        ck_assert_int_eq(producer_snapshot_parse(slice_sub(bytes, 0, n), note, &seen, &why),
                         -EBADMSG);
    for (size_t bit = 0; bit < bytes.len * 8; bit++) {
        p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(producer_snapshot_parse(bytes, note, &seen, &why), -EBADMSG);
        ck_assert_ptr_nonnull(why);
        p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_uint_eq(seen.count, 0);
}
END_TEST

TEST_MAIN("broker/storage/producer_snapshot", the_worked_example_both_ways,
          a_producer_without_data_has_no_sequence, every_cut_and_every_flipped_bit_is_noticed)
