#include "broker/storage/log.h"

#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "tests/support/log_bench.h"
#include "tests/support/test_main.h"

static struct log_bench b;

static void setup(void)
{
    log_bench_init(&b);
    b.conf->index_interval_bytes = 400;
}

static int read_range(int64_t offset, uint32_t max, int64_t upper, struct log_read *out)
{
    const struct log_read_opts opts = {offset, max, upper, true};

    *out = (struct log_read){.start = {0}};
    int r = log_read(b.log, &opts, out);
    out->records.file = file_unref(out->records.file);
    return r;
}

START_TEST(a_new_log_is_empty)
{
    struct log_read out;

    setup();
    log_bench_open(&b, true);
    ck_assert_int_eq(log_start_offset(b.log), 0);
    ck_assert_int_eq(log_end_offset(b.log), 0);
    ck_assert_int_eq(log_high_watermark(b.log), 0);
    ck_assert_int_eq(log_size(b.log), 0);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    ck_assert_int_eq(read_range(0, 100, INT64_MAX, &out), 0);
    ck_assert_uint_eq(records_len(out.records), 0);
    ck_assert(!records_is_null(out.records));
    ck_assert_int_eq(out.start.segment_base, 0);
    ck_assert_int_eq(read_range(1, 100, INT64_MAX, &out), OFFSET_OUT_OF_RANGE);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(what_is_appended_can_be_read)
{
    setup();
    log_bench_open(&b, true);
    for (int i = 1; i <= 40; i++)
        log_bench_append(&b, i);
    log_bench_check(&b, 0, 820);
    log_bench_check_from(&b, 0, 10);
    log_bench_check_from(&b, 7, 1000);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(sets_of_many_batches_can_be_read)
{
    setup();
    log_bench_open(&b, true);
    for (int i = 1; i <= 10; i++)
        log_bench_follow(&b, 50, 3);
    log_bench_check(&b, 0, 1500);
    log_bench_check_from(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

/* Of both indexes, once the segment is sealed. */
static void index_sizes(struct log_bench *log, uint64_t ret[2])
{
    log_bench_restart(log);
    ret[0] = log_bench_file_size(log, 0, SEGMENT_INDEX);
    ret[1] = log_bench_file_size(log, 0, SEGMENT_TIMEINDEX);
}

START_TEST(the_batches_of_a_set_are_indexed_as_if_each_came_alone)
{
    uint64_t alone[2], at_once[2];

    setup();
    log_bench_open(&b, true);
    for (int i = 0; i < 50; i++)
        log_bench_append(&b, 3);
    index_sizes(&b, alone);
    ck_assert_int_eq(log_truncate_fully(b.log, 0), 0);
    log_bench_follow(&b, 50, 3);
    index_sizes(&b, at_once);
    ck_assert_uint_gt(alone[0], 5 * 8);
    ck_assert_uint_eq(at_once[0], alone[0]);
    ck_assert_uint_eq(at_once[1], alone[1]);
    log_bench_check(&b, 0, 150);
    log_bench_check_from(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_set_of_more_batches_than_its_index_has_room_for_is_found)
{
    setup();
    b.conf->segment_index_bytes = 64;
    log_bench_open(&b, true);
    log_bench_follow(&b, 100, 3);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 1);
    log_bench_check(&b, 0, 300);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(an_index_may_hold_more_than_it_has_room_for_now)
{
    setup();
    b.conf->index_interval_bytes = 0;
    log_bench_open(&b, true);
    for (int i = 0; i < 50; i++)
        log_bench_append(&b, 3);
    b.conf->segment_index_bytes = 64;
    log_bench_restart(&b);
    log_bench_append(&b, 3);
    log_bench_check(&b, 0, 153);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 2);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(files_survive_a_clean_stop)
{
    setup();
    log_bench_open(&b, true);
    for (int i = 1; i <= 40; i++)
        log_bench_append(&b, 5);
    ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_INDEX), 10485760);
    ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_TIMEINDEX), 10485756);
    log_bench_restart(&b);
    ck_assert_uint_lt(log_bench_file_size(&b, 0, SEGMENT_INDEX), 400);
    ck_assert_uint_gt(log_bench_file_size(&b, 0, SEGMENT_INDEX), 0);
    log_bench_check(&b, 0, 200);
    ck_assert_int_eq(log_recovery_point(b.log), 200);
    log_bench_append(&b, 5);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 205);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(full_segments_are_rolled)
{
    setup();
    b.conf->segment_bytes = 2000;
    log_bench_open(&b, true);
    for (int i = 0; i < 100; i++)
        log_bench_append(&b, 5);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 10);
    log_bench_check(&b, 0, 500);
    log_bench_check_from(&b, 3, 200);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 500);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_segment_is_rolled_by_the_time_of_its_records)
{
    setup();
    b.conf->segment_ms = 1000;
    b.step_ms = 100;
    log_bench_open(&b, true);
    for (int i = 0; i < 50; i++)
        log_bench_append(&b, 1);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 5);
    log_bench_check(&b, 0, 50);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_segment_is_rolled_when_its_index_is_full)
{
    setup();
    b.conf->segment_index_bytes = 64;
    log_bench_open(&b, true);
    for (int i = 0; i < 100; i++)
        log_bench_append(&b, 5);
    ck_assert_int_gt(log_bench_files(&b, ".log"), 3);
    log_bench_check(&b, 0, 500);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 500);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(an_offset_too_far_from_the_base_rolls)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct log_append out;
    int64_t far = 5000000000;

    setup();
    log_bench_open(&b, true);
    log_bench_append(&b, 1);
    ck_assert_int_eq(log_append_follower(b.log, log_bench_batch(&b, far, 2, &a), &out), 0);
    ck_assert_int_eq(out.first_offset, far);
    ck_assert_int_eq(log_end_offset(b.log), far + 2);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 2);
    /* What lies in the gap is found behind it. */
    log_bench_check_from(&b, far, 100);
    struct log_read r;
    ck_assert_int_eq(read_range(77, 1000, INT64_MAX, &r), 0);
    ck_assert_int_eq(r.start.segment_base, far);
    ck_assert_uint_gt(r.records.len, 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(nothing_above_the_upper_offset_is_returned)
{
    struct log_read out, all;

    setup();
    log_bench_open(&b, true);
    for (int i = 0; i < 30; i++)
        log_bench_append(&b, 10);
    ck_assert_int_eq(read_range(100, 1 << 20, INT64_MAX, &all), 0);
    ck_assert_int_eq(read_range(100, 1 << 20, 200, &out), 0);
    ck_assert_uint_eq(out.records.len * 2, all.records.len);
    ck_assert_int_eq(read_range(100, 1 << 20, 205, &out), 0);
    ck_assert_uint_eq(out.records.len * 2, all.records.len);
    ck_assert_int_eq(read_range(100, 1 << 20, 110, &out), 0);
    ck_assert_uint_eq(out.records.len * 20, all.records.len);
    ck_assert_int_eq(read_range(100, 1 << 20, 100, &out), 0);
    ck_assert_uint_eq(records_len(out.records), 0);
    ck_assert_int_eq(read_range(100, 1 << 20, 50, &out), 0);
    ck_assert_uint_eq(records_len(out.records), 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_first_batch_comes_whole_or_is_said_to_be_cut)
{
    struct log_read_opts opts = {0, 50, INT64_MAX, true};
    struct log_read out = {.start = {0}};

    setup();
    log_bench_open(&b, true);
    log_bench_append(&b, 10);
    int64_t first = log_size(b.log);
    log_bench_append(&b, 10);
    ck_assert_int_eq(log_read(b.log, &opts, &out), 0);
    ck_assert_int_eq(out.records.len, first);
    ck_assert(!out.is_first_batch_cut);
    file_unref(out.records.file);
    opts.min_one_batch = false;
    ck_assert_int_eq(log_read(b.log, &opts, &out), 0);
    ck_assert_uint_eq(out.records.len, 50);
    ck_assert(out.is_first_batch_cut);
    file_unref(out.records.file);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(positions_count_the_bytes_between_offsets)
{
    struct log_offset at, end;

    setup();
    log_bench_open(&b, true);
    for (int i = 0; i < 100; i++)
        log_bench_append(&b, 1);
    end = log_end(b.log);
    ck_assert_int_eq(end.offset, 100);
    ck_assert_uint_eq(end.pos, (uint64_t)log_size(b.log));
    at = log_locate(b.log, 0);
    ck_assert_uint_eq(at.pos, 0);
    at = log_locate(b.log, 100);
    ck_assert_uint_eq(at.pos, end.pos);
    at = log_locate(b.log, 101);
    ck_assert_int_eq(at.segment_base, -1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_high_watermark_stays_between_start_and_end)
{
    setup();
    log_bench_open(&b, true);
    log_bench_append(&b, 10);
    ck_assert_int_eq(log_high_watermark(b.log), 0);
    ck_assert_int_eq(log_set_high_watermark(b.log, 5), 5);
    ck_assert_int_eq(log_set_high_watermark(b.log, 50), 10);
    ck_assert_int_eq(log_stable_offset(b.log), 10);
    ck_assert_int_eq(log_raise_start(b.log, 4), 0);
    ck_assert_int_eq(log_set_high_watermark(b.log, 2), 4);
    ck_assert_int_eq(log_raise_start(b.log, 5), OFFSET_OUT_OF_RANGE);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_follower_refuses_what_starts_below_its_end)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct log_append out;

    setup();
    log_bench_open(&b, true);
    log_bench_append(&b, 10);
    ck_assert_int_eq(log_append_follower(b.log, log_bench_batch(&b, 9, 3, &a), &out),
                     OFFSET_OUT_OF_RANGE);
    struct slice bad = log_bench_batch(&b, 10, 3, &a);
    ((uint8_t *)(uintptr_t)bad.p)[70] ^= 1;
    ck_assert_int_eq(log_append_follower(b.log, bad, &out), CORRUPT_MESSAGE);
    ck_assert_int_eq(log_end_offset(b.log), 10);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(an_empty_log_may_begin_inside_of_a_batch)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct log_append out;

    setup();
    log_bench_open(&b, true);
    ck_assert_int_eq(log_truncate_fully(b.log, 105), 0);
    ck_assert_int_eq(log_append_follower(b.log, log_bench_batch(&b, 100, 10, &a), &out), 0);
    log_bench_check(&b, 100, 110);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_set_larger_than_a_segment_is_refused)
{
    setup();
    b.conf->segment_bytes = 1000;
    log_bench_open(&b, true);
    ck_assert_int_eq(log_bench_try_append(&b, 200), RECORD_LIST_TOO_LARGE);
    log_bench_append(&b, 5);
    log_bench_check(&b, 0, 5);
    log_bench_deinit(&b);
}
END_TEST

/* The leader's segments were larger, before the topic's segment.bytes was lowered. */
START_TEST(a_follower_takes_what_larger_segments_held)
{
    setup();
    b.conf->segment_bytes = 1000;
    log_bench_open(&b, true);
    log_bench_follow(&b, 100, 5);
    ck_assert_int_gt(log_bench_files(&b, ".log"), 10);
    log_bench_follow(&b, 1, 300); /* one batch alone */
    log_bench_follow(&b, 3, 2);
    log_bench_check(&b, 0, 806);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 806);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(the_topic_id_is_kept)
{
    struct uuid id = {{1, 2, 3}}, other = {{4}};

    setup();
    log_bench_open(&b, true);
    ck_assert(uuid_is_zero(log_topic_id(b.log)));
    ck_assert_int_eq(log_set_topic_id(b.log, id), 0);
    ck_assert_int_eq(log_set_topic_id(b.log, other), INCONSISTENT_TOPIC_ID);
    log_bench_restart(&b);
    ck_assert(uuid_eq(log_topic_id(b.log), id));
    ck_assert_int_eq(log_set_topic_id(b.log, id), 0);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_malformed_topic_id_counts_as_unknown)
{
    setup();
    CLEANUP(free_p) char *path = xasprintf("%s/partition.metadata", b.path);
    ck_assert_int_eq(fs_replace_file(path, STR("version: 0\ntopic_id: nonsense")), 0);
    log_bench_open(&b, true);
    ck_assert(uuid_is_zero(log_topic_id(b.log)));
    log_bench_deinit(&b);
}
END_TEST

START_TEST(epochs_are_those_of_the_batches)
{
    int32_t epoch;
    int64_t offset;

    setup();
    log_bench_open(&b, true);
    ck_assert_int_eq(log_start_epoch(b.log, 3), 0);
    b.epoch = 3;
    log_bench_append(&b, 10);
    ck_assert_int_eq(log_start_epoch(b.log, 5), 0);
    b.epoch = 5;
    log_bench_append(&b, 10);
    b.epoch = 6;
    log_bench_follow(&b, 2, 5);
    ck_assert_int_eq(log_latest_epoch(b.log), 6);
    ck_assert_int_eq(log_epoch_at(b.log, 9), 3);
    ck_assert_int_eq(log_epoch_at(b.log, 10), 5);
    log_end_offset_for_epoch(b.log, 4, &epoch, &offset);
    ck_assert_int_eq(epoch, 3);
    ck_assert_int_eq(offset, 10);
    log_bench_restart(&b);
    ck_assert_int_eq(log_latest_epoch(b.log), 6);
    log_bench_kill(&b);
    log_bench_open(&b, false);
    ck_assert_int_eq(log_latest_epoch(b.log), 6);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_rested_log_goes_on)
{
    setup();
    b.conf->segment_bytes = 2000;
    log_bench_open(&b, true);
    for (int i = 0; i < 30; i++)
        log_bench_append(&b, 5);
    log_rest(b.log, INT64_MAX);
    log_bench_check(&b, 0, 150);
    log_rest(b.log, INT64_MAX);
    for (int i = 0; i < 30; i++)
        log_bench_append(&b, 5);
    log_bench_check(&b, 0, 300);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_closed_log_takes_nothing_more)
{
    setup();
    log_bench_open(&b, true);
    log_bench_append(&b, 5);
    ck_assert_int_eq(log_close(b.log), 0);
    ck_assert_int_eq(log_bench_try_append(&b, 1), KAFKA_STORAGE_ERROR);
    log_bench_deinit(&b);
}
END_TEST

static void set_format(int8_t version)
{
    struct topic_conf *conf = topic_conf_copy(b.conf);

    conf->record_version = version;
    log_set_conf(b.log, conf);
    topic_conf_unref(conf);
}

static bool has_epoch_file(void)
{
    CLEANUP(free_p) char *path = xasprintf("%s/leader-epoch-checkpoint", b.path);

    return fs_exists(path);
}

START_TEST(a_log_of_an_old_format_has_its_records_and_no_epochs)
{
    int32_t epoch;
    int64_t offset;

    setup();
    b.conf->record_version = 1;
    b.epoch = 3;
    log_bench_open(&b, true);
    ck_assert_int_eq(log_record_version(b.log), 1);
    ck_assert_int_eq(log_start_epoch(b.log, 3), 0);
    for (int i = 1; i <= 20; i++)
        log_bench_append(&b, i);
    log_bench_check(&b, 0, 210);
    log_bench_check_from(&b, 7, 300);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    log_end_offset_for_epoch(b.log, 3, &epoch, &offset);
    ck_assert_int_eq(epoch, -1);
    ck_assert_int_eq(offset, -1);
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert(!has_epoch_file());
    log_bench_restart(&b);
    log_bench_check(&b, 0, 210);
    log_bench_kill(&b);
    log_bench_open(&b, false);
    log_bench_check(&b, 0, 210);
    ck_assert(!has_epoch_file());
    log_bench_deinit(&b);
}
END_TEST

START_TEST(epochs_go_with_a_new_format_and_begin_anew_after_it)
{
    setup();
    b.epoch = 3;
    log_bench_open(&b, true);
    ck_assert_int_eq(log_start_epoch(b.log, 3), 0);
    log_bench_append(&b, 5);
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert(has_epoch_file());
    set_format(1);
    ck_assert(!has_epoch_file());
    log_bench_append(&b, 5);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    /* A follower may be sent batches of format 2 all the same. */
    log_bench_follow(&b, 2, 3);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    set_format(2);
    log_bench_append(&b, 5);
    ck_assert_int_eq(log_latest_epoch(b.log), 3);
    ck_assert_int_eq(log_epoch_at(b.log, 20), 3);
    ck_assert_int_eq(log_epoch_at(b.log, 15), -1);
    log_bench_check(&b, 0, 21);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(epochs_that_another_format_left_are_dropped_when_a_log_is_opened)
{
    setup();
    b.epoch = 3;
    log_bench_open(&b, true);
    log_bench_append(&b, 5);
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    ck_assert(has_epoch_file());
    b.conf->record_version = 0;
    log_bench_open(&b, true);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    ck_assert(!has_epoch_file());
    log_bench_check(&b, 0, 5);
    log_bench_deinit(&b);
}
END_TEST

TEST_MAIN("broker/storage/log", a_new_log_is_empty, what_is_appended_can_be_read,
          sets_of_many_batches_can_be_read, the_batches_of_a_set_are_indexed_as_if_each_came_alone,
          a_set_of_more_batches_than_its_index_has_room_for_is_found,
          an_index_may_hold_more_than_it_has_room_for_now, files_survive_a_clean_stop,
          full_segments_are_rolled, a_segment_is_rolled_by_the_time_of_its_records,
          a_segment_is_rolled_when_its_index_is_full, an_offset_too_far_from_the_base_rolls,
          nothing_above_the_upper_offset_is_returned,
          the_first_batch_comes_whole_or_is_said_to_be_cut,
          positions_count_the_bytes_between_offsets, the_high_watermark_stays_between_start_and_end,
          a_follower_refuses_what_starts_below_its_end, an_empty_log_may_begin_inside_of_a_batch,
          a_set_larger_than_a_segment_is_refused, a_follower_takes_what_larger_segments_held,
          the_topic_id_is_kept, a_malformed_topic_id_counts_as_unknown,
          epochs_are_those_of_the_batches, a_log_of_an_old_format_has_its_records_and_no_epochs,
          epochs_go_with_a_new_format_and_begin_anew_after_it,
          epochs_that_another_format_left_are_dropped_when_a_log_is_opened, a_rested_log_goes_on,
          a_closed_log_takes_nothing_more)
