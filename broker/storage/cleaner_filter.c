#include "broker/storage/cleaner_filter.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/batch_stamp.h"
#include "common/record/builder.h"
#include "common/record/legacy.h"
#include "common/record/record_iter.h"

/* ---- the producers ---- */

static void add_last(void *ctx, const struct producer_info *p)
{
    struct last_records *l = ctx;

    xgrow(l->v, l->cap, l->count + 1);
    l->v[l->count++] = (struct last_record){p->producer_id, p->last_offset, p->epoch};
}

static int compare_producers(const void *a, const void *b)
{
    const struct last_record *x = a, *y = b;

    return (x->producer_id > y->producer_id) - (x->producer_id < y->producer_id);
}

void last_records_init(struct last_records *l, struct log *log)
{
    *l = (struct last_records){.count = 0};
    WITH_LOCK(&log->lock)
    {
        producer_state_each(log->producers, add_last, l);
    }
    if (l->count)
        qsort(l->v, l->count, sizeof *l->v, compare_producers);
}

void last_records_deinit(struct last_records *l)
{
    free(l->v);
    *l = (struct last_records){.count = 0};
}

/* Whether the batch has the last sequence of its producer, or, where no data is known of it, its
 * epoch. */
static bool is_last_of_producer(const struct last_records *l, const struct batch *b)
{
    const struct last_record key = {.producer_id = batch_producer_id(b)};
    const struct last_record *p =
        l->count ? bsearch(&key, l->v, l->count, sizeof key, compare_producers) : NULL;

    if (!p || !batch_has_producer_id(b))
        return false;
    if (p->last_data_offset >= 0)
        return batch_last_offset(b) == p->last_data_offset;
    return batch_is_control(b) && batch_producer_epoch(b) == p->epoch;
}

/* ---- which records stay ---- */

/* One batch under work. */
struct sieve {
    struct cleaner_filter *f;
    const struct batch *b;
    struct record_iter it;
    size_t kept;
    size_t read;
    bool drops_all;    /* of an aborted transaction, or a marker that may go */
    bool keeps_header; /* also where no record survives */
    bool is_empty_marker;
    bool has_tombstones; /* among the survivors */
};

static void sieve_deinit(struct sieve *s)
{
    record_iter_deinit(&s->it);
}

static bool is_past_horizon(const struct sieve *s)
{
    return batch_has_delete_horizon(s->b) && s->f->now_ms >= batch_base_timestamp(s->b);
}

static bool stays(const struct sieve *s, const struct record *rec)
{
    const struct cleaner_filter *f = s->f;

    if (s->drops_all)
        return false;
    if (batch_is_control(s->b) || rec->offset > f->map->latest)
        return true;
    if (!rec->key.p || rec->offset < cleaner_map_get(f->map, rec->key))
        return false;
    if (rec->value.p)
        return true;
    return batch_is_v2(s->b) ? !is_past_horizon(s) : f->keeps_old_tombstones;
}

static int sift(struct sieve *s)
{
    struct cleaner_filter *f = s->f;
    int64_t last = batch_is_v2(s->b) ? batch_base_offset(s->b) - 1 : -1;
    struct record rec;
    int r = record_iter_init(&s->it, s->b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&s->it, &rec)) == 1) {
        r = 0;
        if (rec.offset <= last || (batch_is_v2(s->b) && rec.offset > batch_last_offset(s->b)))
            return -EBADMSG;
        last = rec.offset;
        s->read++;
        if (!stays(s, &rec))
            continue;
        xgrow(f->kept, f->kept_cap, s->kept + 1);
        f->kept[s->kept++] = rec;
        s->has_tombstones = s->has_tombstones || !rec.value.p;
    }
    return r > 0 ? -EBADMSG : r;
}

/* ---- what is written of them ---- */

static struct batch_opts header_of(const struct batch *b, int64_t delete_horizon_ms)
{
    return (struct batch_opts){
        .base_offset = batch_base_offset(b),
        .last_offset = batch_last_offset(b),
        .leader_epoch = batch_leader_epoch(b),
        .timestamp_type = batch_timestamp_type(b),
        .append_time_ms = batch_max_timestamp(b),
        .delete_horizon_ms = delete_horizon_ms,
        .producer_id = batch_producer_id(b),
        .producer_epoch = batch_producer_epoch(b),
        .base_sequence = batch_base_sequence(b),
        .is_transactional = batch_is_transactional(b),
        .is_control = batch_is_control(b),
        .codec = batch_codec(b),
        .level = COMPRESSION_LEVEL_DEFAULT,
    };
}

