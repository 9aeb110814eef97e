/*
 * down_convert.c - newer batches for clients that know only older formats
 *
 * Headers, producers and control batches have no place in v0 and v1 and are left out; timestamps
 * have none in v0.
 */
#include "common/base/err.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"

struct converter {
    const struct down_convert_opts *opts;
    const struct batch *batch;
    struct legacy_opts message;
    struct strbuf set;    /* messages, before they go into a wrapper */
    int64_t first_offset; /* of the messages, -1: none yet */
    int64_t last_offset;
    int64_t max_timestamp;
};

static void converter_deinit(struct converter *c)
{
    strbuf_deinit(&c->set);
}

static void convert_record(struct converter *c, const struct record *rec)
{
    bool is_packed = batch_is_compressed(c->batch);
    struct legacy_message m = {
        .offset = rec->offset, .timestamp = rec->timestamp, .key = rec->key, .value = rec->value};

    if (!is_packed && rec->offset < c->opts->first_offset)
        return;
    if (c->first_offset < 0)
        c->first_offset = rec->offset;
    if (is_packed && c->opts->magic == 1)
        m.offset = (int64_t)((uint64_t)m.offset - (uint64_t)c->first_offset);
    legacy_message_add(&m, &c->message, &c->set);
    c->last_offset = rec->offset;
    c->max_timestamp = MAX(c->max_timestamp, rec->timestamp);
}

/* The set as the value of one message, which bears the offset of the last one inside. */
static int add_wrapper(struct converter *c, struct strbuf *out)
{
    CLEANUP(strbuf_deinit) struct strbuf packed = {0};
    const struct codec codec = {.codec = batch_codec(c->batch),
                                .level = COMPRESSION_LEVEL_DEFAULT,
                                .magic = c->opts->magic};
    struct legacy_opts opts = c->message;
    int r = codec_compress(&codec, slice_of_str(strbuf_str(&c->set)), &packed);

    if (r != 0)
        return r;
    opts.codec = codec.codec;
    legacy_message_add(&(struct legacy_message){.offset = c->last_offset,
                                                .timestamp = c->max_timestamp,
                                                .value = slice_of_str(strbuf_str(&packed))},
                       &opts, out);
    return 0;
}

static int convert(struct converter *c, struct strbuf *out)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, c->batch, c->opts->max_unpacked);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        convert_record(c, &rec);
        r = 0;
    }
    if (r != 0 || c->first_offset < 0)
        return r;
    if (batch_is_compressed(c->batch))
        return add_wrapper(c, out);
    strbuf_add_str(out, strbuf_str(&c->set));
    return 0;
}

int down_convert_batch(const struct batch *b, const struct down_convert_opts *opts,
                       struct strbuf *out)
{
    CLEANUP(converter_deinit)
    struct converter c = {
        .opts = opts,
        .batch = b,
        .message = {.magic = opts->magic, .timestamp_type = batch_timestamp_type(b)},
        .first_offset = -1,
        .max_timestamp = NO_TIMESTAMP,
    };

    if (batch_is_control(b))
        return 0;
    if (batch_codec(b) == COMPRESSION_ZSTD)
        return UNSUPPORTED_COMPRESSION_TYPE;
    if (b->magic <= opts->magic) {
        strbuf_add(out, b->p, b->size);
        return 0;
    }
    return convert(&c, out);
}

/* n bytes of an entry that claims to be longer. */
static void add_filler(struct strbuf *out, size_t n)
{
    uint8_t head[BATCH_OVERHEAD];

    be64_write(head, UINT64_MAX);
    be32_write(head + 8, (uint32_t)MAX(n + 1, (size_t)BATCH_V2_HEADER));
    strbuf_add(out, head, MIN(n, sizeof head));
    if (n <= sizeof head)
        return;
    void *rest = strbuf_room(out, n - sizeof head);
    if (!rest)
        return;
    memset(rest, 0, n - sizeof head);
    strbuf_grew(out, n - sizeof head);
}

int down_convert(struct slice bytes, const struct down_convert_opts *opts, struct strbuf *out)
{
    size_t start = out->len, total = bytes.len;
    struct slice rest = bytes;
    struct batch b;
    bool has_batch = false;

    while (out->len - start < total && batch_next(&rest, &b) == 1) {
        bool is_first = out->len == start;
        int r = down_convert_batch(&b, opts, out);

        has_batch = true;
        if (r != 0 && is_first)
            return r;
        if (r != 0)
            break;
        if (is_first)
            total = MAX(total, out->len - start);
    }
    if (!has_batch)
        return 0;
    if (out->len == start)
        total = BATCH_OVERHEAD;
    if (out->len - start < total)
        add_filler(out, total - (out->len - start));
    else
        strbuf_cut(out, start + total);
    return 0;
}
