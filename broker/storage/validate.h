/*
 * validate.h - what a leader does to a client's batches before they are written, and what a
 * follower checks of a leader's
 *
 * Kafka's checks in Kafka's order (disk.md §5). Offsets, leader epoch and timestamps are written
 * into the bytes in place and compressed payloads are only read, never kept, unless the topic asks
 * for another codec or format: then new batches are built in the arena, one of v2, or a message set
 * of v0 or v1. Uncompressed or not, a batch of the right kind costs one pass of checksum and no
 * allocation.
 * Pure: no lock, no file. The caller holds the log's lock for validate_leader, since the log end
 * must not move.
 *
 * > 0: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, INVALID_RECORD, INVALID_TIMESTAMP,
 * UNSUPPORTED_FOR_MESSAGE_FORMAT, UNSUPPORTED_COMPRESSION_TYPE. -EPROTO where Kafka answers
 * UNKNOWN_SERVER_ERROR (a payload that does not unpack, codec ids 5-7, headers or zstd for an old
 * format): an answer too, not a broken log.
 */
#pragma once

#include "broker/storage/log.h"
#include "common/record/batch.h"

/* What the headers of a set of batches say. */
struct batch_set {
    struct slice bytes; /* the whole batches; a torn end is left out. Empty: nothing to append */
    int64_t
        first_offset; /* -1 where the set begins with v0 or v1, whose first offset stands inside */
    int64_t last_offset_of_first;
    int64_t last_offset;
    int32_t last_leader_epoch;
    int64_t max_timestamp;  /* -1: none */
    enum compression codec; /* the last one that is not none */
    int32_t batch_count;
    int64_t record_count; /* offsets spanned */
    bool is_increasing;   /* last offsets of the batches increase */
};

/* The checks of a follower: framing and checksums. CORRUPT_MESSAGE. */
int batch_set_check(struct slice records, struct batch_set *ret) MUST_CHECK;

struct validate_opts {
    const struct topic_conf *conf;
    enum append_origin origin;
    int32_t leader_epoch;
    int64_t first_offset; /* the log end */
    int64_t now_ms;
    const char *topic; /* for messages to the client */
    int32_t partition;
};

/*
 * Steps 3 to 5 of disk.md §5.1. records must be writable and unshared. On success *ret describes
 * what is to be written: ret->set.bytes lie in records or in the arena, with offsets from
 * opts->first_offset on. On failure ret->record_errors, ret->error_message and nothing else is set;
 * the bytes may have been changed.
 */
struct validated {
    struct batch_set set;
    int64_t append_time_ms; /* -1 unless the topic's timestamps are LogAppendTime */
    const struct record_error *record_errors;
    int32_t record_error_count;
    const char *error_message;
};
int validate_leader(struct slice records, const struct validate_opts *opts, struct arena *a,
                    struct validated *ret) MUST_CHECK;