static int write_v2(const struct sieve *s, int64_t delete_horizon_ms, struct strbuf *out)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    const struct batch_opts opts = header_of(s->b, delete_horizon_ms);

    batch_builder_init(&bb, &opts);
    for (size_t i = 0; i < s->kept; i++)
        batch_builder_add(&bb, &s->f->kept[i]);
    return batch_builder_finish(&bb, out);
}

static int write_wrapper(const struct sieve *s, struct strbuf *out)
{
    struct legacy_builder *lb = &s->f->old;
    const struct legacy_opts opts = {s->b->magic, batch_timestamp_type(s->b), batch_codec(s->b)};

    legacy_builder_begin(lb, &opts, COMPRESSION_LEVEL_DEFAULT);
    for (size_t i = 0; i < s->kept; i++)
        legacy_builder_add(lb, &s->f->kept[i]);
    return legacy_builder_finish(lb, out);
}

static int write_survivors(const struct sieve *s, struct strbuf *out)
{
    const struct cleaner_filter *f = s->f;
    bool sets_horizon = batch_is_v2(s->b) && (s->has_tombstones || s->is_empty_marker) &&
                        !batch_has_delete_horizon(s->b);
    int64_t horizon = -1;

    if (s->kept == s->read && !sets_horizon) {
        strbuf_add(out, s->b->p, s->b->size);
        return 0;
    }
    if (!batch_is_v2(s->b))
        return write_wrapper(s, out);
    if (sets_horizon)
        horizon = f->delete_retention_ms > INT64_MAX - f->now_ms
                      ? INT64_MAX
                      : f->now_ms + f->delete_retention_ms;
    else if (batch_has_delete_horizon(s->b))
        horizon = batch_base_timestamp(s->b);
    return write_v2(s, horizon, out);
}

/* Of the records that are gone the largest timestamp stays, as in Kafka. */
static int write_header(const struct sieve *s, struct strbuf *out)
{
    size_t start = out->len;
    int r = write_v2(s, -1, out);

    if (r == 0)
        batch_set_max_timestamp(
            &(struct batch){(uint8_t *)out->s + start, (uint32_t)(out->len - start), 2},
            batch_timestamp_type(s->b), batch_max_timestamp(s->b));
    return r;
}

/* ---- the batch ---- */

static int judge(struct sieve *s, struct filtered *ret)
{
    struct cleaner_filter *f = s->f;
    struct marker_fate fate = {.is_empty = false};
    int r = 0;

    s->keeps_header = is_last_of_producer(f->producers, s->b);
    if (!batch_is_control(s->b)) {
        s->drops_all = cleaner_txns_data(f->txns, s->b);
        return 0;
    }
    if ((r = cleaner_txns_marker(f->txns, s->b, &fate)) < 0)
        return r;
    ret->is_aborted = fate.is_aborted;
    ret->aborted = fate.entry;
    s->is_empty_marker = fate.is_empty;
    s->drops_all = fate.is_empty && is_past_horizon(s);
    return 0;
}

int cleaner_filter_batch(struct cleaner_filter *f, const struct batch *b, struct strbuf *out,
                         struct filtered *ret)
{
    CLEANUP(sieve_deinit) struct sieve s = {.f = f, .b = b};
    int r;

    *ret = (struct filtered){.records_read = 0};
    if ((r = judge(&s, ret)) < 0)
        return r;
    if (s.drops_all && !s.keeps_header) {
        ret->records_read = batch_count(b);
        return 0;
    }
    if ((r = sift(&s)) != 0)
        return r > 0 ? -EBADMSG : r;
    ret->records_read = (int64_t)s.read;
    ret->records_kept = (int64_t)s.kept;
    if (s.kept > 0)
        r = write_survivors(&s, out);
    else if (s.keeps_header)
        r = write_header(&s, out);
    return r;
}

void cleaner_filter_deinit(struct cleaner_filter *f)
{
    free(f->kept);
    legacy_builder_deinit(&f->old);
}
