/*
 * compress.c - the codec table, and what is the same for every codec
 */
#include "common/record/compress.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/codec.h"

static int none_compress(const struct codec *c UNUSED, struct slice in, struct strbuf *out)
{
    strbuf_add(out, in.p, in.len);
    return 0;
}

static int none_open(const struct codec *c UNUSED, struct slice in UNUSED,
                     struct decompressor **ret)
{
    *ret = xnew(struct decompressor);
    return 0;
}

static int none_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    *ret = MIN(n, d->in.len);
    if (*ret)
        memcpy(dst, d->in.p, *ret);
    d->in = slice_from(d->in, *ret);
    return 0;
}

static void none_free(struct decompressor *d)
{
    free(d);
}

static const struct codec_ops codec_none = {
    .name = "none",
    .default_level = 0,
    .compress = none_compress,
    .open = none_open,
    .read = none_read,
    .free = none_free,
};

static const struct codec_ops *const codecs[COMPRESSION_COUNT] = {
    [COMPRESSION_NONE] = &codec_none,     [COMPRESSION_GZIP] = &codec_gzip,
    [COMPRESSION_SNAPPY] = &codec_snappy, [COMPRESSION_LZ4] = &codec_lz4,
    [COMPRESSION_ZSTD] = &codec_zstd,
};

bool compression_is_known(int id)
{
    return id >= 0 && id < COMPRESSION_COUNT;
}

const char *compression_name(enum compression c)
{
    if (c == COMPRESSION_PRODUCER)
        return "producer";
    return compression_is_known(c) ? codecs[c]->name : "unknown";
}

int compression_by_name(struct str name, enum compression *ret)
{
    for (int i = 0; i < COMPRESSION_COUNT; i++)
        if (str_eqz(name, codecs[i]->name)) {
            *ret = (enum compression)i;
            return 0;
        }
    if (str_eqz(name, "uncompressed"))
        *ret = COMPRESSION_NONE;
    else if (str_eqz(name, "producer"))
        *ret = COMPRESSION_PRODUCER;
    else
        return -EINVAL;
    return 0;
}

int compression_default_level(enum compression c)
{
    return compression_is_known(c) ? codecs[c]->default_level : 0;
}

int codec_compress(const struct codec *c, struct slice in, struct strbuf *out)
{
    struct codec how = *c;

    if (!compression_is_known(c->codec))
        return UNSUPPORTED_COMPRESSION_TYPE;
    if (how.level == COMPRESSION_LEVEL_DEFAULT)
        how.level = codecs[c->codec]->default_level;
    int r = codecs[c->codec]->compress(&how, in, out);
    if (r == 0 && out->full)
        return -EFBIG;
    return r;
}

int decompressor_new(const struct codec *c, struct slice in, struct decompressor **ret)
{
    struct decompressor *d = NULL;

    if (!compression_is_known(c->codec))
        return UNSUPPORTED_COMPRESSION_TYPE;
    int r = codecs[c->codec]->open(c, in, &d);
    if (r < 0)
        return r;
    d->ops = codecs[c->codec];
    d->in = in;
    *ret = d;
    return 0;
}

struct decompressor *decompressor_free(struct decompressor *d)
{
    if (d)
        d->ops->free(d);
    return NULL;
}

void decompressor_free_p(struct decompressor **d)
{
    *d = decompressor_free(*d);
}

int decompressor_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    uint8_t *to = dst;
    size_t got = 0, part = 1;

    while (got < n && part > 0 && d->error == 0) {
        part = 0;
        d->error = d->ops->read(d, to + got, n - got, &part);
        got += part;
    }
    *ret = got;
    return got > 0 ? 0 : d->error;
}

int codec_decompress(const struct codec *c, struct slice in, size_t max, struct strbuf *out)
{
    CLEANUP(decompressor_free_p) struct decompressor *d = NULL;
    size_t start = out->len;
    int r = decompressor_new(c, in, &d);

    while (r == 0) {
        size_t got, left = max - (out->len - start);
        /* Four times the input is what texts unpack to; one byte more than allowed tells a bomb. */
        size_t want = MIN(MAX(4 * in.len, (size_t)4096), left + 1);
        void *dst = strbuf_room(out, want);

        if (!dst)
            return -EFBIG;
        r = decompressor_read(d, dst, want, &got);
        if (r == 0 && got > left)
            return -EFBIG;
        if (r == 0)
            strbuf_grew(out, got);
        if (r == 0 && got == 0)
            break;
    }
    return r;
}
