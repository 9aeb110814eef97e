/*
 * tmpdir.c - a directory for each test, also where the tests of a suite share one process
 */
#include "tests/support/test_main.h"

#include "common/base/mem.h"

#include <ftw.h>
#include <limits.h>
#include <unistd.h>

/* Of the program: what tests that were killed leave in it goes with it. */
static char base[PATH_MAX];
/* Of the test. */
static char dir[PATH_MAX];
static pid_t owner;      /* whose dir it is; 0: there is none */
static pid_t registered; /* the process that removes it at its end */

static int remove_entry(const char *path, const struct stat *st UNUSED, int type UNUSED,
                        struct FTW *at UNUSED)
{
    return remove(path);
}

static void make_dir(char *path, size_t size, const char *parent, const char *name)
{
    if (snprintf(path, size, "%s/%s", parent, name) >= (int)size || !mkdtemp(path))
        abort();
}

void test_tmpdirs_begin(void)
{
    const char *root = getenv("TMPDIR");

    make_dir(base, sizeof base, root ? root : "/tmp", "klamm-test-XXXXXX");
}

void test_tmpdirs_end(void)
{
    nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_dir(void)
{
    if (owner == getpid())
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    owner = 0;
}

const char *test_tmpdir(void)
{
    if (owner == getpid())
        return dir;
    make_dir(dir, sizeof dir, base, "XXXXXX");
    owner = getpid();
    if (registered != owner)
        atexit(remove_dir);
    registered = owner;
    return dir;
}

void test_begin(void)
{
    remove_dir();
#ifdef KLAMM_FAULTS
    fault_disarm_all();
#endif
}
