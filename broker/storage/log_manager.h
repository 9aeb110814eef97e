/*
 * log_manager.h - all logs of this broker, in one or several log dirs
 *
 * Finds them at start (recovering in parallel after a crash), makes them, deletes them, and keeps
 * them: flush, retention and the checkpoint files run on its own keeper thread, compaction on
 * cleaner threads. A dir that fails
 * goes offline with all its logs; the others go on. The table is guarded by LOCK_LOGS; a struct log
 * handed out is a reference (log_put). Thread: any, unless noted.
 */
#pragma once

#include "broker/storage/log.h"
#include "common/base/clock.h"

struct log_manager;
struct broker_conf;

/* Called up from here; handed over at construction. Any thread, no lock held. */
struct log_manager_events {
    void *ctx;
    /* A dir failed for the first time: partitions in it are offline from now on. */
    void (*dir_failed)(void *ctx, const char *dir);
    /* No dir is left: the broker has to stop. */
    void (*all_dirs_failed)(void *ctx);
    /* A topic's settings, with a reference, for a log that is made or loaded. Blocks (reads
     * ZooKeeper) only during start. */
    struct topic_conf *(*topic_conf)(void *ctx, const char *topic);
};

/* Compaction (log.cleaner.*). */
struct cleaner_conf {
    int threads; /* 0: nothing is compacted */
    int64_t dedupe_buffer_bytes;
    double load_factor;
    int32_t io_buffer_bytes;
    double max_bytes_per_second;
    int64_t backoff_ms;
};

struct log_manager_opts {
    const struct clock *clock;
    const char *const *dirs;
    int dir_count;
    int recovery_threads_per_dir;
    int64_t flush_scheduler_interval_ms;
    int64_t retention_check_interval_ms;
    int64_t recovery_checkpoint_interval_ms;
    int64_t start_offset_checkpoint_interval_ms;
    int64_t high_watermark_checkpoint_interval_ms;
    int64_t producer_id_expiration_ms;
    int64_t producer_id_expiration_check_interval_ms;
    struct cleaner_conf cleaner;
    struct log_manager_events events;
};

/* Locks the dirs (.lock) and reads meta.properties; a dir that cannot be used is offline from the
 * start. Fails only where none can: *ret_why says which and why (malloc'ed). */
int log_manager_new(const struct log_manager_opts *opts, struct log_manager **ret, char **ret_why)
    MUST_CHECK;
/* Loads all logs; says progress. < 0 where two dirs hold the same partition. */
int log_manager_load(struct log_manager *m) MUST_CHECK;
/* Starts the keeper thread and the cleaners. */
int log_manager_start(struct log_manager *m) MUST_CHECK;
/* Flushes, checkpoints and writes the clean-shutdown markers. */
void log_manager_stop(struct log_manager *m);
struct log_manager *log_manager_free(struct log_manager *m);

/* What may change while it runs. */
struct log_manager_settings {
    int recovery_threads_per_dir; /* for a load that comes later */
    int64_t producer_id_expiration_ms;
    struct cleaner_conf cleaner; /* threads: no cleaner comes into being, and none goes */
};
/* Not beside log_manager_load(), _start() or _stop(). -errno where threads cannot be started. */
int log_manager_reconfigure(struct log_manager *m, const struct log_manager_settings *s) MUST_CHECK;

/* With a reference, NULL where it is not here or its dir is offline. */
struct log *log_manager_get(struct log_manager *m, struct str topic, int32_t partition);
void log_put(struct log *log);
void log_put_p(struct log **log);

struct log_create_opts {
    struct str topic;
    int32_t partition;
    struct uuid topic_id; /* zero: none */
    /* False: refused with KAFKA_STORAGE_ERROR while a dir is offline, as it may be there. */
    bool is_new;
    bool is_future; /* for log_manager_create_future() */
    struct topic_conf *conf;
};
/* Finds it, or makes it: in the dir that was asked for with log_manager_prefer_dir(), else in the
 * live one with the fewest logs. INCONSISTENT_TOPIC_ID,
 * KAFKA_STORAGE_ERROR. With a reference. */
