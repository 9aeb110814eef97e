/*
 * reader.h - a bounds-checked cursor over received bytes, with a failure that sticks
 *
 * Reads past the end give zeroes and set bad, so that straight-line code needs one check at its
 * end:
 *
 *   struct reader r = reader_on(frame);
 *   int16_t key = reader_i16(&r), version = reader_i16(&r);
 *   if (r.bad)
 *       return -EBADMSG;
 *
 * A value; owned by the function that made it. Slices taken from it borrow from the bytes below it.
 */
#pragma once

#include "common/base/be.h"
#include "common/base/str.h"
#include "common/base/uuid.h"

struct reader {
    const uint8_t *p;
    const uint8_t *end;
    bool bad;
};

static inline struct reader reader_on(struct slice in)
{
    return (struct reader){in.p, in.p + in.len, false};
}

static inline size_t reader_left(const struct reader *r)
{
    return (size_t)(r->end - r->p);
}

/* Nothing more can be read. */
static inline void reader_fail(struct reader *r)
{
    r->p = r->end;
    r->bad = true;
}

/* The next n bytes, or NULL and failure. */
static inline const uint8_t *reader_take(struct reader *r, size_t n)
{
    const uint8_t *p = r->p;

    if (reader_left(r) < n) {
        reader_fail(r);
        return NULL;
    }
    r->p += n;
    return p;
}

static inline int8_t reader_i8(struct reader *r)
{
    const uint8_t *p = reader_take(r, 1);
    return p ? (int8_t)*p : 0;
}

static inline int16_t reader_i16(struct reader *r)
{
    const uint8_t *p = reader_take(r, 2);
    return p ? (int16_t)be16_read(p) : 0;
}

static inline int32_t reader_i32(struct reader *r)
{
    const uint8_t *p = reader_take(r, 4);
    return p ? (int32_t)be32_read(p) : 0;
}

static inline int64_t reader_i64(struct reader *r)
{
    const uint8_t *p = reader_take(r, 8);
    return p ? (int64_t)be64_read(p) : 0;
}

static inline struct uuid reader_uuid(struct reader *r)
{
    struct uuid id = {{0}};
    const uint8_t *p = reader_take(r, sizeof id.b);

    if (p)
        memcpy(id.b, p, sizeof id.b);
    return id;
}

/* Null (p is NULL) only after a failure. */
static inline struct slice reader_slice(struct reader *r, size_t n)
{
    const uint8_t *p = reader_take(r, n);
    return p ? slice_of(p, n) : slice_of(NULL, 0);
}

uint32_t reader_uvarint_long(struct reader *r);

/* As Kafka reads it: at most five bytes, bits above the 32nd are dropped. */
static inline uint32_t reader_uvarint(struct reader *r)
{
    if (r->p < r->end && *r->p < 0x80)
        return *r->p++;
    return reader_uvarint_long(r);
}
