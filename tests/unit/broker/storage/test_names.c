#include "broker/storage/names.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

#include <errno.h>

START_TEST(segment_files_are_told_by_base_and_suffixes)
{
    struct segment_file f;

    ck_assert(segment_file_parse("00000000000000000042.timeindex", &f));
    ck_assert_int_eq(f.base, 42);
    ck_assert_int_eq(f.type, SEGMENT_TIMEINDEX);
    ck_assert_int_eq(f.state, SEGMENT_LIVE);
    ck_assert(segment_file_parse("09223372036854775807.log.swap", &f));
    ck_assert_int_eq(f.base, INT64_MAX);
    ck_assert_int_eq(f.type, SEGMENT_LOG);
    ck_assert_int_eq(f.state, SEGMENT_SWAP);
    ck_assert(segment_file_parse("00000000000000000000.snapshot.deleted", &f));
    ck_assert(segment_file_parse("00000000000000000000.index.cleaned", &f));
}
END_TEST

START_TEST(other_names_are_no_segment_files)
{
    static const char *const names[] = {"0.log",
                                        "000000000000000000000.log",
                                        "00000000000000000000",
                                        "00000000000000000000.logx",
                                        "00000000000000000000.log.swap2",
                                        "99999999999999999999.log",
                                        "leader-epoch-checkpoint",
                                        "partition.metadata",
                                        ""};
    struct segment_file f;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ck_assert_msg(!segment_file_parse(names[i], &f), "%s", names[i]);
}
END_TEST

START_TEST(a_path_has_twenty_digits)
{
    CLEANUP(free_p) char *path = segment_file_path("/d/t-0", 12345, SEGMENT_TXNINDEX);

    ck_assert_str_eq(path, "/d/t-0/00000000000000012345.txnindex");
}
END_TEST

START_TEST(the_last_dash_splits_topic_and_partition)
{
    struct log_dir_name n;

    ck_assert_int_eq(log_dir_name_parse("my-topic-12", &n), 0);
    ck_assert(str_eqz(n.topic, "my-topic"));
    ck_assert_int_eq(n.partition, 12);
    ck_assert_int_eq(n.kind, LOG_DIR_PLAIN);
}
END_TEST

START_TEST(directories_on_their_way_have_an_id)
{
    struct log_dir_name n;

    ck_assert_int_eq(log_dir_name_parse("t-3.0123456789abcdef0123456789abcdef-delete", &n), 0);
    ck_assert(str_eqz(n.topic, "t"));
    ck_assert_int_eq(n.partition, 3);
    ck_assert_int_eq(n.kind, LOG_DIR_DELETE);
    ck_assert_int_eq(log_dir_name_parse("t-3.0123456789abcdef0123456789abcdef-future", &n), 0);
    ck_assert_int_eq(n.kind, LOG_DIR_FUTURE);
    ck_assert_int_eq(log_dir_name_parse("t-3.0123456789abcdef0123456789abcdef-stray", &n), 0);
    ck_assert_int_eq(n.kind, LOG_DIR_STRAY);
}
END_TEST

START_TEST(other_directories_are_refused)
{
    static const char *const names[] = {
        "lost+found", "topic", "-1",           "topic-",
        "topic--",    "t-+1",  "t-2147483648", "t-3.0123456789abcdef0123456789abcde-delete"};
    struct log_dir_name n;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ck_assert_msg(log_dir_name_parse(names[i], &n) == -EINVAL, "%s", names[i]);
}
END_TEST

START_TEST(a_deleted_directory_is_named_within_255_bytes)
{
    char topic[249];
    struct log_dir_name n;

    memset(topic, 'x', sizeof topic);
    CLEANUP(free_p) char *name = log_dir_name_make_delete((struct str){topic, sizeof topic}, 12345);
    ck_assert_uint_eq(strlen(name), FILE_NAME_MAX);
    ck_assert_int_eq(log_dir_name_parse(name, &n), 0);
    ck_assert_int_eq(n.partition, 12345);
    ck_assert_int_eq(n.kind, LOG_DIR_DELETE);
    CLEANUP(free_p) char *plain = log_dir_name_make(STR("a.b"), 0);
    ck_assert_str_eq(plain, "a.b-0");
}
END_TEST

TEST_MAIN("broker/storage/names", segment_files_are_told_by_base_and_suffixes,
          other_names_are_no_segment_files, a_path_has_twenty_digits,
          the_last_dash_splits_topic_and_partition, directories_on_their_way_have_an_id,
          other_directories_are_refused, a_deleted_directory_is_named_within_255_bytes)
