#include "common/base/say.h"

#include "tests/support/test_main.h"

#include <unistd.h>

static int find(const char *name)
{
    for (int i = 0; i < say_logger_count(); i++) {
        if (strcmp(say_logger_name(i), name) == 0)
            return i;
    }
    ck_abort_msg("no logger %s", name);
}

START_TEST(a_folder_has_the_level_of_the_one_above)
{
    ck_assert_str_eq(say_logger_name(0), "root");
    say_set_level(SAY_WARN);
    say_logger_set(find("broker"), SAY_DEBUG);
    ck_assert_int_eq(say_logger_level(find("broker/storage")), SAY_DEBUG);
    ck_assert_int_eq(say_logger_level(find("common/io")), SAY_WARN);
    say_logger_set(find("broker/storage"), SAY_FATAL);
    ck_assert_int_eq(say_logger_level(find("broker/storage")), SAY_FATAL);
    say_logger_unset(find("broker/storage"));
    say_logger_unset(find("broker"));
    ck_assert_int_eq(say_logger_level(find("broker/storage")), SAY_WARN);
}
END_TEST

START_TEST(a_level_is_on_where_any_logger_has_it)
{
    say_set_level(SAY_ERROR);
    ck_assert(!say_is_on(SAY_DEBUG));
    say_logger_set(find("zk"), SAY_DEBUG);
    ck_assert(say_is_on(SAY_DEBUG));
    say_logger_unset(find("zk"));
    ck_assert(!say_is_on(SAY_WARN));
}
END_TEST

/* What a file says goes to stderr, or not. */
static size_t said(const char *file)
{
    char path[] = "/tmp/say-XXXXXX";
    int old = dup(STDERR_FILENO), fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    dup2(fd, STDERR_FILENO);
    say_from(file, SAY_INFO, "a line");
    dup2(old, STDERR_FILENO);
    off_t n = lseek(fd, 0, SEEK_END);
    close(fd);
    close(old);
    return (size_t)n;
}

START_TEST(lines_of_a_file_follow_the_logger_of_its_folder)
{
    say_set_level(SAY_ERROR);
    say_logger_set(find("broker/storage"), SAY_INFO);
    ck_assert_uint_gt(said("../../broker/storage/log.c"), 0);
    ck_assert_uint_eq(said("../../broker/storages/log.c"), 0);
    ck_assert_uint_eq(said("../../broker/api/configs.c"), 0);
    ck_assert_uint_eq(said("elsewhere.c"), 0);
    say_set_level(SAY_INFO);
    ck_assert_uint_gt(said("elsewhere.c"), 0);
    say_logger_unset(find("broker/storage"));
}
END_TEST

TEST_MAIN("common/base/say", a_folder_has_the_level_of_the_one_above,
          a_level_is_on_where_any_logger_has_it, lines_of_a_file_follow_the_logger_of_its_folder)
