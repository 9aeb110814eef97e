/*
 * validate_rebuild.c - old formats to v2, and another codec where the topic asks for one
 */
#include "broker/storage/validate_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "common/record/record_iter.h"

static int level_of(const struct topic_conf *c, enum compression codec)
{
    switch (codec) {
    case COMPRESSION_GZIP:
        return c->compression_gzip_level;
    case COMPRESSION_LZ4:
        return c->compression_lz4_level;
    case COMPRESSION_ZSTD:
        return c->compression_zstd_level;
    default:
        return COMPRESSION_LEVEL_DEFAULT;
    }
}

static struct batch_opts new_header(const struct validation *v)
{
    return (struct batch_opts){
        .base_offset = v->opts->first_offset,
        .last_offset = -1,
        .leader_epoch = v->opts->leader_epoch,
        .timestamp_type = v->opts->conf->timestamp_type,
        .append_time_ms = v->opts->now_ms,
        .delete_horizon_ms = -1,
        .producer_id = batch_producer_id(&v->first),
        .producer_epoch = batch_producer_epoch(&v->first),
        .base_sequence = batch_base_sequence(&v->first),
        .is_transactional = batch_is_transactional(&v->first),
        .codec = v->target,
        .level = level_of(v->opts->conf, v->target),
    };
}

/* What Kafka's builder does not write, with an error of its own, though it may stand in batches
 * that stay. */
static bool can_be_written(const struct batch_opts *opts)
{
    if (opts->producer_id == NO_PRODUCER_ID)
        return !opts->is_transactional;
    return opts->base_sequence >= 0;
}

static int add_records(const struct validation *v, const struct batch *b, struct batch_builder *bb)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, validation_unpack_max(v));

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        if (rec.timestamp < NO_TIMESTAMP)
            return -EPROTO;
        rec.offset = bb->opts.base_offset + bb->count;
        batch_builder_add(bb, &rec);
        r = 0;
    }
    return r;
}

int validate_rebuild(struct validation *v, struct slice *ret)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct batch_opts opts = new_header(v);
    struct slice rest = v->set.bytes;
    struct batch b;
    int r = can_be_written(&opts) ? 0 : -EPROTO;

    batch_builder_init(&bb, &opts);
    while (r == 0 && batch_next(&rest, &b) == 1)
        r = add_records(v, &b, &bb);
    if (r == 0)
        r = batch_builder_finish(&bb, &out);
    if (r != 0)
        return r == -EFBIG ? MESSAGE_TOO_LARGE : r;
    if (out.len > (size_t)v->opts->conf->max_message_bytes)
        return MESSAGE_TOO_LARGE;
    size_t len = out.len;
    char *bytes = strbuf_detach(&out);
    arena_hold(v->arena, bytes, free);
    *ret = slice_of(bytes, len);
    return 0;
}
