#include "broker/storage/log_dir.h"

#include "common/base/mem.h"
#include "common/base/props.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *const file_names[] = {
    [DIR_RECOVERY_POINTS] = "recovery-point-offset-checkpoint",
    [DIR_START_OFFSETS] = "log-start-offset-checkpoint",
    [DIR_HIGH_WATERMARKS] = "replication-offset-checkpoint",
    [DIR_CLEAN_OFFSETS] = "cleaner-offset-checkpoint",
};

const char *log_dir_file_name(enum log_dir_file which)
{
    return file_names[which];
}

static char *path_of(const struct log_dir *d, const char *name)
{
    return xasprintf("%s/%s", d->path, name);
}

/* ---- the lock ---- */

/* An fcntl lock, as Java takes it, so that a Kafka broker and this one keep each other out. */
static int lock_dir(struct log_dir *d, char **ret_why)
{
    CLEANUP(free_p) char *path = path_of(d, ".lock");
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (d->lock_fd < 0) {
        int r = -errno;

        *ret_why = xasprintf("%s cannot be opened: %s", path, strerror(-r));
        return r;
    }
    if (fcntl(d->lock_fd, F_SETLK, &all) == 0)
        return 0;
    int r = errno == EACCES ? -EAGAIN : -errno;
    *ret_why =
        r == -EAGAIN
            ? xasprintf("log dir %s is in use by another process (it holds %s): stop that "
                        "broker first, or correct log.dirs",
                        d->path, path)
            : xasprintf("%s cannot be locked: %s; a network file system without locks cannot "
                        "hold a log dir",
                        path, strerror(-r));
    return r;
}

/* ---- meta.properties ---- */

static int malformed(const char *path, const char *what, char **ret_why)
{
    *ret_why =
        xasprintf("%s: %s; correct it from another log dir of this broker, or restore it from "
                  "a backup",
                  path, what);
    return -EINVAL;
}

int log_dir_read_identity(const char *dir, int32_t *ret_broker_id, char **ret_cluster_id,
                          char **ret_why)
{
    CLEANUP(free_p) char *path = xasprintf("%s/meta.properties", dir);
    CLEANUP(props_deinit) struct props props = {0};
    int line;
    int r = props_load(&props, path, &line);

    *ret_broker_id = -1;
    *ret_cluster_id = NULL;
    if (r == -ENOENT)
        return 0;
    if (r < 0) {
        *ret_why = xasprintf("%s cannot be read: %s", path, strerror(-r));
        return r;
    }
    const char *version = props_get(&props, "version");
    const char *broker = props_get(&props, "broker.id");
    const char *cluster = props_get(&props, "cluster.id");
    if (!version)
        return malformed(path, "version is missing", ret_why);
    if (strcmp(version, "1") == 0)
        return malformed(path, "version=1 was written in KRaft mode; this broker runs on ZooKeeper",
                         ret_why);
    if (strcmp(version, "0") != 0)
        return malformed(path, "version is not 0", ret_why);
    if (broker && str_to_i32(str_of(broker), 0, INT32_MAX, ret_broker_id) < 0)
        return malformed(path, "broker.id is no id", ret_why);
    *ret_cluster_id = cluster ? xstrdup(cluster) : NULL;
    return 0;
}

int log_dir_write_identity(struct log_dir *d, int32_t broker_id, const char *cluster_id)
{
    CLEANUP(free_p) char *path = path_of(d, "meta.properties");
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    char id[16], when[64];
    time_t now = time(NULL);
    struct tm tm;

    if (d->broker_id == broker_id && d->cluster_id && strcmp(d->cluster_id, cluster_id) == 0)
        return 0;
    gmtime_r(&now, &tm);
    strftime(when, sizeof when, "%a %b %d %H:%M:%S UTC %Y", &tm);
    snprintf(id, sizeof id, "%d", broker_id);
    strbuf_addf(&text, "#\n#%s\n", when);
    props_print_one(&text, "cluster.id", cluster_id);
    props_print_one(&text, "version", "0");
    props_print_one(&text, "broker.id", id);
    int r = fs_replace_file(path, strbuf_str(&text));
    if (r < 0)
        return r;
    free(d->cluster_id);
    d->cluster_id = xstrdup(cluster_id);
    d->broker_id = broker_id;
    return 0;
}

