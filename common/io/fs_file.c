/*
 * fs_file.c - struct file: descriptors on demand, and the cache of those that nobody uses just now
 *
 * cache.lock (LOCK_FILES) guards fd, pins, path and the list of unpinned files, for as long as it
 * takes to change a few words; files are opened and closed outside of it. Renames exclude one
 * another by renames (LOCK_RENAMES), which is held over the system call: whoever does not find a
 * file waits for it, and looks again by the new name.
 */
#include "common/io/fs.h"

#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/lock.h"
#include "common/base/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_LIMIT = 512 };

struct file {
    atomic_uint refs;
    int fd; /* -1: closed */
    int pins;
    bool is_writable;
    bool is_removed; /* it keeps one pin: a descriptor is all that is left of it */
    char *path;
    struct file *newer; /* in the list of open files without pins */
    struct file *older;
};

static struct {
    struct mutex lock;
    struct mutex renames;
    struct file *newest;
    struct file *oldest;
    int unpinned;
    int limit;
    uint64_t renamed; /* how often a path changed */
} cache;

static void init_cache(void)
{
    mutex_init(&cache.lock, LOCK_FILES);
    mutex_init(&cache.renames, LOCK_RENAMES);
    cache.limit = DEFAULT_LIMIT;
}

static void need_cache(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init_cache);
}

static void list_remove(struct file *f)
{
    *(f->newer ? &f->newer->older : &cache.newest) = f->older;
    *(f->older ? &f->older->newer : &cache.oldest) = f->newer;
    f->newer = f->older = NULL;
    cache.unpinned--;
}

static void list_add(struct file *f)
{
    f->older = cache.newest;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = f;
    cache.newest = f;
    cache.unpinned++;
}

static int take_oldest(void)
{
    struct file *f = cache.oldest;
    int fd = f->fd;

    list_remove(f);
    f->fd = -1;
    return fd;
}

/* Takes one descriptor too many out of the cache, for the caller to close; -1 where there is
 * none. */
static int evict_one(void)
{
    return cache.unpinned > cache.limit ? take_oldest() : -1;
}

static void close_surplus(void)
{
    for (;;) {
        int fd = -1;

        WITH_LOCK(&cache.lock)
        {
            fd = evict_one();
        }
        if (fd < 0)
            return;
        close(fd);
    }
}

/* One that nobody uses just now, for whoever needs a descriptor and gets none. False: there is
 * none. */
static bool close_idle(void)
{
    int fd = -1;

    WITH_LOCK(&cache.lock)
    {
        if (cache.oldest)
            fd = take_oldest();
    }
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void file_cache_set_limit(int count)
{
    need_cache();
    WITH_LOCK(&cache.lock)
    {
        cache.limit = count;
    }
    close_surplus();
}

uint64_t file_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_cur;
}

int file_open(const char *path, enum file_mode mode, struct file **ret)
{
    need_cache();
    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    struct file *f = xnew(struct file);

    f->refs = 1;
    f->fd = -1;
    f->is_writable = mode != FILE_READ;
    f->path = xstrdup(path);
    if (mode == FILE_CREATE) {
        int fd = file_pin(f);

        if (fd < 0) {
            file_unref(f);
            return fd;
        }
        file_unpin(f);
    }
    *ret = f;
    return 0;
}

struct file *file_ref(struct file *f)
{
    atomic_fetch_add(&f->refs, 1);
    return f;
}

struct file *file_unref(struct file *f)
{
    if (!f || atomic_fetch_sub(&f->refs, 1) > 1)
        return NULL;
    WITH_LOCK(&cache.lock)
    {
        assert(f->pins == (f->is_removed ? 1 : 0));
        if (f->fd >= 0 && f->pins == 0)
            list_remove(f);
    }
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f);
    return NULL;
}

void file_unref_p(struct file **f)
{
    *f = file_unref(*f);
}

const char *file_path(const struct file *f)
{
    return f->path;
}

struct name {
    char path[PATH_MAX];
    uint64_t renamed; /* cache.renamed when it was read */
};

