/*
 * compress_lz4.c - lz4 frames as Kafka writes and reads them
 *
 *   0  04 22 4d 18 | 4  FLG | 5  BD | content size, u64 LE, where flagged | header checksum, 1 byte
 *   blocks: u32 LE length (top bit: stored as it is), bytes, u32 LE xxh32 of them where flagged
 *   00 00 00 00, and u32 LE content checksum where flagged (not looked at)
 *
 * Frames are cut by hand and not by liblz4's frame reader: blocks must be independent, only block
 * checksums count, and with magic 0 the header checksum is wrong on purpose (it covers the frame's
 * magic too, KAFKA-3160) and not checked.
 */
#include "common/base/mem.h"
#include "common/record/codec.h"
#include "common/record/xxh32.h"

#include <endian.h>
#include <errno.h>
#include <lz4.h>
#include <lz4hc.h>

enum {
    FRAME_MAGIC = 0x184d2204,
    FLG_VERSION_1 = 1 << 6,
    FLG_INDEPENDENT = 1 << 5,
    FLG_BLOCK_CHECKSUM = 1 << 4,
    FLG_CONTENT_SIZE = 1 << 3,
    FLG_CONTENT_CHECKSUM = 1 << 2,
    FLG_FIXED = 3 << 6 | FLG_INDEPENDENT | 3, /* bits that have one allowed value */
    BD_64K = 4,
    BD_MAX = 7,
    BLOCK_SIZE = 64 << 10,
    HEADER_SIZE = 7,
    FAST_LEVEL = 9, /* the level that stands for the fast compressor */
};

static const uint32_t BLOCK_STORED = 1u << 31;

struct lz4_decompressor {
    struct decompressor d;
    struct unpacked_block block;
    size_t block_max;
    uint8_t flg;
    bool is_started;
    bool is_done;
    bool has_wrong_checksum;
};

