#include "broker/storage/recover.h"

#include "broker/storage/offset_index.h"
#include "broker/storage/time_index.h"
#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/record/legacy.h"
#include "tests/support/log_bench.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct log_bench b;

/* Ten batches of five records, an index entry about every third batch. */
static void setup(void)
{
    log_bench_init(&b);
    b.conf->index_interval_bytes = 500;
    b.conf->segment_bytes = 1 << 20;
}

static void write_batches(int count)
{
    for (int i = 0; i < count; i++)
        log_bench_append(&b, 5);
}

static void reopen(void)
{
    log_bench_kill(&b);
    log_bench_open(&b, false);
}

static void cut_file(int64_t base, enum segment_file_type type, uint64_t size)
{
    CLEANUP(free_p) char *path = segment_file_path(b.path, base, type);
    CLEANUP(file_unref_p) struct file *f = NULL;

    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_truncate(f, size), 0);
}

static void rename_file(int64_t base, enum segment_file_type type, const char *suffix)
{
    CLEANUP(free_p) char *path = segment_file_path(b.path, base, type);
    CLEANUP(free_p) char *to = xasprintf("%s%s", path, suffix);

    ck_assert_int_eq(rename(path, to), 0);
}

static void remove_file(int64_t base, enum segment_file_type type)
{
    CLEANUP(free_p) char *path = segment_file_path(b.path, base, type);

    ck_assert_int_eq(fs_remove_tree(path), 0);
}

START_TEST(a_killed_log_comes_back_whole)
{
    setup();
    log_bench_open(&b, true);
    write_batches(30);
    reopen();
    log_bench_check(&b, 0, 150);
    ck_assert_uint_gt(log_bench_file_size(&b, 0, SEGMENT_INDEX), 0);
    ck_assert_uint_lt(log_bench_file_size(&b, 0, SEGMENT_INDEX), 1000);
    write_batches(3);
    reopen();
    log_bench_check(&b, 0, 165);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_torn_batch_at_the_end_is_cut)
{
    for (uint64_t torn = 1; torn < 175; torn += 13) {
        setup();
        log_bench_open(&b, true);
        write_batches(9);
        uint64_t good = log_bench_file_size(&b, 0, SEGMENT_LOG);
        write_batches(1);
        log_bench_kill(&b);
        cut_file(0, SEGMENT_LOG, good + torn);
        log_bench_open(&b, false);
        ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_LOG), good);
        log_bench_check(&b, 0, 45);
        write_batches(2);
        log_bench_check(&b, 0, 55);
        log_bench_deinit(&b);
    }
}
END_TEST

START_TEST(a_flipped_bit_cuts_there_and_drops_later_segments)
{
    setup();
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    write_batches(60);
    int segments = log_bench_files(&b, ".log");
    ck_assert_int_ge(segments, 4);
    int64_t base = b.log->segments[2]->base;
    log_bench_kill(&b);
    log_bench_flip_byte(&b, base, SEGMENT_LOG, 100);
    log_bench_open(&b, false);
    ck_assert_int_eq(log_bench_files(&b, ".log"), 3);
    log_bench_check(&b, 0, base);
    write_batches(30);
    log_bench_restart(&b);
    log_bench_check(&b, 0, base + 150);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(what_lies_below_the_recovery_point_is_not_read)
{
    setup();
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    write_batches(60);
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert_int_eq(log_recovery_point(b.log), 300);
    int64_t base = b.log->segments[1]->base;
    log_bench_kill(&b);
    log_bench_flip_byte(&b, base, SEGMENT_LOG, 100);
    log_bench_open(&b, false);
    ck_assert_int_eq(log_end_offset(b.log), 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(preallocated_zeroes_are_cut)
{
    setup();
    b.conf->preallocate = true;
    log_bench_open(&b, true);
    ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_LOG), 1 << 20);
    write_batches(5);
    ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_LOG), 1 << 20);
    log_bench_check(&b, 0, 25);
    reopen();
    ck_assert_uint_lt(log_bench_file_size(&b, 0, SEGMENT_LOG), 10000);
    log_bench_check(&b, 0, 25);
    write_batches(1);
    log_bench_restart(&b);
    log_bench_check(&b, 0, 30);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_flipped_bit_in_an_index_costs_no_data)
{
    static const enum segment_file_type types[] = {SEGMENT_INDEX, SEGMENT_TIMEINDEX};

    for (uint64_t i = 0; i < 60; i++) {
        setup();
        log_bench_open(&b, true);
        write_batches(50);
        ck_assert_int_eq(log_close(b.log), 0);
        log_bench_kill(&b);
        enum segment_file_type type = types[i % 2];
        uint64_t size = log_bench_file_size(&b, 0, type);
        log_bench_flip_byte(&b, 0, type, i / 2 * 7 % size);
        log_bench_open(&b, true);
        log_bench_check(&b, 0, 250);
        log_bench_deinit(&b);
    }
}
END_TEST

