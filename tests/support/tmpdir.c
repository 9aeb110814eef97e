/*
 * tmpdir.c - a directory per test process, removed when that process exits
 */
#include "tests/support/test_main.h"

#include "common/base/mem.h"

#include <ftw.h>
#include <unistd.h>

static char dir[64];
static pid_t owner;

static int remove_entry(const char *path, const struct stat *st UNUSED, int type UNUSED,
                        struct FTW *at UNUSED)
{
    return remove(path);
}

static void remove_dir(void)
{
    if (owner == getpid())
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_tmpdir(void)
{
    if (owner != getpid()) {
        snprintf(dir, sizeof dir, "/tmp/klamm-test-XXXXXX");
        if (!mkdtemp(dir))
            abort();
        owner = getpid();
        atexit(remove_dir);
    }
    return dir;
}
