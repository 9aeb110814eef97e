#include "common/io/fs.h"

#include "common/base/err.h"
#include "common/base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void close_p(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int fs_read_file(const char *path, size_t max, struct strbuf *ret)
{
    CLEANUP(close_p) int fd = fs_open(path, O_RDONLY);
    CLEANUP(strbuf_deinit) struct strbuf text = {.max = max};
    char chunk[4096];
    ssize_t n;

    if (fd < 0)
        return fd;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        strbuf_add(&text, chunk, (size_t)n);
        if (text.full)
            return -EFBIG;
    }
    *ret = MOVE(text);
    return 0;
}

/* Of the directory that path stands in. */
static int fsync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return fs_fsync_dir(".");
    CLEANUP(free_p) char *dir = xstrndup(path, MAX((size_t)(slash - path), (size_t)1));
    return fs_fsync_dir(dir);
}

int fs_replace_file(const char *path, struct str text)
{
    CLEANUP(free_p) char *tmp = xasprintf("%s.tmp", path);
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r;

    if (unlink(tmp) < 0 && errno != ENOENT)
        return -errno;
    r = file_open(tmp, FILE_CREATE, &f);
    if (r == 0)
        r = file_pwrite(f, slice_of_str(text), 0);
    if (r == 0)
        r = file_fsync(f);
    if (r == 0)
        r = file_rename(f, path);
    return r < 0 ? r : fsync_parent(path);
}

int fs_fsync_dir(const char *path)
{
    CLEANUP(close_p) int fd = fs_open(path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    return fsync(fd) < 0 ? -errno : 0;
}

int fs_mkdir(const char *path)
{
    return mkdir(path, 0755) < 0 ? -errno : 0;
}

static int64_t bytes_of(uint64_t blocks, uint64_t block_size)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(blocks, block_size, &bytes) || bytes > INT64_MAX)
        return INT64_MAX;
    return (int64_t)bytes;
}

int fs_space(const char *path, struct fs_space *ret)
{
    struct statvfs st;

    if (statvfs(path, &st) < 0)
        return -errno;
    ret->total = bytes_of(st.f_blocks, st.f_frsize);
    ret->usable = bytes_of(st.f_bavail, st.f_frsize);
    return 0;
}

bool fs_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

static int remove_entries(const char *path)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    int r = fs_list_dir(path, &names);

    for (size_t i = 0; r == 0 && i < names.count; i++) {
        CLEANUP(free_p) char *entry = xasprintf("%s/%s", path, names.v[i]);

        r = fs_remove_tree(entry);
    }
    return r;
}

int fs_remove_tree(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    int r = remove_entries(path);
    if (r < 0 && r != -ENOENT)
        return r;
    return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void close_dir_p(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

int fs_list_dir(const char *path, struct fs_names *ret)
{
    CLEANUP(close_p) int fd = fs_open(path, O_RDONLY | O_DIRECTORY);
    CLEANUP(close_dir_p) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    CLEANUP(fs_names_deinit) struct fs_names names = {0};

    if (fd < 0)
        return fd;
    if (!dir)
        return -errno;
    fd = -1; /* the stream's */
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);

        if (!e && errno)
            return -errno;
        if (!e)
            break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        xgrow(names.v, names.cap, names.count + 1);
        names.v[names.count++] = xstrdup(e->d_name);
    }
    if (names.count)
        qsort(names.v, names.count, sizeof *names.v, compare_names);
    *ret = MOVE(names);
    return 0;
}

void fs_names_deinit(struct fs_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->v[i]);
    free(names->v);
    *names = (struct fs_names){0};
}

int fs_stat(const char *path, struct fs_info *ret)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return -errno;
    ret->size = (uint64_t)st.st_size;
    ret->is_dir = S_ISDIR(st.st_mode);
    ret->modified_ms = st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    ret->changed_us = st.st_ctim.tv_sec * INT64_C(1000000) + st.st_ctim.tv_nsec / 1000;
    return 0;
}

int fs_set_modified(const char *path, int64_t wall_ms)
{
    const struct timespec at = {wall_ms / 1000, wall_ms % 1000 * 1000000};

    return utimensat(AT_FDCWD, path, (const struct timespec[2]){at, at}, 0) < 0 ? -errno : 0;
}
