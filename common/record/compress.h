/*
 * compress.h - the codecs of record batches: gzip, snappy (xerial framing), lz4 frames, zstd
 *
 * Decompression is a stream of at most the bytes the caller asks for, so a small batch that unpacks
 * to gigabytes costs its sender's time and no memory of ours; what must be whole in memory is
 * bounded by a cap (disk.md §4). No state is shared: any thread, one decompressor per thread at a
 * time. Errors: -EBADMSG for bytes that are no such stream, -EFBIG past the cap. > 0:
 * UNSUPPORTED_COMPRESSION_TYPE for codec ids 5-7.
 */
#pragma once

#include "common/base/strbuf.h"

/* As in the low three bits of a batch's attributes; a topic may also ask for "as the producer sent
 * it". */
enum compression {
    COMPRESSION_NONE = 0,
    COMPRESSION_GZIP = 1,
    COMPRESSION_SNAPPY = 2,
    COMPRESSION_LZ4 = 3,
    COMPRESSION_ZSTD = 4,
    COMPRESSION_PRODUCER = -1,
};

enum { COMPRESSION_COUNT = 5 };

/* A level that stands for the codec's own default; gzip's own -1 is the same thing. */
enum { COMPRESSION_LEVEL_DEFAULT = INT_MIN };

struct codec {
    enum compression codec;
    int level;
    /* Magic of the batch: in magic 0 the lz4 header checksum is the historic wrong one
     * (KAFKA-3160). */
    int8_t magic;
};

/* "none", "gzip", ...; "producer"; "unknown" for ids 5-7. */
const char *compression_name(enum compression c);
/* By that name ("uncompressed" too, as in compression.type). -EINVAL. */
int compression_by_name(struct str name, enum compression *ret) MUST_CHECK;
bool compression_is_known(int id);
/* The level Kafka uses where none is configured. */
int compression_default_level(enum compression c);

/* Appends the compressed form of in to out; a plain copy for COMPRESSION_NONE. */
int codec_compress(const struct codec *c, struct slice in, struct strbuf *out) MUST_CHECK;

struct decompressor;

/* Reads in, which must outlive it. COMPRESSION_NONE passes the bytes through. */
int decompressor_new(const struct codec *c, struct slice in, struct decompressor **ret) MUST_CHECK;
struct decompressor *decompressor_free(struct decompressor *d);
void decompressor_free_p(struct decompressor **d);
/* Up to n bytes into dst and how many in *ret; 0 at the end of the stream. A failure is told after
 * everything that was unpacked before it. */
int decompressor_read(struct decompressor *d, void *dst, size_t n, size_t *ret) MUST_CHECK;

/* The whole of in, appended to out; -EFBIG (and nothing more allocated) where that is more than max
 * bytes. */
int codec_decompress(const struct codec *c, struct slice in, size_t max, struct strbuf *out)
    MUST_CHECK;
