/*
 * down_convert.c - newer batches for clients that know only older formats
 *
 * Headers, producers and control batches have no place in v0 and v1 and are left out; timestamps
 * have none in v0.
 */
#include "common/base/err.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"

static int convert(const struct batch *b, const struct down_convert_opts *opts, struct strbuf *out)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    CLEANUP(legacy_builder_deinit) struct legacy_builder lb = {0};
    struct record rec;
    int r = record_iter_init(&it, b, opts->max_unpacked);

    legacy_builder_begin(
        &lb, &(struct legacy_opts){opts->magic, batch_timestamp_type(b), batch_codec(b)},
        COMPRESSION_LEVEL_DEFAULT);
    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        if (batch_is_compressed(b) || rec.offset >= opts->first_offset)
            legacy_builder_add(&lb, &rec);
        r = 0;
    }
    return r != 0 ? r : legacy_builder_finish(&lb, out);
}

int down_convert_batch(const struct batch *b, const struct down_convert_opts *opts,
                       struct strbuf *out)
{
    if (batch_is_control(b))
        return 0;
    if (batch_codec(b) == COMPRESSION_ZSTD)
        return UNSUPPORTED_COMPRESSION_TYPE;
    if (b->magic <= opts->magic) {
        strbuf_add(out, b->p, b->size);
        return 0;
    }
    return convert(b, opts, out);
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
