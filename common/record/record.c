/*
 * record.c - reading of records, headers and control records; lengths are checked before anything
 * is touched
 */
#include "common/record/record.h"

#include <errno.h>

/* Sticky: after a failure everything reads as zero and is_bad stays. */
struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool is_bad;
};

static uint64_t take_long_varint(struct cursor *c, size_t max_bytes)
{
    uint64_t v = 0;
    size_t n = varint_read_u(c->p, (size_t)(c->end - c->p), max_bytes, &v);

    if (n == 0) {
        c->is_bad = true;
        return 0;
    }
    c->p += n;
    return v;
}

/* Lengths and deltas take one byte, at times two or three; the rest is out of line. */
static inline uint64_t take_varint_u(struct cursor *c, size_t max_bytes)
{
    const uint8_t *p = c->p;

    if (c->end - p >= 3) {
        uint64_t v = p[0] & 0x7f;
        if (p[0] < 0x80) {
            c->p += 1;
            return v;
        }
        v |= (uint64_t)(p[1] & 0x7f) << 7;
        if (p[1] < 0x80) {
            c->p += 2;
            return v;
        }
        v |= (uint64_t)(p[2] & 0x7f) << 14;
        if (p[2] < 0x80) {
            c->p += 3;
            return v;
        }
    }
    return take_long_varint(c, max_bytes);
}

static inline int32_t take_varint(struct cursor *c)
{
    return (int32_t)unzigzag((uint32_t)take_varint_u(c, VARINT_MAX_BYTES));
}

static inline int64_t take_varlong(struct cursor *c)
{
    return unzigzag(take_varint_u(c, VARLONG_MAX_BYTES));
}

/* Any negative length is null, as Kafka reads it. */
static inline struct slice take_bytes(struct cursor *c)
{
    int32_t n = take_varint(c);

    if (n < 0 || c->is_bad)
        return (struct slice){0};
    if (n > c->end - c->p) {
        c->is_bad = true;
        return (struct slice){0};
    }
    struct slice s = slice_of(c->p, (size_t)n);
    c->p += n;
    return s;
}

static struct record_header take_header(struct cursor *c)
{
    struct slice key = take_bytes(c);

    if (!key.p)
        c->is_bad = true;
    return (struct record_header){.key = str_of_slice(key), .value = take_bytes(c)};
}

int record_next(struct slice *rest, struct record *ret)
{
    struct cursor c = {.p = rest->p, .end = rest->p + rest->len};
    int32_t body = take_varint(&c);

    if (c.is_bad || body < 1 || body > c.end - c.p)
        return -EBADMSG;
    c.end = c.p + body;
    c.p++; /* attributes, of which none is in use */
    ret->timestamp_delta = take_varlong(&c);
    ret->offset_delta = take_varint(&c);
    ret->key = take_bytes(&c);
    ret->value = take_bytes(&c);
    ret->header_count = take_varint(&c);
    if (c.is_bad || ret->header_count < 0)
        return -EBADMSG;
    ret->headers = slice_of(c.p, (size_t)(c.end - c.p));
    for (int32_t i = 0; i < ret->header_count && !c.is_bad; i++)
        take_header(&c);
    if (c.is_bad || c.p != c.end)
        return -EBADMSG;
    ret->size = (uint32_t)(c.end - rest->p);
    *rest = slice_from(*rest, ret->size);
    return 0;
}

int record_header_next(struct slice *rest, struct record_header *ret)
{
    struct cursor c = {.p = rest->p, .end = rest->p + rest->len};
    struct record_header h = take_header(&c);

    if (c.is_bad)
        return -EBADMSG;
    *rest = slice_from(*rest, (size_t)(c.p - rest->p));
    *ret = h;
    return 0;
}

/* Skips a length and as many bytes; false where the length is negative: null. */
static inline bool skip_bytes(struct cursor *c)
{
    int32_t n = take_varint(c);

    if (n < 0)
        return false;
    if (n > c->end - c->p) {
        c->is_bad = true;
        return true;
    }
    c->p += n;
    return true;
}

static void skip_headers(struct cursor *c, int32_t count)
{
    if (count < 0)
        c->is_bad = true;
    for (int32_t i = 0; i < count && !c->is_bad; i++) {
        if (!skip_bytes(c))
            c->is_bad = true;
        skip_bytes(c);
    }
}

/* The record at c->p, which ends at the end of *c; c->p is then there too. */
static inline void walk_body(struct cursor *c, uint64_t base, struct record_walk *w)
{
    c->p++;
    int64_t timestamp = (int64_t)(base + (uint64_t)take_varlong(c));
    take_varint(c);
    w->null_keys += !skip_bytes(c);
    skip_bytes(c);
    int32_t headers = take_varint(c);
    if (headers != 0)
        skip_headers(c, headers);
    w->min_timestamp = MIN(w->min_timestamp, timestamp);
    w->max_timestamp = MAX(w->max_timestamp, timestamp);
}

int record_walk(const struct batch *b, struct record_walk *ret)
{
    struct record_walk w = {.min_timestamp = INT64_MAX, .max_timestamp = INT64_MIN};
    struct slice payload = batch_payload(b);
    struct cursor c = {.p = payload.p, .end = payload.p + payload.len};
    const uint8_t *end = c.end;
    uint64_t base = (uint64_t)batch_base_timestamp(b);

    for (int32_t left = batch_count(b); left > 0; left--) {
        int32_t body = take_varint(&c);

        if (c.is_bad || body < 1 || body > end - c.p)
            return -EBADMSG;
        c.end = c.p + body;
        walk_body(&c, base, &w);
        if (c.is_bad || c.p != c.end)
            return -EBADMSG;
        c.end = end;
    }
    *ret = w;
    return c.p == end ? 0 : -E2BIG;
}

int64_t record_timestamp(const struct batch *b, const struct record *rec)
{
    if (batch_timestamp_type(b) == TIMESTAMP_LOG_APPEND_TIME)
        return batch_max_timestamp(b);
    return (int64_t)((uint64_t)batch_base_timestamp(b) + (uint64_t)rec->timestamp_delta);
}

int64_t record_offset(const struct batch *b, const struct record *rec)
{
    return (int64_t)((uint64_t)batch_base_offset(b) + (uint64_t)(int64_t)rec->offset_delta);
}

int control_record_type(const struct record *rec, enum control_type *ret)
{
    if (rec->key.len < 4 || (int16_t)be16_read(rec->key.p) < 0)
        return -EBADMSG;
    uint16_t type = be16_read(rec->key.p + 2);
    *ret = type <= CONTROL_COMMIT ? (enum control_type)type : CONTROL_UNKNOWN;
    return 0;
}

int control_record_coordinator_epoch(const struct record *rec, int32_t *ret)
{
    if (rec->value.len < 6 || (int16_t)be16_read(rec->value.p) < 0)
        return -EBADMSG;
    *ret = (int32_t)be32_read(rec->value.p + 2);
    return 0;
}
