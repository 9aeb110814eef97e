/*
 * validate_records.c - the checks of each record (disk.md §5.2)
 *
 * This is the one loop of a produce request that runs per record: plain v2 records are walked where
 * they lie, compressed ones are scanned block by block, and only v0 and v1 wrappers are unpacked
 * whole.
 */
#include "broker/storage/validate_internal.h"
#include "common/base/err.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"
#include "common/record/record_scan.h"

#include <inttypes.h>

size_t validation_unpack_max(const struct validation *v)
{
    enum { FLOOR = 64 << 20, FACTOR = 64 };
    size_t by_setting = (size_t)v->opts->conf->max_message_bytes * FACTOR;

    return MIN(MAX((size_t)FLOOR, by_setting), (size_t)RECORD_UNPACK_MAX);
}

/* ---- what the client is told ---- */

static void add_error(struct validation *v, struct str message)
{
    v->bad_count++;
    if (v->error_count == RECORD_ERRORS_LISTED_MAX)
        return;
    if (v->error_count == v->error_cap) {
        int32_t cap = v->error_cap ? 4 * v->error_cap : 4;
        struct record_error *more = arena_array(v->arena, (size_t)cap, sizeof *more);

        if (v->error_count)
            memcpy(more, v->errors, (size_t)v->error_count * sizeof *more);
        v->errors = more;
        v->error_cap = cap;
    }
    v->errors[v->error_count++] =
        (struct record_error){(int32_t)(v->record_count - v->batch_begin), message.p};
}

static void key_is_missing(struct validation *v)
{
    add_error(
        v, arena_printf(
               v->arena,
               "Compacted topic cannot accept message without key in topic partition %s-%" PRId32,
               v->opts->topic, v->opts->partition));
}

/* As Java computes, past the ends of the range too. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void timestamp_is_out_of_range(struct validation *v, const struct record *rec)
{
    const struct topic_conf *c = v->opts->conf;
    int64_t now = v->opts->now_ms;

    v->has_bad_timestamp = true;
    add_error(v, arena_printf(v->arena,
                              "Timestamp %" PRId64 " of message with offset %" PRId64
                              " is out of range. The timestamp should be within [%" PRId64
                              ", %" PRId64 "]",
                              rec->timestamp, rec->offset, minus(now, c->timestamp_before_max_ms),
                              minus(now, minus(0, c->timestamp_after_max_ms))));
}

static void timestamp_type_is_wrong(struct validation *v, const struct record *rec)
{
    v->has_bad_timestamp = true;
    add_error(v, arena_printf(v->arena,
                              "Invalid timestamp type in message with offset %" PRId64
                              ". Producer should not set timestamp type to LogAppendTime.",
                              rec->offset));
}

static int answer_errors(struct validation *v)
{
    CLEANUP(strbuf_deinit) struct strbuf list = {0};

    if (v->bad_count == 0)
        return 0;
    v->is_told = true;
    if (v->has_bad_timestamp) {
        v->message = "One or more records have been rejected due to invalid timestamp";
        return INVALID_TIMESTAMP;
    }
    for (int32_t i = 0; i < MIN(v->error_count, 3); i++)
        strbuf_addf(&list, "%sRecordError(batchIndex=%" PRId32 ", message='%s')", i ? ", " : "",
                    v->errors[i].batch_index, v->errors[i].message);
    v->message = arena_printf(v->arena,
                              "One or more records have been rejected due to %" PRId32
                              " record errors in total, and only showing the first three errors at "
                              "most: [%s]",
                              v->bad_count, list.s)
                     .p;
    return INVALID_RECORD;
}

/* ---- the checks ---- */

static bool is_out_of_range(const struct validation *v, int64_t timestamp)
{
    int64_t age = minus(v->opts->now_ms, timestamp);

    return age > v->opts->conf->timestamp_before_max_ms ||
           minus(0, age) > v->opts->conf->timestamp_after_max_ms;
}

/* rec has its timestamp and offset. */
static inline void check_record(struct validation *v, const struct batch *b,
                                const struct record *rec)
{
    int32_t bad_before = v->bad_count;

    if (v->needs_keys && !rec->key.p)
        key_is_missing(v);
    else if (v->opts->conf->timestamp_type == TIMESTAMP_CREATE_TIME &&
             rec->timestamp != NO_TIMESTAMP) {
        if (v->has_limits && is_out_of_range(v, rec->timestamp))
            timestamp_is_out_of_range(v, rec);
    } else if (batch_timestamp_type(b) == TIMESTAMP_LOG_APPEND_TIME) {
        timestamp_type_is_wrong(v, rec);
    }
    if (v->bad_count == bad_before && rec->timestamp > v->max_timestamp)
        v->max_timestamp = rec->timestamp;
    v->record_count++;
}

