#include "broker/storage/log_swap.h"

#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "tests/support/compact_model.h"
#include "tests/support/test_main.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct compact_model m;

/* A log whose cleaning replaces several groups of segments, transactions and tombstones in
 * them. */
static void fill(uint64_t seed)
{
    model_init(&m, seed);
    for (int i = 0; i < 60; i++)
        model_append(&m);
    model_end_transactions(&m);
    model_clean(&m);
    m.b.clock.wall_ms += 2000; /* its tombstones may go */
    for (int i = 0; i < 120; i++)
        model_append(&m);
    model_end_transactions(&m);
    for (int i = 0; i < 60; i++)
        model_put(&m, i % 5, m.next_value++);
}

/* ---- a view ---- */

START_TEST(a_view_is_current_until_a_closed_segment_goes)
{
    CLEANUP(log_view_deinit) struct log_view view = {.count = 0};

    fill(1);
    log_view_init(&view, m.b.log);
    ck_assert_uint_eq(view.count, m.b.log->segment_count - 1);
    ck_assert_int_eq(view.active_base, log_active(m.b.log)->base);
    ck_assert_uint_eq(log_view_at(&view, 0), 0);
    ck_assert_uint_eq(log_view_at(&view, view.v[3].base), 3);
    ck_assert_uint_eq(log_view_at(&view, view.v[3].base - 1), 2);
    ck_assert_uint_eq(log_view_at(&view, INT64_MAX), view.count - 1);
    for (int i = 0; i < 200; i++)
        model_put(&m, 1, m.next_value++);
    ck_assert_int_eq(log_view_check(&view, m.b.log), 0);
    ck_assert_int_eq(log_truncate_to(m.b.log, log_active(m.b.log)->base + 1), 0);
    ck_assert_int_eq(log_view_check(&view, m.b.log), 0);
    ck_assert_int_eq(log_truncate_to(m.b.log, view.active_base), 0);
    ck_assert_int_eq(log_view_check(&view, m.b.log), -ECANCELED);
    log_cleaned_to(m.b.log, &view, 12345);
    ck_assert_int_ne(m.b.log->first_dirty, 12345);
    model_deinit(&m);
}
END_TEST

START_TEST(readers_of_an_old_segment_go_on)
{
    struct log_read out = {.start = {0}};
    const struct log_read_opts opts = {0, 1 << 20, INT64_MAX, true};
    uint8_t before[1000], after[1000];

    model_init(&m, 1);
    for (int i = 0; i < 300; i++)
        model_put(&m, i % 5, m.next_value++);
    uint32_t version = log_version(m.b.log);
    ck_assert_int_eq(log_read(m.b.log, &opts, &out), 0);
    ck_assert_int_eq(file_pread(out.records.file, before, sizeof before, 0), 0);
    model_clean(&m);
    ck_assert_uint_ne(log_version(m.b.log), version);
    ck_assert_int_eq(file_pread(out.records.file, after, sizeof after, 0), 0);
    ck_assert_mem_eq(before, after, sizeof before);
    file_unref(out.records.file);
    model_check(&m);
    model_deinit(&m);
}
END_TEST

START_TEST(sizes_and_snapshots_follow)
{
    fill(2);
    model_clean(&m);
    int64_t size = 0;
    for (uint32_t i = 0; i < m.b.log->segment_count; i++) {
        const struct segment *seg = m.b.log->segments[i];

        size += seg->size;
        ck_assert_uint_eq(log_bench_file_size(&m.b, seg->base, SEGMENT_LOG), seg->size);
    }
    ck_assert_int_eq(log_size(m.b.log), size);
    ck_assert_int_eq(log_bench_files(&m.b, ".log"), (int)m.b.log->segment_count);
    ck_assert_int_eq(log_bench_files(&m.b, ".deleted"), 0); /* nobody delays it here */
    for (int64_t base = 0; base < log_end_offset(m.b.log); base++) {
        bool is_base = m.b.log->segments[log_segment_at(m.b.log, base)]->base == base;

        if (producer_state_has_snapshot(m.b.log->producers, base))
            ck_assert(is_base);
    }
    model_deinit(&m);
}
END_TEST

/* ---- crashes ---- */

/* What a child that dies leaves for its parent to know. */
static struct note {
    bool is_done;
} * note;

/* The records of both, in order; false where `some` has one that `all` has not. */
static bool is_part(const struct model_records *some, const struct model_records *all)
{
    size_t n = 0;

    for (size_t i = 0; i < some->count; i++) {
        while (n < all->count && all->v[n].offset < some->v[i].offset)
            n++;
        if (n == all->count || all->v[n].offset != some->v[i].offset ||
            all->v[n].value != some->v[i].value)
            return false;
    }
    return true;
}

static void copy_account(bool is_read_committed, struct model_records *ret)
{
    *ret = (struct model_records){.count = 0};
    for (size_t i = 0; i < m.count; i++) {
        if (is_read_committed && m.v[i].is_aborted)
            continue;
        xgrow(ret->v, ret->cap, ret->count + 1);
        ret->v[ret->count++] = m.v[i];
    }
}

/* All records, and those of committed transactions. */
struct state {
    struct model_records v[2];
};

static void state_deinit(struct state *s)
{
    for (int i = 0; i < 2; i++)
        model_records_deinit(&s->v[i]);
}

static void account_state(struct state *ret)
{
    for (int i = 0; i < 2; i++)
        copy_account(i == 1, &ret->v[i]);
}

static void log_state(struct state *ret)
{
    for (int i = 0; i < 2; i++)
        model_read(&m, i == 1, &ret->v[i]);
}

