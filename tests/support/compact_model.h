/*
 * compact_model.h - a log full of keys, tombstones, producers and transactions, and a plain account
 * of which records its compaction has to leave
 *
 * Records are appended as a follower has them, so that every header is in the test's hands; the
 * high watermark follows at once. model_clean() cleans the log and does to the account what the
 * rules of disk.md §10.3 say, record by record; model_check() compares. The same for the same seed.
 */
#pragma once

#include "broker/storage/cleaner_pass.h"
#include "tests/support/log_bench.h"
#include "tests/support/random_msg.h"

enum { MODEL_PRODUCERS = 4, MODEL_KEYS = 60 };

struct model_record {
    int64_t offset;
    int batch;
    int key;   /* -1: null */
    int value; /* -1: null, a tombstone */
    bool is_transactional;
    bool is_aborted;
};

struct model_producer {
    int64_t id;
    int16_t epoch;
    int32_t sequence;
    int64_t txn_first; /* offset, -1: no transaction is open */
};

struct compact_model {
    struct log_bench b;
    struct random_source random;
    struct model_record *v;
    size_t count;
    size_t cap;
    int64_t *horizons; /* of each batch, -1: none */
    int batch_count;
    int batch_cap;
    int next_value;
    int keys; /* how many there are, at most MODEL_KEYS */
    struct model_producer producers[MODEL_PRODUCERS];
    int64_t map_bytes;
    struct cleaner_pace pace;
};

/* Small segments, so that there are many. */
void model_init(struct compact_model *m, uint64_t seed);
void model_deinit(struct compact_model *m);
/* A random batch: plain, idempotent, of a transaction, or its end. */
void model_append(struct compact_model *m);
/* One batch with one record; value -1 is a tombstone. */
void model_put(struct compact_model *m, int key, int value);
/* Ends the transactions that are open. */
void model_end_transactions(struct compact_model *m);

/* Cleans whatever can be cleaned. The account changes where that succeeds. */
int model_try_clean(struct compact_model *m, struct cleaner_stats *ret) MUST_CHECK;
void model_clean(struct compact_model *m);
/* What the log has is what the account has, for all readers and for those of committed records. */
void model_check(struct compact_model *m);

/* A copy of the records of the log. */
struct model_records {
    struct model_record *v;
    size_t count;
    size_t cap;
};
void model_read(struct compact_model *m, bool is_read_committed, struct model_records *ret);
void model_records_deinit(struct model_records *r);
