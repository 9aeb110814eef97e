/*
 * legacy.c - one message of an old set, read and written
 */
#include "common/record/legacy.h"

#include "common/record/batch_stamp.h"

#include <errno.h>

enum { V0_KEY_AT = 18, V1_KEY_AT = 26 };

/* Takes a length and as many bytes off *rest; -1 is null. */
static int take_field(struct slice *rest, struct slice *ret)
{
    if (rest->len < 4)
        return -EBADMSG;
    int32_t n = (int32_t)be32_read(rest->p);
    *rest = slice_from(*rest, 4);
    if (n < 0) {
        *ret = (struct slice){0};
        return 0;
    }
    if ((size_t)n > rest->len)
        return -EBADMSG;
    *ret = slice_sub(*rest, 0, (size_t)n);
    *rest = slice_from(*rest, (size_t)n);
    return 0;
}

int legacy_message_parse(const struct batch *b, struct legacy_message *ret)
{
    struct legacy_message m = {.offset = batch_base_offset(b), .timestamp = batch_max_timestamp(b)};

    assert(!batch_is_v2(b));
    struct slice rest = slice_from(batch_bytes(b), b->magic == 0 ? V0_KEY_AT : V1_KEY_AT);
    int r = take_field(&rest, &m.key);
    if (r == 0)
        r = take_field(&rest, &m.value);
    if (r == 0)
        *ret = m;
    return r;
}

int legacy_inner_next(struct slice *rest, struct batch *ret)
{
    if (rest->len >= BATCH_OVERHEAD) {
        int32_t length = (int32_t)be32_read(rest->p + 8);

        if (length >= BATCH_MIN_LENGTH_FIELD && (size_t)length > rest->len - BATCH_OVERHEAD)
            return 0;
    }
    return batch_next(rest, ret);
}

static void add_field(struct strbuf *out, struct slice s)
{
    uint8_t n[4];

    be32_write(n, s.p ? (uint32_t)s.len : UINT32_MAX);
    strbuf_add(out, n, sizeof n);
    strbuf_add(out, s.p, s.len);
}

void legacy_message_add(const struct legacy_message *m, const struct legacy_opts *opts,
                        struct strbuf *out)
{
    size_t start = out->len, head = opts->magic == 0 ? V0_KEY_AT : V1_KEY_AT;
    size_t size = head + 8 + m->key.len + m->value.len;
    uint8_t h[V1_KEY_AT] = {0};

    assert(opts->magic == 0 || opts->magic == 1);
    be64_write(h, (uint64_t)m->offset);
    be32_write(h + 8, (uint32_t)(size - BATCH_OVERHEAD));
    h[BATCH_MAGIC_AT] = (uint8_t)opts->magic;
    h[17] = (uint8_t)opts->codec;
    if (opts->magic == 1) {
        if (opts->timestamp_type == TIMESTAMP_LOG_APPEND_TIME)
            h[17] |= BATCH_LOG_APPEND_TIME;
        be64_write(h + 18, (uint64_t)m->timestamp);
    }
    strbuf_add(out, h, head);
    add_field(out, m->key);
    add_field(out, m->value);
    if (out->full)
        return;
    batch_write_crc(&(struct batch){
        .p = (uint8_t *)out->s + start, .size = (uint32_t)size, .magic = opts->magic});
}

void legacy_builder_begin(struct legacy_builder *lb, const struct legacy_opts *opts, int level)
{
    lb->opts = *opts;
    lb->level = level;
    strbuf_reset(&lb->set);
    lb->first_offset = -1;
    lb->max_timestamp = NO_TIMESTAMP;
}

void legacy_builder_add(struct legacy_builder *lb, const struct record *rec)
{
    const struct legacy_opts opts = {lb->opts.magic, lb->opts.timestamp_type, COMPRESSION_NONE};
    struct legacy_message m = {rec->offset, rec->timestamp, rec->key, rec->value};

    if (lb->first_offset < 0)
        lb->first_offset = rec->offset;
    /* Inside a wrapper of v1 offsets count from 0, in one of v0 they are as they are. */
    if (lb->opts.codec != COMPRESSION_NONE && lb->opts.magic == 1)
        m.offset = (int64_t)((uint64_t)m.offset - (uint64_t)lb->first_offset);
    legacy_message_add(&m, &opts, &lb->set);
    lb->last_offset = rec->offset;
    lb->max_timestamp = MAX(lb->max_timestamp, rec->timestamp);
}

/* The set as the value of one message, which bears the offset of the last one inside. */
static int add_wrapper(const struct legacy_builder *lb, struct strbuf *out)
{
    CLEANUP(strbuf_deinit) struct strbuf packed = {0};
    const struct codec codec = {lb->opts.codec, lb->level, lb->opts.magic};
    int r = codec_compress(&codec, slice_of_str(strbuf_str(&lb->set)), &packed);

    if (r != 0)
        return r;
    legacy_message_add(&(struct legacy_message){.offset = lb->last_offset,
                                                .timestamp = lb->max_timestamp,
                                                .value = slice_of_str(strbuf_str(&packed))},
                       &lb->opts, out);
    return 0;
}

int legacy_builder_finish(struct legacy_builder *lb, struct strbuf *out)
{
    int r = 0;

    if (lb->set.full)
        return -EFBIG;
    if (lb->opts.codec == COMPRESSION_NONE)
        strbuf_add_str(out, strbuf_str(&lb->set));
    else if (lb->first_offset >= 0)
        r = add_wrapper(lb, out);
    strbuf_reset(&lb->set);
    if (r == 0 && out->full)
        r = -EFBIG;
    return r;
}

void legacy_builder_deinit(struct legacy_builder *lb)
{
    strbuf_deinit(&lb->set);
}