int log_manager_create(struct log_manager *m, const struct log_create_opts *opts, struct log **ret)
    MUST_CHECK;
/* Renames its directory to ...-delete at once; the files go after file.delete.delay.ms. 0 also
 * where it is not here. */
int log_manager_delete(struct log_manager *m, struct str topic, int32_t partition) MUST_CHECK;
/* Whether a partition's log lies (lay) in a dir that is offline now. */
bool log_manager_is_offline(struct log_manager *m, struct str topic, int32_t partition);
int log_manager_offline_dir_count(struct log_manager *m);
/* The dirs in the order of log.dirs; log_dir_path() of a log gives the same pointer. */
int log_manager_dir_count(const struct log_manager *m);
const char *log_manager_dir_path(const struct log_manager *m, int i);
/* As Java prints it: absolute, without a slash at its end. */
const char *log_manager_dir_absolute(const struct log_manager *m, int i);
bool log_manager_dir_is_offline(const struct log_manager *m, int i);

/* An I/O error came up in this dir, a full disk included, as in Kafka: other replicas go on, where
 * this one could only refuse. Idempotent. */
void log_manager_dir_failed(struct log_manager *m, const char *dir, int err, const char *what);

/* The high watermark that was checkpointed for a partition, 0 where none. */
int64_t log_manager_checkpointed_hw(struct log_manager *m, struct str topic, int32_t partition);
/* From the first LeaderAndIsr on the keeper also writes replication-offset-checkpoint
 * (controller.md B8). */
void log_manager_enable_hw_checkpoints(struct log_manager *m);
/* Without a reference to each: cheap. */
bool log_manager_is_empty(struct log_manager *m);
/* Future logs too. */
void log_manager_each(struct log_manager *m, bool (*each)(struct log *log, void *ctx), void *ctx);

/*
 * ---- moves between dirs ----
 *
 * The copy of a log grows in another dir as a future log, TOPIC-PARTITION.<id>-future, and changes
 * places with it when both are the same. A crash leaves, in this order: the log and its future log;
 * two logs that are the same, one of which goes at the next start; the log in its new dir. The
 * caller sees to it that one thread at a time works on the move of a partition.
 */

/* Where the next log of this partition is to be made, until then in memory alone; not noted where
 * the log, or its future log, is there already. */
void log_manager_prefer_dir(struct log_manager *m, struct str topic, int32_t partition, int dir);
/* With a reference, NULL where there is none. */
struct log *log_manager_get_future(struct log_manager *m, struct str topic, int32_t partition);
/* Makes the log's future log, empty, in a dir. KAFKA_STORAGE_ERROR, also while any dir is offline:
 * there may be one in it. With a reference. */
int log_manager_create_future(struct log_manager *m, struct log *log, int dir, struct log **ret)
    MUST_CHECK;
/* 0 also where there is none. */
int log_manager_delete_future(struct log_manager *m, struct str topic, int32_t partition)
    MUST_CHECK;
/* To be called before log_manager_swap(), without a lock: what is in the future log is as durable
 * as can be, its dir's checkpoints know it. A failure takes its dir offline. */
int log_manager_prepare_swap(struct log_manager *m, struct log *future) MUST_CHECK;

struct swap_result {
    bool is_done; /* the log lies in the other dir */
    int error;    /* < 0: failed_dir has to go offline */
    const char *failed_dir;
};
/* Both end at the same offset, and nobody appends or truncates until it returns: the partition's
 * lock is held. */
void log_manager_swap(struct log_manager *m, struct log *log, struct log *future,
                      struct swap_result *ret);
/* Afterwards, without a lock: checkpoints of both dirs, and what has failed. */
void log_manager_swapped(struct log_manager *m, struct log *log, struct log *future,
                         const struct swap_result *result);

/* meta.properties of the dirs (disk.md 7.3). -1 and NULL where no dir has one yet; *ret_why on a
 * conflict (-EINVAL). */
int log_manager_identity(struct log_manager *m, int32_t *ret_broker_id, char **ret_cluster_id,
                         char **ret_why) MUST_CHECK;
int log_manager_set_identity(struct log_manager *m, int32_t broker_id, const char *cluster_id)
    MUST_CHECK;