static uint32_t le32_read(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static void le32_write(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static void add_header(const struct codec *c, struct strbuf *out)
{
    uint8_t h[HEADER_SIZE] = {[4] = FLG_VERSION_1 | FLG_INDEPENDENT, [5] = BD_64K << 4};

    le32_write(h, FRAME_MAGIC);
    h[6] = (uint8_t)(xxh32(c->magic == 0 ? slice_of(h, 6) : slice_of(h + 4, 2)) >> 8);
    strbuf_add(out, h, sizeof h);
}

static int add_block(const struct codec *c, struct slice in, struct strbuf *out)
{
    int bound = LZ4_compressBound((int)in.len), n;
    uint8_t *dst = strbuf_room(out, 4 + (size_t)bound);

    if (!dst)
        return -EFBIG;
    if (c->level == FAST_LEVEL)
        n = LZ4_compress_default((const char *)in.p, (char *)dst + 4, (int)in.len, bound);
    else
        n = LZ4_compress_HC((const char *)in.p, (char *)dst + 4, (int)in.len, bound, c->level);
    if (n > 0 && (size_t)n < in.len) {
        le32_write(dst, (uint32_t)n);
        strbuf_grew(out, 4 + (size_t)n);
        return 0;
    }
    le32_write(dst, (uint32_t)in.len | BLOCK_STORED);
    memcpy(dst + 4, in.p, in.len);
    strbuf_grew(out, 4 + in.len);
    return 0;
}

static int frame_compress(const struct codec *c, struct slice in, struct strbuf *out)
{
    add_header(c, out);
    while (in.len > 0) {
        size_t n = MIN(in.len, (size_t)BLOCK_SIZE);
        int r = add_block(c, slice_sub(in, 0, n), out);

        if (r < 0)
            return r;
        in = slice_from(in, n);
    }
    strbuf_add(out, (const uint8_t[4]){0}, 4);
    return 0;
}

static int frame_open(const struct codec *c, struct slice in UNUSED, struct decompressor **ret)
{
    struct lz4_decompressor *l = xnew(struct lz4_decompressor);

    l->has_wrong_checksum = c->magic == 0;
    *ret = &l->d;
    return 0;
}

static void frame_free(struct decompressor *d)
{
    struct lz4_decompressor *l = container_of(d, struct lz4_decompressor, d);

    free(l->block.data);
    free(l);
}

static int read_header(struct lz4_decompressor *l)
{
    struct slice in = l->d.in;

    if (in.len < HEADER_SIZE || le32_read(in.p) != FRAME_MAGIC)
        return -EBADMSG;
    l->flg = in.p[4];
    uint8_t bd = in.p[5], code = bd >> 4;
    if ((l->flg & FLG_FIXED) != (FLG_VERSION_1 | FLG_INDEPENDENT))
        return -EBADMSG;
    if ((bd & 0x8f) || code < BD_64K || code > BD_MAX)
        return -EBADMSG;
    l->block_max = (size_t)1 << (8 + 2 * code);
    size_t descriptor = l->flg & FLG_CONTENT_SIZE ? 10 : 2;
    if (in.len < 4 + descriptor + 1)
        return -EBADMSG;
    uint8_t sum = (uint8_t)(xxh32(slice_sub(in, 4, descriptor)) >> 8);
    if (!l->has_wrong_checksum && in.p[4 + descriptor] != sum)
        return -EBADMSG;
    l->d.in = slice_from(in, 4 + descriptor + 1);
    l->is_started = true;
    return 0;
}

/* The bytes of the next block, *ret_stored where they are to be taken as they are. Empty at the end
 * mark. */
static int cut_block(struct lz4_decompressor *l, struct slice *ret, bool *ret_stored)
{
    struct slice in = l->d.in;
    bool has_checksum = l->flg & FLG_BLOCK_CHECKSUM;

    if (in.len < 4)
        return -EBADMSG;
    uint32_t word = le32_read(in.p);
    size_t n = word & ~BLOCK_STORED, total = 4 + n + (n && has_checksum ? 4 : 0);
    if (n > l->block_max || total > in.len)
        return -EBADMSG;
    *ret = slice_sub(in, 4, n);
    *ret_stored = word & BLOCK_STORED;
    if (n && has_checksum && le32_read(in.p + 4 + n) != xxh32(*ret))
        return -EBADMSG;
    l->d.in = slice_from(in, total);
    return 0;
}

static int next_block(struct lz4_decompressor *l)
{
    struct slice raw = {0};
    bool stored = false;
    int r = l->is_started ? 0 : read_header(l);

    if (r == 0)
        r = cut_block(l, &raw, &stored);
    if (r < 0)
        return r;
    l->block.at = l->block.end = 0;
    if (raw.len == 0) {
        l->is_done = true;
        return (l->flg & FLG_CONTENT_CHECKSUM) && l->d.in.len < 4 ? -EBADMSG : 0;
    }
    xgrow(l->block.data, l->block.size, l->block_max);
    if (stored) {
        memcpy(l->block.data, raw.p, raw.len);
        l->block.end = raw.len;
        return 0;
    }
    int n = LZ4_decompress_safe((const char *)raw.p, (char *)l->block.data, (int)raw.len,
                                (int)l->block_max);
    if (n < 0)
        return -EBADMSG;
    l->block.end = (size_t)n;
    return 0;
}

static int frame_read(struct decompressor *d, void *dst, size_t n, size_t *ret)
{
    struct lz4_decompressor *l = container_of(d, struct lz4_decompressor, d);

    while (l->block.at == l->block.end && !l->is_done) {
        int r = next_block(l);

        if (r < 0)
            return r;
    }
    *ret = unpacked_block_take(&l->block, dst, n);
    return 0;
}

const struct codec_ops codec_lz4 = {
    .name = "lz4",
    .default_level = FAST_LEVEL,
    .compress = frame_compress,
    .open = frame_open,
    .read = frame_read,
    .free = frame_free,
};
