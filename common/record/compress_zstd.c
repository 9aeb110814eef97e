/*
 * compress_zstd.c - zstd frames; several, one behind the other, are one stream
 */
#include "common/base/mem.h"
#include "common/record/codec.h"

#include <errno.h>
#include <zstd.h>

enum { ZSTD_DEFAULT_LEVEL = 3 };

struct zstd_decompressor {
    struct decompressor d;
    ZSTD_DCtx *ctx;
    bool is_inside; /* a frame has begun and not ended */
};

static void free_cctx_p(ZSTD_CCtx **ctx)
{
    ZSTD_freeCCtx(*ctx);
}

static int frame_compress(const struct codec *c, struct slice in, struct strbuf *out)
{
    CLEANUP(free_cctx_p) ZSTD_CCtx *ctx = ZSTD_createCCtx();
    size_t bound = ZSTD_compressBound(in.len);
    void *dst = strbuf_room(out, bound);

    if (!dst)
        return -EFBIG;
    size_t r = ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, c->level);
    if (!ZSTD_isError(r))
        r = ZSTD_compress2(ctx, dst, bound, in.p, in.len);
    if (ZSTD_isError(r))
        return -EINVAL;
    strbuf_grew(out, r);
    return 0;
}

static int frame_open(const struct codec *c UNUSED, struct slice in UNUSED,
                      struct decompressor **ret)
{
    struct zstd_decompressor *z = xnew(struct zstd_decompressor);

    z->ctx = ZSTD_createDCtx();
    assert(z->ctx);
    *ret = &z->d;
    return 0;
}

static void frame_free(struct decompressor *d)
{
    struct zstd_decompressor *z = container_of(d, struct zstd_decompressor, d);

    ZSTD_freeDCtx(z->ctx);
    free(z);
}

static int frame_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    struct zstd_decompressor *z = container_of(d, struct zstd_decompressor, d);
    ZSTD_outBuffer out = {dst, n, 0};

    while (out.pos == 0 && (d->in.len > 0 || z->is_inside)) {
        ZSTD_inBuffer in = {d->in.p, d->in.len, 0};
        size_t r = ZSTD_decompressStream(z->ctx, &out, &in);

        if (ZSTD_isError(r))
            return -EBADMSG;
        if (in.pos == 0 && out.pos == 0)
            return -EBADMSG; /* it was cut short */
        d->in = slice_from(d->in, in.pos);
        z->is_inside = r != 0;
    }
    *ret = out.pos;
    return 0;
}

const struct codec_ops codec_zstd = {
    .name = "zstd",
    .default_level = ZSTD_DEFAULT_LEVEL,
    .compress = frame_compress,
    .open = frame_open,
    .read = frame_read,
    .free = frame_free,
};
