/*
 * fuzz_decompress.c - any bytes as a compressed stream, and as what is to be compressed
 *
 * Byte 0: codec and magic. Read in odd pieces or as a whole it gives the same, and never more than
 * the cap; compressed and unpacked again it gives itself.
 */
#include "common/record/compress.h"

#include <assert.h>
#include <errno.h>

enum { UNPACK_MAX = 1 << 20, PIECE = 1021 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_in_pieces(const struct codec *c, struct slice in, struct strbuf *out)
{
    CLEANUP(decompressor_free_p) struct decompressor *d = NULL;
    uint8_t piece[PIECE];
    size_t got = 0;
    int r = decompressor_new(c, in, &d);

    while (r == 0 && out->len <= UNPACK_MAX) {
        r = decompressor_read(d, piece, sizeof piece, &got);
        if (r == 0)
            strbuf_add(out, piece, got);
        if (r == 0 && got == 0)
            break;
    }
    return out->len > UNPACK_MAX ? -EFBIG : r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(strbuf_deinit) struct strbuf whole = {0}, pieces = {0}, packed = {0}, again = {0};

    if (size < 1)
        return 0;
    const struct codec c = {(enum compression)(data[0] % COMPRESSION_COUNT),
                            COMPRESSION_LEVEL_DEFAULT, (int8_t)(data[0] >> 6 & 1)};
    struct slice in = slice_of(data + 1, size - 1);

    int r = codec_decompress(&c, in, UNPACK_MAX, &whole);
    int s = read_in_pieces(&c, in, &pieces);
    assert(whole.len <= UNPACK_MAX);
    assert((r == 0) == (s == 0));
    if (r == 0)
        assert(str_eq(strbuf_str(&whole), strbuf_str(&pieces)));

    r = codec_compress(&c, in, &packed);
    assert(r == 0);
    r = codec_decompress(&c, slice_of_str(strbuf_str(&packed)), in.len, &again);
    assert(r == 0 && again.len == in.len);
    assert(in.len == 0 || memcmp(again.s, in.p, in.len) == 0);
    return 0;
}