START_TEST(a_missing_index_is_made_again_after_a_clean_stop)
{
    setup();
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    write_batches(60);
    int64_t base = b.log->segments[1]->base;
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    uint64_t size = log_bench_file_size(&b, base, SEGMENT_INDEX);
    remove_file(base, SEGMENT_INDEX);
    remove_file(0, SEGMENT_TIMEINDEX);
    log_bench_open(&b, true);
    ck_assert_uint_eq(log_bench_file_size(&b, base, SEGMENT_INDEX), size);
    log_bench_check(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_clean_stop_with_a_damaged_end_is_recovered)
{
    setup();
    log_bench_open(&b, true);
    write_batches(10);
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    cut_file(0, SEGMENT_LOG, log_bench_file_size(&b, 0, SEGMENT_LOG) - 1);
    log_bench_open(&b, true);
    log_bench_check(&b, 0, 45);
    log_bench_deinit(&b);
}
END_TEST

/* Just where the last entry of the index points at, so that nothing lies behind it. */
START_TEST(a_log_that_ends_at_an_index_entry_keeps_its_end)
{
    struct offset_entry last;
    bool any = false;

    setup();
    log_bench_open(&b, true);
    write_batches(50);
    ck_assert_int_eq(offset_index_last(&b.log->segments[0]->body->offsets, &last, &any), 0);
    ck_assert(any);
    uint64_t batch = log_bench_file_size(&b, 0, SEGMENT_LOG) / 50;
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    cut_file(0, SEGMENT_LOG, last.pos);
    log_bench_open(&b, true);
    log_bench_check(&b, 0, (int64_t)(last.pos / batch * 5));
    log_bench_deinit(&b);
}
END_TEST

START_TEST(an_end_below_the_checkpointed_start_begins_again_there)
{
    setup();
    log_bench_open(&b, true);
    write_batches(4);
    log_bench_kill(&b);
    b.start_offset = 100;
    log_bench_open(&b, false);
    ck_assert_int_eq(log_start_offset(b.log), 100);
    ck_assert_int_eq(log_end_offset(b.log), 100);
    write_batches(2);
    log_bench_check(&b, 100, 110);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(leftovers_are_removed)
{
    setup();
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    write_batches(60);
    int64_t last = log_active(b.log)->base;
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    rename_file(last, SEGMENT_LOG, ".deleted");
    log_bench_open(&b, true);
    ck_assert_int_eq(log_end_offset(b.log), last);
    ck_assert_int_eq(log_bench_files(&b, ".deleted"), 0);
    /* Its index went too: it would stand without its .log. */
    log_bench_check(&b, 0, last);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_finished_swap_is_put_in_place_and_an_unfinished_one_forgotten)
{
    setup();
    b.conf->segment_bytes = 3000;
    log_bench_open(&b, true);
    write_batches(60);
    int64_t base = b.log->segments[1]->base, third = b.log->segments[2]->base;
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    /* Segment 1 was rewritten and is about to replace itself; that of segment 2 was not done. */
    rename_file(base, SEGMENT_LOG, ".swap");
    rename_file(base, SEGMENT_INDEX, ".swap");
    CLEANUP(free_p) char *cleaned = xasprintf("%s/%020lld.log.cleaned", b.path, (long long)third);
    ck_assert_int_eq(fs_replace_file(cleaned, STR("half")), 0);
    log_bench_open(&b, true);
    ck_assert_int_eq(log_bench_files(&b, ".swap"), 0);
    ck_assert_int_eq(log_bench_files(&b, ".cleaned"), 0);
    log_bench_check(&b, 0, 300);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_malformed_epoch_file_is_made_again_from_the_batches)
{
    setup();
    log_bench_open(&b, true);
    b.epoch = 2;
    write_batches(3);
    b.epoch = 4;
    write_batches(3);
    ck_assert_int_eq(log_close(b.log), 0);
    log_bench_kill(&b);
    CLEANUP(free_p) char *path = xasprintf("%s/leader-epoch-checkpoint", b.path);
    ck_assert_int_eq(fs_replace_file(path, STR("what is this")), 0);
    log_bench_open(&b, true);
    ck_assert_int_eq(log_latest_epoch(b.log), 4);
    ck_assert_int_eq(log_epoch_at(b.log, 14), 2);
    log_bench_check(&b, 0, 30);
    log_bench_deinit(&b);
}
END_TEST

/* As it was where the batch came in: the file had the epochs of before. */
START_TEST(a_batch_of_an_old_format_ends_the_epochs_in_recovery_too)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf old = {0};
    struct log_append out;

    setup();
    b.epoch = 2;
    log_bench_open(&b, true);
    ck_assert_int_eq(log_start_epoch(b.log, 2), 0);
    write_batches(1);
    ck_assert_int_eq(log_flush(b.log), 0);
    struct slice one = log_bench_batch(&b, 5, 1, &a);
    const struct batch new = {one.p, (uint32_t)one.len, 2};
    const struct down_convert_opts to = {.magic = 1, .max_unpacked = 1 << 20};
    ck_assert_int_eq(down_convert_batch(&new, &to, &old), 0);
    ck_assert_int_eq(log_append_follower(b.log, slice_of_str(strbuf_str(&old)), &out), 0);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    b.recovery_point = 5;
    reopen();
    log_bench_check(&b, 0, 6);
    ck_assert_int_eq(log_latest_epoch(b.log), -1);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(recovered_indexes_follow_the_rules)
{
    struct offset_entry last = {0, 0};
    bool any;

    setup();
    log_bench_open(&b, true);
    write_batches(50);
    reopen();
    ck_assert_int_eq(log_need_body(b.log, log_active(b.log)), 0);
    struct index_file *x = &log_active(b.log)->body->offsets;
    for (uint32_t i = 0; i < x->count; i++) {
        uint8_t bytes[INDEX_ENTRY_MAX];

        ck_assert_int_eq(index_file_get(x, i, bytes), 0);
        struct offset_entry e = offset_index_decode(bytes);
        ck_assert_uint_gt(e.pos - last.pos, 500);
        ck_assert_int_gt(e.relative, last.relative);
        ck_assert_int_eq(e.relative % 5, 4);
        last = e;
    }
    struct time_entry t = {0, 0};
    ck_assert_int_eq(time_index_last(&log_active(b.log)->body->times, &t, &any), 0);
    ck_assert(any);
    ck_assert_int_eq(t.timestamp, log_bench_ts(&b, 249));
    ck_assert_int_eq(t.relative, 249);
    log_bench_deinit(&b);
}
END_TEST

/* ---- faults and crashes ---- */

START_TEST(a_failed_append_leaves_no_trace)
{
    static const struct fault faults[] = {
        {FAULT_ERRNO, ENOSPC}, {FAULT_SHORT, 0}, {FAULT_SHORT, 17}, {FAULT_SHORT, 100}};

    setup();
    log_bench_open(&b, true);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        write_batches(2);
        int64_t end = log_end_offset(b.log);
        uint64_t size = log_bench_file_size(&b, 0, SEGMENT_LOG);

        fault_arm("fs.pwrite", faults[i], 1, false);
        ck_assert_int_lt(log_bench_try_append(&b, 5), 0);
        fault_disarm_all();
        ck_assert_uint_eq(log_bench_file_size(&b, 0, SEGMENT_LOG), size);
        log_bench_check(&b, 0, end);
    }
    write_batches(2);
    reopen();
    log_bench_check(&b, 0, 50);
    log_bench_deinit(&b);
}
END_TEST

START_TEST(a_failed_flush_does_not_move_the_recovery_point)
{
    setup();
    log_bench_open(&b, true);
    write_batches(5);
    for (int nth = 1; nth <= 3; nth++) {
        fault_arm("fs.fsync", (struct fault){FAULT_ERRNO, EIO}, nth, false);
        ck_assert_int_eq(log_flush(b.log), -EIO);
        fault_disarm_all();
        ck_assert_int_eq(log_recovery_point(b.log), 0);
    }
    ck_assert_int_eq(log_flush(b.log), 0);
    ck_assert_int_eq(log_recovery_point(b.log), 25);
    log_bench_deinit(&b);
}
END_TEST

/* What a process that may die at any moment tells its parent. */
struct note {
    int64_t acked;          /* the log end after the last step that returned, or is to be left */
    int64_t recovery_point; /* as its checkpoint would say */
    bool is_done;
};

static struct note *note; /* shared between the processes */

static int checkpoint_now(void *ctx UNUSED, struct log *log)
{
    note->recovery_point = log_recovery_point(log);
    return 0;
}

static void flush_soon(void *ctx UNUSED, struct log *log UNUSED)
{
}

static void remove_now(void *ctx UNUSED, struct segment_files *files, int64_t delay_ms UNUSED)
{
    segment_files_remove(files);
}

static const struct log_hooks hooks = {
    .flush_soon = flush_soon, .remove_later = remove_now, .checkpoint_now = checkpoint_now};

/* Where batches end: elsewhere a cut takes the whole batch, but not the offsets before it. */
static int64_t ends[1000];
static uint32_t end_count;

static int truncate_some(struct random_source *r)
{
    uint32_t back = random_to(r, MIN(end_count, 30u));
    int64_t to = ends[end_count - 1 - back];

    if (to < log_start_offset(b.log))
        return 0;
    end_count -= back;
    note->acked = to;
    return log_truncate_to(b.log, to);
}

static int one_step(struct random_source *r)
{
    int result, deleted;

    switch (random_to(r, 14)) {
    case 0:
        result = log_flush(b.log);
        if (result == 0)
            note->recovery_point = log_recovery_point(b.log);
        return result;
    case 1:
        return truncate_some(r);
    case 2:
        log_set_high_watermark(b.log, log_end_offset(b.log));
        return log_apply_retention(b.log, b.clock.wall_ms, &deleted);
    case 3:
        log_rest(b.log, INT64_MAX);
        return 0;
    default:
        result = log_bench_try_append(&b, 1 + (int)random_to(r, 6));
        if (result == 0)
            ends[end_count++] = note->acked = log_end_offset(b.log);
        return result;
    }
}

static void live(uint64_t seed, const char *point, struct fault fault, int nth)
{
    struct random_source r = {seed};
    int result = 0;

    say_set_level(SAY_ERROR + 1);
    log_bench_open(&b, true);
    ends[0] = 0;
    end_count = 1;
    fault_arm(point, fault, nth, false);
    for (int step = 0; step < 150 && result == 0; step++)
        result = one_step(&r);
    if (result == 0)
        result = log_close(b.log);
    note->is_done = result == 0;
}

/* A life that ends at the nth hit of the fault point, and what is found afterwards. */
static bool check_death(uint64_t seed, const char *point, struct fault fault, int nth)
{
    log_bench_init(&b);
    b.hooks = &hooks;
    b.conf->index_interval_bytes = 200;
    b.conf->segment_bytes = 1500;
    b.conf->retention_bytes = 6000;
    *note = (struct note){0};
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        live(seed, point, fault, nth);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);

    bool was_done = note->is_done;
    b.recovery_point = note->recovery_point;
    log_bench_open(&b, false);
    ck_assert_msg(log_end_offset(b.log) >= note->acked, "%s %d seed %lu: end %ld, acked %ld", point,
                  nth, seed, log_end_offset(b.log), note->acked);
    log_bench_check(&b, log_start_offset(b.log), log_end_offset(b.log));
    log_bench_append(&b, 3);
    log_bench_restart(&b);
    log_bench_check(&b, log_start_offset(b.log), log_end_offset(b.log));
    log_bench_deinit(&b);
    return was_done;
}

