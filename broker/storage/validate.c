/*
 * validate.c - the order of steps for an append, and what is stamped into batches that may stay as
 * they are
 */
#include "broker/storage/validate.h"

#include "broker/storage/validate_internal.h"
#include "common/base/err.h"
#include "common/record/batch_stamp.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- what the headers say (disk.md §5.1, step 3) ---- */

static void set_begin(struct batch_set *set, struct slice records)
{
    *set = (struct batch_set){
        .bytes = slice_sub(records, 0, 0),
        .first_offset = -1,
        .last_offset_of_first = -1,
        .last_offset = -1,
        .last_leader_epoch = NO_LEADER_EPOCH,
        .max_timestamp = NO_TIMESTAMP,
        .is_increasing = true,
    };
}

static void set_add(struct batch_set *set, const struct batch *b)
{
    int64_t last = batch_last_offset(b);

    if (set->batch_count == 0) {
        set->first_offset = batch_is_v2(b) ? batch_base_offset(b) : -1;
        set->last_offset_of_first = last;
    }
    if (set->last_offset >= last)
        set->is_increasing = false;
    set->last_offset = last;
    set->last_leader_epoch = batch_leader_epoch(b);
    set->max_timestamp = MAX(set->max_timestamp, batch_max_timestamp(b));
    if (batch_is_compressed(b))
        set->codec = batch_codec(b);
    set->bytes.len += b->size;
    set->batch_count++;
    set->record_count += batch_is_v2(b) ? (int64_t)batch_last_offset_delta(b) + 1 : 1;
}

int batch_set_check(struct slice records, struct batch_set *ret)
{
    struct batch b;
    int r;

    set_begin(ret, records);
    while ((r = batch_next(&records, &b)) == 1) {
        if (!batch_is_valid(&b))
            return CORRUPT_MESSAGE;
        set_add(ret, &b);
    }
    return r < 0 ? CORRUPT_MESSAGE : 0;
}

/* A coordinator of Kafka's writes messages of an old format one by one. Ours come as one batch,
 * and what counts is the size of each after the conversion. */
static bool has_size(const struct validation *v, const struct batch *b)
{
    return v->opts->origin == APPEND_CLIENT || b->magic <= v->opts->conf->record_version;
}

static int analyse_batch(struct validation *v, const struct batch *b)
{
    if (batch_is_v2(b) && v->opts->origin == APPEND_CLIENT && batch_base_offset(b) != 0) {
        v->message = "The base offset of a record batch in a produce request should be 0";
        return INVALID_RECORD;
    }
    if (has_size(v, b) && b->size > (uint32_t)MAX(v->opts->conf->max_message_bytes, 0))
        return MESSAGE_TOO_LARGE;
    if (!batch_is_valid(b))
        return CORRUPT_MESSAGE;
    if (!compression_is_known(batch_codec(b)))
        return -EPROTO;
    return 0;
}

static int analyse(struct validation *v, struct slice records)
{
    struct batch b;
    int r;

    set_begin(&v->set, records);
    while ((r = batch_next(&records, &b)) == 1) {
        if ((r = analyse_batch(v, &b)) != 0)
            return r;
        if (v->set.batch_count == 0)
            v->first = b;
        set_add(&v->set, &b);
    }
    return r < 0 ? CORRUPT_MESSAGE : 0;
}

/* ---- batch level (§5.2) ---- */

static int refuse(struct validation *v, const char *fmt, ...) PRINTF_LIKE(2, 3);

static int refuse(struct validation *v, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    v->message = arena_printf(v->arena, "%s in topic partition %s-%" PRId32, text, v->opts->topic,
                              v->opts->partition)
                     .p;
    return INVALID_RECORD;
}

static int check_count(struct validation *v, const struct batch *b)
{
    int64_t spanned = (int64_t)batch_last_offset_delta(b) + 1;

    if (spanned <= 0)
        return refuse(v, "Batch has an invalid offset range: [%" PRId64 ", %" PRId64 "]",
                      batch_base_offset(b), batch_last_offset(b));
    if (batch_count(b) <= 0)
        return refuse(v, "Invalid reported count for record batch: %" PRId32, batch_count(b));
    if (batch_count(b) != spanned)
        return refuse(v,
                      "Inconsistent batch offset range [%" PRId64 ", %" PRId64
                      "] and count of records %" PRId32,
                      batch_base_offset(b), batch_last_offset(b), batch_count(b));
    return 0;
}

static int check_clients(struct validation *v, const struct batch *b)
{
    int r = batch_is_v2(b) ? check_count(v, b) : 0;

    if (r != 0)
        return r;
    if (batch_is_control(b))
        return refuse(v, "Clients are not allowed to write control records");
    if (batch_has_producer_id(b) && batch_base_sequence(b) < 0)
        return refuse(
            v, "Invalid sequence number %" PRId32 " in record batch with producerId %" PRId64,
            batch_base_sequence(b), batch_producer_id(b));
    return 0;
}

