/*
 * compress_gzip.c - gzip (RFC 1952) by zlib
 *
 * Read like Java's GZIPInputStream: further members are part of the stream, other bytes behind the
 * last one are not looked at.
 */
#include "common/base/mem.h"
#include "common/record/codec.h"

#include <errno.h>
#include <zlib.h>

enum { GZIP_WINDOW_BITS = 15 + 16, GZIP_MEM_LEVEL = 8, GZIP_MEMBER_MIN = 18 };

struct gzip_decompressor {
    struct decompressor d;
    z_stream z;
    bool is_done;
};

static int gzip_compress(const struct codec *c, struct slice in, struct strbuf *out)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in.p, .avail_in = (uInt)in.len};

    if (in.len > UINT_MAX)
        return -EFBIG;
    if (deflateInit2(&z, c->level, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return -EINVAL;
    size_t bound = MIN(deflateBound(&z, (uLong)in.len), (uLong)UINT_MAX);
    int r = Z_BUF_ERROR;
    z.next_out = strbuf_room(out, bound);
    z.avail_out = (uInt)bound;
    if (z.next_out)
        r = deflate(&z, Z_FINISH);
    if (r == Z_STREAM_END)
        strbuf_grew(out, bound - z.avail_out);
    (void)deflateEnd(&z);
    return r == Z_STREAM_END ? 0 : -EFBIG;
}

static int gzip_open(const struct codec *c UNUSED, struct slice in UNUSED,
                     struct decompressor **ret)
{
    struct gzip_decompressor *g = xnew(struct gzip_decompressor);

    if (inflateInit2(&g->z, GZIP_WINDOW_BITS) != Z_OK) {
        free(g);
        return -ENOMEM;
    }
    *ret = &g->d;
    return 0;
}

static void gzip_free(struct decompressor *d)
{
    struct gzip_decompressor *g = container_of(d, struct gzip_decompressor, d);

    (void)inflateEnd(&g->z);
    free(g);
}

/* Behind the end of a member: another one, or the end of the stream. */
static void next_member(struct gzip_decompressor *g)
{
    struct slice in = g->d.in;

    if (in.len >= GZIP_MEMBER_MIN && in.p[0] == 0x1f && in.p[1] == 0x8b)
        (void)inflateReset(&g->z);
    else
        g->is_done = true;
}

static int gzip_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    struct gzip_decompressor *g = container_of(d, struct gzip_decompressor, d);
    uInt room = (uInt)MIN(n, (size_t)UINT_MAX);

    *ret = 0;
    while (*ret == 0 && !g->is_done) {
        uInt given = (uInt)MIN(d->in.len, (size_t)UINT_MAX);

        g->z.next_in = (Bytef *)(uintptr_t)d->in.p;
        g->z.avail_in = given;
        g->z.next_out = dst;
        g->z.avail_out = room;
        int r = inflate(&g->z, Z_NO_FLUSH);
        d->in = slice_from(d->in, given - g->z.avail_in);
        *ret = room - g->z.avail_out;
        if (r == Z_STREAM_END)
            next_member(g);
        else if (r != Z_OK)
            return -EBADMSG; /* Z_BUF_ERROR: it was cut short */
    }
    return 0;
}

const struct codec_ops codec_gzip = {
    .name = "gzip",
    .default_level = Z_DEFAULT_COMPRESSION,
    .compress = gzip_compress,
    .open = gzip_open,
    .read = gzip_read,
    .free = gzip_free,
};
