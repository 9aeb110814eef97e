/*
 * compress_snappy.c - snappy in the framing of the Java library ("xerial")
 *
 *   0  82 53 4e 41 50 50 59 00 | 8  i32 version 1 | 12  i32 compatible version 1 (both ignored)
 *  16  blocks: i32 length, raw snappy block of that many bytes
 *
 * A stream without that header is one raw block, as some old clients send it. The header may come
 * again between blocks (streams put one behind the other).
 */
#include "common/base/be.h"
#include "common/base/mem.h"
#include "common/record/codec.h"

#include <errno.h>
#include <snappy-c.h>

enum { BLOCK_SIZE = 32 << 10, HEADER_SIZE = 16 };

/* A copy makes at most 64 bytes of 3: a block that claims more is none, and no memory is given to
 * it. */
enum { RATIO_MAX = 22 };

static const uint8_t header[HEADER_SIZE] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                            0,    0,   0,   1,   0,   0,   0,   1};
enum { MAGIC_SIZE = 8 };

struct snappy_decompressor {
    struct decompressor d;
    struct unpacked_block block;
    bool is_started;
    bool is_framed;
};

static int add_block(struct slice in, struct strbuf *out)
{
    size_t packed = snappy_max_compressed_length(in.len);
    uint8_t *dst = strbuf_room(out, 4 + packed);

    if (!dst)
        return -EFBIG;
    snappy_status status = snappy_compress((const char *)in.p, in.len, (char *)dst + 4, &packed);
    assert(status == SNAPPY_OK);
    be32_write(dst, (uint32_t)packed);
    strbuf_grew(out, 4 + packed);
    return 0;
}

static int xerial_compress(const struct codec *c UNUSED, struct slice in, struct strbuf *out)
{
    strbuf_add(out, header, sizeof header);
    while (in.len > 0) {
        size_t n = MIN(in.len, (size_t)BLOCK_SIZE);
        int r = add_block(slice_sub(in, 0, n), out);

        if (r < 0)
            return r;
        in = slice_from(in, n);
    }
    return 0;
}

static int xerial_open(const struct codec *c UNUSED, struct slice in UNUSED,
                       struct decompressor **ret)
{
    struct snappy_decompressor *s = xnew(struct snappy_decompressor);

    *ret = &s->d;
    return 0;
}

static void xerial_free(struct decompressor *d)
{
    struct snappy_decompressor *s = container_of(d, struct snappy_decompressor, d);

    free(s->block.data);
    free(s);
}

static int unpack(struct unpacked_block *b, struct slice raw)
{
    size_t size;

    if (snappy_uncompressed_length((const char *)raw.p, raw.len, &size) != SNAPPY_OK)
        return -EBADMSG;
    if (size / RATIO_MAX > raw.len)
        return -EBADMSG;
    xgrow(b->data, b->size, MAX(size, (size_t)1));
    if (snappy_uncompress((const char *)raw.p, raw.len, (char *)b->data, &size) != SNAPPY_OK)
        return -EBADMSG;
    b->at = 0;
    b->end = size;
    return 0;
}

/* 1 where there was a header, which is taken; 0 where there was none. */
static int take_header(struct slice *in)
{
    if (in->len < MAGIC_SIZE || memcmp(in->p, header, MAGIC_SIZE) != 0)
        return 0;
    if (in->len < HEADER_SIZE)
        return -EBADMSG;
    *in = slice_from(*in, HEADER_SIZE);
    return 1;
}

static int next_framed(struct snappy_decompressor *s)
{
    struct slice *in = &s->d.in;
    int r;

    while ((r = take_header(in)) == 1)
        ;
    if (r < 0)
        return r;
    if (in->len < 4) { /* as the Java reader: up to three bytes at the end are not looked at */
        *in = slice_from(*in, in->len);
        return 0;
    }
    uint32_t n = be32_read(in->p);
    if (n > in->len - 4)
        return -EBADMSG;
    r = unpack(&s->block, slice_sub(*in, 4, n));
    *in = slice_from(*in, 4 + (size_t)n);
    return r;
}

static int next_block(struct snappy_decompressor *s)
{
    if (!s->is_started) {
        int r = take_header(&s->d.in);

        if (r < 0)
            return r;
        s->is_started = true;
        s->is_framed = r == 1;
    }
    if (s->is_framed)
        return next_framed(s);
    struct slice raw = s->d.in;
    s->d.in = slice_from(raw, raw.len);
    return unpack(&s->block, raw);
}

static int xerial_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    struct snappy_decompressor *s = container_of(d, struct snappy_decompressor, d);

    while (s->block.at == s->block.end && d->in.len > 0) {
        int r = next_block(s);

        if (r < 0)
            return r;
    }
    *ret = unpacked_block_take(&s->block, dst, n);
    return 0;
}

const struct codec_ops codec_snappy = {
    .name = "snappy",
    .default_level = 0,
    .compress = xerial_compress,
    .open = xerial_open,
    .read = xerial_read,
    .free = xerial_free,
};
