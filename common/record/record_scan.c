/*
 * record_scan.c - parses records out of a decompressor's blocks, skipping what is not looked at
 */
#include "common/record/record_scan.h"

#include "common/base/mem.h"

#include <errno.h>

static const uint8_t not_null;

int record_scan_init(struct record_scan *s, const struct batch *b)
{
    const struct codec c = {.codec = batch_codec(b), .magic = b->magic};

    assert(batch_is_v2(b) && !s->block);
    s->batch = *b;
    int r = decompressor_new(&c, batch_payload(b), &s->unpack);
    if (r != 0)
        return r;
    s->block = xmalloc(RECORD_SCAN_BLOCK);
    return 0;
}

void record_scan_deinit(struct record_scan *s)
{
    s->unpack = decompressor_free(s->unpack);
    free(s->block);
    s->block = NULL;
}

/* Unpacks more behind what has not been read yet; false where there is no more, or no room. */
static bool fill_block(struct record_scan *s)
{
    size_t left = s->end - s->at, n = 0;

    if (s->error || left == RECORD_SCAN_BLOCK)
        return false;
    memmove(s->block, s->block + s->at, left);
    s->at = 0;
    s->end = left;
    if (decompressor_read(s->unpack, s->block + left, RECORD_SCAN_BLOCK - left, &n) < 0)
        s->error = -EPROTO;
    else if (n == 0)
        s->error = -ENODATA;
    s->end += n;
    return n > 0;
}

/* Whether the next record lies whole in the block, after filling it where that may help. */
static bool is_in_block(struct record_scan *s)
{
    do {
        size_t left = s->end - s->at;
        uint64_t length = 0;
        size_t head = varint_read_u(s->block + s->at, left, VARINT_MAX_BYTES, &length);
        int64_t body = unzigzag((uint32_t)length);

        if (head && body >= 0 && (size_t)body <= left - head)
            return true;
        if (head && (body < 0 || (size_t)body > RECORD_SCAN_BLOCK - head))
            return false;
    } while (fill_block(s));
    return false;
}

/* True if at least one byte can be read. */
static bool refill(struct record_scan *s)
{
    return s->at < s->end || fill_block(s);
}

static uint8_t take_byte(struct record_scan *s)
{
    if (!refill(s))
        return 0;
    s->taken++;
    return s->block[s->at++];
}

static uint64_t take_varint_u(struct record_scan *s, int max_bytes)
{
    uint64_t v = 0;

    for (int i = 0; i < max_bytes; i++) {
        uint8_t byte = take_byte(s);

        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            return v;
    }
    if (!s->error)
        s->error = -EBADMSG;
    return 0;
}

static int32_t take_varint(struct record_scan *s)
{
    return (int32_t)unzigzag((uint32_t)take_varint_u(s, VARINT_MAX_BYTES));
}

static int64_t take_varlong(struct record_scan *s)
{
    return unzigzag(take_varint_u(s, VARLONG_MAX_BYTES));
}

/* Skips what a length stands before; stops early where the bytes end. */
static struct slice skip_bytes(struct record_scan *s)
{
    int32_t n = take_varint(s);

    if (n < 0 || s->error)
        return (struct slice){0};
    for (size_t left = (size_t)n; left > 0;) {
        if (!refill(s))
            return (struct slice){0};
        size_t part = MIN(left, s->end - s->at);
        s->at += part;
        s->taken += part;
        left -= part;
    }
    return slice_of(&not_null, (size_t)n);
}

static void skip_headers(struct record_scan *s, int32_t count)
{
    for (int32_t i = 0; i < count && !s->error; i++) {
        struct slice key = skip_bytes(s);

        if (!key.p && !s->error)
            s->error = -EBADMSG;
        skip_bytes(s);
    }
}

/* A record larger than the block, or what the end of the stream leaves of one. */
static int next_in_pieces(struct record_scan *s, struct record *ret)
{
    uint64_t start = s->taken;
    int32_t body = take_varint(s);
    uint64_t body_start = s->taken;

    take_byte(s);
    ret->timestamp_delta = take_varlong(s);
    ret->offset_delta = take_varint(s);
    ret->key = skip_bytes(s);
    ret->value = skip_bytes(s);
    ret->header_count = take_varint(s);
    skip_headers(s, ret->header_count);
    if (s->error)
        return s->error == -ENODATA ? -EBADMSG : s->error;
    if (body < 0 || ret->header_count < 0 || s->taken - body_start != (uint64_t)body)
        return -EBADMSG;
    ret->size = (uint32_t)(s->taken - start);
    return 0;
}

static int next_in_block(struct record_scan *s, struct record *ret)
{
    struct slice rest = slice_of(s->block + s->at, s->end - s->at);
    int r = record_next(&rest, ret);

    if (r < 0)
        return r;
    s->at += ret->size;
    s->taken += ret->size;
    return 0;
}

int record_scan_next(struct record_scan *s, struct record *ret)
{
    int r = is_in_block(s) ? next_in_block(s, ret) : next_in_pieces(s, ret);

    if (r < 0)
        return r;
    ret->offset = record_offset(&s->batch, ret);
    ret->timestamp = record_timestamp(&s->batch, ret);
    return 0;
}

int record_scan_at_end(struct record_scan *s)
{
    if (refill(s))
        return 0;
    return s->error == -ENODATA ? 1 : s->error;
}