static void die_everywhere(const char *point, struct fault fault, int step)
{
    uint64_t seed = 7;

    note = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say_set_level(SAY_ERROR + 1);
    for (int nth = 1; nth < 400; nth += step + nth / 2)
        if (check_death(seed++, point, fault, nth))
            break;
    munmap(note, sizeof *note);
}

START_TEST(a_crash_in_a_write_loses_nothing)
{
    die_everywhere("fs.pwrite", (struct fault){FAULT_CRASH, 0}, 3);
    die_everywhere("fs.pwrite", (struct fault){FAULT_CRASH, 5}, 7);
    die_everywhere("fs.pwrite", (struct fault){FAULT_CRASH, 90}, 7);
}
END_TEST

START_TEST(a_crash_between_writes_loses_nothing)
{
    die_everywhere("fs.rename", (struct fault){FAULT_CRASH, 0}, 1);
    die_everywhere("fs.truncate", (struct fault){FAULT_CRASH, 0}, 2);
    die_everywhere("fs.fsync", (struct fault){FAULT_CRASH, 0}, 2);
    die_everywhere("fs.open", (struct fault){FAULT_CRASH, 0}, 3);
}
END_TEST

START_TEST(a_failure_at_any_step_loses_nothing)
{
    die_everywhere("fs.pwrite", (struct fault){FAULT_SHORT, 40}, 7);
    die_everywhere("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, 7);
    die_everywhere("fs.rename", (struct fault){FAULT_ERRNO, EIO}, 2);
    die_everywhere("fs.truncate", (struct fault){FAULT_ERRNO, EIO}, 4);
    die_everywhere("fs.fsync", (struct fault){FAULT_ERRNO, EIO}, 3);
    die_everywhere("fs.open", (struct fault){FAULT_ERRNO, EMFILE}, 5);
    die_everywhere("fs.pread", (struct fault){FAULT_ERRNO, EIO}, 11);
}
END_TEST

TEST_MAIN("broker/storage/recover", a_killed_log_comes_back_whole, a_torn_batch_at_the_end_is_cut,
          a_flipped_bit_cuts_there_and_drops_later_segments,
          what_lies_below_the_recovery_point_is_not_read, preallocated_zeroes_are_cut,
          a_flipped_bit_in_an_index_costs_no_data, a_missing_index_is_made_again_after_a_clean_stop,
          a_clean_stop_with_a_damaged_end_is_recovered,
          a_log_that_ends_at_an_index_entry_keeps_its_end,
          an_end_below_the_checkpointed_start_begins_again_there, leftovers_are_removed,
          a_finished_swap_is_put_in_place_and_an_unfinished_one_forgotten,
          a_malformed_epoch_file_is_made_again_from_the_batches,
          a_batch_of_an_old_format_ends_the_epochs_in_recovery_too,
          recovered_indexes_follow_the_rules, a_failed_append_leaves_no_trace,
          a_failed_flush_does_not_move_the_recovery_point, a_crash_in_a_write_loses_nothing,
          a_crash_between_writes_loses_nothing, a_failure_at_any_step_loses_nothing)
