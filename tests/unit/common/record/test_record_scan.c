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

TEST_MAIN("common/record/record_scan", a_scan_sees_what_was_built, more_bytes_than_records_are_seen,
          a_payload_that_does_not_unpack_is_told_from_broken_records)
