/*
 * record_scan.h - looks at the records of a compressed v2 batch without keeping what it unpacks
 *
 * For validation: one block of memory however much the batch unpacks to, and none per record. Of
 * key, value and headers only what record_scan_next() says is there. Thread: one.
 */
#pragma once

#include "common/record/record.h"

enum { RECORD_SCAN_BLOCK = 64 << 10 };

struct record_scan {
    struct batch batch;
    struct decompressor *unpack;
    uint8_t *block;
    size_t at;
    size_t end;
    uint64_t taken; /* unpacked bytes read so far */
    int error;      /* sticky: of the decompressor, or -ENODATA at its end */
};

/* s must be zeroed. UNSUPPORTED_COMPRESSION_TYPE. */
int record_scan_init(struct record_scan *s, const struct batch *b) MUST_CHECK;
/*
 * Sets offset and timestamp (absolute), the deltas, size and header_count; key and value have their
 * length and a p that is NULL or not, and may not be read. -EBADMSG: no such record. -EPROTO: the
 * bytes do not unpack.
 */
int record_scan_next(struct record_scan *s, struct record *ret) MUST_CHECK;
/* 1 at the end of the unpacked bytes, 0 where there are more, -EPROTO. */
int record_scan_at_end(struct record_scan *s) MUST_CHECK;
void record_scan_deinit(struct record_scan *s);
