/*
 * log.h - the records of one partition on disk: append, read, truncate, trim
 *
 * A log is a row of segments; the last one is appended to. Appends, truncation, rolling and
 * retention run under the log's own lock (LOCK_LOG), taken inside; readers take no lock that an
 * append holds over I/O. Offsets are atomics that any thread may read.
 *
 * Always: log_start <= high_watermark <= log_end, and log_start <= stable <= high_watermark.
 *
 * An I/O error (< 0) means that the log dir is broken: the caller reports it
 * (log_manager_dir_failed) and answers KAFKA_STORAGE_ERROR. Files are Kafka's, byte for byte
 * (disk.md §6).
 */
#pragma once

#include "broker/config/topic_conf.h"
#include "common/base/arena.h"
#include "common/base/uuid.h"
#include "common/wire/records.h"

struct log;

struct log_offset {
    int64_t offset;
    int64_t segment_base; /* -1 where only the offset is known */
    uint32_t pos;         /* byte in that segment */
};

const char *log_topic(const struct log *log);
int32_t log_partition(const struct log *log);
/* The log dir it lies in, and its own directory's path. */
const char *log_dir_path(const struct log *log);
bool log_is_future(const struct log *log);
struct uuid log_topic_id(const struct log *log);
/* Written to partition.metadata before the first append. INCONSISTENT_TOPIC_ID where another id is
 * known. */
int log_set_topic_id(struct log *log, struct uuid id) MUST_CHECK;
/* With a reference. */
struct topic_conf *log_conf(struct log *log);
void log_set_conf(struct log *log, struct topic_conf *conf);
/* The format that a leader writes; older and newer batches may lie in the log. */
int8_t log_record_version(struct log *log);

int64_t log_start_offset(const struct log *log);
int64_t log_end_offset(const struct log *log);
int64_t log_high_watermark(const struct log *log);
/* Last stable offset: the first offset of an open transaction, or the high watermark. */
int64_t log_stable_offset(const struct log *log);
struct log_offset log_end(const struct log *log);
/* Where offset lies, for counting bytes between positions; segment_base -1 where it is not in the
 * log. */
struct log_offset log_locate(struct log *log, int64_t offset);
/* Clamped into [log start, log end]; returns the value set. The replica layer decides when
 * (controller.md B8). */
int64_t log_set_high_watermark(struct log *log, int64_t offset);
int64_t log_size(const struct log *log);

/* ---- append ---- */

struct record_error {
    int32_t batch_index;
    const char *message; /* static */
};

struct log_append {
    int64_t first_offset; /* -1 where nothing was appended */
    int64_t last_offset;
    int64_t max_timestamp;
    int64_t append_time_ms; /* -1 unless the topic's timestamps are LogAppendTime */
    int64_t log_start_offset;
    /* An idempotent retry: the offsets are those of the first time, nothing was written. */
    bool is_duplicate;
    int64_t record_count;
    const struct record_error *record_errors; /* in the arena */
    int32_t record_error_count;
    const char *error_message; /* static, or NULL */
};

enum append_origin { APPEND_CLIENT, APPEND_COORDINATOR };

struct log_append_opts {
    int32_t leader_epoch;
    enum append_origin origin;
    int64_t now_ms;
};

/*
 * Validates the batches in place (writable bytes), gives them offsets, and writes them with one
 * write. > 0: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_RECORD,
 * INVALID_TIMESTAMP, UNSUPPORTED_FOR_MESSAGE_FORMAT, UNSUPPORTED_COMPRESSION_TYPE,
 * OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, UNKNOWN_PRODUCER_ID, INVALID_TXN_STATE.
 */
int log_append_leader(struct log *log, struct slice records, const struct log_append_opts *opts,
                      struct arena *a, struct log_append *ret) MUST_CHECK;
/* As fetched from the leader, offsets and epochs taken as given, however large. > 0:
 * CORRUPT_MESSAGE, OFFSET_OUT_OF_RANGE where they start below the log end. */
int log_append_follower(struct log *log, struct slice records, struct log_append *ret) MUST_CHECK;

/* ---- read ---- */

struct log_read_opts {
    int64_t offset;
    uint32_t max_bytes;
    int64_t upper_offset; /* nothing at or above it is returned */
    bool min_one_batch;   /* the first batch comes whole even where it exceeds max_bytes */
};

struct log_read {
    /* A file range: whole batches but for the last; the file holds a reference for the caller. */
    struct records records;
    struct log_offset start;
    bool is_first_batch_cut; /* fewer bytes were allowed than the first batch has */
};

/* > 0: OFFSET_OUT_OF_RANGE. ret->records.file, where not NULL, is the caller's to file_unref().
 * Thread: any. */
int log_read(struct log *log, const struct log_read_opts *opts, struct log_read *ret) MUST_CHECK;

struct aborted_txn {
    int64_t producer_id;
    int64_t first_offset;
};
/* tidy: two outputs belong together. Aborted transactions that overlap [from, upper), for
 * read_committed fetches. */
int log_aborted_txns(struct log *log, int64_t from, int64_t upper, struct arena *a,
                     struct aborted_txn **ret, int32_t *ret_count) MUST_CHECK;

struct timestamp_offset {
    int64_t timestamp;
    int64_t offset; /* -1: none */
    int32_t leader_epoch;
};
/* The first record whose timestamp is at or above ts. */
int log_offset_for_time(struct log *log, int64_t ts, struct timestamp_offset *ret) MUST_CHECK;
/* The record with the greatest timestamp (ListOffsets -3). */
int log_offset_of_max_time(struct log *log, struct timestamp_offset *ret) MUST_CHECK;
/* tidy: two outputs belong together. Segment base offsets at or before ts for ListOffsets v0,
 * newest first, at most max. */
int log_offsets_before(struct log *log, int64_t ts, int32_t max, struct arena *a, int64_t **ret,
                       int32_t *ret_count) MUST_CHECK;

/* Changes when the cleaner replaces segments: records and the aborted transactions that were asked
 * for after them belong together where it is the same before and after both. */
uint32_t log_version(struct log *log);

/* ---- leader epochs ---- */

/* -1 where no epoch is known. */
int32_t log_latest_epoch(const struct log *log);
/* Called on becoming leader, before any append: writes (epoch, log end) to the cache with fsync. */
int log_start_epoch(struct log *log, int32_t epoch) MUST_CHECK;
/* The end offset for an epoch, as of controller.md B5.3; *ret_epoch and *ret_offset -1 where
 * undefined. */
void log_end_offset_for_epoch(struct log *log, int32_t epoch, int32_t *ret_epoch,
                              int64_t *ret_offset);
/* The epoch that wrote offset, -1 where unknown. */
int32_t log_epoch_at(struct log *log, int64_t offset);

/* ---- cut ---- */

/* Drops everything at or above offset (also where that cuts no data: the epoch cache is
 * trimmed). */
int log_truncate_to(struct log *log, int64_t offset) MUST_CHECK;
/* Drops everything and starts again, empty, at offset. */
int log_truncate_fully(struct log *log, int64_t offset) MUST_CHECK;
/* Raises the log start; never lowers it. OFFSET_OUT_OF_RANGE above the high watermark. Files go by
 * retention. */
int log_raise_start(struct log *log, int64_t offset) MUST_CHECK;
/* Deletes what retention by time, size and start offset allows, at most up to the high watermark;
 * *ret_deleted counts segments. */
int log_apply_retention(struct log *log, int64_t now_ms, int *ret_deleted) MUST_CHECK;
/* fsyncs what is past the recovery point and moves it. Blocks: never on a reactor. */
int log_flush(struct log *log) MUST_CHECK;
