#include "common/record/record.h"

#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(the_worked_example_holds_two_records)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_BATCH));
    struct slice rest = batch_payload(&b);
    struct record rec;
    struct record_header h;

    ck_assert_int_eq(record_next(&rest, &rec), 0);
    ck_assert(slice_eq(rec.key, slice_of("k", 1)) && slice_eq(rec.value, slice_of("v", 1)));
    ck_assert_int_eq(rec.header_count, 0);
    ck_assert_int_eq(record_offset(&b, &rec), 100);
    ck_assert_int_eq(record_next(&rest, &rec), 0);
    ck_assert(!rec.key.p && slice_eq(rec.value, slice_of("hello", 5)));
    ck_assert_int_eq(record_offset(&b, &rec), 101);
    ck_assert_int_eq(record_timestamp(&b, &rec), 1700000000005);
    ck_assert_int_eq(rec.header_count, 1);
    ck_assert_int_eq(record_header_next(&rec.headers, &h), 0);
    ck_assert(str_eqz(h.key, "h") && !h.value.p);
    ck_assert_uint_eq(rec.headers.len, 0);
    ck_assert_uint_eq(rest.len, 0);
    ck_assert_int_eq(record_next(&rest, &rec), -EBADMSG);
}
END_TEST

START_TEST(a_lie_in_any_length_is_refused)
{
    static const char *const bad[] = {
        "",                                             /* nothing */
        "80",                                           /* a varint without end */
        "02",                                           /* a body that is not there */
        "01 00",                                        /* a negative body */
        "00",                                           /* a body of nothing */
        "0e 00 00 00 02 6b 02 76 00",                   /* shorter than its fields */
        "12 00 00 00 02 6b 02 76 00 00",                /* longer than its fields */
        "10 00 00 00 7e 6b 02 76 00",                   /* a key past the end */
        "10 00 00 00 02 6b 02 76 01",                   /* minus one headers */
        "10 00 00 00 02 6b 02 76 7e",                   /* headers that are not there */
        "14 00 00 00 02 6b 02 76 02 01 01",             /* a header without a key */
        "1c 00 00 00 ff ff ff ff ff 01 76 00 00 00 00", /* a varint of more than five bytes */
    };
    CLEANUP(arena_deinit) struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct slice rest = hex_bytes(&a, bad[i]);
        struct record rec;

        ck_assert_msg(record_next(&rest, &rec) == -EBADMSG, "%s", bad[i]);
    }
}
END_TEST

START_TEST(what_was_built_is_read_back)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct random_source r = {seed};
        const struct batch_opts opts = BATCH_OPTS_PLAIN;
        struct record want[20], rec;
        int count = 1 + (int)random_to(&r, 20);
        struct batch b = only_batch(random_batch(&r, &opts, count, &a, want));
        struct slice rest = batch_payload(&b);

        for (int i = 0; i < count; i++) {
            ck_assert_int_eq(record_next(&rest, &rec), 0);
            ck_assert_msg(same_record(&rec, &want[i]), "seed %lu", (unsigned long)seed);
            ck_assert_int_eq(record_timestamp(&b, &rec), want[i].timestamp);
        }
        ck_assert_uint_eq(rest.len, 0);
    }
}
END_TEST

START_TEST(the_append_time_is_every_records_timestamp)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {7};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct record rec;

    opts.timestamp_type = TIMESTAMP_LOG_APPEND_TIME;
    opts.append_time_ms = 42;
    struct batch b = only_batch(random_batch(&r, &opts, 1, &a, NULL));
    struct slice rest = batch_payload(&b);
    ck_assert_int_eq(record_next(&rest, &rec), 0);
    ck_assert_int_eq(record_timestamp(&b, &rec), 42);
}
END_TEST

START_TEST(the_worked_marker_is_a_commit)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct batch b = only_batch(hex_bytes(&a, GOLDEN_MARKER));
    struct slice rest = batch_payload(&b);
    enum control_type type;
    struct record rec;
    int32_t epoch;

    ck_assert_int_eq(record_next(&rest, &rec), 0);
    ck_assert_int_eq(control_record_type(&rec, &type), 0);
    ck_assert_int_eq(type, CONTROL_COMMIT);
    ck_assert_int_eq(control_record_coordinator_epoch(&rec, &epoch), 0);
    ck_assert_int_eq(epoch, 3);
}
END_TEST

START_TEST(other_control_records_are_known_to_be_unknown)
{
    struct record rec = {.key = slice_of("\0\0\0\2", 4), .value = slice_of("\0\0\0", 3)};
    enum control_type type;
    int32_t epoch;

    ck_assert_int_eq(control_record_type(&rec, &type), 0);
    ck_assert_int_eq(type, CONTROL_UNKNOWN);
    ck_assert_int_eq(control_record_coordinator_epoch(&rec, &epoch), -EBADMSG);
    rec.key.len = 3;
    ck_assert_int_eq(control_record_type(&rec, &type), -EBADMSG);
}
END_TEST

START_TEST(a_walk_finds_the_span_of_time_and_keys_that_are_null)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct random_source r = {seed};
        const struct batch_opts opts = BATCH_OPTS_PLAIN;
        struct record want[100];
        int count = 1 + (int)random_to(&r, 100), null_keys = 0;
        struct batch b = only_batch(random_batch(&r, &opts, count, &a, want));
        struct record_walk w;
        int64_t min = INT64_MAX, max = 0;

        for (int i = 0; i < count; i++) {
            null_keys += !want[i].key.p;
            min = MIN(min, want[i].timestamp);
            max = MAX(max, want[i].timestamp);
        }
        ck_assert_int_eq(record_walk(&b, &w), 0);
        ck_assert_int_eq(w.null_keys, null_keys);
        ck_assert_int_eq(w.min_timestamp, min);
        ck_assert_int_eq(w.max_timestamp, max);
    }
}
END_TEST

/* Whatever a byte is changed to, the walk and the reading of record by record judge the same. */
START_TEST(a_walk_judges_as_reading_does)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct random_source r = {77};
    const struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct slice bytes = random_batch(&r, &opts, 3, &a, NULL);
    uint8_t *p = (uint8_t *)(uintptr_t)bytes.p;
    int bad = 0;

    for (int i = 0; i < 20000; i++) {
        size_t at = BATCH_V2_HEADER + random_to(&r, (uint32_t)(bytes.len - BATCH_V2_HEADER));
        uint8_t was = p[at];
        struct record_walk w;
        struct record rec;
        int read = 0;

        p[at] = (uint8_t)random_next(&r);
        struct batch b = only_batch(bytes);
        struct slice rest = batch_payload(&b);
        for (int n = 0; n < 3 && read == 0; n++)
            read = record_next(&rest, &rec);
        if (read == 0 && rest.len > 0)
            read = -E2BIG;
        ck_assert_int_eq(record_walk(&b, &w), read);
        bad += read != 0;
        p[at] = was;
    }
    ck_assert_int_gt(bad, 0);
}
END_TEST

TEST_MAIN("common/record/record", the_worked_example_holds_two_records,
          a_lie_in_any_length_is_refused, what_was_built_is_read_back,
          the_append_time_is_every_records_timestamp, the_worked_marker_is_a_commit,
          other_control_records_are_known_to_be_unknown,
          a_walk_finds_the_span_of_time_and_keys_that_are_null, a_walk_judges_as_reading_does)
