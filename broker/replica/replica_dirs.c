#include "broker/replica/replica_dirs.h"

#include "broker/replica/dir_mover.h"
#include "broker/replica/partition_move.h"
#include "broker/replica/replica_internal.h"
#include "broker/storage/names.h"
#include "common/base/err.h"
#include "common/base/say.h"

/* ---- what is asked for ---- */

static int find_dir(struct replica_manager *m, struct str path, int *ret)
{
    struct log_manager *logs = m->opts.logs;

    for (int i = 0; i < log_manager_dir_count(logs); i++) {
        if (!str_eqz(path, log_manager_dir_absolute(logs, i)))
            continue;
        *ret = i;
        return log_manager_dir_is_offline(logs, i) ? KAFKA_STORAGE_ERROR : 0;
    }
    return LOG_DIR_NOT_FOUND;
}

static bool is_too_long(struct str topic, int32_t partition)
{
    CLEANUP(free_p) char *name = log_dir_name_make_future(topic, partition);

    return strlen(name) > FILE_NAME_MAX;
}

/* Ends the way to another dir than this one. */
static int give_up_other(struct replica_manager *m, struct partition *part, const char *dir)
{
    const char *target = partition_move_dir(part);

    if (!target || target == dir)
        return 0;
    say_info("move given up partition=%s-%d to=%s asked=%s", part->topic.p, part->id, target, dir);
    partition_end_move(part);
    return log_manager_delete_future(m->opts.logs, part->topic, part->id) ? KAFKA_STORAGE_ERROR : 0;
}

static enum partition_role role_of(struct partition *part)
{
    LOCK_SCOPE(&part->lock);
    return part->role;
}

/* Of a replica that is here: the log is set once, so that it may be looked at without its lock. */
static int begin(struct replica_manager *m, struct partition *part, int dir)
{
    struct log_manager *logs = m->opts.logs;
    const char *path = log_manager_dir_path(logs, dir);
    struct log *future = NULL;
    int r;

    if (log_dir_path(part->log) == path)
        return 0;
    if (partition_resume_move(part)) {
        dir_mover_add(m->mover, part);
        return 0;
    }
    r = log_manager_create_future(logs, part->log, dir, &future);
    if (r)
        return r;
    say_info("move begins partition=%s-%d from=%s to=%s bytes=%" PRId64, part->topic.p, part->id,
             log_dir_path(part->log), path, log_size(part->log));
    partition_begin_move(part, future);
    dir_mover_add(m->mover, part);
    return 0;
}

static int alter(struct replica_manager *m, struct str topic, int32_t partition, int dir)
    REQUIRES(m->state_lock)
{
    struct partition *CLEANUP(partition_unref_p) part = replica_manager_find(m, topic, partition);
    struct partition *CLEANUP(partition_unref_p) hosted = NULL;
    int r = 0;

    if (part && role_of(part) == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (part)
        r = give_up_other(m, part, log_manager_dir_path(m->opts.logs, dir));
    if (r)
        return r;
    log_manager_prefer_dir(m->opts.logs, topic, partition, dir);
    r = replica_manager_get(m, topic, partition, &hosted);
    if (r == 0)
        r = hosted->log ? begin(m, hosted, dir) : NOT_LEADER_OR_FOLLOWER;
    return r == NOT_LEADER_OR_FOLLOWER ? REPLICA_NOT_AVAILABLE : r;
}

int replica_dirs_alter(struct replica_manager *m, struct str topic, int32_t partition,
                       struct str dir)
{
    int at = -1;

    if (is_too_long(topic, partition))
        return INVALID_TOPIC_EXCEPTION;
    LOCK_SCOPE(&m->state_lock);
    int r = find_dir(m, dir, &at);
    return r ? r : alter(m, topic, partition, at);
}

/* ---- what is found ---- */

/* One beside its own log, or one of another topic that had the name, is no use to anybody. */
static bool is_usable(struct partition *part, struct log *future)
{
    if (log_dir_path(future) == log_dir_path(part->log))
        return false;
    return log_set_topic_id(future, log_topic_id(part->log)) != INCONSISTENT_TOPIC_ID;
}

void replica_dirs_go_on(struct replica_manager *m, struct partition *part)
{
    struct log *CLEANUP(log_put_p) future = NULL;

    if (!part->log)
        return;
    future = log_manager_get_future(m->opts.logs, part->topic, part->id);
    if (!future)
        return;
    if (is_usable(part, future)) {
        partition_begin_move(part, TAKE(future));
        dir_mover_add(m->mover, part);
        return;
    }
    say_warn("a future log is of no use and goes partition=%s-%d dir=%s", part->topic.p, part->id,
             log_dir_path(future));
    partition_end_move(part);
    /* A failure takes its dir offline, and has been said. */
    int r UNUSED = log_manager_delete_future(m->opts.logs, part->topic, part->id);
}
