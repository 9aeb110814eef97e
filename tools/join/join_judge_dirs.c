/*
 * join_judge_dirs.c - log dirs: whose they are, whether a start could use them, and what lies in
 * them that it would not understand
 */
#include "tools/join/join.h"

#define FOUND(severity, where, what, todo) join_found(ret, (severity), (where), (what), STR(todo))

enum { FILES_WANTED = 100000, FULL_PERCENT = 5 };

/* ---- access ---- */

static bool judge_access(const struct join_facts *f, const struct join_dir *d,
                         struct join_findings *ret)
{
    if (!d->is_there)
        FOUND(JOIN_WARNING, d->path, STR("is not there: a start would make it, empty"),
              "run this on the broker's machine, or correct log.dirs");
    else if (d->read_error)
        FOUND(JOIN_BLOCKS, d->path,
              arena_printf(f->arena, "cannot be read: %s", strerror(d->read_error)),
              "run this, and Klamm, as the user that Kafka runs as; or mend the disk");
    else if (d->write_error)
        FOUND(JOIN_BLOCKS, d->path,
              arena_printf(f->arena, "cannot be written: %s", strerror(d->write_error)),
              "run this, and Klamm, as the user that Kafka runs as; or mend the disk");
    return d->is_there && !d->read_error;
}

static void judge_use(const struct join_facts *f, const struct join_dir *d,
                      struct join_findings *ret)
{
    if (d->is_in_use)
        FOUND(JOIN_NOTE, d->path,
              d->used_by > 0 ? arena_printf(f->arena, "is in use by process %d", d->used_by)
                             : STR("is in use by another process"),
              "stop that broker, and wait until it has ended, before Klamm is started");
    else if (!d->is_clean && d->logs_count)
        FOUND(JOIN_WARNING, d->path,
              STR("its last broker was not stopped cleanly: a start reads what was not flushed"),
              "start Kafka once more and stop it with a controlled shutdown, or give Klamm's "
              "first start the time");
}

static void judge_space(const struct join_facts *f, const struct join_dir *d,
                        struct join_findings *ret)
{
    if (!d->knows_space || d->space.total <= 0)
        return;
    int64_t percent = d->space.usable / MAX(d->space.total / 100, (int64_t)1);
    if (percent < FULL_PERCENT)
        FOUND(JOIN_WARNING, d->path,
              arena_printf(f->arena, "%lld MB are left, %lld %% of the disk",
                           (long long)(d->space.usable >> 20), (long long)percent),
              "make room: a full disk takes the log dir offline");
}

/* ---- identity ---- */

static void judge_meta(const struct join_facts *f, const struct join_dir *d,
                       struct join_findings *ret)
{
    struct str cluster = f->zk.zk.cluster_id;

    if (d->meta_wrong.len) {
        join_found(ret, JOIN_BLOCKS, d->path, d->meta_wrong, STR("a start refuses it"));
        return;
    }
    if (!d->has_meta)
        FOUND(d->logs_count ? JOIN_BLOCKS : JOIN_NOTE, d->path,
              d->logs_count ? STR("has logs and no meta.properties: whose they are is not known")
                            : STR("has no meta.properties: it is new"),
              "a start writes one, of this broker and this cluster");
    if (cluster.len && d->cluster_id.len && !str_eq(cluster, d->cluster_id))
        FOUND(JOIN_BLOCKS, d->path,
              arena_printf(f->arena, "belongs to cluster %.*s, ZooKeeper to %.*s",
                           STR_ARG(d->cluster_id), STR_ARG(cluster)),
              "either --zookeeper (its chroot too) or log.dirs is wrong; do not delete "
              "meta.properties");
    if (d->broker_id >= 0 && f->broker >= 0 && d->broker_id != f->broker)
        FOUND(JOIN_BLOCKS, d->path,
              arena_printf(f->arena, "belongs to broker %d, not to %d", d->broker_id, f->broker),
              "take that broker's own server.properties, or its own log dirs");
}

