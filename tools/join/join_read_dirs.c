/*
 * join_read_dirs.c - log dirs as a start finds them; nothing is made, locked, or taken away
 *
 * Of a partition the first bytes of its oldest and of its newest segment are read, and no more: a
 * look must not cost what a recovery costs.
 */
#include "broker/storage/checkpoint.h"
#include "broker/storage/log_dir.h"
#include "broker/storage/names.h"
#include "broker/storage/partition_metadata.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/batch.h"
#include "tools/join/join.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BAD_MAX = 1000, HEAD = BATCH_MAGIC_AT + 1 };

static void add_bad(struct arena *a, struct join_dir *d, const char *path, const char *why)
{
    if (d->bad_count == BAD_MAX)
        return;
    if (d->bad_count == d->bad_cap) {
        size_t cap = d->bad_cap * 2 + 4;
        struct why_bad_node *v = arena_new_array(a, struct why_bad_node, cap);
        if (d->bad_count)
            memcpy(v, d->bad, d->bad_count * sizeof *v);
        d->bad = v;
        d->bad_cap = cap;
    }
    d->bad[d->bad_count++] =
        (struct why_bad_node){arena_str(a, str_of(path)), arena_str(a, str_of(why))};
}

/* ---- its own files ---- */

/* Only asked for: a lock of ours would keep a broker from starting. */
static void look_at_lock(struct join_dir *d, const char *path)
{
    CLEANUP(free_p) char *lock = xasprintf("%s/.lock", path);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(lock, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (fcntl(fd, F_GETLK, &all) == 0 && all.l_type != F_UNLCK) {
        d->is_in_use = true;
        d->used_by = all.l_pid;
    }
    close(fd);
}

static void read_meta(struct arena *a, struct join_dir *d, const char *path)
{
    CLEANUP(free_p) char *file = xasprintf("%s/meta.properties", path);
    CLEANUP(free_p) char *cluster = NULL;
    CLEANUP(free_p) char *why = NULL;

    d->has_meta = fs_exists(file);
    int r = log_dir_read_identity(path, &d->broker_id, &cluster, &why);
    if (r < 0)
        d->meta_wrong = arena_str(a, str_of(why ? why : err_name(r)));
    else if (cluster)
        d->cluster_id = arena_str(a, str_of(cluster));
}

static void read_checkpoints(struct arena *a, struct join_dir *d, const char *path)
{
    for (int i = 0; i < DIR_FILE_COUNT; i++) {
        CLEANUP(free_p) char *file = xasprintf("%s/%s", path, log_dir_file_name(i));
        CLEANUP(free_p) char *why = NULL;
        CLEANUP(checkpoint_deinit) struct checkpoint c = {0};
        int r = checkpoint_read(file, &c, &why);
        if (r < 0)
            add_bad(a, d, file, why ? why : err_name(r));
    }
}

/* ---- segments ---- */

static bool is_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i])
            return false;
    }
    return true;
}

/* The format of its first batch, -1 where it has none yet. */
static int format_of(struct arena *a, struct join_dir *d, const char *file)
{
    uint8_t head[HEAD];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    int e = errno;

    if (fd >= 0)
        close(fd);
    if (n < 0) {
        add_bad(a, d, file, strerror(e));
        return -1;
    }
    if (n < HEAD || is_zero(head, sizeof head)) /* torn, or room made in advance */
        return -1;
    uint32_t size;
    if (batch_peek_size(slice_of(head, sizeof head), &size) == 0 && head[BATCH_MAGIC_AT] <= 2)
        return head[BATCH_MAGIC_AT];
    add_bad(a, d, file, "its first bytes are no batch of records");
    return -1;
}

static void look_at_segments(struct arena *a, struct join_dir *d, const char *dir,
                             const struct fs_names *names)
{
    const char *first = NULL, *last = NULL;

    for (size_t i = 0; i < names->count; i++) {
        struct segment_file file;
        if (!segment_file_parse(names->v[i], &file) || file.state != SEGMENT_LIVE ||
            file.type != SEGMENT_LOG)
            continue;
        d->segments++;
        first = first ? first : names->v[i];
        last = names->v[i];
    }
    if (!first)
        return;
    CLEANUP(free_p) char *oldest = xasprintf("%s/%s", dir, first);
    CLEANUP(free_p) char *newest = xasprintf("%s/%s", dir, last);
    int format = format_of(a, d, oldest);
    if (first != last)
        (void)format_of(a, d, newest);
    if (format == 0 || format == 1)
        why_texts_add(a, &d->old_format, arena_str(a, str_of(dir)));
}

