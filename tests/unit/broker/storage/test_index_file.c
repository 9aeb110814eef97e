#include "broker/storage/index_file.h"

#include "broker/storage/offset_index.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "tests/support/test_main.h"

#include <errno.h>

static struct mutex shared;
static struct index_file x;
static char *path;

static void open_index(void)
{
    const char *dir = test_tmpdir();

    if (!path || strncmp(path, dir, strlen(dir)) != 0) {
        mutex_init(&shared, LOCK_LOG_INDEX);
        free(path);
        path = xasprintf("%s/00000000000000000000.index", dir);
    }
    ck_assert_int_eq(index_file_open(&x, path, FILE_WRITE, OFFSET_INDEX_ENTRY), 0);
}

static uint64_t size_on_disk(void)
{
    struct fs_info info;

    ck_assert_int_eq(fs_stat(path, &info), 0);
    return info.size;
}

/* Entry i: offset 10 i + 5 at byte 100 i. */
static void add(uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        uint32_t i = x.count;

        offset_index_append(&x, (struct offset_entry){(int32_t)(10 * i + 5), 100 * i});
        ck_assert_int_eq(index_file_spill(&x, &shared), 0);
    }
}

/* Position of the entry that a lookup finds, -1 for none. */
static int64_t find(int64_t target)
{
    CLEANUP(index_view_deinit) struct index_view view = {0};
    struct index_hit hit = {.any = false};

    if (!index_find_in_memory(&x, offset_index_key, target, &hit, &view))
        ck_assert_int_eq(index_view_find(&view, offset_index_key, target, &hit), 0);
    return hit.any ? (int64_t)offset_index_decode(hit.entry).pos : -1;
}

static void check_all(uint32_t count)
{
    ck_assert_uint_eq(x.count, count);
    ck_assert_int_eq(find(4), -1);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(find(10 * i + 5), 100 * i);
        ck_assert_int_eq(find(10 * i + 14), 100 * i);
    }
    ck_assert_int_eq(find(INT64_MAX), count ? 100 * ((int64_t)count - 1) : -1);
}

START_TEST(an_empty_index_finds_nothing)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 1000), 0);
    check_all(0);
    index_file_close(&x);
}
END_TEST

START_TEST(lookups_agree_in_memory_and_in_the_file)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 10000), 0);
    for (uint32_t n = 0; n < 1500; n += 300) {
        check_all(n);
        add(300);
    }
    ck_assert_uint_lt(x.written, x.count);
    ck_assert_uint_gt(x.written, 0);
    ck_assert_int_eq(index_file_flush(&x, &shared), 0);
    check_all(1500);
    index_file_close(&x);
}
END_TEST

START_TEST(an_active_file_is_enlarged_and_a_sealed_one_cut)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 1000), 0);
    ck_assert_uint_eq(size_on_disk(), 8000);
    add(7);
    ck_assert_int_eq(index_file_seal(&x, &shared), 0);
    ck_assert_uint_eq(size_on_disk(), 56);
    index_file_close(&x);
    open_index();
    check_all(7);
    ck_assert_int_eq(index_file_unseal(&x, 1000), 0);
    ck_assert_uint_eq(size_on_disk(), 8000);
    add(3);
    check_all(10);
    index_file_close(&x);
}
END_TEST

START_TEST(an_index_knows_when_it_is_full)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 2), 0);
    add(1);
    ck_assert(!index_file_is_full(&x));
    add(1);
    ck_assert(index_file_is_full(&x));
    add(1);
    ck_assert_int_eq(index_file_seal(&x, &shared), 0);
    check_all(3);
    index_file_close(&x);
}
END_TEST

START_TEST(truncation_reaches_into_tail_and_file)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 10000), 0);
    add(600);
    ck_assert_int_eq(offset_index_truncate(&x, 5905), 0);
    check_all(590);
    ck_assert_int_eq(offset_index_truncate(&x, 3000), 0);
    check_all(300);
    add(10);
    check_all(310);
    ck_assert_uint_eq(size_on_disk(), 80000);
    ck_assert_int_eq(offset_index_truncate(&x, 0), 0);
    check_all(0);
    index_file_close(&x);
}
END_TEST

START_TEST(the_last_entry_is_known)
{
    struct offset_entry e;
    bool any;

    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 100), 0);
    ck_assert_int_eq(offset_index_last(&x, &e, &any), 0);
    ck_assert(!any);
    add(3);
    ck_assert_int_eq(index_file_seal(&x, &shared), 0);
    index_file_close(&x);
    open_index();
    ck_assert_int_eq(offset_index_last(&x, &e, &any), 0);
    ck_assert(any);
    ck_assert_int_eq(e.relative, 25);
    ck_assert_uint_eq(e.pos, 200);
    ck_assert_int_eq(offset_index_truncate(&x, 25), 0);
    ck_assert_int_eq(offset_index_last(&x, &e, &any), 0);
    ck_assert_int_eq(e.relative, 15);
    index_file_close(&x);
}
END_TEST

START_TEST(a_torn_entry_at_the_end_does_not_count)
{
    CLEANUP(file_unref_p) struct file *f = NULL;

    open_index();
    add(2);
    ck_assert_int_eq(index_file_seal(&x, &shared), 0);
    index_file_close(&x);
    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_truncate(f, 15), 0);
    open_index();
    check_all(1);
    index_file_close(&x);
}
END_TEST

#ifdef KLAMM_FAULTS
START_TEST(a_failed_write_keeps_the_entries_in_memory)
{
    open_index();
    ck_assert_int_eq(index_file_unseal(&x, 100), 0);
    add(20);
    fault_arm("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, 1, false);
    ck_assert_int_eq(index_file_flush(&x, &shared), -ENOSPC);
    check_all(20);
    ck_assert_int_eq(index_file_flush(&x, &shared), 0);
    check_all(20);
    index_file_close(&x);
    fault_disarm_all();
}
END_TEST
#define WITH_FAULTS a_failed_write_keeps_the_entries_in_memory,
#else
#define WITH_FAULTS
#endif

TEST_MAIN("broker/storage/index_file", WITH_FAULTS an_empty_index_finds_nothing,
          lookups_agree_in_memory_and_in_the_file, an_active_file_is_enlarged_and_a_sealed_one_cut,
          an_index_knows_when_it_is_full, truncation_reaches_into_tail_and_file,
          the_last_entry_is_known, a_torn_entry_at_the_end_does_not_count)
