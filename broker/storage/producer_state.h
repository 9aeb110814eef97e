/*
 * producer_state.h - what a log knows of its producers: sequences, epochs, open transactions
 * (disk.md §11)
 *
 * The way of an append, all of it under the log's lock:
 *
 *   CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
 *   r = producer_state_check(ps, batches, &opts, &ch);      // nothing has changed yet
 *   if (ch.is_duplicate) ...                                // the answer is ch.duplicate, nothing
 *   is written ... write the batches ...
 *   producer_state_apply(ps, &ch);
 *   for (each ch.completed c) {                             // in order; only aborted ones go to
 *   .txnindex
 *       lso = producer_state_lso_after(ps, c);
 *       producer_state_complete(ps, c);
 *   }
 *   producer_state_set_end(ps, next offset);
 *
 * The state is remembered in files <offset>.snapshot beside the segments (producer_snapshot.h),
 * which this struct finds and deletes. Guarded by the log's lock. Errors of files: -errno.
 */
#pragma once

#include "broker/storage/log.h"
#include "common/io/fs.h"
#include "common/record/batch.h"

struct producer_state;

struct producer_state_opts {
    const char *name; /* of the partition, for diagnostics; copied */
    const char *dir;  /* of the partition; must live until the next producer_state_moved() */
    const struct fs_names *files; /* what lies there */
    int64_t expiration_ms;
    bool verify_transactions; /* transaction.partition.verification.enable */
};

/* Empty, its end at offset 0; finds the snapshots among the files. */
struct producer_state *producer_state_new(const struct producer_state_opts *opts);
/* NULL-safe, returns NULL. */
struct producer_state *producer_state_free(struct producer_state *ps);
void producer_state_moved(struct producer_state *ps, const char *dir);

/* ---- append ---- */

enum {
    PRODUCER_ORIGIN_REPLICATION = -1
}; /* beside enum append_origin: taken as it is, also in recovery */

struct producer_check_opts {
    int origin;            /* enum append_origin or PRODUCER_ORIGIN_REPLICATION */
    uint64_t verification; /* token of producer_state_verify, 0: none */
};

struct completed_txn {
    int64_t producer_id;
    int64_t first_offset;
    int64_t last_offset; /* of the marker */
    bool is_aborted;
};

struct started_txn {
    int64_t producer_id;
    int64_t first_offset;
};

struct producer_batch {
    int64_t first_offset;
    int64_t last_offset;
    int64_t timestamp;
    int32_t first_sequence;
    int32_t last_sequence;
};

struct producer_change;

/* What an append will change. Zeroed is empty. */
struct producer_changes {
    struct producer_change *v;
    size_t count;
    size_t cap;
    struct started_txn *started;
    size_t started_count;
    size_t started_cap;
    struct completed_txn *completed;
    size_t completed_count;
    size_t completed_cap;
    bool is_duplicate;
    struct producer_batch duplicate;
};

/*
 * Batches must have their final offsets. > 0, for APPEND_CLIENT and APPEND_COORDINATOR:
 * OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
 * TRANSACTION_COORDINATOR_FENCED. -EBADMSG for a control record that is none. ret must be zeroed.
 */
int producer_state_check(const struct producer_state *ps, struct slice batches,
                         const struct producer_check_opts *opts, struct producer_changes *ret)
    MUST_CHECK;
void producer_state_apply(struct producer_state *ps, const struct producer_changes *ch);
void producer_changes_deinit(struct producer_changes *ch);

/* The last stable offset that a completed transaction's index entry records. */
int64_t producer_state_lso_after(const struct producer_state *ps, const struct completed_txn *c);
void producer_state_complete(struct producer_state *ps, const struct completed_txn *c);
/* The state covers everything below this offset now. */
void producer_state_set_end(struct producer_state *ps, int64_t offset);
int64_t producer_state_end(const struct producer_state *ps);

/* For recovery and loading: check, apply and complete in one, as replicated data. on_abort may be
 * NULL; it is told of each aborted transaction with its last stable offset, for the index. */
