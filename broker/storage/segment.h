/*
 * segment.h - one .log file with its indexes: a run of batches from a base offset on
 *
 * A segment is a few words as long as nobody uses it (closed). Its body, the files and the ends of
 * their indexes, is made when it is read or appended to, and may be dropped at any time nobody
 * appends. Only the last segment of a log is active: its indexes are unsealed (index_file.h).
 *
 * Owner: the log. Changed under LOCK_LOG, and what readers look at (size, body, max_ts) under
 * LOCK_LOG_INDEX too, which is the `shared` that functions here take; the caller must not hold it.
 * Errors: -errno, with a line that names the file.
 */
#pragma once

#include "broker/config/topic_conf.h"
#include "broker/storage/index_file.h"
#include "broker/storage/names.h"

#define SEGMENT_TS_UNKNOWN INT64_MIN /* not looked up yet */

struct segment_body {
    struct file *file;
    struct index_file offsets;
    struct index_file times;
    uint32_t since_index; /* bytes appended since the last index entry */
    bool is_writable;
};

struct segment {
    int64_t base;
    uint32_t size;
    bool has_txns;  /* there is a .txnindex */
    int64_t max_ts; /* -1: no record has a timestamp */
    int64_t max_ts_offset;
    struct segment_body *body;
};

struct segment *segment_new(int64_t base, uint32_t size);
/* Closes its files; writes nothing. NULL-safe, returns NULL. */
struct segment *segment_free(struct segment *seg);

/* A body for the segment of that base, sealed. */
int segment_body_open(const char *dir, int64_t base, bool is_writable, struct segment_body **ret)
    MUST_CHECK;
struct segment_body *segment_body_close(struct segment_body *body);

/* Gives it a writable body and makes it active. */
int segment_activate(struct segment *seg, const char *dir, const struct topic_conf *conf,
                     struct mutex *shared) MUST_CHECK;
/* Makes the files of an empty segment, active. Where that fails, none is left. */
int segment_create(const char *dir, int64_t base, const struct topic_conf *conf,
                   struct segment **ret) MUST_CHECK;

/* The write alone: nobody sees the bytes yet. Where it fails, the file is cut back to what it was;
 * *ret_is_torn where that fails too, and nothing more may be written. */
int segment_write(struct segment *seg, struct slice bytes, bool *ret_is_torn) MUST_CHECK;
/* Under shared, after the write: counts the batches in, with the index entries that are due.
 * Returns where they begin. */
uint32_t segment_publish(struct segment *seg, struct slice batches, uint32_t index_interval);
/* After that, outside of shared: index entries to disk where many wait. */
int segment_after_append(struct segment *seg, bool was_indexed, struct mutex *shared) MUST_CHECK;

/* The largest timestamp and its batch's last offset, from the time index where it is not known yet.
 * Appender only. */
int segment_know_max_ts(struct segment *seg, struct mutex *shared) MUST_CHECK;
/* Ends its appends: last time index entry, indexes and a preallocated file cut to size. */
int segment_seal(struct segment *seg, struct mutex *shared) MUST_CHECK;
/* Drops the batches from the byte pos on, and index entries at or above offset. Active segments
 * only. */
struct segment_cut {
    uint32_t pos;
    int64_t offset;
};
int segment_truncate(struct segment *seg, struct segment_cut cut, struct mutex *shared) MUST_CHECK;
/* fsyncs all its files; its index entries must be written out. */
int segment_fsync(const char *dir, int64_t base) MUST_CHECK;

/* Takes its live files out of the way, to NAME.deleted, log first; *ret_files gets a reference of
 * each, to be removed later. */
struct segment_files {
    struct file *v[SEGMENT_FILE_TYPES];
    int count;
};
int segment_retire(struct segment *seg, const char *dir, struct segment_files *ret_files)
    MUST_CHECK;
void segment_files_remove(struct segment_files *files);
