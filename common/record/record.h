/*
 * record.h - the records of a v2 batch whose payload lies unpacked in memory, and their headers; no
 * allocation
 *
 *   varint length of what follows | i8 attributes | varlong timestamp delta | varint offset delta
 *   | varint key length (-1 null), key | varint value length (-1 null), value
 *   | varint header count | each header: varint key length, key | varint value length (-1 null),
 *   value
 *
 *   struct slice rest = batch_payload(&b);
 *   for (int32_t i = 0; i < batch_count(&b); i++)
 *       if ((r = record_next(&rest, &rec)) < 0) ...
 *
 * For batches of any magic, compressed or not, with absolute offsets and timestamps, use
 * record_iter.h.
 */
#pragma once

#include "common/record/batch.h"

struct record {
    int64_t offset;    /* absolute where a record_iter gives it, otherwise not set */
    int64_t timestamp; /* likewise */
    int64_t timestamp_delta;
    int32_t offset_delta;
    struct slice key;     /* p NULL: null */
    struct slice value;   /* p NULL: null */
    struct slice headers; /* their bytes, for record_header_next */
    int32_t header_count;
    uint32_t size; /* with its length field */
};

struct record_header {
    struct str key;
    struct slice value; /* p NULL: null */
};

/* Cuts the first record off *rest. -EBADMSG where lengths do not fit, its headers' too. Keys and
 * values point into the bytes. */
int record_next(struct slice *rest, struct record *ret) MUST_CHECK;
/* Cuts the first header off *rest (a copy of rec->headers); call it header_count times. */
int record_header_next(struct slice *rest, struct record_header *ret) MUST_CHECK;

/* Delta applied to the base of b, or the append time. */
int64_t record_timestamp(const struct batch *b, const struct record *rec);
int64_t record_offset(const struct batch *b, const struct record *rec);

/* What a walk over all records of a plain v2 batch finds. */
struct record_walk {
    int64_t min_timestamp; /* base and delta added up, whatever the batch's timestamp type is */
    int64_t max_timestamp;
    int32_t null_keys;
};

/*
 * Checks the structure of all records of an uncompressed batch: lengths, count, no bytes left over.
 * The one loop that every produced record passes: nothing is stored for a record. -EBADMSG; -E2BIG
 * where records are whole but bytes are left behind the last one.
 */
int record_walk(const struct batch *b, struct record_walk *ret) MUST_CHECK;

/* ---- control records ---- */

enum control_type { CONTROL_ABORT = 0, CONTROL_COMMIT = 1, CONTROL_UNKNOWN = -1 };

/* CONTROL_UNKNOWN for the kinds a broker without KRaft skips. -EBADMSG where the key is too
 * short. */
int control_record_type(const struct record *rec, enum control_type *ret) MUST_CHECK;
/* The coordinator epoch in the value of ABORT or COMMIT. */
int control_record_coordinator_epoch(const struct record *rec, int32_t *ret) MUST_CHECK;
