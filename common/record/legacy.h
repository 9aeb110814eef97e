/*
 * legacy.h - message sets v0 and v1: reading one message, writing sets, and down-conversion for old
 * clients
 *
 * Conversion up (v0, v1 -> v2) is a record_iter feeding a batch_builder, into an old format one
 * that feeds a legacy_builder; there is nothing special to it. Down-conversion is what a Fetch
 * below version 4 asks for (disk.md §3.2). Thread: any.
 */
#pragma once

#include "common/record/record.h"

struct legacy_message {
    int64_t offset;
    int64_t timestamp; /* -1 for v0 */
    struct slice key;
    struct slice value; /* the inner set where the message is compressed */
};

/* Key and value of one entry that batch_next() framed. -EBADMSG where they do not fit into it; what
 * stands behind the value is not looked at, as in Kafka. */
int legacy_message_parse(const struct batch *b, struct legacy_message *ret) MUST_CHECK;

/* batch_next() for what a wrapper holds: there a torn end is seen before a wrong magic. */
int legacy_inner_next(struct slice *rest, struct batch *ret) MUST_CHECK;

struct legacy_opts {
    int8_t magic; /* 0 or 1 */
    enum timestamp_type timestamp_type;
    enum compression codec; /* attributes only: the value must be compressed already */
};

/* Appends one entry with its checksum; timestamp is ignored for magic 0. */
void legacy_message_add(const struct legacy_message *m, const struct legacy_opts *opts,
                        struct strbuf *out);

/*
 * A set under way: each message by itself or, where opts.codec says so, all of them in a wrapper.
 *
 *   struct legacy_builder lb = {0};
 *   legacy_builder_begin(&lb, &opts, COMPRESSION_LEVEL_DEFAULT);
 *   legacy_builder_add(&lb, &rec);
 *   int r = legacy_builder_finish(&lb, &out);
 *
 * Value owned by one thread; its memory is kept for the next set.
 */
struct legacy_builder {
    struct legacy_opts opts;
    int level;
    struct strbuf set;
    int64_t first_offset; /* -1: no message yet */
    int64_t last_offset;
    int64_t max_timestamp;
};

void legacy_builder_begin(struct legacy_builder *lb, const struct legacy_opts *opts, int level);
/* Takes offset, timestamp (both absolute), key and value of rec; there is no place for headers. */
void legacy_builder_add(struct legacy_builder *lb, const struct record *rec);
/* Appends the set to out, nothing where it is empty. -EFBIG. */
int legacy_builder_finish(struct legacy_builder *lb, struct strbuf *out) MUST_CHECK;
void legacy_builder_deinit(struct legacy_builder *lb);

struct down_convert_opts {
    int8_t magic;         /* 0 or 1; entries at or below it go through unchanged */
    int64_t first_offset; /* uncompressed records below it are left out */
    size_t max_unpacked;  /* per batch */
};

/*
 * Converts the batch b and appends the result (nothing for a control batch, or where every record
 * lies below first_offset). UNSUPPORTED_COMPRESSION_TYPE for zstd, which old formats do not have.
 * -EBADMSG, -EFBIG.
 */
int down_convert_batch(const struct batch *b, const struct down_convert_opts *opts,
                       struct strbuf *out) MUST_CHECK;
/*
 * A whole fetched range: converts its whole batches in order and fills out up to max(bytes.len,
 * first batch) with the entry that old clients take for a message that was cut short. Fails as
 * above only where the first batch does; a later one ends the data there.
 */
int down_convert(struct slice bytes, const struct down_convert_opts *opts, struct strbuf *out)
    MUST_CHECK;