static int check_batch(struct validation *v, const struct batch *b)
{
    if (b->magic != v->first.magic)
        return refuse(v, "Batch magic %d is not the same as the first batch's magic byte %d",
                      b->magic, v->first.magic);
    int r = v->opts->origin == APPEND_CLIENT ? check_clients(v, b) : 0;
    if (r != 0 || v->opts->conf->record_version == 2)
        return r;
    /* Old formats have no place for a producer. */
    return batch_has_producer_id(b) || batch_is_transactional(b) ? UNSUPPORTED_FOR_MESSAGE_FORMAT
                                                                 : 0;
}

/* v2, and whatever is compressed, comes as one batch. */
static int check_single(struct validation *v)
{
    if (v->set.batch_count > 1 && (batch_is_v2(&v->first) || v->set.codec != COMPRESSION_NONE)) {
        v->message = "Compressed outer record has more than one batch";
        return INVALID_RECORD;
    }
    return 0;
}

static int check_all(struct validation *v)
{
    struct slice rest = v->set.bytes;
    struct batch b;
    int r = check_single(v);

    while (r == 0 && batch_next(&rest, &b) == 1) {
        r = check_batch(v, &b);
        if (r == 0)
            r = validate_batch_records(v, &b);
    }
    return r;
}

/* ---- assignment ---- */

static bool can_stay(const struct validation *v)
{
    if (v->first.magic != v->opts->conf->record_version)
        return false;
    if (batch_is_control(&v->first) && v->set.codec == COMPRESSION_NONE)
        return true;
    if (v->set.codec != v->target)
        return false;
    /* In a wrapper of v0 the offsets inside are those of the log. */
    return v->set.codec == COMPRESSION_NONE || (v->is_dense && v->first.magic > 0);
}

static void stamp_batch(const struct validation *v, const struct batch *b, int64_t last_offset,
                        int64_t max_timestamp)
{
    const struct validate_opts *o = v->opts;
    bool is_append_time = o->conf->timestamp_type == TIMESTAMP_LOG_APPEND_TIME;

    batch_set_last_offset(b, last_offset);
    if (batch_is_v2(b))
        batch_set_leader_epoch(b, o->leader_epoch);
    if (b->magic > 0)
        batch_set_max_timestamp(b, o->conf->timestamp_type,
                                is_append_time ? o->now_ms : max_timestamp);
}

static void stamp(const struct validation *v)
{
    struct slice rest = v->set.bytes;
    int64_t offset = v->opts->first_offset;
    struct batch b;

    if (v->set.batch_count == 1) {
        stamp_batch(v, &v->first, offset + v->record_count - 1, v->max_timestamp);
        return;
    }
    /* Many are messages of an old format, each with a timestamp of its own. */
    while (batch_next(&rest, &b) == 1)
        stamp_batch(v, &b, offset++, MAX(batch_max_timestamp(&b), NO_TIMESTAMP));
}

/* The set as it will be written. The headers of an old format do not tell where it begins. */
static void describe(const struct validation *v, struct batch_set *set, struct slice bytes)
{
    struct slice rest = bytes;
    struct batch b;

    set_begin(set, bytes);
    while (batch_next(&rest, &b) == 1)
        set_add(set, &b);
    set->first_offset = v->opts->first_offset;
    set->record_count = v->record_count;
}

static int assign(struct validation *v, struct batch_set *ret)
{
    struct slice bytes = v->set.bytes;
    int r = 0;

    if (can_stay(v))
        stamp(v);
    else
        r = validate_rebuild(v, &bytes);
    if (r == 0)
        describe(v, ret, bytes);
    return r;
}

static struct validation validation_of(const struct validate_opts *opts, struct arena *a)
{
    const struct topic_conf *c = opts->conf;

    return (struct validation){
        .opts = opts,
        .arena = a,
        .needs_keys = c->cleanup_policy & CLEANUP_COMPACT,
        .has_limits =
            c->timestamp_before_max_ms != INT64_MAX || c->timestamp_after_max_ms != INT64_MAX,
        .max_timestamp = NO_TIMESTAMP,
        .is_dense = true,
    };
}

int validate_leader(struct slice records, const struct validate_opts *opts, struct arena *a,
                    struct validated *ret)
{
    struct validation v = validation_of(opts, a);
    struct validated out = {.append_time_ms = -1};
    int r = analyse(&v, records);

    out.set = v.set;
    if (r == 0 && v.set.batch_count > 0) {
        v.target =
            opts->conf->compression == COMPRESSION_PRODUCER ? v.set.codec : opts->conf->compression;
        r = v.target == COMPRESSION_ZSTD && !opts->conf->allows_zstd ? UNSUPPORTED_COMPRESSION_TYPE
                                                                     : check_all(&v);
        if (r == 0)
            r = assign(&v, &out.set);
    }
    if (r == 0 && opts->conf->timestamp_type == TIMESTAMP_LOG_APPEND_TIME)
        out.append_time_ms = opts->now_ms;
    if (r != 0) {
        out.record_errors = v.is_told ? v.errors : NULL;
        out.record_error_count = v.is_told ? v.error_count : 0;
        out.error_message = v.message;
    }
    *ret = out;
    return r;
}
