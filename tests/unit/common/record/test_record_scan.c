#include "common/record/record_scan.h"

#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(a_scan_sees_what_was_built)
{
    for (int codec = 1; codec < COMPRESSION_COUNT; codec++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            CLEANUP(arena_deinit) struct arena a = {0};
            CLEANUP(record_scan_deinit) struct record_scan s = {0};
            struct random_source r = {seed};
            struct batch_opts opts = BATCH_OPTS_PLAIN;
            struct record want[100], rec;
            int count = 1 + (int)random_to(&r, 100);

            opts.base_offset = 5;
            opts.codec = (enum compression)codec;
            struct batch b = only_batch(random_batch(&r, &opts, count, &a, want));
            ck_assert_int_eq(record_scan_init(&s, &b), 0);
            for (int i = 0; i < count; i++) {
                ck_assert_int_eq(record_scan_next(&s, &rec), 0);
                ck_assert_int_eq(rec.offset, want[i].offset);
                ck_assert_int_eq(rec.timestamp, want[i].timestamp);
                ck_assert(!rec.key.p == !want[i].key.p && rec.key.len == want[i].key.len);
                ck_assert(!rec.value.p == !want[i].value.p && rec.value.len == want[i].value.len);
                ck_assert_int_eq(rec.header_count, want[i].header_count);
            }
            ck_assert_int_eq(record_scan_at_end(&s), 1);
            ck_assert_int_eq(record_scan_next(&s, &rec), -EBADMSG);
        }
}
END_TEST

START_TEST(more_bytes_than_records_are_seen)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(record_scan_deinit) struct record_scan s = {0};
    struct random_source r = {1};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct record rec;

    opts.codec = COMPRESSION_GZIP;
    struct batch b = only_batch(random_batch(&r, &opts, 2, &a, NULL));
    ck_assert_int_eq(record_scan_init(&s, &b), 0);
    ck_assert_int_eq(record_scan_next(&s, &rec), 0);
    ck_assert_int_eq(record_scan_at_end(&s), 0);
}
END_TEST

START_TEST(a_payload_that_does_not_unpack_is_told_from_broken_records)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {1};

    for (int codec = 1; codec < COMPRESSION_COUNT; codec++) {
        CLEANUP(record_scan_deinit) struct record_scan s = {0};
        struct batch_opts opts = BATCH_OPTS_PLAIN;
        struct record rec;

        opts.codec = (enum compression)codec;
        struct batch b = only_batch(random_batch(&r, &opts, 2, &a, NULL));
        memset((uint8_t *)(uintptr_t)b.p + BATCH_V2_HEADER, 0xff, 8);
        ck_assert_int_eq(record_scan_init(&s, &b), 0);
        ck_assert_int_eq(record_scan_next(&s, &rec), -EPROTO);
    }
}
END_TEST

/* Sizes around that of the block, so that records end on, before and behind its end. */
START_TEST(records_larger_than_the_block_are_scanned)
{
    static const size_t sizes[] = {10,
                                   RECORD_SCAN_BLOCK,
                                   5,
                                   3 * RECORD_SCAN_BLOCK,
                                   RECORD_SCAN_BLOCK - 9,
                                   RECORD_SCAN_BLOCK - 8,
                                   1,
                                   RECORD_SCAN_BLOCK / 2,
                                   RECORD_SCAN_BLOCK / 2};

    for (int codec = 1; codec < COMPRESSION_COUNT; codec++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(record_scan_deinit) struct record_scan s = {0};
        CLEANUP(batch_builder_deinit) struct batch_builder bb;
        CLEANUP(strbuf_deinit) struct strbuf out = {0};
        struct batch_opts opts = BATCH_OPTS_PLAIN;
        struct record rec;

        opts.codec = (enum compression)codec;
        batch_builder_init(&bb, &opts);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
            batch_builder_add(
                &bb, &(struct record){.offset = (int64_t)i,
                                      .timestamp = 7,
                                      .value = slice_of(arena_zalloc(&a, sizes[i]), sizes[i])});
        ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
        struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
        ck_assert_int_eq(record_scan_init(&s, &b), 0);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            ck_assert_int_eq(record_scan_next(&s, &rec), 0);
            ck_assert_int_eq(rec.offset, (int64_t)i);
            ck_assert_uint_eq(rec.value.len, sizes[i]);
        }
        ck_assert_int_eq(record_scan_at_end(&s), 1);
    }
}
END_TEST

TEST_MAIN("common/record/record_scan", a_scan_sees_what_was_built, more_bytes_than_records_are_seen,
          a_payload_that_does_not_unpack_is_told_from_broken_records,
          records_larger_than_the_block_are_scanned)
