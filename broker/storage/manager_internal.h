/*
 * manager_internal.h - what log_manager.c, log_loader.c, log_keeper.c and cleaner.c share
 *
 * `lock` (LOCK_LOGS) guards the table of logs, the names of those on failed dirs, and the counts;
 * it is held for a look, never over I/O. `creating` (LOCK_LOG_CREATE) lets one log at a time come
 * into being, `writing` (LOCK_LOG_CHECKPOINT) one checkpoint be written. The keeper's queue has a
 * lock of its own (LOCK_INBOX), as logs post to it while they hold theirs.
 */
#pragma once

#include "broker/storage/cleaner.h"
#include "broker/storage/log_dir.h"
#include "broker/storage/log_internal.h"
#include "broker/storage/log_manager.h"
#include "common/base/thread.h"

/* A partition whose log lies on a dir that failed. */
struct offline_log {
    UT_hash_handle hh;
    char *key;
};

/* Files or a directory that go later. */
struct removal {
    struct removal *next;
    struct segment_files files; /* where path is NULL */
    char *path;
    int64_t due_us;
};

struct keeper {
    struct thread thread;
    struct mutex lock; /* LOCK_INBOX */
    struct cond some;
    struct log *flush_queue; /* by log->next, each with a reference */
    struct removal *removals;
    bool is_stopping;
};

struct log_manager {
    struct log_manager_opts opts;
    struct log_dir *dirs;
    int *log_counts; /* of each dir */
    int dir_count;
    struct log_hooks hooks;
    struct mutex creating;
    struct mutex writing;
    struct mutex lock;
    struct log *logs; /* by key; a reference each */
    struct offline_log *offline;
    bool is_any_stale; /* checkpoints on disk still name logs that were deleted */
    _Atomic bool writes_hws;
    _Atomic int64_t producer_id_expiration_ms;
    struct keeper keeper;
    struct cleaner *cleaner; /* NULL: nothing is compacted */
};

/* The dir a log lies in, by the pointer that the log was given. */
struct log_dir *manager_dir_of(struct log_manager *m, const struct log *log);
/* Puts an opened log into the table; takes over one reference. -EEXIST where one is there. */
int manager_add(struct log_manager *m, struct log *log) MUST_CHECK;
/* A reference to every log, of one dir or of all (NULL); *ret_count of them, malloc'ed. */
struct log **manager_all(struct log_manager *m, const struct log_dir *dir, size_t *ret_count);
void manager_put_all(struct log **logs, size_t count);
/* Writes one kind of checkpoint for one dir, from the logs as they stand. */
int manager_checkpoint(struct log_manager *m, struct log_dir *dir, enum log_dir_file which)
    MUST_CHECK;

/* Retention for one log; a failure takes its dir offline. */
void manager_retain(struct log_manager *m, struct log *log);

/* Opens what lies in one dir. */
int loader_load_dir(struct log_manager *m, struct log_dir *dir) MUST_CHECK;

/* Calls fn for each log on several threads, as it waits for the disk most of its time; the first
 * error. */
int manager_each_parallel(struct log **logs, size_t count, int (*fn)(struct log *log)) MUST_CHECK;

void keeper_init(struct log_manager *m);
int keeper_start(struct log_manager *m) MUST_CHECK;
void keeper_stop(struct log_manager *m);
/* Removes path and what is below it after delay_ms. */
void keeper_remove_later(struct log_manager *m, const char *path, int64_t delay_ms);