/* Pins it if it is open; with fd it becomes open. False: it is closed, and its path is in ret. */
static bool pin_open(struct file *f, int *fd, struct name *ret)
{
    LOCK_SCOPE(&cache.lock);

    if (f->fd < 0 && *fd < 0) {
        memcpy(ret->path, f->path, strlen(f->path) + 1);
        ret->renamed = cache.renamed;
        return false;
    }
    if (f->fd < 0)
        f->fd = *fd, *fd = -1;
    else if (f->pins == 0)
        list_remove(f);
    f->pins++;
    return true;
}

/* For operations that are done or not, nothing between: an error to return, or the end. */
static int whole_fault(const char *point)
{
    struct fault fault = fault_hit(point);

    if (fault.kind == FAULT_CRASH)
        raise(SIGKILL);
    return fault.kind == FAULT_ERRNO ? -(int)fault.value : 0;
}

int fs_open(const char *path, int flags)
{
    int r;

    need_cache();
    do {
        r = whole_fault("fs.open");
        int fd = r < 0 ? -1 : open(path, flags | O_CLOEXEC, 0644);
        if (r == 0)
            r = fd < 0 ? -errno : fd;
    } while ((r == -EMFILE || r == -ENFILE) && close_idle());
    return r;
}

/* Waits for a rename under way; true if paths have changed since the name was read. */
static bool is_outdated(const struct name *name)
{
    bool is = false;

    WITH_LOCK(&cache.renames)
    {
        WITH_LOCK(&cache.lock)
        {
            is = cache.renamed != name->renamed;
        }
    }
    return is;
}

int file_pin(struct file *f)
{
    struct name name;
    int fd = -1;

    while (!pin_open(f, &fd, &name)) {
        fd = fs_open(name.path, f->is_writable ? O_RDWR | O_CREAT : O_RDONLY);
        if (fd == -ENOENT && is_outdated(&name))
            fd = -1;
        else if (fd < 0)
            return fd;
    }
    if (fd >= 0)
        close(fd); /* another thread was faster */
    return f->fd;
}

void file_unpin(struct file *f)
{
    int surplus = -1;

    WITH_LOCK(&cache.lock)
    {
        assert(f->pins > 0);
        if (--f->pins == 0) {
            list_add(f);
            surplus = evict_one();
        }
    }
    if (surplus >= 0)
        close(surplus);
}

static void file_unpin_p(struct file **f)
{
    if (*f)
        file_unpin(*f);
}

/* fd, open until the function returns. */
#define PINNED(f, fd)                                                                              \
    const int fd = file_pin(f);                                                                    \
    struct file *CLEANUP(file_unpin_p)                                                             \
    pinned_ UNUSED = fd < 0 ? NULL : (f)

