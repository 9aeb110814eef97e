/*
 * log_bench.h - one log in a directory of its own, with a clock that stands still, for tests
 *
 * Record at offset o has key "k" and value "o <o> <padding>", so that what is read can be checked
 * against where it was read. log_bench_kill() is what kill -9 leaves; what a log did not write
 * stays unwritten.
 */
#pragma once

#include "broker/storage/log_internal.h"
#include "common/base/arena.h"

struct log_bench {
    struct clock_fake clock;
    struct topic_conf *conf; /* change it before the log is opened, or log_set_conf() it */
    char *path;
    struct log *log;
    const struct log_hooks *hooks;
    int64_t recovery_point; /* for the next open */
    int64_t start_offset;
    int32_t epoch;
    int64_t step_ms; /* timestamps go up by this from record to record */
    int value_len;
};

void log_bench_init(struct log_bench *b);
void log_bench_deinit(struct log_bench *b);
int log_bench_try_open(struct log_bench *b, bool is_clean) MUST_CHECK;
void log_bench_open(struct log_bench *b, bool is_clean);
/* Forgets the log; the recovery point is kept. */
void log_bench_kill(struct log_bench *b);
/* Closes it in order and opens it again. */
void log_bench_restart(struct log_bench *b);

/* A batch of count records from offset on, as a leader would have it. In the arena. */
struct slice log_bench_batch(const struct log_bench *b, int64_t offset, int count, struct arena *a);
int log_bench_try_append(struct log_bench *b, int count) MUST_CHECK;
void log_bench_append(struct log_bench *b, int count);
/* As a follower: count batches of each records, at once. */
void log_bench_follow(struct log_bench *b, int count, int each);
/* Timestamp of the record at offset. */
int64_t log_bench_ts(const struct log_bench *b, int64_t offset);

/* Reads from offset to the log end, max_bytes at a time, and checks every record; offsets must have
 * no gaps. */
void log_bench_check_from(struct log_bench *b, int64_t offset, uint32_t max_bytes);
/* The log holds [start, end), and every offset of it can be found. */
void log_bench_check(struct log_bench *b, int64_t start, int64_t end);

/* Number of files in the log's directory whose names end so. */
int log_bench_files(const struct log_bench *b, const char *suffix);
uint64_t log_bench_file_size(const struct log_bench *b, int64_t base, enum segment_file_type type);
void log_bench_flip_byte(const struct log_bench *b, int64_t base, enum segment_file_type type,
                         uint64_t pos);
