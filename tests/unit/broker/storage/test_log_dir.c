#include "broker/storage/log_dir.h"

#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

#include <errno.h>

static int32_t broker;
static char *cluster, *reason;

static int identity_of(const char *text)
{
    CLEANUP(free_p) char *path = xasprintf("%s/meta.properties", test_tmpdir());

    free(cluster);
    free(reason);
    cluster = reason = NULL;
    if (text)
        ck_assert_int_eq(fs_replace_file(path, str_of(text)), 0);
    return log_dir_read_identity(test_tmpdir(), &broker, &cluster, &reason);
}

START_TEST(an_identity_is_read_without_more)
{
    ck_assert_int_eq(identity_of(NULL), 0); /* there is none yet */
    ck_assert_int_eq(broker, -1);
    ck_assert_ptr_null(cluster);
    ck_assert_int_eq(identity_of("#\n#Mon\nversion=0\ncluster.id=abc\nbroker.id=7\n"), 0);
    ck_assert_int_eq(broker, 7);
    ck_assert_str_eq(cluster, "abc");
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    ck_assert_int_eq(fs_list_dir(test_tmpdir(), &names), 0);
    ck_assert_uint_eq(names.count, 1); /* no lock file was made */
    (void)identity_of("version=0\n");
}
END_TEST

START_TEST(what_cannot_be_is_told_with_its_file)
{
    static const char *const wrong[][2] = {
        {"broker.id=7\n", "version is missing"},
        {"version=1\nnode.id=7\n", "KRaft"},
        {"version=2\n", "version is not 0"},
        {"version=0\nbroker.id=x\n", "broker.id is no id"},
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        ck_assert_int_eq(identity_of(wrong[i][0]), -EINVAL);
        ck_assert_ptr_nonnull(strstr(reason, wrong[i][1]));
        ck_assert_ptr_nonnull(strstr(reason, "/meta.properties"));
    }
    (void)identity_of("version=0\n");
}
END_TEST

START_TEST(files_have_kafkas_names)
{
    ck_assert_str_eq(log_dir_file_name(DIR_HIGH_WATERMARKS), "replication-offset-checkpoint");
    ck_assert_str_eq(log_dir_file_name(DIR_CLEAN_OFFSETS), "cleaner-offset-checkpoint");
}
END_TEST

TEST_MAIN("broker/storage/log_dir", an_identity_is_read_without_more,
          what_cannot_be_is_told_with_its_file, files_have_kafkas_names)
