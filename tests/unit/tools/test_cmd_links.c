#include "common/base/mem.h"
#include "tests/support/test_main.h"
#include "tools/base/tool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the place of main.c's. */
const struct tool tools[] = {{"things", "kafka-things", NULL, "x"}, {"ours", NULL, NULL, "x"}};
const size_t tools_count = ARRAY_LEN(tools);

/* Without what it prints, which is no TAP. */
static int run(const char *dir, const char *flag)
{
    char *argv[] = {(char *)(uintptr_t)dir, (char *)(uintptr_t)flag};
    int old = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);

    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    int r = cmd_links(&(struct invocation){.program = "klamm links", .argc = flag ? 2 : 1, argv});
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    close(null);
    return r;
}

static bool is_there(const char *dir, const char *name)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", dir, name);
    struct stat st;

    return lstat(path, &st) == 0;
}

START_TEST(a_directory_that_is_missing_is_made)
{
    CLEANUP(free_p) char *dir = xasprintf("%s/a/b/", test_tmpdir());

    ck_assert_int_eq(run(dir, "--dry-run"), 0);
    ck_assert(!is_there(test_tmpdir(), "a"));
    ck_assert_int_eq(run(dir, NULL), 0);
    ck_assert(is_there(dir, "kafka-things") && is_there(dir, "kafka-things.sh"));
    ck_assert(!is_there(dir, "ours"));
}
END_TEST

START_TEST(what_is_no_directory_is_refused)
{
    CLEANUP(free_p) char *file = xasprintf("%s/file", test_tmpdir());
    CLEANUP(free_p) char *below = xasprintf("%s/file/dir", test_tmpdir());
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    fclose(f);
    ck_assert_int_eq(run(file, NULL), TOOL_FAILED);
    ck_assert_int_eq(run(below, NULL), TOOL_FAILED);
    ck_assert_int_eq(run("", NULL), TOOL_FAILED);
}
END_TEST

TEST_MAIN("tools/cmd_links", a_directory_that_is_missing_is_made, what_is_no_directory_is_refused)