/* ---- content ---- */

static void each(struct join_findings *ret, const struct why_texts *t, enum join_severity severity,
                 struct str what, struct str todo)
{
    for (size_t i = 0; i < t->count; i++)
        join_found(ret, severity, t->v[i], what, todo);
}

static bool is_checkpoint(struct str path)
{
    struct str end = STR("-offset-checkpoint");

    return path.len > end.len && memcmp(path.p + path.len - end.len, end.p, end.len) == 0;
}

static void judge_content(const struct join_facts *f, const struct join_dir *d,
                          struct join_findings *ret)
{
    for (size_t i = 0; i < d->bad_count; i++)
        join_found(ret, is_checkpoint(d->bad[i].path) ? JOIN_WARNING : JOIN_BLOCKS, d->bad[i].path,
                   arena_printf(f->arena, "cannot be used: %.*s", STR_ARG(d->bad[i].why)),
                   is_checkpoint(d->bad[i].path)
                       ? STR("a start takes it for empty, and writes it anew")
                       : STR("mend the disk or the file's rights; or take the replica away, so "
                             "that it is fetched again"));
    each(ret, &d->kraft, JOIN_BLOCKS, STR("belongs to a KRaft node"),
         STR("this is no log dir of a broker in ZooKeeper mode alone: correct log.dirs"));
    each(ret, &d->tiered, JOIN_WARNING, STR("was left by tiered storage"),
         STR("delete it once no topic has remote.storage.enable=true"));
    each(ret, &d->strays, JOIN_WARNING, STR("was put aside by a migration: its topic was gone"),
         STR("look at what it was, then delete it"));
    each(ret, &d->strangers, JOIN_NOTE, STR("is no partition's directory"),
         STR("Klamm leaves it alone; Kafka itself would not start with it"));
    each(ret, &d->old_format, JOIN_NOTE, STR("its oldest records have a format from before 0.11"),
         STR("they are served as they are"));
}

/* ---- */

/* As a start wants it of all of them. */
static void judge_pairs(const struct join_facts *f, struct join_findings *ret)
{
    const struct join_dir *first = NULL;

    for (size_t i = 0; i < f->dirs_count; i++) {
        const struct join_dir *d = &f->dirs[i];
        if (d->broker_id < 0)
            continue;
        if (first && first->broker_id != d->broker_id)
            FOUND(JOIN_BLOCKS, d->path,
                  arena_printf(f->arena, "belongs to broker %d, and %.*s to broker %d",
                               d->broker_id, STR_ARG(first->path), first->broker_id),
                  "a start refuses that: correct log.dirs");
        first = first ? first : d;
    }
}

static void judge_limits(const struct join_facts *f, struct join_findings *ret)
{
    int64_t segments = 0;

    for (size_t i = 0; i < f->dirs_count; i++)
        segments += f->dirs[i].segments;
    if (f->dirs_count && f->open_files >= 0 && f->open_files < FILES_WANTED)
        FOUND(f->open_files < 1024 + segments / 10 ? JOIN_WARNING : JOIN_NOTE, STR("ulimit -n"),
              arena_printf(f->arena, "%lld files may be open at once; there are %lld segments",
                           (long long)f->open_files, (long long)segments),
              "a busy broker wants 100000 (LimitNOFILE=); Klamm opens segments on demand");
}

void join_judge_dirs(const struct join_facts *f, struct join_findings *ret)
{
    for (size_t i = 0; i < f->dirs_count; i++) {
        const struct join_dir *d = &f->dirs[i];
        if (!judge_access(f, d, ret))
            continue;
        judge_meta(f, d, ret);
        judge_use(f, d, ret);
        judge_space(f, d, ret);
        judge_content(f, d, ret);
    }
    judge_pairs(f, ret);
    judge_limits(f, ret);
}
