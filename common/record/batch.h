/*
 * batch.h - a view of one record batch (v2) or one entry of an older message set (v0, v1)
 *
 *  v2  0  i64 base offset                   v0, v1  0  i64 offset (of a wrapper: its last one)
 *      8  i32 bytes that follow                     8  i32 bytes that follow
 *     12  i32 leader epoch                         12  u32 CRC-32 of byte 16 to the end
 *     16  i8  magic 2                              16  i8  magic 0 or 1
 *     17  u32 CRC-32C of byte 21 to the end        17  i8  attributes
 *     21  i16 attributes                           18  i64 timestamp (v1 only)
 *     23  i32 last offset delta                    ..  i32 key length (-1 null), key
 *     27  i64 base timestamp                       ..  i32 value length (-1 null), value
 *     35  i64 max timestamp
 *     43  i64 producer id   51 i16 producer epoch   53 i32 base sequence   57 i32 records count
 *     61  records, compressed as one blob where a codec is set
 *
 * A view borrows the bytes. batch_next() has checked that the header of that magic is inside;
 * everything else of it may be a lie until batch_is_valid(). batch_stamp.h changes headers in
 * place.
 */
#pragma once

#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/record/compress.h"

enum timestamp_type { TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME };

enum {
    BATCH_OVERHEAD = 12, /* offset and length, before what the length counts */
    BATCH_MAGIC_AT = 16,
    BATCH_MIN_LENGTH_FIELD = 14,
    BATCH_V2_HEADER = 61,
    BATCH_V0_MIN = 26,
    BATCH_V1_MIN = 34,
    BATCH_SIZE_MAX = INT32_MAX,
};

enum {
    BATCH_CODEC_MASK = 7,
    BATCH_LOG_APPEND_TIME = 1 << 3,
    BATCH_TRANSACTIONAL = 1 << 4,
    BATCH_CONTROL = 1 << 5,
    BATCH_DELETE_HORIZON = 1 << 6,
};

/* In place of a timestamp, producer id, epoch or sequence that is not there. */
enum { NO_TIMESTAMP = -1, NO_PRODUCER_ID = -1, NO_PRODUCER_EPOCH = -1 };
enum { NO_SEQUENCE = -1, NO_LEADER_EPOCH = -1 };

struct batch {
    const uint8_t *p;
    uint32_t size; /* all of it, the 12 bytes of overhead included */
    int8_t magic;
};

/*
 * Frames the entry at the beginning of *rest and moves *rest past it. 1: *ret is set. 0: fewer
 * bytes than a whole entry are left (a torn end; *rest is what is left). -EBADMSG: a length below
 * 14; or, where the magic is there, one below the header of that magic or above 2147483635, or a
 * magic above 2.
 */
int batch_next(struct slice *rest, struct batch *ret) MUST_CHECK;
/* The same from the first bytes of an entry alone (17 are enough): its whole size, 0 where fewer
 * than 17 bytes are there. */
int batch_peek_size(struct slice head, uint32_t *ret) MUST_CHECK;
/* Checksum of the bytes; for v0 and v1 of the entry itself, not of what a wrapper holds. */
bool batch_is_valid(const struct batch *b);
/* What the stored checksum should be. */
uint32_t batch_compute_crc(const struct batch *b);

static inline struct slice batch_bytes(const struct batch *b)
{
    return slice_of(b->p, b->size);
}

static inline bool batch_is_v2(const struct batch *b)
{
    return b->magic == 2;
}

static inline int16_t batch_attributes(const struct batch *b)
{
    return batch_is_v2(b) ? (int16_t)be16_read(b->p + 21) : (int16_t)(int8_t)b->p[17];
}

/* 0-7: ids above COMPRESSION_ZSTD come as they are. */
static inline enum compression batch_codec(const struct batch *b)
{
    return (enum compression)(batch_attributes(b) & BATCH_CODEC_MASK);
}

static inline bool batch_is_compressed(const struct batch *b)
{
    return batch_codec(b) != COMPRESSION_NONE;
}

/* CreateTime for v0, which has no timestamps. */
enum timestamp_type batch_timestamp_type(const struct batch *b);

static inline bool batch_is_transactional(const struct batch *b)
{
    return batch_is_v2(b) && (batch_attributes(b) & BATCH_TRANSACTIONAL);
}

static inline bool batch_is_control(const struct batch *b)
{
    return batch_is_v2(b) && (batch_attributes(b) & BATCH_CONTROL);
}

static inline bool batch_has_delete_horizon(const struct batch *b)
{
    return batch_is_v2(b) && (batch_attributes(b) & BATCH_DELETE_HORIZON);
}

/* Of a compressed v0 or v1 wrapper this is its last inner offset: the first one stands inside
 * (record_iter.h). */
static inline int64_t batch_base_offset(const struct batch *b)
{
    return (int64_t)be64_read(b->p);
}

/* v2 only, like all below it that do not name another magic. */
static inline int32_t batch_last_offset_delta(const struct batch *b)
{
    return (int32_t)be32_read(b->p + 23);
}

/* Any magic. Wraps where a client lies. */
static inline int64_t batch_last_offset(const struct batch *b)
{
    uint64_t base = be64_read(b->p);
    return (int64_t)(batch_is_v2(b) ? base + (uint64_t)(int64_t)batch_last_offset_delta(b) : base);
}

static inline int64_t batch_next_offset(const struct batch *b)
{
    return (int64_t)((uint64_t)batch_last_offset(b) + 1);
}

static inline uint32_t batch_crc(const struct batch *b)
{
    return be32_read(b->p + (batch_is_v2(b) ? 17 : 12));
}

/* Any magic; -1 for those without. */
static inline int32_t batch_leader_epoch(const struct batch *b)
{
    return batch_is_v2(b) ? (int32_t)be32_read(b->p + 12) : NO_LEADER_EPOCH;
}

static inline int64_t batch_base_timestamp(const struct batch *b)
{
    return (int64_t)be64_read(b->p + 27);
}

/* Any magic; -1 for v0. */
static inline int64_t batch_max_timestamp(const struct batch *b)
{
    return b->magic == 0 ? NO_TIMESTAMP : (int64_t)be64_read(b->p + (batch_is_v2(b) ? 35 : 18));
}

/* Any magic, as the next three; -1 for those without. */
static inline int64_t batch_producer_id(const struct batch *b)
{
    return batch_is_v2(b) ? (int64_t)be64_read(b->p + 43) : NO_PRODUCER_ID;
}

static inline bool batch_has_producer_id(const struct batch *b)
{
    return batch_producer_id(b) > NO_PRODUCER_ID;
}

static inline int16_t batch_producer_epoch(const struct batch *b)
{
    return batch_is_v2(b) ? (int16_t)be16_read(b->p + 51) : (int16_t)NO_PRODUCER_EPOCH;
}

static inline int32_t batch_base_sequence(const struct batch *b)
{
    return batch_is_v2(b) ? (int32_t)be32_read(b->p + 53) : NO_SEQUENCE;
}

/* Sequences go from 2147483647 on to 0. */
int32_t sequence_add(int32_t seq, int32_t delta);
/* -1 where the batch has no sequence. */
int32_t batch_last_sequence(const struct batch *b);

static inline int32_t batch_count(const struct batch *b)
{
    return (int32_t)be32_read(b->p + 57);
}

/* What stands after the header of a v2 batch, compressed where a codec is set. */
static inline struct slice batch_payload(const struct batch *b)
{
    return slice_from(batch_bytes(b), BATCH_V2_HEADER);
}
