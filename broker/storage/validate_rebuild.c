/*
 * validate_rebuild.c - another format or another codec, where the topic asks for one
 */
#include "broker/storage/validate_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "common/record/legacy.h"
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

/* What records are added to, in one of both formats. */
struct target {
    struct batch_builder *v2;
    struct legacy_builder *old; /* NULL: v2 */
    int64_t next_offset;
};

/* There is no place for headers in old formats. */
static int add_record(const struct validation *v, struct target *to, struct record *rec)
{
    const struct validate_opts *o = v->opts;

    if (rec->timestamp < NO_TIMESTAMP || (to->old && rec->header_count > 0))
        return -EPROTO;
    rec->offset = to->next_offset++;
    if (!to->old) {
        batch_builder_add(to->v2, rec);
        return 0;
    }
    if (o->conf->timestamp_type == TIMESTAMP_LOG_APPEND_TIME)
        rec->timestamp = o->now_ms;
    legacy_builder_add(to->old, rec);
    return 0;
}

static int add_batch(const struct validation *v, const struct batch *b, struct target *to)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, validation_unpack_max(v));

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1)
        r = add_record(v, to, &rec);
    return r;
}

static int add_batches(const struct validation *v, struct target *to)
{
    struct slice rest = v->set.bytes;
    struct batch b;
    int r = 0;

    while (r == 0 && batch_next(&rest, &b) == 1)
        r = add_batch(v, &b, to);
    return r;
}

static int build_new(const struct validation *v, struct strbuf *out)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    const struct batch_opts opts = new_header(v);
    int r = can_be_written(&opts) ? 0 : -EPROTO;

    batch_builder_init(&bb, &opts);
    if (r == 0)
        r = add_batches(v, &(struct target){.v2 = &bb, .next_offset = opts.base_offset});
    return r == 0 ? batch_builder_finish(&bb, out) : r;
}

static int build_old(const struct validation *v, struct strbuf *out)
{
    CLEANUP(legacy_builder_deinit) struct legacy_builder lb = {0};
    const struct topic_conf *c = v->opts->conf;
    const struct legacy_opts opts = {c->record_version, c->timestamp_type, v->target};

    /* An id below -1 counts as none where a batch is checked. */
    if (v->target == COMPRESSION_ZSTD || batch_producer_id(&v->first) != NO_PRODUCER_ID)
        return -EPROTO;
    legacy_builder_begin(&lb, &opts, level_of(c, v->target));
    /* A record of 7 bytes is a message of 34: a bomb that may be unpacked would still grow. */
    lb.set.max = MAX(validation_unpack_max(v), 2 * v->set.bytes.len);
    int r = add_batches(v, &(struct target){.old = &lb, .next_offset = v->opts->first_offset});
    return r == 0 ? legacy_builder_finish(&lb, out) : r;
}

static bool fits(const struct validation *v, struct slice set)
{
    struct batch b;

    while (batch_next(&set, &b) == 1)
        if (b.size > (uint32_t)MAX(v->opts->conf->max_message_bytes, 0))
            return false;
    return true;
}

int validate_rebuild(struct validation *v, struct slice *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    int r = v->opts->conf->record_version == 2 ? build_new(v, &out) : build_old(v, &out);

    if (r == 0 && !fits(v, slice_of_str(strbuf_str(&out))))
        r = MESSAGE_TOO_LARGE;
    if (r != 0)
        return r == -EFBIG ? MESSAGE_TOO_LARGE : r;
    size_t len = out.len;
    char *bytes = strbuf_detach(&out);
    arena_hold(v->arena, bytes, free);
    *ret = slice_of(bytes, len);
    return 0;
}
