/*
 * cleaner_filter.h - what compaction leaves of one batch (disk.md §10.3)
 *
 * Batches come in the order of the log. One that loses nothing goes through byte for byte; of
 * another the surviving records are put into a new batch with the same offsets, producer, codec and
 * timestamp type. Decides as Kafka's cleaner does:
 *
 *   record    goes where it has no key, where the map knows a later one of its key, and, without a
 *             value, once its delete horizon has passed (KIP-534)
 *   marker    goes once nothing of its transaction is left and its delete horizon has passed
 *   batch     without records goes, but not the last one of a producer that is known: its header
 *             stays, for the sequence in it
 *
 * Value owned by one thread.
 */
#pragma once

#include "broker/storage/cleaner_map.h"
#include "broker/storage/cleaner_txns.h"
#include "common/record/legacy.h"

/* The last that the log knows of each producer, by id. */
struct last_record {
    int64_t producer_id;
    int64_t last_data_offset; /* -1: none, its last word was a marker */
    int16_t epoch;
};

struct last_records {
    struct last_record *v;
    size_t count;
    size_t cap;
};

/* Of the log's producers as they are now. */
void last_records_init(struct last_records *l, struct log *log);
void last_records_deinit(struct last_records *l);

struct cleaner_filter {
    const struct cleaner_map *map;
    struct cleaner_txns *txns;
    const struct last_records *producers;
    int64_t now_ms;
    int64_t delete_retention_ms;
    bool keeps_old_tombstones; /* of v0 and v1, in the segment at hand */
    /* reused from batch to batch */
    struct record *kept;
    size_t kept_cap;
    struct legacy_builder old;
};

struct filtered {
    int64_t records_read;
    int64_t records_kept;
    bool is_aborted; /* an aborted transaction ends here whose entry the index keeps */
    struct txn_entry aborted;
};

void cleaner_filter_deinit(struct cleaner_filter *f);
/* Appends what is left of b, which may be nothing, to out. -EBADMSG, -EPROTO, -EFBIG where its
 * records cannot be read. */
int cleaner_filter_batch(struct cleaner_filter *f, const struct batch *b, struct strbuf *out,
                         struct filtered *ret) MUST_CHECK;