/* ---- partitions ---- */

static void add_log(struct arena *a, struct join_dir *d, const struct join_log *log)
{
    if (d->logs_count == d->logs_cap) {
        size_t cap = d->logs_cap * 2 + 64;
        struct join_log *v = arena_new_array(a, struct join_log, cap);
        if (d->logs_count)
            memcpy(v, d->logs, d->logs_count * sizeof *v);
        d->logs = v;
        d->logs_cap = cap;
    }
    d->logs[d->logs_count++] = *log;
}

static void read_log(struct arena *a, struct join_dir *d, const char *path,
                     const struct log_dir_name *name)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    struct join_log log = {.topic = arena_str(a, name->topic),
                           .partition = name->partition,
                           .is_future = name->kind == LOG_DIR_FUTURE,
                           .dir = arena_str(a, str_of(path))};
    int r = fs_list_dir(path, &names);

    if (r < 0) {
        add_bad(a, d, path, err_name(r));
    } else {
        look_at_segments(a, d, path, &names);
        r = partition_metadata_read(path, &log.id);
        log.has_id = r == 0;
        if (r < 0 && r != -ENOENT)
            add_bad(a, d, arena_strz(a, arena_printf(a, "%s/partition.metadata", path)),
                    r == -EBADMSG ? "it names no topic id" : err_name(r));
    }
    add_log(a, d, &log);
}

static void read_entry(struct arena *a, struct join_dir *d, const char *entry)
{
    CLEANUP(free_p) char *path = xasprintf("%.*s/%s", STR_ARG(d->path), entry);
    struct log_dir_name name;
    struct fs_info info;

    if (fs_stat(path, &info) < 0 || !info.is_dir || strcmp(entry, "lost+found") == 0)
        return;
    struct str kept = arena_str(a, str_of(path));
    if (strcmp(entry, "remote-log-index-cache") == 0)
        why_texts_add(a, &d->tiered, kept);
    else if (log_dir_name_parse(entry, &name) < 0)
        why_texts_add(a, &d->strangers, kept);
    else if (str_eqz(name.topic, "__cluster_metadata"))
        why_texts_add(a, &d->kraft, kept);
    else if (name.kind == LOG_DIR_STRAY)
        why_texts_add(a, &d->strays, kept);
    else if (name.kind != LOG_DIR_DELETE)
        read_log(a, d, path, &name);
}

void join_read_dir(struct arena *a, struct join_dir *d, const char *path)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    CLEANUP(free_p) char *marker = xasprintf("%s/.kafka_cleanshutdown", path);

    *d = (struct join_dir){.path = arena_str(a, str_of(path)), .broker_id = -1};
    int r = fs_list_dir(path, &names);
    d->is_there = r != -ENOENT;
    d->read_error = r < 0 ? -r : 0;
    if (r < 0)
        return;
    d->write_error = access(path, W_OK | X_OK) < 0 ? errno : 0;
    d->is_clean = fs_exists(marker);
    d->knows_space = fs_space(path, &d->space) == 0;
    look_at_lock(d, path);
    read_meta(a, d, path);
    read_checkpoints(a, d, path);
    for (size_t i = 0; i < names.count; i++)
        read_entry(a, d, names.v[i]);
}

int32_t join_stored_broker(const struct broker_conf *conf)
{
    int32_t id = -1;

    for (int i = 0; i < conf->dir_count && id < 0; i++) {
        CLEANUP(free_p) char *cluster = NULL;
        CLEANUP(free_p) char *why = NULL;
        if (log_dir_read_identity(conf->dirs[i], &id, &cluster, &why) < 0)
            id = -1;
    }
    return id;
}

void join_read_dirs(struct join_facts *f)
{
    struct rlimit lim;

    f->open_files = getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_max != RLIM_INFINITY
                        ? (int64_t)lim.rlim_max
                        : -1;
    if (!f->conf)
        return;
    f->dirs = arena_new_array(f->arena, struct join_dir, (size_t)f->conf->dir_count + 1);
    for (int i = 0; i < f->conf->dir_count; i++)
        join_read_dir(f->arena, &f->dirs[f->dirs_count++], f->conf->dirs[i]);
}
