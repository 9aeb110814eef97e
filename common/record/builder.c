/*
 * builder.c - encodes records, and puts header and checksum around them
 */
#include "common/record/builder.h"

#include "common/record/batch_stamp.h"

#include <errno.h>

enum { MARKER_KEY_SIZE = 4, MARKER_VALUE_SIZE = 6 };

void batch_builder_init(struct batch_builder *bb, const struct batch_opts *opts)
{
    *bb = (struct batch_builder){
        .opts = *opts,
        .base_timestamp = opts->delete_horizon_ms >= 0 ? opts->delete_horizon_ms : NO_TIMESTAMP,
        .max_timestamp = NO_TIMESTAMP,
        .last_offset = opts->base_offset - 1,
    };
}

void batch_builder_deinit(struct batch_builder *bb)
{
    strbuf_deinit(&bb->records);
}

static uint8_t *put_varint(uint8_t *p, int64_t v)
{
    return p + varint_write_u(p, zigzag(v));
}

static uint8_t *put_bytes(uint8_t *p, struct slice s)
{
    p = put_varint(p, s.p ? (int64_t)s.len : -1);
    if (s.len)
        memcpy(p, s.p, s.len);
    return p + s.len;
}

static size_t bytes_size(struct slice s)
{
    return varint_size_u(zigzag(s.p ? (int64_t)s.len : -1)) + s.len;
}

void batch_builder_add(struct batch_builder *bb, const struct record *rec)
{
    if (bb->count == 0 && bb->opts.delete_horizon_ms < 0)
        bb->base_timestamp = rec->timestamp;
    int64_t timestamp_delta = (int64_t)((uint64_t)rec->timestamp - (uint64_t)bb->base_timestamp);
    int64_t offset_delta = rec->offset - bb->opts.base_offset;
    size_t body = 1 + varint_size_u(zigzag(timestamp_delta)) + varint_size_u(zigzag(offset_delta)) +
                  bytes_size(rec->key) + bytes_size(rec->value) +
                  varint_size_u(zigzag(rec->header_count)) + rec->headers.len;

    assert(rec->offset > bb->last_offset && offset_delta <= INT32_MAX && body <= INT32_MAX);
    uint8_t *p = strbuf_room(&bb->records, VARINT_MAX_BYTES + body), *start = p;
    p = put_varint(p, (int64_t)body);
    *p++ = 0;
    p = put_varint(p, timestamp_delta);
    p = put_varint(p, offset_delta);
    p = put_bytes(p, rec->key);
    p = put_bytes(p, rec->value);
    p = put_varint(p, rec->header_count);
    if (rec->headers.len)
        memcpy(p, rec->headers.p, rec->headers.len);
    p += rec->headers.len;
    strbuf_grew(&bb->records, (size_t)(p - start));
    bb->last_offset = rec->offset;
    bb->max_timestamp = MAX(bb->max_timestamp, rec->timestamp);
    bb->count++;
}

size_t batch_builder_size(const struct batch_builder *bb)
{
    return BATCH_V2_HEADER + bb->records.len;
}

static uint16_t attributes(const struct batch_builder *bb)
{
    const struct batch_opts *o = &bb->opts;
    unsigned a = bb->count ? (unsigned)o->codec : 0;

    if (o->timestamp_type == TIMESTAMP_LOG_APPEND_TIME)
        a |= BATCH_LOG_APPEND_TIME;
    if (o->is_transactional)
        a |= BATCH_TRANSACTIONAL;
    if (o->is_control)
        a |= BATCH_CONTROL;
    if (o->delete_horizon_ms >= 0)
        a |= BATCH_DELETE_HORIZON;
    return (uint16_t)a;
}

static void write_header(const struct batch_builder *bb, uint8_t *p, size_t size)
{
    const struct batch_opts *o = &bb->opts;
    int64_t last = o->last_offset >= 0 ? o->last_offset : bb->last_offset;
    int64_t max_timestamp =
        o->timestamp_type == TIMESTAMP_LOG_APPEND_TIME ? o->append_time_ms : bb->max_timestamp;

    be64_write(p, (uint64_t)o->base_offset);
    be32_write(p + 8, (uint32_t)(size - BATCH_OVERHEAD));
    be32_write(p + 12, (uint32_t)o->leader_epoch);
    p[BATCH_MAGIC_AT] = 2;
    be16_write(p + 21, attributes(bb));
    be32_write(p + 23, (uint32_t)(last - o->base_offset));
    be64_write(p + 27, (uint64_t)bb->base_timestamp);
    be64_write(p + 35, (uint64_t)max_timestamp);
    be64_write(p + 43, (uint64_t)o->producer_id);
    be16_write(p + 51, (uint16_t)o->producer_epoch);
    be32_write(p + 53, (uint32_t)o->base_sequence);
    be32_write(p + 57, (uint32_t)bb->count);
    batch_write_crc(&(struct batch){.p = p, .size = (uint32_t)size, .magic = 2});
}

int batch_builder_finish(struct batch_builder *bb, struct strbuf *out)
{
    const struct codec c = {.codec = bb->count ? bb->opts.codec : COMPRESSION_NONE,
                            .level = bb->opts.level,
                            .magic = 2};
    const struct batch_opts opts = bb->opts;
    size_t start = out->len;
    void *header = strbuf_room(out, BATCH_V2_HEADER);

    if (!header)
        return -EFBIG;
    memset(header, 0, BATCH_V2_HEADER);
    strbuf_grew(out, BATCH_V2_HEADER);
    int r = codec_compress(&c, slice_of_str(strbuf_str(&bb->records)), out);
    size_t size = out->len - start;
    if (r == 0 && size > BATCH_SIZE_MAX)
        r = -EFBIG;
    if (r != 0)
        return r;
    write_header(bb, (uint8_t *)out->s + start, size);
    batch_builder_deinit(bb);
    batch_builder_init(bb, &opts);
    return 0;
}

void record_header_add(struct strbuf *headers, struct str key, struct slice value)
{
    size_t size = bytes_size(slice_of_str(key)) + bytes_size(value);
    uint8_t *p = strbuf_room(headers, size);

    if (!p)
        return;
    p = put_bytes(p, slice_of_str(key));
    put_bytes(p, value);
    strbuf_grew(headers, size);
}

void txn_marker_build(const struct txn_marker *m, struct strbuf *out)
{
    const struct batch_opts opts = {
        .base_offset = m->offset,
        .last_offset = -1,
        .leader_epoch = m->leader_epoch,
        .delete_horizon_ms = -1,
        .producer_id = m->producer_id,
        .producer_epoch = m->producer_epoch,
        .base_sequence = NO_SEQUENCE,
        .is_transactional = true,
        .is_control = true,
    };
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    uint8_t key[MARKER_KEY_SIZE] = {0}, value[MARKER_VALUE_SIZE] = {0};

    be16_write(key + 2, m->is_commit ? CONTROL_COMMIT : CONTROL_ABORT);
    be32_write(value + 2, (uint32_t)m->coordinator_epoch);
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = m->offset,
                                            .timestamp = m->timestamp,
                                            .key = slice_of(key, sizeof key),
                                            .value = slice_of(value, sizeof value)});
    int r = batch_builder_finish(&bb, out);
    assert(r == 0 || out->full);
}
