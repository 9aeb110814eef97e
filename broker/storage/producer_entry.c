/*
 * producer_entry.c - the five-batch window of one producer
 */
#include "broker/storage/producer_entry.h"

struct producer_entry producer_entry_new(int64_t producer_id)
{
    return (struct producer_entry){
        .producer_id = producer_id,
        .last_timestamp = NO_TIMESTAMP,
        .txn_first_offset = -1,
        .coordinator_epoch = -1,
        .epoch = NO_PRODUCER_EPOCH,
    };
}

void producer_entry_from_info(struct producer_entry *e, const struct producer_info *p)
{
    *e = producer_entry_new(p->producer_id);
    e->epoch = p->epoch;
    e->coordinator_epoch = p->coordinator_epoch;
    e->last_timestamp = p->last_timestamp;
    e->txn_first_offset = p->txn_first_offset;
    if (p->last_offset < 0)
        return;
    e->batches[e->batch_count++] = (struct cached_batch){
        .last_offset = p->last_offset,
        .timestamp = p->last_timestamp,
        .last_sequence = p->last_sequence,
        .offset_delta = p->last_offset_delta,
    };
}

void producer_entry_info(const struct producer_entry *e, struct producer_info *ret)
{
    const struct cached_batch *last = e->batch_count ? &e->batches[e->batch_count - 1] : NULL;

    *ret = (struct producer_info){
        .producer_id = e->producer_id,
        .epoch = e->epoch,
        .first_sequence = last ? cached_batch_first_sequence(&e->batches[0]) : NO_SEQUENCE,
        .last_sequence = last ? last->last_sequence : NO_SEQUENCE,
        .last_offset = last ? last->last_offset : -1,
        .last_offset_delta = last ? last->offset_delta : 0,
        .last_timestamp = e->last_timestamp,
        .coordinator_epoch = e->coordinator_epoch,
        .txn_first_offset = e->txn_first_offset,
    };
}

void producer_entry_set_epoch(struct producer_entry *e, int16_t epoch)
{
    if (e->epoch == epoch)
        return;
    e->epoch = epoch;
    e->batch_count = 0;
}

void producer_entry_add_batch(struct producer_entry *e, const struct batch *b)
{
    producer_entry_set_epoch(e, batch_producer_epoch(b));
    if (e->batch_count == PRODUCER_BATCHES_MAX) {
        memmove(e->batches, e->batches + 1, sizeof e->batches - sizeof *e->batches);
        e->batch_count--;
    }
    e->batches[e->batch_count++] = (struct cached_batch){
        .last_offset = batch_last_offset(b),
        .timestamp = batch_max_timestamp(b),
        .last_sequence = batch_last_sequence(b),
        .offset_delta = batch_last_offset_delta(b),
    };
    e->last_timestamp = batch_max_timestamp(b);
}

int32_t producer_entry_last_sequence(const struct producer_entry *e)
{
    return e->batch_count ? e->batches[e->batch_count - 1].last_sequence : NO_SEQUENCE;
}

/* 0 is preceded by 2147483647. */
int32_t cached_batch_first_sequence(const struct cached_batch *c)
{
    if (c->last_sequence < c->offset_delta)
        return INT32_MAX - (c->offset_delta - c->last_sequence) + 1;
    return c->last_sequence - c->offset_delta;
}

const struct cached_batch *producer_entry_find(const struct producer_entry *e,
                                               const struct batch *b)
{
    if (e->epoch != batch_producer_epoch(b))
        return NULL;
    for (int i = 0; i < e->batch_count; i++)
        if (e->batches[i].last_sequence == batch_last_sequence(b) &&
            cached_batch_first_sequence(&e->batches[i]) == batch_base_sequence(b))
            return &e->batches[i];
    return NULL;
}
