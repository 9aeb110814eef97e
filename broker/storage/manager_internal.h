/*
 * manager_internal.h - what log_manager.c, log_futures.c, log_loader.c, log_keeper.c and cleaner.c
 * share
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

/* The dir that a log is to be made in. */
struct preference {
    UT_hash_handle hh;
    char *key;
    struct log_dir *dir;
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
    struct log *logs;    /* by key; a reference each */
    struct log *futures; /* the same of logs on their way to another dir */
    struct preference *preferences;
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
/* Takes it out of the table with the table's reference, the caller has its own; false where it is
 * not there. */
bool manager_take_out(struct log_manager *m, struct log *log);
/* Renames the directory of a log that is in no table to ...-delete; its files go later. */
int manager_rename_away(struct log_manager *m, struct log *log) MUST_CHECK;
/* The same, and a failure takes the dir offline. */
int manager_put_away(struct log_manager *m, struct log *log) MUST_CHECK;
/* Makes an empty log; dir is to be told of a failure. */
int manager_create_in(struct log_manager *m, struct log_dir *dir,
                      const struct log_create_opts *opts, struct log **ret) MUST_CHECK;
/* A checkpoint that still names a log that went must not be taken for a new one's after a crash. */
int manager_forget_deleted(struct log_manager *m) MUST_CHECK;
/* A reference to every log, future ones too, of one dir or of all (NULL); *ret_count of them,
 * malloc'ed. */
struct log **manager_all(struct log_manager *m, const struct log_dir *dir, size_t *ret_count);
void manager_put_all(struct log **logs, size_t count);
/* Writes one kind of checkpoint for one dir, from the logs as they stand. */
int manager_checkpoint(struct log_manager *m, struct log_dir *dir, enum log_dir_file which)
    MUST_CHECK;

/* ---- moves between dirs ---- */

/* NULL: any will do. */
struct log_dir *manager_preferred_dir(struct log_manager *m, struct str topic, int32_t partition);
void manager_forget_preference(struct log_manager *m, const char *key);
void manager_forget_preferences(struct log_manager *m);
/* Logs that have a future log are not compacted until that has caught up. */
void manager_pause_moving(struct log_manager *m);
/* The future log is none any more: its log may be compacted again. */
void manager_end_move(struct log_manager *m, const struct log *future);
/* At start, another dir has the same partition. Where one of the two holds nothing that the other
 * does not hold, it goes; else -EEXIST. Takes over the reference. */
int manager_settle_twins(struct log_manager *m, struct log *log) MUST_CHECK;

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
