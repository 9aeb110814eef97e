/*
 * record_iter.c - unpacks a batch of any magic and walks what is inside
 */
#include "common/record/record_iter.h"

#include "common/base/err.h"
#include "common/record/legacy.h"

void record_iter_deinit(struct record_iter *it)
{
    strbuf_deinit(&it->unpacked);
}

static struct slice unpacked(const struct record_iter *it)
{
    return slice_of_str(strbuf_str(&it->unpacked));
}

static int unpack(struct record_iter *it, struct slice packed, size_t max_bytes)
{
    const struct codec c = {.codec = batch_codec(&it->batch), .magic = it->batch.magic};
    int r = codec_decompress(&c, packed, max_bytes, &it->unpacked);

    if (r == 0)
        it->rest = unpacked(it);
    return r == -EBADMSG ? -EPROTO : r;
}

/*
 * Inner offsets of a v1 wrapper count from 0, and the wrapper has the absolute offset of the last
 * one. Some old clients leave the wrapper at 0: then the inner offsets are taken as they are.
 */
static int find_inner_base(struct record_iter *it)
{
    struct slice rest = it->rest;
    struct batch inner;
    int64_t last_inner = -1;
    int r;

    while ((r = legacy_inner_next(&rest, &inner)) == 1) {
        if (inner.magic != it->batch.magic)
            return -EBADMSG;
        last_inner = batch_base_offset(&inner);
    }
    if (r < 0)
        return r;
    if (it->rest.len == rest.len)
        return -EBADMSG; /* a wrapper of nothing */
    int64_t wrapper = batch_base_offset(&it->batch);
    if (it->batch.magic == 0 || wrapper == 0)
        return 0;
    if (wrapper < last_inner)
        return -EBADMSG;
    it->inner_base = (int64_t)((uint64_t)wrapper - (uint64_t)last_inner);
    return 0;
}

static int init_wrapper(struct record_iter *it, size_t max_bytes)
{
    struct legacy_message m;
    int r = legacy_message_parse(&it->batch, &m);

    if (r < 0)
        return r;
    if (!m.value.p || batch_codec(&it->batch) == COMPRESSION_ZSTD)
        return -EBADMSG;
    it->is_wrapper = true;
    r = unpack(it, m.value, max_bytes);
    return r != 0 ? r : find_inner_base(it);
}

int record_iter_init(struct record_iter *it, const struct batch *b, size_t max_bytes)
{
    it->batch = *b;
    if (!compression_is_known(batch_codec(b)))
        return UNSUPPORTED_COMPRESSION_TYPE;
    if (!batch_is_v2(b))
        return batch_is_compressed(b) ? init_wrapper(it, max_bytes) : 0;
    it->left = batch_count(b);
    if (it->left < 0)
        return -EBADMSG;
    it->rest = batch_payload(b);
    return batch_is_compressed(b) ? unpack(it, it->rest, max_bytes) : 0;
}

static void from_legacy(const struct legacy_message *m, const struct batch *b, struct record *ret)
{
    *ret = (struct record){
        .offset = m->offset,
        .timestamp = m->timestamp,
        .key = m->key,
        .value = m->value,
        .size = b->size,
    };
}

/* 0 where the set ends, in a torn message too: what stood before it counts. */
static int next_inner(struct record_iter *it, struct record *ret)
{
    struct legacy_message m;
    struct batch inner;
    int r = legacy_inner_next(&it->rest, &inner);

    if (r != 1)
        return r;
    it->inner = inner;
    if (batch_is_compressed(&inner))
        return -EBADMSG;
    r = legacy_message_parse(&inner, &m);
    if (r < 0)
        return r;
    from_legacy(&m, &inner, ret);
    ret->offset = (int64_t)((uint64_t)ret->offset + (uint64_t)it->inner_base);
    if (batch_timestamp_type(&it->batch) == TIMESTAMP_LOG_APPEND_TIME)
        ret->timestamp = batch_max_timestamp(&it->batch);
    return 1;
}

static int next_legacy(struct record_iter *it, struct record *ret)
{
    struct legacy_message m;

    if (it->is_wrapper)
        return next_inner(it, ret);
    if (it->is_done)
        return 0;
    int r = legacy_message_parse(&it->batch, &m);
    if (r < 0)
        return r;
    from_legacy(&m, &it->batch, ret);
    it->is_done = true;
    return 1;
}

int record_iter_next(struct record_iter *it, struct record *ret)
{
    if (!batch_is_v2(&it->batch))
        return next_legacy(it, ret);
    if (it->left == 0)
        return it->rest.len == 0 ? 0 : -EBADMSG;
    int r = record_next(&it->rest, ret);
    if (r < 0)
        return r;
    it->left--;
    ret->offset = record_offset(&it->batch, ret);
    ret->timestamp = record_timestamp(&it->batch, ret);
    return 1;
}

int batch_first_offset(const struct batch *b, int64_t *ret)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;

    if (batch_is_v2(b) || !batch_is_compressed(b)) {
        *ret = batch_base_offset(b);
        return 0;
    }
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);
    if (r == 0)
        r = record_iter_next(&it, &rec);
    if (r != 1)
        return r < 0 ? r : -EBADMSG;
    *ret = rec.offset;
    return 0;
}