ssize_t file_pread_some(struct file *f, void *dst, size_t n, uint64_t pos)
{
    struct fault fault = fault_hit("fs.pread");
    size_t got = 0;
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (fault.kind == FAULT_ERRNO)
        return -(int)fault.value;
    if (fault.kind == FAULT_SHORT)
        n = MIN(n, (size_t)fault.value);
    while (got < n) {
        ssize_t r = pread(fd, (uint8_t *)dst + got, n - got, (off_t)(pos + got));

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

int file_pread(struct file *f, void *dst, size_t n, uint64_t pos)
{
    ssize_t r = file_pread_some(f, dst, n, pos);

    if (r < 0)
        return (int)r;
    return (size_t)r == n ? 0 : -EIO;
}

ssize_t file_pread_cached(struct file *f, void *dst, size_t n, uint64_t pos)
{
    struct fault fault = fault_hit("fs.pread");
    struct iovec iov = {dst, n};
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (fault.kind == FAULT_ERRNO)
        return -(int)fault.value;
    ssize_t r = preadv2(fd, &iov, 1, (off_t)pos, RWF_NOWAIT);
    if (r >= 0)
        return r;
    /* Where the file system cannot tell, reading is the only way to know. */
    return errno == EOPNOTSUPP ? file_pread_some(f, dst, n, pos) : -errno;
}

/* Cuts the vector to its first max bytes; returns how many pieces are left. */
static int cut_iov(struct iovec *iov, int count, size_t max)
{
    for (int i = 0; i < count; i++) {
        if (iov[i].iov_len >= max) {
            iov[i].iov_len = max;
            return i + 1;
        }
        max -= iov[i].iov_len;
    }
    return count;
}

static int write_all(int fd, struct iovec *iov, int count, uint64_t pos)
{
    while (count > 0) {
        ssize_t n = pwritev(fd, iov, MIN(count, IOV_MAX), (off_t)pos);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        pos += (uint64_t)n;
        for (; count > 0 && (size_t)n >= iov->iov_len; iov++, count--)
            n -= (ssize_t)iov->iov_len;
        if (count > 0) {
            iov->iov_base = (uint8_t *)iov->iov_base + n;
            iov->iov_len -= (size_t)n;
        }
    }
    return 0;
}

/* The write as the fault lets it be: a part of it, then an error or the end of the process. */
static int write_torn(int fd, struct iovec *iov, int count, uint64_t pos, struct fault fault)
{
    int r = write_all(fd, iov, cut_iov(iov, count, (size_t)fault.value), pos);

    if (fault.kind == FAULT_CRASH)
        raise(SIGKILL);
    return r < 0 ? r : -EIO;
}

int file_pwritev(struct file *f, const struct iovec *iov, int count, uint64_t pos)
{
    struct fault fault = fault_hit("fs.pwrite");
    struct iovec few[16];
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (fault.kind == FAULT_ERRNO)
        return -(int)fault.value;
    CLEANUP(free_p)
    struct iovec *many =
        count > (int)ARRAY_LEN(few) ? xreallocarray(NULL, (size_t)count, sizeof *iov) : NULL;
    struct iovec *v = many ? many : few;

    memcpy(v, iov, (size_t)count * sizeof *iov);
    return fault.kind == FAULT_NONE ? write_all(fd, v, count, pos)
                                    : write_torn(fd, v, count, pos, fault);
}

int file_pwrite(struct file *f, struct slice data, uint64_t pos)
{
    const struct iovec iov = {(void *)(uintptr_t)data.p, data.len};

    return data.len == 0 ? 0 : file_pwritev(f, &iov, 1, pos);
}

int file_truncate(struct file *f, uint64_t size)
{
    int r = whole_fault("fs.truncate");
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (r < 0)
        return r;
    return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

int file_fsync(struct file *f)
{
    int r = whole_fault("fs.fsync");
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (r < 0)
        return r;
    return fsync(fd) < 0 ? -errno : 0;
}

int file_size(struct file *f, uint64_t *ret)
{
    struct stat st;
    PINNED(f, fd);

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret = (uint64_t)st.st_size;
    return 0;
}

/* Under renames: gives f its new path, which it takes over. */
static void set_path(struct file *f, char *path)
{
    WITH_LOCK(&cache.lock)
    {
        char *old = f->path;

        f->path = path;
        path = old;
        cache.renamed++;
    }
    free(path);
}

static int rename_path(const char *from, const char *to)
{
    int r = whole_fault("fs.rename");

    if (r < 0)
        return r;
    if (strlen(to) >= PATH_MAX)
        return -ENAMETOOLONG;
    return rename(from, to) < 0 ? -errno : 0;
}

int file_rename(struct file *f, const char *path)
{
    LOCK_SCOPE(&cache.renames);
    int r = rename_path(f->path, path);

    if (r == 0)
        set_path(f, xstrdup(path));
    return r;
}

int file_remove(struct file *f)
{
    /* Open, it lives on for its readers; that it cannot be opened need not keep it from being
     * removed. */
    int fd = atomic_load(&f->refs) > 1 ? file_pin(f) : -ENOENT;
    int r = unlink(f->path) < 0 && errno != ENOENT ? -errno : 0;

    /* The pin stays: were the descriptor closed, the content would be gone. It ends with the last
     * reference. */
    if (fd >= 0)
        f->is_removed = true;
    return r;
}

int fs_rename_dir(const char *from, const char *to, struct file *const *files, size_t count)
{
    need_cache();
    LOCK_SCOPE(&cache.renames);
    int r = rename_path(from, to);

    for (size_t i = 0; r == 0 && i < count; i++) {
        const char *slash = strrchr(files[i]->path, '/');

        set_path(files[i], xasprintf("%s%s", to, slash ? slash : ""));
    }
    return r;
}
