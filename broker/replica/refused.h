/*
 * refused.h - batches of idempotent producers that came before this replica could take them
 *
 * Producers send the next batch before the last is answered. Batch 1 meets a replica that does not
 * lead yet, or has too few others in sync, and is refused; a moment later batch 2 would be taken,
 * and leaves a gap. Kafka answers the gap with OUT_OF_ORDER_SEQUENCE_NUMBER. librdkafka then goes
 * on in a new producer epoch, sends again all that was not confirmed, and what an old leader had
 * written of it is there twice. So batch 2 gets the error of batch 1, until that one has come:
 * clients send both again, in order.
 *
 * Under the partition's lock. Bounded: the oldest of a few is forgotten, and each after as long as
 * clients wait for an answer (request.timeout.ms); a gap that stays is told as Kafka tells it.
 */
#pragma once

#include "common/base/str.h"

struct refused;

/* The first batch of records was refused with error. *r is NULL before the first. */
void refused_note(struct refused **r, struct slice records, int error, int64_t now_ms);
/* It was taken. r may be NULL. */
void refused_taken(struct refused *r, struct slice records);
/* The error of the batch that is missing before it; 0: none was refused. r may be NULL. */
int refused_because(const struct refused *r, struct slice records, int64_t now_ms);
