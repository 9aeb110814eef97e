/*
 * codec.h - what a row of the codec table offers; inside common/record only
 */
#pragma once

#include "common/record/compress.h"

struct codec_ops {
    const char *name;
    int default_level;
    int (*compress)(const struct codec *c, struct slice in, struct strbuf *out);
    int (*open)(const struct codec *c, struct slice in, struct decompressor **ret);
    /* Fills dst as far as it can; *ret 0 only at the end. Where it fails, *ret bytes were unpacked
     * before. */
    int (*read)(struct decompressor *d, void *dst, size_t n, size_t *ret);
    void (*free)(struct decompressor *d);
};

/* First member of each codec's own struct. */
struct decompressor {
    const struct codec_ops *ops;
    struct slice in; /* what has not been taken yet */
    int error;       /* sticky; told once all that was unpacked before is handed out */
};

extern const struct codec_ops codec_gzip;
extern const struct codec_ops codec_snappy;
extern const struct codec_ops codec_lz4;
extern const struct codec_ops codec_zstd;

/* A block that was unpacked whole and is handed out in parts (snappy, lz4). */
struct unpacked_block {
    uint8_t *data;
    size_t size; /* allocated */
    size_t at;
    size_t end;
};

/* Hands out up to n bytes of it. */
static inline size_t unpacked_block_take(struct unpacked_block *b, void *dst, size_t n)
{
    size_t part = MIN(n, b->end - b->at);

    if (part)
        memcpy(dst, b->data + b->at, part);
    b->at += part;
    return part;
}
