#include "common/record/builder.h"

#include "common/record/record_iter.h"
#include "tests/support/golden_batch.h"
#include "tests/support/random_batch.h"
#include "tests/support/test_main.h"

START_TEST(the_worked_example_is_built)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0}, headers = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct record first = {.offset = 100,
                           .timestamp = 1700000000000,
                           .key = slice_of("k", 1),
                           .value = slice_of("v", 1)};

    opts.base_offset = 100;
    opts.leader_epoch = 7;
    record_header_add(&headers, STR("h"), (struct slice){0});
    struct record second = {.offset = 101,
                            .timestamp = 1700000000005,
                            .value = slice_of("hello", 5),
                            .headers = slice_of_str(strbuf_str(&headers)),
                            .header_count = 1};
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &first);
    batch_builder_add(&bb, &second);
    ck_assert_uint_eq(batch_builder_size(&bb), 85);
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    ck_assert(slice_eq(slice_of_str(strbuf_str(&out)), hex_bytes(&a, GOLDEN_BATCH)));
}
END_TEST

START_TEST(the_worked_marker_is_built)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct txn_marker m = {.offset = 102,
                                 .timestamp = 1700000001000,
                                 .producer_id = 4000,
                                 .producer_epoch = 2,
                                 .coordinator_epoch = 3,
                                 .leader_epoch = 7,
                                 .is_commit = true};

    txn_marker_build(&m, &out);
    ck_assert(slice_eq(slice_of_str(strbuf_str(&out)), hex_bytes(&a, GOLDEN_MARKER)));
}
END_TEST

START_TEST(without_records_a_header_is_left)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = 10;
    opts.last_offset = 14;
    opts.producer_id = 9;
    opts.base_sequence = 3;
    opts.codec = COMPRESSION_ZSTD;
    batch_builder_init(&bb, &opts);
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
    ck_assert_uint_eq(b.size, BATCH_V2_HEADER);
    ck_assert(batch_is_valid(&b));
    ck_assert_int_eq(batch_codec(&b), COMPRESSION_NONE);
    ck_assert_int_eq(batch_count(&b), 0);
    ck_assert_int_eq(batch_base_timestamp(&b), NO_TIMESTAMP);
    ck_assert_int_eq(batch_last_offset(&b), 14);
    ck_assert_int_eq(batch_last_sequence(&b), 7);
}
END_TEST

START_TEST(deltas_count_from_the_delete_horizon)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct record rec = {.timestamp = 1000, .key = slice_of("k", 1)};

    opts.delete_horizon_ms = 5000;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &rec);
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct batch b = only_batch(slice_of_str(strbuf_str(&out)));
    ck_assert(batch_has_delete_horizon(&b));
    ck_assert_int_eq(batch_base_timestamp(&b), 5000);
    ck_assert_int_eq(batch_max_timestamp(&b), 1000);
    ck_assert_int_eq(record_iter_init(&it, &b, 1000), 0);
    ck_assert_int_eq(record_iter_next(&it, &rec), 1);
    ck_assert_int_eq(rec.timestamp, 1000);
    ck_assert(!rec.value.p);
}
END_TEST

START_TEST(a_finished_builder_begins_anew)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf one = {0}, two = {0};
    const struct batch_opts opts = BATCH_OPTS_PLAIN;
    const struct record rec = {.timestamp = 1000, .key = slice_of("k", 1)};

    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &rec);
    ck_assert_int_eq(batch_builder_finish(&bb, &one), 0);
    batch_builder_add(&bb, &rec);
    ck_assert_int_eq(batch_builder_finish(&bb, &two), 0);
    ck_assert(str_eq(strbuf_str(&one), strbuf_str(&two)));
}
END_TEST

START_TEST(a_full_output_is_said)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {.max = 64};
    const struct batch_opts opts = BATCH_OPTS_PLAIN;

    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.value = slice_of("a longer value", 14)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), -EFBIG);
}
END_TEST

TEST_MAIN("common/record/builder", the_worked_example_is_built, the_worked_marker_is_built,
          without_records_a_header_is_left, deltas_count_from_the_delete_horizon,
          a_finished_builder_begins_anew, a_full_output_is_said)
