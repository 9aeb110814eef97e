/*
 * tmpdir.c - a directory for each test, also where the tests of a suite share one process
 */
#include "tests/support/test_main.h"

#include "common/base/mem.h"

#include <ftw.h>
#include <unistd.h>

static char dir[64];
static pid_t owner;      /* whose dir it is; 0: there is none */
static pid_t registered; /* the process that removes it at its end */

static int remove_entry(const char *path, const struct stat *st UNUSED, int type UNUSED,
                        struct FTW *at UNUSED)
{
    return remove(path);
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
    snprintf(dir, sizeof dir, "/tmp/klamm-test-XXXXXX");
    if (!mkdtemp(dir))
        abort();
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
