#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "tests/support/log_bench.h"
#include "tests/support/test_main.h"

static struct log_bench b;

static void setup(void)
{
    log_bench_init(&b);
    b.conf->index_interval_bytes = 400;
    b.conf->segment_bytes = 3000;
    b.step_ms = 10;
    log_bench_open(&b, true);
}

static void fill(void)
{
    for (int i = 0; i < 60; i++)
        log_bench_append(&b, 5);
}

static int64_t offset_at(int64_t ts)
{
    struct timestamp_offset found;

    ck_assert_int_eq(log_offset_for_time(b.log, ts, &found), 0);
    if (found.offset >= 0)
        ck_assert_int_eq(found.timestamp, log_bench_ts(&b, found.offset));
    return found.offset;
}

static void check_times(void)
{
    ck_assert_int_eq(offset_at(0), log_start_offset(b.log));
    for (int64_t o = log_start_offset(b.log); o < 300; o++) {
        ck_assert_int_eq(offset_at(log_bench_ts(&b, o)), o);
        ck_assert_int_eq(offset_at(log_bench_ts(&b, o) - 9), o);
    }
    ck_assert_int_eq(offset_at(log_bench_ts(&b, 299) + 1), -1);
}

START_TEST(an_empty_log_has_no_times)
{
    struct timestamp_offset found;

    setup();
    ck_assert_int_eq(offset_at(0), -1);
    ck_assert_int_eq(log_offset_of_max_time(b.log, &found), 0);
    ck_assert_int_eq(found.offset, -1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_first_record_at_or_after_a_time_is_found)
{
    setup();
    b.epoch = 4;
    fill();
    check_times();
    struct timestamp_offset found;
    ck_assert_int_eq(log_offset_for_time(b.log, log_bench_ts(&b, 42), &found), 0);
    ck_assert_int_eq(found.leader_epoch, 4);
    log_bench_restart(&b);
    check_times();
    log_bench_kill(&b);
    log_bench_open(&b, false);
    check_times();
    log_bench_deinit(&b);
}
END_TEST

START_TEST(records_below_the_log_start_do_not_count)
{
    setup();
    fill();
    log_set_high_watermark(b.log, 300);
    ck_assert_int_eq(log_raise_start(b.log, 103), 0);
    check_times();
    log_bench_deinit(&b);
}
END_TEST

/* One record a batch, with the given timestamp. */
static void append_at(int64_t ts)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct log_append done;

    opts.base_offset = log_end_offset(b.log);
    opts.leader_epoch = 1;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = opts.base_offset, .timestamp = ts});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    ck_assert_int_eq(log_append_follower(b.log, slice_of_str(strbuf_str(&out)), &done), 0);
}

START_TEST(times_that_go_down_are_found_in_order_of_offsets)
{
    static const int64_t times[] = {50, 20, 90, 10, 90, 30};
    struct timestamp_offset found;

    setup();
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        append_at(times[i]);
    ck_assert_int_eq(log_offset_for_time(b.log, 15, &found), 0);
    ck_assert_int_eq(found.offset, 0);
    ck_assert_int_eq(log_offset_for_time(b.log, 51, &found), 0);
    ck_assert_int_eq(found.offset, 2);
    ck_assert_int_eq(log_offset_of_max_time(b.log, &found), 0);
    ck_assert_int_eq(found.offset, 2);
    ck_assert_int_eq(found.timestamp, 90);
    ck_assert_int_eq(found.leader_epoch, 1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_truncated_log_forgets_its_greatest_time)
{
    struct timestamp_offset found;

    setup();
    append_at(10);
    append_at(20);
    append_at(90);
    ck_assert_int_eq(log_truncate_to(b.log, 2), 0);
    ck_assert_int_eq(log_offset_of_max_time(b.log, &found), 0);
    ck_assert_int_eq(found.offset, 1);
    ck_assert_int_eq(log_offset_for_time(b.log, 15, &found), 0);
    ck_assert_int_eq(found.offset, 1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_greatest_time_is_found_after_a_restart)
{
    struct timestamp_offset found;

    setup();
    fill();
    log_bench_restart(&b);
    ck_assert_int_eq(log_offset_of_max_time(b.log, &found), 0);
    ck_assert_int_eq(found.offset, 299);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(bases_before_a_time_come_newest_first)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t *offsets;
    int32_t count;

    setup();
    fill();
    ck_assert_int_eq(log_offsets_before(b.log, -1, 2, &a, &offsets, &count), 0);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(offsets[0], 300);
    ck_assert_int_eq(offsets[1], log_active(b.log)->base);
    ck_assert_int_eq(log_offsets_before(b.log, -2, 5, &a, &offsets, &count), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(offsets[0], 0);
    ck_assert_int_eq(log_offsets_before(b.log, 1000, 5, &a, &offsets, &count), 0);
    ck_assert_int_eq(count, 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(aborted_transactions_of_a_range_are_listed)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf set = {0};
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    struct aborted_txn *txns;
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct log_append done;
    int32_t count;

    setup();
    log_bench_append(&b, 5);
    opts.base_offset = 5;
    opts.leader_epoch = 0;
    opts.producer_id = 77;
    opts.producer_epoch = 0;
    opts.base_sequence = 0;
    opts.is_transactional = true;
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = 5, .timestamp = log_bench_ts(&b, 5)});
    ck_assert_int_eq(batch_builder_finish(&bb, &set), 0);
    ck_assert_int_eq(log_append_follower(b.log, slice_of_str(strbuf_str(&set)), &done), 0);
    log_set_high_watermark(b.log, 6);
    ck_assert_int_eq(log_stable_offset(b.log), 5);
    strbuf_reset(&set);
    txn_marker_build(&(struct txn_marker){.offset = 6,
                                          .timestamp = log_bench_ts(&b, 6),
                                          .producer_id = 77,
                                          .coordinator_epoch = 1},
                     &set);
    ck_assert_int_eq(log_append_follower(b.log, slice_of_str(strbuf_str(&set)), &done), 0);
    ck_assert_int_eq(log_stable_offset(b.log), 5);
    log_set_high_watermark(b.log, 7);
    ck_assert_int_eq(log_stable_offset(b.log), 7);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(log_aborted_txns(b.log, 0, 7, &a, &txns, &count), 0);
        ck_assert_int_eq(count, 1);
        ck_assert_int_eq(txns[0].producer_id, 77);
        ck_assert_int_eq(txns[0].first_offset, 5);
        ck_assert_int_eq(log_aborted_txns(b.log, 0, 5, &a, &txns, &count), 0);
        ck_assert_int_eq(count, 0);
        ck_assert_int_eq(log_aborted_txns(b.log, 7, 10, &a, &txns, &count), 0);
        ck_assert_int_eq(count, 0);
        if (i == 0)
            log_bench_restart(&b);
        log_bench_kill(&b);
        log_bench_open(&b, i == 0);
    }
    log_bench_deinit(&b);
}
END_TEST

TEST_MAIN("broker/storage/log_time", an_empty_log_has_no_times,
          the_first_record_at_or_after_a_time_is_found, records_below_the_log_start_do_not_count,
          times_that_go_down_are_found_in_order_of_offsets,
          a_truncated_log_forgets_its_greatest_time, the_greatest_time_is_found_after_a_restart,
          bases_before_a_time_come_newest_first, aborted_transactions_of_a_range_are_listed)
