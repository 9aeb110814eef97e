/*
 * codec.h - the one interpreter of the message tables: decode, encode, size, print
 *
 * Decoding fills a struct of messages.h. Strings, bytes and records in it are slices of the input,
 * arrays and nullable structs lie in the arena: both must live as long as the message. What a peer
 * can make us allocate is bounded by the bytes it sent: an array's count by the bytes left and the
 * least that an element takes, and all arrays together by 128 MB. Recursion is bounded by the
 * schema, which cannot contain itself.
 *
 * As Kafka does: bytes left over are ignored, unknown tags are skipped, tags may come in any order,
 * any negative length is null where null is allowed. Fields that the version lacks take their
 * defaults. Stricter than Kafka in one thing: a known tag whose size is not that of its value is
 * refused.
 *
 * Encoding refuses (-EINVAL, the field's name in w->err_field) what the version cannot say: a field
 * that it lacks, is not ignorable and differs from its default; null where null is not allowed; a
 * string above 32767 bytes.
 *
 * Thread: any; no state but the arguments. A version that the message does not have is
 * -EPROTONOSUPPORT everywhere.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"
#include "common/wire/messages.h"
#include "common/wire/reader.h"
#include "common/wire/writer.h"

#include <sys/types.h>

/* -EBADMSG for bytes that are not such a message. */
int codec_decode(const struct msg_desc *d, int16_t version, struct slice in, struct arena *a,
                 void *ret_msg) MUST_CHECK;
/* The same, leaving the reader behind the message; after a failure it stands at its end. */
int codec_read(const struct msg_desc *d, int16_t version, struct reader *r, struct arena *a,
               void *ret_msg) MUST_CHECK;
/* For records and consumer protocol data, whose version stands in front as an i16. */
int codec_decode_versioned(const struct msg_desc *d, struct slice in, struct arena *a,
                           int16_t *ret_version, void *ret_msg) MUST_CHECK;

/* Appends to w; closing it (writer_end, writer_flat) is the caller's. */
int codec_encode(const struct msg_desc *d, int16_t version, const void *msg, struct writer *w)
    MUST_CHECK;
int codec_encode_versioned(const struct msg_desc *d, int16_t version, const void *msg,
                           struct writer *w) MUST_CHECK;
/* Bytes that codec_encode would write, or its error. */
ssize_t codec_size(const struct msg_desc *d, int16_t version, const void *msg) MUST_CHECK;

/*
 * Adds {"name":value,...} for people: the fields that the version has, strings escaped as in JSON,
 * bytes and records by their length only (they may hold secrets). The strbuf's cap bounds it.
 */
void codec_print(const struct msg_desc *d, int16_t version, const void *msg, struct strbuf *sb);
