/*
 * record_iter.h - the records of one batch of any magic, compressed or not, with absolute offsets
 * and timestamps
 *
 *   CLEANUP(record_iter_deinit) struct record_iter it = {0};
 *   int r = record_iter_init(&it, &b, max_bytes);
 *   while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) ...     // 0 at the end, < 0 where the
 *   bytes are no records
 *
 * Compressed payloads are unpacked into memory of the iterator, at most max_bytes. Keys and values
 * point into the batch or into that memory: valid until deinit. Thread: one.
 */
#pragma once

#include "common/record/record.h"

/* For readers of data that a broker has accepted before: more is taken for broken. */
enum { RECORD_UNPACK_MAX = 1 << 30 };

struct record_iter {
    struct batch batch;
    struct strbuf unpacked;
    struct slice rest;
    int32_t left;       /* v2: records still announced */
    int64_t inner_base; /* v0, v1 wrapper: add this to an inner offset */
    struct batch inner; /* v0, v1 wrapper: the message that was last looked at */
    bool is_wrapper;
    bool is_done;
};

/* -EPROTO: the bytes do not unpack; -EBADMSG: what is unpacked is no set of records; -EFBIG past
 * max_bytes; UNSUPPORTED_COMPRESSION_TYPE for an unknown codec. it must be
 * zeroed. */
int record_iter_init(struct record_iter *it, const struct batch *b, size_t max_bytes) MUST_CHECK;
/* 1, 0 at the end, or -EBADMSG (also where bytes are left after the last record). */
int record_iter_next(struct record_iter *it, struct record *ret) MUST_CHECK;
void record_iter_deinit(struct record_iter *it);

/* The first offset in b: inside a compressed v0 or v1 wrapper it has to be looked for. */
int batch_first_offset(const struct batch *b, int64_t *ret) MUST_CHECK;
