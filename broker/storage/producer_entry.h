/*
 * producer_entry.h - one producer's state in one log: epoch, its last five batches, its open
 * transaction
 *
 * A value; inside broker/storage only. producer_state.c keeps them in a table, under the log's
 * lock.
 */
#pragma once

#include "broker/storage/producer_state.h"

enum { PRODUCER_BATCHES_MAX = 5 };

struct cached_batch {
    int64_t last_offset;
    int64_t timestamp;
    int32_t last_sequence;
    int32_t offset_delta; /* last offset - first offset, also of the sequences */
};

struct producer_entry {
    int64_t producer_id;
    int64_t last_timestamp;
    int64_t txn_first_offset; /* -1: no open transaction */
    int32_t coordinator_epoch;
    int16_t epoch;
    uint8_t batch_count;
    struct cached_batch batches[PRODUCER_BATCHES_MAX]; /* oldest first */
};

struct producer_entry producer_entry_new(int64_t producer_id);
void producer_entry_from_info(struct producer_entry *e, const struct producer_info *p);
void producer_entry_info(const struct producer_entry *e, struct producer_info *ret);
/* A change of epoch forgets the cached batches. */
void producer_entry_set_epoch(struct producer_entry *e, int16_t epoch);
/* Of a data batch with its final offsets. */
void producer_entry_add_batch(struct producer_entry *e, const struct batch *b);
/* -1 where no batch is cached. */
int32_t producer_entry_last_sequence(const struct producer_entry *e);
/* The cached batch with exactly the epoch and sequences of b, NULL: none. */
const struct cached_batch *producer_entry_find(const struct producer_entry *e,
                                               const struct batch *b);
int32_t cached_batch_first_sequence(const struct cached_batch *c);