static int malformed(struct validation *v, const char *why)
{
    v->message = why;
    return INVALID_RECORD;
}

/* Whether the whole batch passes without a look at single records: nearly always. */
static bool all_pass(const struct validation *v, const struct batch *b, const struct record_walk *w)
{
    if (batch_timestamp_type(b) == TIMESTAMP_LOG_APPEND_TIME || (v->needs_keys && w->null_keys > 0))
        return false;
    return v->opts->conf->timestamp_type == TIMESTAMP_LOG_APPEND_TIME || !v->has_limits ||
           (!is_out_of_range(v, w->min_timestamp) && !is_out_of_range(v, w->max_timestamp));
}

/* One by one, to name those that are bad. Their structure is right. */
static void check_each(struct validation *v, const struct batch *b)
{
    struct slice rest = batch_payload(b);

    for (int32_t left = batch_count(b); left > 0; left--) {
        struct record rec;

        if (record_next(&rest, &rec) < 0)
            break;
        rec.offset = record_offset(b, &rec);
        rec.timestamp = record_timestamp(b, &rec);
        check_record(v, b, &rec);
    }
}

static int check_plain(struct validation *v, const struct batch *b)
{
    struct record_walk w;
    int r = record_walk(b, &w);

    if (r == -E2BIG)
        return malformed(v, "Incorrect declared batch size, records still remaining in file");
    if (r < 0)
        return malformed(v, "Found invalid record structure");
    if (!all_pass(v, b, &w)) {
        check_each(v, b);
        return 0;
    }
    v->record_count += MAX(batch_count(b), 0);
    v->max_timestamp = MAX(v->max_timestamp, w.max_timestamp);
    return 0;
}

static int check_packed(struct validation *v, const struct batch *b)
{
    CLEANUP(record_scan_deinit) struct record_scan scan = {0};
    int r = record_scan_init(&scan, b);

    for (int32_t i = 0; i < batch_count(b) && r == 0; i++) {
        struct record rec;

        r = record_scan_next(&scan, &rec);
        if (r < 0)
            break;
        if (rec.offset != v->record_count)
            v->is_dense = false;
        check_record(v, b, &rec);
    }
    if (r == -EBADMSG)
        return malformed(v, "Found invalid record structure");
    if (r < 0)
        return r;
    r = record_scan_at_end(&scan);
    if (r == 0)
        return malformed(v, "Incorrect declared batch size, records still remaining in file");
    return r == 1 ? 0 : r;
}

/* Whether the messages of a wrapper are framed, as far as it could be unpacked. */
static bool is_framed(const struct record_iter *it)
{
    struct slice rest = slice_of_str(strbuf_str(&it->unpacked));
    struct batch inner;
    int r;

    while ((r = legacy_inner_next(&rest, &inner)) == 1)
        ;
    return r == 0;
}

static int wrapper_fault(struct validation *v, const struct record_iter *it, int r)
{
    if (r == -EFBIG)
        return MESSAGE_TOO_LARGE;
    if (!is_framed(it))
        return CORRUPT_MESSAGE;
    return r == -EBADMSG ? malformed(v, "Found invalid compressed record set") : r;
}

/* A message that does not parse is told from one that was damaged. */
static int message_fault(struct validation *v, const struct record_iter *it, int r)
{
    if (it->is_wrapper && !batch_is_valid(&it->inner))
        return CORRUPT_MESSAGE;
    return r == -EBADMSG ? malformed(v, "Found invalid record structure") : r;
}

static int check_old(struct validation *v, const struct batch *b)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, validation_unpack_max(v));

    if (r != 0)
        return wrapper_fault(v, &it, r);
    while ((r = record_iter_next(&it, &rec)) == 1) {
        if (it.is_wrapper && !batch_is_valid(&it.inner))
            return CORRUPT_MESSAGE;
        if (rec.offset != v->record_count)
            v->is_dense = false;
        check_record(v, b, &rec);
    }
    return r < 0 ? message_fault(v, &it, r) : 0;
}

int validate_batch_records(struct validation *v, const struct batch *b)
{
    int r;

    v->batch_begin = v->record_count;
    if (!batch_is_v2(b))
        r = check_old(v, b);
    else
        r = batch_is_compressed(b) ? check_packed(v, b) : check_plain(v, b);
    return r != 0 ? r : answer_errors(v);
}
