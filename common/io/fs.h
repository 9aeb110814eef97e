/*
 * fs.h - files: whole reads and writes, durable replacement, and a bounded cache of open
 * descriptors
 *
 * A struct file is a name that can be opened: it holds a descriptor only while it is in use or in
 * the cache, so that 100,000 partitions need not 100,000 descriptors. Reference-counted; a removed
 * or renamed file can still be read through its references. Fault points: fs.pwrite, fs.pread,
 * fs.fsync, fs.rename, fs.open, fs.truncate. Thread: any; who truncates or renames a file is alone
 * in doing so.
 * Errors are -errno; -EIO also for a file that is shorter than what was asked for.
 */
#pragma once

#include "common/base/str.h"
#include "common/base/strbuf.h"

#include <sys/types.h>
#include <sys/uio.h>

struct file;

/* open(2) with the mode of our files: a descriptor, or -errno. Where there are too many open files,
 * those that the cache keeps are closed for it. */
int fs_open(const char *path, int flags) MUST_CHECK;
/* How many descriptors may stay open while nobody uses them; set once at start. */
void file_cache_set_limit(int count);
/* How many descriptors this process may have. */
uint64_t file_limit(void);

enum file_mode {
    FILE_READ,
    FILE_WRITE, /* read and write, created where absent */
    FILE_CREATE /* as FILE_WRITE, and it exists when file_open() returns */
};

/* FILE_READ and FILE_WRITE touch no disk yet: whether it can be opened shows at the first use. */
int file_open(const char *path, enum file_mode mode, struct file **ret) MUST_CHECK;
struct file *file_ref(struct file *f);
/* NULL-safe, returns NULL. */
struct file *file_unref(struct file *f);
void file_unref_p(struct file **f);
/* Valid until the file is renamed. */
const char *file_path(const struct file *f);

/* A descriptor that stays open until file_unpin(), or -errno. */
int file_pin(struct file *f) MUST_CHECK;
void file_unpin(struct file *f);

/* All n bytes, or an error. */
int file_pread(struct file *f, void *dst, size_t n, uint64_t pos) MUST_CHECK;
/* As many bytes as are there, up to n: 0 at the end. */
ssize_t file_pread_some(struct file *f, void *dst, size_t n, uint64_t pos) MUST_CHECK;
/* Only what the page cache has: -EAGAIN where the disk would have to be read. */
ssize_t file_pread_cached(struct file *f, void *dst, size_t n, uint64_t pos) MUST_CHECK;
int file_pwrite(struct file *f, struct slice data, uint64_t pos) MUST_CHECK;
int file_pwritev(struct file *f, const struct iovec *iov, int count, uint64_t pos) MUST_CHECK;
int file_truncate(struct file *f, uint64_t size) MUST_CHECK;
int file_fsync(struct file *f) MUST_CHECK;
int file_size(struct file *f, uint64_t *ret) MUST_CHECK;
/* Renames on disk and in the struct; a target that exists is replaced. */
int file_rename(struct file *f, const char *path) MUST_CHECK;
/* Unlinks it; who has a reference can go on reading. Absent is fine. */
int file_remove(struct file *f) MUST_CHECK;
/* Renames a directory and, in the same breath, the paths of the files in it: nobody finds one of
 * them missing meanwhile. */
int fs_rename_dir(const char *from, const char *to, struct file *const *files, size_t count)
    MUST_CHECK;

/* Whole small files. At most max bytes, else -EFBIG. */
int fs_read_file(const char *path, size_t max, struct strbuf *ret) MUST_CHECK;
/* Writes path.tmp, fsyncs it, renames it to path and fsyncs the directory: a crash leaves the old
 * text or the new one. */
int fs_replace_file(const char *path, struct str text) MUST_CHECK;
int fs_fsync_dir(const char *path) MUST_CHECK;
int fs_mkdir(const char *path) MUST_CHECK;
/* Files and directories below path, and path itself; absent is fine. */
int fs_remove_tree(const char *path) MUST_CHECK;
bool fs_exists(const char *path);

/* Names of the entries of a directory, sorted; without . and .. */
struct fs_names {
    char **v;
    size_t count;
    size_t cap;
};
int fs_list_dir(const char *path, struct fs_names *ret) MUST_CHECK;
void fs_names_deinit(struct fs_names *names);

struct fs_info {
    uint64_t size;
    int64_t modified_ms;
    int64_t changed_us; /* its contents, its name, or what else is known of it */
    bool is_dir;
};
int fs_stat(const char *path, struct fs_info *ret) MUST_CHECK;
/* Makes the file look as if it had been written last at that time. */
int fs_set_modified(const char *path, int64_t wall_ms) MUST_CHECK;

/* Bytes of the file system that path lies on. */
struct fs_space {
    int64_t total;
    int64_t usable; /* by an ordinary user */
};
int fs_space(const char *path, struct fs_space *ret) MUST_CHECK;