static void check_part(const struct state *some, const struct state *all, const char *point,
                       int nth)
{
    for (int i = 0; i < 2; i++)
        ck_assert_msg(is_part(&some->v[i], &all->v[i]), "%s %d: reader %d", point, nth, i);
}

/* Cleans with a fault: in a child, which may die of it, or here. True where it did not matter. */
static bool clean_with(const char *point, struct fault fault, int nth)
{
    struct cleaner_stats stats;
    pid_t child = fault.kind == FAULT_CRASH ? fork() : 0;

    ck_assert_int_ge(child, 0);
    if (child > 0) {
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        return note->is_done;
    }
    say_set_level(SAY_ERROR + 1);
    fault_arm(point, fault, nth, false);
    size_t count = m.count;
    note->is_done = model_try_clean(&m, &stats) == 0;
    fault_disarm_all();
    if (fault.kind == FAULT_CRASH)
        _exit(0);
    if (!note->is_done)
        ck_assert_uint_eq(m.count, count);
    return note->is_done;
}

/* What is found after a failed cleaning lies between before and after: nothing is lost that is to
 * survive, and nothing came up again. Cleaned once more, it is what it should be. */
static bool fail_and_look(uint64_t seed, const char *point, struct fault fault, int nth)
{
    CLEANUP(state_deinit) struct state before = {0}, found = {0}, after = {0};

    fill(seed);
    account_state(&before);
    if (seed % 2)
        ck_assert_int_eq(log_flush(m.b.log), 0);
    int64_t first_dirty = m.b.log->first_dirty, end = log_end_offset(m.b.log);
    *note = (struct note){.is_done = false};
    bool was_done = clean_with(point, fault, nth);
    if (!was_done || fault.kind == FAULT_CRASH) {
        log_bench_kill(&m.b);
        log_bench_open(&m.b, false);
        log_set_high_watermark(m.b.log, log_end_offset(m.b.log));
        ck_assert_int_eq(log_bench_files(&m.b, ".cleaned"), 0);
        ck_assert_int_eq(log_bench_files(&m.b, ".swap"), 0);
        ck_assert_int_eq(log_bench_files(&m.b, ".deleted"), 0);
        ck_assert_int_eq(log_end_offset(m.b.log), end);
        log_state(&found);
        check_part(&found, &before, point, nth);
        m.b.log->first_dirty = first_dirty;
        model_clean(&m);
        account_state(&after);
        check_part(&after, &found, point, nth);
    }
    model_check(&m);
    log_bench_restart(&m.b);
    model_check(&m);
    model_deinit(&m);
    return was_done;
}

static void fail_everywhere(const char *point, struct fault fault, int step)
{
    uint64_t seed = 5;

    note = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say_set_level(SAY_ERROR + 1);
    for (int nth = 1; nth < 500; nth += step)
        if (fail_and_look(seed++, point, fault, nth))
            break;
    munmap(note, sizeof *note);
}

START_TEST(a_crash_at_any_rename_is_mended)
{
    fail_everywhere("fs.rename", (struct fault){FAULT_CRASH, 0}, 1);
}
END_TEST

START_TEST(a_crash_at_any_other_step_is_mended)
{
    fail_everywhere("fs.pwrite", (struct fault){FAULT_CRASH, 0}, 7);
    fail_everywhere("fs.pwrite", (struct fault){FAULT_CRASH, 50}, 13);
    fail_everywhere("fs.truncate", (struct fault){FAULT_CRASH, 0}, 7);
    fail_everywhere("fs.fsync", (struct fault){FAULT_CRASH, 0}, 7);
    fail_everywhere("fs.open", (struct fault){FAULT_CRASH, 0}, 29);
}
END_TEST

START_TEST(a_failure_at_any_step_is_mended)
{
    fail_everywhere("fs.rename", (struct fault){FAULT_ERRNO, EIO}, 5);
    fail_everywhere("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, 11);
    fail_everywhere("fs.pwrite", (struct fault){FAULT_SHORT, 30}, 17);
    fail_everywhere("fs.truncate", (struct fault){FAULT_ERRNO, EIO}, 11);
    fail_everywhere("fs.fsync", (struct fault){FAULT_ERRNO, EIO}, 11);
    fail_everywhere("fs.open", (struct fault){FAULT_ERRNO, EMFILE}, 31);
    fail_everywhere("fs.pread", (struct fault){FAULT_ERRNO, EIO}, 23);
}
END_TEST

/* As far as a disk without room is concerned, nothing happened. */
START_TEST(a_full_disk_leaves_the_log_as_it_was)
{
    struct cleaner_stats stats;

    say_set_level(SAY_ERROR + 1);
    for (int nth = 1; nth < 6; nth++) {
        fill(3);
        fault_arm("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, nth, false);
        ck_assert_int_eq(model_try_clean(&m, &stats), -ENOSPC);
        fault_disarm_all();
        ck_assert_int_eq(log_bench_files(&m.b, ".cleaned"), 0);
        model_put(&m, 1, m.next_value++);
        model_clean(&m);
        model_check(&m);
        model_deinit(&m);
    }
}
END_TEST

TEST_MAIN("broker/storage/log_swap", a_view_is_current_until_a_closed_segment_goes,
          readers_of_an_old_segment_go_on, sizes_and_snapshots_follow,
          a_crash_at_any_rename_is_mended, a_crash_at_any_other_step_is_mended,
          a_failure_at_any_step_is_mended, a_full_disk_leaves_the_log_as_it_was)
