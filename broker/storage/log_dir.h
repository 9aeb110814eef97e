/*
 * log_dir.h - one directory of log.dirs: its lock, its identity, its markers and checkpoints
 *
 * Belongs to the log manager. `is_offline` may be read by any thread; the rest changes at start and
 * stop only, or is one thread's (the keeper's). Files: disk.md 7.
 */
#pragma once

#include "broker/storage/checkpoint.h"

enum log_dir_file {
    DIR_RECOVERY_POINTS,
    DIR_START_OFFSETS,
    DIR_HIGH_WATERMARKS,
    DIR_CLEAN_OFFSETS,
    DIR_FILE_COUNT
};

struct log_dir {
    char *path;
    char *absolute; /* as Java prints it */
    int lock_fd;    /* -1: not locked */
    _Atomic bool is_offline;
    bool was_clean;                    /* it had the clean-shutdown marker */
    bool is_loaded;                    /* all its logs are; a marker may be written at the end */
    struct checkpoint recovery_points; /* as found at start */
    struct checkpoint start_offsets;
    struct checkpoint high_watermarks;
    struct checkpoint clean_offsets;
    uint64_t written[DIR_FILE_COUNT]; /* sums of what they said last; LOG_CHECKPOINT */
    int32_t broker_id;                /* of meta.properties, -1: none yet */
    char *cluster_id;                 /* NULL: none yet */
};

/* Makes the directory where it is missing, locks it, and reads meta.properties. -EAGAIN where
 * another process has it; other errors of the disk; -EINVAL for a meta.properties that cannot be.
 * *ret_why (malloc'ed) says what, where, and what to do. */
int log_dir_open(const char *path, struct log_dir *ret, char **ret_why) MUST_CHECK;
void log_dir_deinit(struct log_dir *d);
/* meta.properties of a directory, without more: -1 and NULL where it is not there, or names none.
 * Errors as above; *ret_cluster_id is malloc'ed. */
int log_dir_read_identity(const char *dir, int32_t *ret_broker_id, char **ret_cluster_id,
                          char **ret_why) MUST_CHECK;
const char *log_dir_file_name(enum log_dir_file which);
/* Notes and removes the clean-shutdown marker and reads the checkpoints; a malformed one counts as
 * empty, which is said. */
int log_dir_begin_load(struct log_dir *d) MUST_CHECK;
int log_dir_mark_clean(const struct log_dir *d) MUST_CHECK;
int log_dir_write_identity(struct log_dir *d, int32_t broker_id, const char *cluster_id) MUST_CHECK;

int log_dir_write(const struct log_dir *d, enum log_dir_file which, const struct checkpoint *c)
    MUST_CHECK;
