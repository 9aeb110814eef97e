#include "broker/storage/checkpoint.h"

#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", test_tmpdir(), name);
}

static void write_file(const char *path, const char *text)
{
    ck_assert_int_eq(fs_replace_file(path, str_of(text)), 0);
}

START_TEST(what_was_written_is_read_and_found)
{
    CLEANUP(free_p) char *path = path_of("recovery-point-offset-checkpoint"), *why = NULL;
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0}, back = {0};
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    checkpoint_add(&c, STR("orders"), 10, 1500);
    checkpoint_add(&c, STR("orders"), 2, 0);
    checkpoint_add(&c, STR("a.b_c-d"), 0, INT64_MAX);
    ck_assert_int_eq(checkpoint_write(path, &c), 0);
    ck_assert_int_eq(fs_read_file(path, 1000, &text), 0);
    ck_assert_str_eq(text.s, "0\n3\norders 10 1500\norders 2 0\na.b_c-d 0 9223372036854775807\n");
    ck_assert_int_eq(checkpoint_read(path, &back, &why), 0);
    ck_assert_uint_eq(back.count, 3);
    ck_assert_int_eq(checkpoint_find(&back, STR("orders"), 10)->offset, 1500);
    ck_assert_int_eq(checkpoint_find(&back, STR("orders"), 2)->offset, 0);
    ck_assert_int_eq(checkpoint_find(&back, STR("a.b_c-d"), 0)->offset, INT64_MAX);
    ck_assert_ptr_null(checkpoint_find(&back, STR("orders"), 3));
    ck_assert_ptr_null(checkpoint_find(&back, STR("order"), 2));
}
END_TEST

START_TEST(absent_and_zero_length_files_are_empty)
{
    CLEANUP(free_p) char *path = path_of("x"), *why = NULL;
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0};

    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    write_file(path, "");
    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    ck_assert_uint_eq(c.count, 0);
    ck_assert_ptr_null(checkpoint_find(&c, STR("t"), 0));
    write_file(path, "0\n0\n");
    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    ck_assert_uint_eq(c.count, 0);
}
END_TEST

START_TEST(a_malformed_file_is_refused_and_the_line_named)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"1\n0\n", ":1: expected version 0"},
        {"zero\n", ":1: expected version 0"},
        {"0\n", ":1: expected the number"},
        {"0\n-1\n", ":2: expected the number"},
        {"0\n1\n", ": 1 lines are announced, 0 are there"},
        {"0\n1\nt 0 1\nt 1 1\n", ": 1 lines are announced, 2 are there"},
        {"0\n1\nt 0\n", ":3: expected a line"},
        {"0\n1\nt 0 1 2\n", ":3: expected a line"},
        {"0\n1\nt  0 1\n", ":3: expected a line"},
        {"0\n2\nt 0 1\n\n", ":4: expected a line"},
        {"0\n1\nt x 1\n", ":3: expected a line"},
        {"0\n1\nt 0 1x\n", ":3: expected a line"},
        {"0\n1\nt -1 1\n", ":3: expected a line"},
    };
    CLEANUP(free_p) char *path = path_of("x");

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(free_p) char *why = NULL;
        CLEANUP(checkpoint_deinit) struct checkpoint c = {0};

        write_file(path, bad[i].text);
        ck_assert_int_eq(checkpoint_read(path, &c, &why), -EBADMSG);
        ck_assert_msg(strstr(why, bad[i].why), "%s: %s", bad[i].text, why);
        ck_assert(strncmp(why, path, strlen(path)) == 0);
        ck_assert_uint_eq(c.count, 0);
    }
}
END_TEST

#ifdef KLAMM_FAULTS
START_TEST(a_write_cut_short_leaves_the_old_file)
{
    CLEANUP(free_p) char *path = path_of("x"), *why = NULL;
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0}, back = {0};

    checkpoint_add(&c, STR("t"), 0, 7);
    ck_assert_int_eq(checkpoint_write(path, &c), 0);
    checkpoint_add(&c, STR("t"), 1, 8);
    fault_arm("fs.pwrite", (struct fault){FAULT_SHORT, 5}, 1, false);
    ck_assert_int_lt(checkpoint_write(path, &c), 0);
    fault_disarm_all();
    ck_assert_int_eq(checkpoint_read(path, &back, &why), 0);
    ck_assert_uint_eq(back.count, 1);
}
END_TEST
#define FAULT_TESTS , a_write_cut_short_leaves_the_old_file
#else
#define FAULT_TESTS
#endif

TEST_MAIN("broker/storage/checkpoint", what_was_written_is_read_and_found,
          absent_and_zero_length_files_are_empty,
          a_malformed_file_is_refused_and_the_line_named FAULT_TESTS)
