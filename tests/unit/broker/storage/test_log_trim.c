#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/log_bench.h"
#include "tests/support/test_main.h"

enum { DAY_MS = 86400000 };

static struct log_bench b;

/* Sixty batches of five records in segments of about 3,000 bytes. */
static void setup(void)
{
    log_bench_init(&b);
    b.conf->index_interval_bytes = 400;
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    for (int i = 0; i < 60; i++)
        log_bench_append(&b, 5);
}

static int retain(void)
{
    int deleted = -1;

    ck_assert_int_eq(log_apply_retention(b.log, b.clock.wall_ms, &deleted), 0);
    return deleted;
}

START_TEST(truncation_at_every_batch_leaves_what_is_below)
{
    for (int64_t to = 300; to >= 0; to -= 15) {
        setup();
        ck_assert_int_eq(log_truncate_to(b.log, to), 0);
        log_bench_check(&b, 0, to);
        log_bench_append(&b, 7);
        log_bench_check(&b, 0, to + 7);
        log_bench_restart(&b);
        log_bench_check(&b, 0, to + 7);
        log_bench_deinit(&b);
    }
}
END_TEST

START_TEST(truncation_inside_of_a_batch_takes_the_batch_but_not_the_offset)
{
    setup();
    ck_assert_int_eq(log_truncate_to(b.log, 152), 0);
    ck_assert_int_eq(log_end_offset(b.log), 152);
    struct log_offset at = log_locate(b.log, 150), end = log_end(b.log);
    ck_assert_uint_eq(at.pos, end.pos);
    log_bench_append(&b, 3);
    log_bench_check_from(&b, 152, 100);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(truncation_above_the_end_only_cuts_epochs)
{
    setup();
    ck_assert_int_eq(log_start_epoch(b.log, 9), 0);
    ck_assert_int_eq(log_latest_epoch(b.log), 9);
    ck_assert_int_eq(log_truncate_to(b.log, 1000), 0);
    ck_assert_int_eq(log_end_offset(b.log), 300);
    ck_assert_int_eq(log_latest_epoch(b.log), 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(truncation_below_the_first_segment_begins_again)
{
    setup();
    b.conf->retention_bytes = 6000;
    log_set_high_watermark(b.log, 300);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_gt(log_start_offset(b.log), 50);
    ck_assert_int_eq(log_truncate_to(b.log, 50), 0);
    ck_assert_int_eq(log_start_offset(b.log), 50);
    ck_assert_int_eq(log_end_offset(b.log), 50);
    ck_assert_int_eq(log_high_watermark(b.log), 50);
    log_bench_append(&b, 5);
    log_bench_check(&b, 50, 55);
    log_bench_restart(&b);
    log_bench_check(&b, 50, 55);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(truncation_lowers_what_stood_above)
{
    setup();
    log_set_high_watermark(b.log, 300);
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert_int_eq(log_truncate_to(b.log, 100), 0);
    ck_assert_int_eq(log_high_watermark(b.log), 100);
    ck_assert_int_eq(log_recovery_point(b.log), 100);
    int64_t size = log_size(b.log);
    log_bench_append(&b, 5);
    ck_assert_int_gt(log_size(b.log), size);
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert_int_eq(log_recovery_point(b.log), 105);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_log_truncated_fully_starts_where_it_is_told)
{
    static const int64_t starts[] = {0, 7, 300, 100000};

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        setup();
        ck_assert_int_eq(log_truncate_fully(b.log, starts[i]), 0);
        ck_assert_int_eq(log_start_offset(b.log), starts[i]);
        ck_assert_int_eq(log_end_offset(b.log), starts[i]);
        ck_assert_int_eq(log_size(b.log), 0);
        ck_assert_int_eq(log_latest_epoch(b.log), -1);
        ck_assert_int_eq(log_bench_files(&b, ".log"), 1);
        log_bench_append(&b, 5);
        log_bench_check(&b, starts[i], starts[i] + 5);
        log_bench_restart(&b);
        log_bench_check(&b, starts[i], starts[i] + 5);
        log_bench_deinit(&b);
    }
}
END_TEST

START_TEST(size_retention_keeps_at_least_the_limit)
{
    setup();
    int64_t all = log_size(b.log);

    b.conf->retention_bytes = 7000;
    ck_assert_int_eq(retain(), 0); /* nothing is below the high watermark */
    log_set_high_watermark(b.log, 300);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_ge(log_size(b.log), 7000);
    ck_assert_int_lt(log_size(b.log), MIN(all, 7000 + 3000));
    log_bench_check(&b, log_start_offset(b.log), 300);
    ck_assert_int_eq(retain(), 0);
    ck_assert_int_eq(log_bench_files(&b, ".deleted"), 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_retained_log_that_may_lose_all_keeps_an_empty_segment)
{
    setup();
    b.conf->retention_bytes = 0;
    log_set_high_watermark(b.log, 300);
    ck_assert_int_ge(retain(), 4);
    ck_assert_int_eq(log_start_offset(b.log), 300);
    ck_assert_int_eq(log_size(b.log), 0);
    ck_assert_int_eq(retain(), 0);
    log_bench_append(&b, 5);
    log_bench_check(&b, 300, 305);
    log_bench_restart(&b);
    log_bench_check(&b, 300, 305);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(time_retention_goes_by_the_records)
{
    setup();
    b.conf->retention_ms = DAY_MS;
    log_set_high_watermark(b.log, 300);
    ck_assert_int_eq(retain(), 0);
    clock_fake_advance(&b.clock, DAY_MS + 150);
    int deleted = retain();
    ck_assert_int_gt(deleted, 0);
    ck_assert_int_lt(deleted, 4);
    ck_assert_int_le(log_start_offset(b.log), 150);
    log_bench_check(&b, log_start_offset(b.log), 300);
    clock_fake_advance(&b.clock, 1000);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_eq(log_start_offset(b.log), 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(time_retention_of_a_loaded_log_reads_its_time_indexes)
{
    setup();
    log_bench_restart(&b);
    b.conf->retention_ms = DAY_MS;
    log_set_high_watermark(b.log, 300);
    clock_fake_advance(&b.clock, DAY_MS + 150);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_le(log_start_offset(b.log), 150);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(without_delete_only_the_log_start_counts)
{
    setup();
    b.conf->cleanup_policy = CLEANUP_COMPACT;
    b.conf->retention_bytes = 0;
    b.conf->retention_ms = 0;
    log_set_high_watermark(b.log, 300);
    ck_assert_int_eq(retain(), 0);
    ck_assert_int_eq(log_raise_start(b.log, 200), 0);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_eq(log_start_offset(b.log), 200);
    ck_assert_int_le(b.log->segments[0]->base, 200);
    log_bench_check(&b, 200, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_log_start_only_goes_up)
{
    struct log_read out;

    setup();
    log_set_high_watermark(b.log, 200);
    ck_assert_int_eq(log_raise_start(b.log, 201), OFFSET_OUT_OF_RANGE);
    ck_assert_int_eq(log_raise_start(b.log, 103), 0);
    ck_assert_int_eq(log_raise_start(b.log, 50), 0);
    ck_assert_int_eq(log_start_offset(b.log), 103);
    ck_assert_int_eq(log_read(b.log, &(struct log_read_opts){102, 100, INT64_MAX, true}, &out),
                     OFFSET_OUT_OF_RANGE);
    log_bench_check(&b, 103, 300);
    log_bench_restart(&b);
    log_bench_check(&b, 103, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(epochs_follow_the_cuts)
{
    log_bench_init(&b);
    log_bench_open(&b, true);
    for (b.epoch = 0; b.epoch < 5; b.epoch++)
        log_bench_append(&b, 10);
    log_set_high_watermark(b.log, 50);
    ck_assert_int_eq(log_truncate_to(b.log, 30), 0);
    ck_assert_int_eq(log_latest_epoch(b.log), 2);
    log_set_high_watermark(b.log, 30);
    ck_assert_int_eq(log_raise_start(b.log, 15), 0);
    ck_assert_int_eq(log_epoch_at(b.log, 15), 1);
    ck_assert_int_eq(log_epoch_at(b.log, 14), -1);
    log_bench_restart(&b);
    ck_assert_int_eq(log_latest_epoch(b.log), 2);
    ck_assert_int_eq(log_epoch_at(b.log, 15), 1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_range_that_was_read_outlives_its_segment)
{
    struct log_read out = {.start = {0}};
    uint8_t bytes[500];

    setup();
    ck_assert_int_eq(log_read(b.log, &(struct log_read_opts){0, 500, INT64_MAX, true}, &out), 0);
    CLEANUP(file_unref_p) struct file *file = out.records.file;
    b.conf->retention_bytes = 0;
    log_set_high_watermark(b.log, 300);
    ck_assert_int_gt(retain(), 0);
    ck_assert_int_eq(file_pread(file, bytes, sizeof bytes, out.records.pos), 0);
    ck_assert_uint_eq(bytes[16], 2);
    log_bench_deinit(&b);
}
END_TEST

TEST_MAIN("broker/storage/log_trim", truncation_at_every_batch_leaves_what_is_below,
          truncation_inside_of_a_batch_takes_the_batch_but_not_the_offset,
          truncation_above_the_end_only_cuts_epochs,
          truncation_below_the_first_segment_begins_again, truncation_lowers_what_stood_above,
          a_log_truncated_fully_starts_where_it_is_told, size_retention_keeps_at_least_the_limit,
          a_retained_log_that_may_lose_all_keeps_an_empty_segment,
          time_retention_goes_by_the_records, time_retention_of_a_loaded_log_reads_its_time_indexes,
          without_delete_only_the_log_start_counts, the_log_start_only_goes_up,
          epochs_follow_the_cuts, a_range_that_was_read_outlives_its_segment)