/* ---- open and close ---- */

static char *absolute(const char *path)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    char here[PATH_MAX];

    if (path[0] != '/' && getcwd(here, sizeof here))
        strbuf_addf(&sb, "%s/", here);
    for (const char *p = path; *p; p++)
        if (*p != '/' || sb.len == 0 || sb.s[sb.len - 1] != '/')
            strbuf_addf(&sb, "%c", *p);
    struct str text = strbuf_str(&sb);
    while (text.len > 1 && text.p[text.len - 1] == '/')
        text.len--;
    return str_dup(text);
}

int log_dir_open(const char *path, struct log_dir *ret, char **ret_why)
{
    *ret = (struct log_dir){
        .path = xstrdup(path), .absolute = absolute(path), .lock_fd = -1, .broker_id = -1};
    int r = fs_mkdir(path);
    if (r < 0 && r != -EEXIST) {
        *ret_why = xasprintf("log dir %s cannot be made: %s", path, strerror(-r));
        return r;
    }
    r = lock_dir(ret, ret_why);
    return r < 0 ? r : log_dir_read_identity(path, &ret->broker_id, &ret->cluster_id, ret_why);
}

void log_dir_deinit(struct log_dir *d)
{
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    checkpoint_deinit(&d->recovery_points);
    checkpoint_deinit(&d->start_offsets);
    checkpoint_deinit(&d->high_watermarks);
    checkpoint_deinit(&d->clean_offsets);
    free(d->cluster_id);
    free(d->absolute);
    free(d->path);
}

/* ---- markers and checkpoints ---- */

static int read_checkpoint(const struct log_dir *d, enum log_dir_file which, struct checkpoint *c)
{
    CLEANUP(free_p) char *path = path_of(d, file_names[which]);
    CLEANUP(free_p) char *why = NULL;
    int r = checkpoint_read(path, c, &why);

    if (r != -EBADMSG)
        return r;
    say_error("%s: %s; it counts as empty, and is written anew", path, why ? why : "malformed");
    checkpoint_deinit(c);
    return 0;
}

int log_dir_begin_load(struct log_dir *d)
{
    CLEANUP(free_p) char *marker = path_of(d, ".kafka_cleanshutdown");

    d->was_clean = fs_exists(marker);
    /* Gone before anything is loaded: a crash while loading is then no clean stop. */
    if (d->was_clean && unlink(marker) < 0)
        return -errno;
    int r = d->was_clean ? fs_fsync_dir(d->path) : 0;
    if (r == 0)
        r = read_checkpoint(d, DIR_RECOVERY_POINTS, &d->recovery_points);
    if (r == 0)
        r = read_checkpoint(d, DIR_START_OFFSETS, &d->start_offsets);
    if (r == 0)
        r = read_checkpoint(d, DIR_HIGH_WATERMARKS, &d->high_watermarks);
    if (r == 0)
        r = read_checkpoint(d, DIR_CLEAN_OFFSETS, &d->clean_offsets);
    return r;
}

int log_dir_mark_clean(const struct log_dir *d)
{
    CLEANUP(free_p) char *marker = path_of(d, ".kafka_cleanshutdown");

    return fs_replace_file(marker, STR("{\"version\":0,\"brokerEpoch\":-1}"));
}

int log_dir_write(const struct log_dir *d, enum log_dir_file which, const struct checkpoint *c)
{
    CLEANUP(free_p) char *path = path_of(d, file_names[which]);

    return checkpoint_write(path, c);
}
