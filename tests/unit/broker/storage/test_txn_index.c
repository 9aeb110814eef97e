#include "broker/storage/txn_index.h"

#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

#include <errno.h>

static char *path_of_index(void)
{
    return xasprintf("%s/00000000000000001000.txnindex", test_tmpdir());
}

static void add(const char *path, int64_t first, int64_t last)
{
    ck_assert_int_eq(txn_index_append(path, (struct txn_entry){4000, first, last, last + 1}), 0);
}

START_TEST(an_absent_file_has_no_entries)
{
    CLEANUP(txn_entries_deinit) struct txn_entries e = {0};
    CLEANUP(free_p) char *path = path_of_index();

    ck_assert_int_eq(txn_index_read(path, 0, &e), 0);
    ck_assert_uint_eq(e.count, 0);
    ck_assert_int_eq(txn_index_truncate(path, 0), 0);
    ck_assert_int_eq(txn_index_fsync(path), 0);
    ck_assert(!fs_exists(path));
}
END_TEST

START_TEST(an_entry_is_the_bytes_of_the_format)
{
    static const uint8_t bytes[] = {0,    0,    0, 0, 0,    0,    0, 0, 0x0f, 0xa0, 0, 0,
                                    0,    0,    0, 0, 0x03, 0xf2, 0, 0, 0,    0,    0, 0,
                                    0x04, 0x12, 0, 0, 0,    0,    0, 0, 0x04, 0x13};
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    CLEANUP(free_p) char *path = path_of_index();

    add(path, 1010, 1042);
    ck_assert_int_eq(fs_read_file(path, 1000, &text), 0);
    ck_assert_uint_eq(text.len, sizeof bytes);
    ck_assert_mem_eq(text.s, bytes, sizeof bytes);
}
END_TEST

START_TEST(a_torn_entry_is_overwritten)
{
    CLEANUP(txn_entries_deinit) struct txn_entries e = {0};
    CLEANUP(file_unref_p) struct file *f = NULL;
    CLEANUP(free_p) char *path = path_of_index();

    add(path, 1000, 1001);
    add(path, 1002, 1003);
    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_truncate(f, TXN_INDEX_ENTRY + 20), 0);
    add(path, 1002, 1005);
    ck_assert_int_eq(txn_index_read(path, 1000, &e), 0);
    ck_assert_uint_eq(e.count, 2);
    ck_assert_int_eq(e.v[1].last_offset, 1005);
}
END_TEST

START_TEST(truncation_drops_markers_at_or_above)
{
    CLEANUP(txn_entries_deinit) struct txn_entries e = {0};
    CLEANUP(free_p) char *path = path_of_index();

    add(path, 1000, 1010);
    add(path, 1000, 1020);
    add(path, 1000, 1030);
    ck_assert_int_eq(txn_index_truncate(path, 1020), 0);
    ck_assert_int_eq(txn_index_read(path, 1000, &e), 0);
    ck_assert_uint_eq(e.count, 1);
}
END_TEST

START_TEST(offsets_below_the_segment_or_going_down_are_corruption)
{
    CLEANUP(txn_entries_deinit) struct txn_entries e = {0};
    CLEANUP(free_p) char *path = path_of_index();

    add(path, 1000, 1010);
    ck_assert_int_eq(txn_index_read(path, 1011, &e), -EBADMSG);
    add(path, 1000, 1010);
    ck_assert_int_eq(txn_index_read(path, 1000, &e), -EBADMSG);
}
END_TEST

TEST_MAIN("broker/storage/txn_index", an_absent_file_has_no_entries,
          an_entry_is_the_bytes_of_the_format, a_torn_entry_is_overwritten,
          truncation_drops_markers_at_or_above,
          offsets_below_the_segment_or_going_down_are_corruption)
