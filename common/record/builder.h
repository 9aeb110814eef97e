/*
 * builder.h - makes a v2 batch: for the coordinators, the tools, conversion, recompression and
 * compaction
 *
 *   CLEANUP(batch_builder_deinit) struct batch_builder bb;
 *   batch_builder_init(&bb, &(struct batch_opts)BATCH_OPTS_PLAIN);
 *   batch_builder_add(&bb, &(struct record){.timestamp = now, .offset = 0, .value = v});
 *   int r = batch_builder_finish(&bb, &out);
 *
 * Value owned by one thread. Records are collected unpacked and compressed as one blob at the end.
 */
#pragma once

#include "common/record/record.h"

struct batch_opts {
    int64_t base_offset;
    int64_t last_offset; /* -1: that of the last record added */
    int32_t leader_epoch;
    enum timestamp_type timestamp_type;
    int64_t append_time_ms;    /* max timestamp where the type is LogAppendTime */
    int64_t delete_horizon_ms; /* -1: none (disk.md §10.3) */
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t base_sequence;
    bool is_transactional;
    bool is_control;
    enum compression codec;
    int level; /* COMPRESSION_LEVEL_DEFAULT */
};

/* No producer, no codec, offset 0: change what differs. */
#define BATCH_OPTS_PLAIN                                                                           \
    {                                                                                              \
        .last_offset = -1, .leader_epoch = NO_LEADER_EPOCH, .delete_horizon_ms = -1,               \
        .producer_id = NO_PRODUCER_ID, .producer_epoch = NO_PRODUCER_EPOCH,                        \
        .base_sequence = NO_SEQUENCE, .level = COMPRESSION_LEVEL_DEFAULT                           \
    }

struct batch_builder {
    struct batch_opts opts;
    struct strbuf records;
    int64_t base_timestamp;
    int64_t max_timestamp;
    int64_t last_offset;
    int32_t count;
};

void batch_builder_init(struct batch_builder *bb, const struct batch_opts *opts);
void batch_builder_deinit(struct batch_builder *bb);
/* Takes offset and timestamp (both absolute), key, value, headers and header_count of rec. Offsets
 * must not go down. */
void batch_builder_add(struct batch_builder *bb, const struct record *rec);
/* Bytes of a finished batch without compression, as it stands. */
size_t batch_builder_size(const struct batch_builder *bb);
/* Appends the batch to out and leaves the builder empty. With no record: a header alone (disk.md
 * §2.4). */
int batch_builder_finish(struct batch_builder *bb, struct strbuf *out) MUST_CHECK;

/* One header, appended to what becomes a record's headers. */
void record_header_add(struct strbuf *headers, struct str key, struct slice value);

struct txn_marker {
    int64_t offset;
    int64_t timestamp;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t coordinator_epoch;
    int32_t leader_epoch;
    bool is_commit;
};

/* Appends the 78 bytes of a COMMIT or ABORT marker. */
void txn_marker_build(const struct txn_marker *m, struct strbuf *out);
