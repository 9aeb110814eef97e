#include "broker/storage/time_index.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

static struct mutex shared;
static struct index_file x;

static void open_index(uint32_t max)
{
    CLEANUP(free_p) char *path = xasprintf("%s/00000000000000001000.timeindex", test_tmpdir());

    mutex_init(&shared, LOCK_LOG_INDEX);
    ck_assert_int_eq(index_file_open(&x, path, FILE_WRITE, TIME_INDEX_ENTRY), 0);
    ck_assert_int_eq(index_file_unseal(&x, max), 0);
}

static void add(int64_t timestamp, int32_t relative)
{
    ck_assert_int_eq(time_index_append(&x, (struct time_entry){timestamp, relative}, &shared), 0);
}

START_TEST(only_greater_timestamps_are_entered)
{
    open_index(100);
    add(-1, 0);
    ck_assert_uint_eq(x.count, 0);
    add(500, 3);
    add(500, 9);
    add(400, 12);
    ck_assert_uint_eq(x.count, 1);
    add(501, 15);
    ck_assert_uint_eq(x.count, 2);
    index_file_close(&x);
}
END_TEST

START_TEST(entries_are_the_bytes_of_the_format)
{
    static const uint8_t bytes[] = {0x00, 0x00, 0x01, 0x8b, 0xcf, 0xe5,
                                    0x68, 0x05, 0x00, 0x00, 0x00, 0x2a};
    uint8_t entry[INDEX_ENTRY_MAX];

    open_index(100);
    add(1700000000005, 42);
    ck_assert_int_eq(index_file_flush(&x, &shared), 0);
    ck_assert_int_eq(file_pread(x.file, entry, sizeof bytes, 0), 0);
    ck_assert_mem_eq(entry, bytes, sizeof bytes);
    index_file_close(&x);
}
END_TEST

START_TEST(the_last_place_is_kept_for_the_maximum)
{
    open_index(3);
    add(1, 1);
    ck_assert(!time_index_is_full(&x));
    add(2, 2);
    ck_assert(time_index_is_full(&x));
    add(3, 3);
    ck_assert_uint_eq(x.count, 3);
    index_file_close(&x);
}
END_TEST

START_TEST(truncation_goes_by_offset)
{
    struct time_entry last;
    bool any;

    open_index(100);
    add(10, 5);
    add(20, 15);
    add(30, 25);
    ck_assert_int_eq(time_index_truncate(&x, 25), 0);
    ck_assert_int_eq(time_index_last(&x, &last, &any), 0);
    ck_assert_int_eq(last.timestamp, 20);
    ck_assert_int_eq(last.relative, 15);
    ck_assert_int_eq(time_index_truncate(&x, 0), 0);
    ck_assert_int_eq(time_index_last(&x, &last, &any), 0);
    ck_assert(!any);
    index_file_close(&x);
}
END_TEST

TEST_MAIN("broker/storage/time_index", only_greater_timestamps_are_entered,
          entries_are_the_bytes_of_the_format, the_last_place_is_kept_for_the_maximum,
          truncation_goes_by_offset)