typedef int (*producer_abort_fn)(void *ctx, const struct completed_txn *c,
                                 int64_t last_stable_offset);
int producer_state_replay(struct producer_state *ps, struct slice batches,
                          producer_abort_fn on_abort, void *ctx) MUST_CHECK;

/* ---- transactions ---- */

/* The smallest first offset of a transaction that is open, or completed by a marker not yet below
 * the high watermark; -1: none. */
int64_t producer_state_first_unstable(const struct producer_state *ps);
void producer_state_high_watermark_moved(struct producer_state *ps, int64_t high_watermark);
bool producer_state_has_open_txn(const struct producer_state *ps, int64_t producer_id);
/* The token to be shown with the first batch of a transaction (KIP-890); 0 where one is open
 * already or verification is off. */
uint64_t producer_state_verify(struct producer_state *ps, int64_t producer_id, int32_t sequence,
                               int16_t epoch, int64_t now_ms);
/* The wall-clock time of the last batch of the oldest open transaction, -1: none. */
int64_t producer_state_oldest_txn_timestamp(const struct producer_state *ps);

/* ---- time, start, truncation ---- */

/* producer.id.expiration.ms has changed. */
void producer_state_set_expiration(struct producer_state *ps, int64_t expiration_ms);
void producer_state_expire(struct producer_state *ps, int64_t now_ms);
bool producer_state_is_empty(const struct producer_state *ps);
size_t producer_state_count(const struct producer_state *ps);
/* Drops snapshots outside (log_start, log_end]; where the state does not end at log_end already,
 * also the state, and loads the newest snapshot that can be read. The caller replays from
 * producer_state_end() on. */
int producer_state_truncate_and_reload(struct producer_state *ps, int64_t log_start,
                                       int64_t log_end, int64_t now_ms) MUST_CHECK;
/* Forgets everything and all snapshots; the state ends at offset. */
int producer_state_truncate_fully(struct producer_state *ps, int64_t offset) MUST_CHECK;
void producer_state_log_start_moved(struct producer_state *ps, int64_t log_start);

/* ---- snapshots ---- */

/* Writes one named by the end of the state where that grew since the last; *ret_path, if it is not
 * NULL, gets its malloc'ed path or NULL. Without sync the caller has it fsynced later. */
int producer_state_take_snapshot(struct producer_state *ps, bool sync, char **ret_path) MUST_CHECK;
/* -1: none. */
int64_t producer_state_latest_snapshot(const struct producer_state *ps);
int64_t producer_state_oldest_snapshot(const struct producer_state *ps);
bool producer_state_has_snapshot(const struct producer_state *ps, int64_t offset);
/* Deletes those not named by a segment base (ascending), except the newest where it lies above the
 * largest base. */
int producer_state_remove_stray_snapshots(struct producer_state *ps, const int64_t *bases,
                                          size_t count) MUST_CHECK;
int producer_state_delete_snapshots_before(struct producer_state *ps, int64_t offset) MUST_CHECK;
/* Renames it to .deleted and forgets it; *ret_path gets the malloc'ed new path, or NULL where there
 * is none. */
int producer_state_mark_snapshot_deleted(struct producer_state *ps, int64_t offset, char **ret_path)
    MUST_CHECK;

/* ---- what DescribeProducers and dump-log show ---- */

struct producer_info {
    int64_t producer_id;
    int16_t epoch;
    int32_t first_sequence; /* of the cached batches, -1: none */
    int32_t last_sequence;
    int64_t last_offset;
    int32_t last_offset_delta;
    int64_t last_timestamp;
    int32_t coordinator_epoch;
    int64_t txn_first_offset; /* -1: no open transaction */
};
/* Takes the log's lock over it. */
void log_each_producer(struct log *log, void (*each)(void *ctx, const struct producer_info *p),
                       void *ctx);
void producer_state_each(const struct producer_state *ps,
                         void (*each)(void *ctx, const struct producer_info *p), void *ctx);
