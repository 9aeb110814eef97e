#include "tests/support/compact_model.h"

#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"
#include "common/record/record_iter.h"
#include "tests/support/test_main.h"

#include <stdio.h>

void model_init(struct compact_model *m, uint64_t seed)
{
    *m = (struct compact_model){
        .random = {seed * 0x9e3779b97f4a7c15ULL | 1}, .keys = 25, .map_bytes = 1 << 20};
    log_bench_init(&m->b);
    m->b.conf->cleanup_policy = CLEANUP_COMPACT;
    m->b.conf->segment_bytes = 4000;
    m->b.conf->index_interval_bytes = 500;
    m->b.conf->delete_retention_ms = 1000;
    for (int i = 0; i < MODEL_PRODUCERS; i++)
        m->producers[i] = (struct model_producer){.id = 100 + i, .txn_first = -1};
    log_bench_open(&m->b, true);
}

void model_deinit(struct compact_model *m)
{
    log_bench_deinit(&m->b);
    free(m->v);
    free(m->horizons);
}

/* ---- appends ---- */

static void note(struct compact_model *m, const struct model_record *rec)
{
    xgrow(m->v, m->cap, m->count + 1);
    m->v[m->count++] = *rec;
}

static int new_batch(struct compact_model *m)
{
    xgrow(m->horizons, m->batch_cap, m->batch_count + 1);
    m->horizons[m->batch_count] = -1;
    return m->batch_count++;
}

static void append_bytes(struct compact_model *m, const struct strbuf *bytes)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str copy = arena_str(&a, strbuf_str(bytes));
    struct log_append out;

    ck_assert_int_eq(log_append_follower(m->b.log, slice_of_str(copy), &out), 0);
    log_set_high_watermark(m->b.log, log_end_offset(m->b.log));
}

static void add_record(struct compact_model *m, struct batch_builder *bb, struct model_record rec)
{
    char key[16], value[64];
    int key_len = snprintf(key, sizeof key, "key %d", rec.key);
    int value_len = snprintf(value, sizeof value, "%d %*s", rec.value, rec.value % 40, "");

    batch_builder_add(
        bb, &(struct record){
                .offset = rec.offset,
                .timestamp = m->b.clock.wall_ms + (int64_t)random_to(&m->random, 50),
                .key = rec.key < 0 ? (struct slice){0} : slice_of(key, (size_t)key_len),
                .value = rec.value < 0 ? (struct slice){0} : slice_of(value, (size_t)value_len)});
    note(m, &rec);
}

static void append_data(struct compact_model *m, struct model_producer *p, bool is_transactional)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    int n = 1 + (int)random_to(&m->random, 6), batch = new_batch(m);

    opts.base_offset = log_end_offset(m->b.log);
    opts.leader_epoch = 1;
    opts.codec = (enum compression)random_to(&m->random, COMPRESSION_COUNT);
    if (p) {
        opts.producer_id = p->id;
        opts.producer_epoch = p->epoch;
        opts.base_sequence = p->sequence;
        opts.is_transactional = is_transactional;
        p->sequence += n;
        if (is_transactional && p->txn_first < 0)
            p->txn_first = opts.base_offset;
    }
    batch_builder_init(&bb, &opts);
    for (int i = 0; i < n; i++) {
        bool is_null = random_to(&m->random, 40) == 0, is_gone = random_to(&m->random, 6) == 0;

        add_record(m, &bb,
                   (struct model_record){
                       .offset = opts.base_offset + i,
                       .batch = batch,
                       .key = is_null ? -1 : (int)random_to(&m->random, (uint32_t)m->keys),
                       .value = is_gone ? -1 : m->next_value++,
                       .is_transactional = is_transactional});
    }
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    append_bytes(m, &out);
}

/* The transaction's records are aborted or stand. */
static void append_marker(struct compact_model *m, struct model_producer *p, bool is_commit)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    const struct txn_marker marker = {.offset = log_end_offset(m->b.log),
                                      .timestamp = m->b.clock.wall_ms,
                                      .producer_id = p->id,
                                      .producer_epoch = p->epoch,
                                      .leader_epoch = 1,
                                      .is_commit = is_commit};

    txn_marker_build(&marker, &out);
    append_bytes(m, &out);
    p->txn_first = -1;
}

/* Which producer wrote a record shows in its batch's sequence alone, so the account finds a
 * transaction's records by what was appended since it began. */
static void abort_records(struct compact_model *m, int64_t from, const int *batches, size_t count)
{
    for (size_t i = 0; i < m->count; i++)
        for (size_t n = 0; n < count && m->v[i].offset >= from; n++)
            if (m->v[i].batch == batches[n])
                m->v[i].is_aborted = true;
}

/* The batches of each producer's open transaction. */
static struct {
    int v[4096];
    size_t count;
} open_batches[MODEL_PRODUCERS];

static void end_transaction(struct compact_model *m, int i, bool is_commit)
{
    struct model_producer *p = &m->producers[i];

    if (!is_commit)
        abort_records(m, p->txn_first, open_batches[i].v, open_batches[i].count);
    append_marker(m, p, is_commit);
    open_batches[i].count = 0;
}

static void append_transactional(struct compact_model *m, int i)
{
    struct model_producer *p = &m->producers[i];

    if (p->txn_first < 0)
        open_batches[i].count = 0;
    if (p->txn_first >= 0 && random_to(&m->random, 3) == 0) {
        end_transaction(m, i, random_to(&m->random, 2) == 0);
        return;
    }
    open_batches[i].v[open_batches[i].count++] = m->batch_count;
    append_data(m, p, true);
}

void model_append(struct compact_model *m)
{
    int i = (int)random_to(&m->random, MODEL_PRODUCERS);

    m->b.clock.wall_ms += (int64_t)random_to(&m->random, 5);
    switch (random_to(&m->random, 3)) {
    case 0:
        append_data(m, NULL, false);
        break;
    case 1: /* an idempotent producer is none of a transaction */
        append_data(m, &m->producers[i / 2], false);
        break;
    default:
        append_transactional(m, MODEL_PRODUCERS / 2 + i / 2);
    }
}

void model_put(struct compact_model *m, int key, int value)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = log_end_offset(m->b.log);
    opts.leader_epoch = 1;
    batch_builder_init(&bb, &opts);
    add_record(m, &bb,
               (struct model_record){
                   .offset = opts.base_offset, .batch = new_batch(m), .key = key, .value = value});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    append_bytes(m, &out);
}

void model_end_transactions(struct compact_model *m)
{
    for (int i = 0; i < MODEL_PRODUCERS; i++)
        if (m->producers[i].txn_first >= 0)
            end_transaction(m, i, random_to(&m->random, 2) == 0);
}

/* ---- the account ---- */

struct reach {
    int64_t latest; /* of the map */
    int64_t offsets[MODEL_KEYS];
};

/* What the map holds when the dirty records are in, or when it is full. */
static struct reach reach_of(const struct compact_model *m, const struct cleanable *what,
                             uint64_t limit)
{
    struct reach reach = {.latest = what->upper - 1};
    uint64_t keys = 0;

    for (int i = 0; i < MODEL_KEYS; i++)
        reach.offsets[i] = -1;
    for (size_t i = 0; i < m->count; i++) {
        const struct model_record *rec = &m->v[i];

        if (rec->offset < what->first_dirty || rec->offset >= what->upper || rec->is_aborted ||
            rec->key < 0)
            continue;
        if (keys >= limit) {
            reach.latest = INT64_MIN; /* the caller knows better */
            break;
        }
        keys += reach.offsets[rec->key] < 0;
        reach.offsets[rec->key] = rec->offset;
    }
    return reach;
}

static bool survives(const struct compact_model *m, const struct reach *reach,
                     const struct model_record *rec)
{
    int64_t horizon = m->horizons[rec->batch];

    if (rec->is_aborted)
        return false;
    if (rec->offset > reach->latest)
        return true;
    if (rec->key < 0 || rec->offset < reach->offsets[rec->key])
        return false;
    return rec->value >= 0 || horizon < 0 || m->b.clock.wall_ms < horizon;
}

/* cleaned: the base of the first segment that was left alone. */
static void account(struct compact_model *m, const struct reach *reach, int64_t cleaned)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->count; i++)
        if (m->v[i].offset >= cleaned || survives(m, reach, &m->v[i]))
            m->v[kept++] = m->v[i];
    m->count = kept;
    for (size_t i = 0; i < m->count; i++) {
        int64_t *horizon = &m->horizons[m->v[i].batch];

        if (m->v[i].offset < cleaned && m->v[i].value < 0 && *horizon < 0)
            *horizon = m->b.clock.wall_ms + m->b.conf->delete_retention_ms;
    }
}

static int64_t first_left_alone(const struct log_view *view, int64_t end)
{
    for (uint32_t i = 0; i < view->count; i++)
        if (view->v[i].base >= end)
            return view->v[i].base;
    return view->active_base;
}

int model_try_clean(struct compact_model *m, struct cleaner_stats *ret)
{
    CLEANUP(log_view_deinit) struct log_view view = {.count = 0};
    const struct cleaner_pass_opts opts = {.clock = &m->b.clock.clock,
                                           .map_bytes = m->map_bytes,
                                           .map_load_factor = 0.9,
                                           .buffer_bytes = 2000,
                                           .pace = m->pace};
    struct cleanable what;

    log_view_init(&view, m->b.log);
    int r = cleaner_look(m->b.log, &view, m->b.clock.wall_ms, &what);
    if (r == 0)
        r = cleaner_pass(m->b.log, &view, &what, &opts, ret);
    if (r < 0)
        return r;
    if (ret->segments_before == 0)
        return 0; /* nothing was dirty */
    struct reach reach = reach_of(m, &what, ret->map_limit);
    ck_assert_int_eq(reach.latest == INT64_MIN, ret->is_map_full);
    if (ret->is_map_full)
        reach.latest = ret->next_dirty - 1;
    account(m, &reach, first_left_alone(&view, ret->next_dirty));
    log_cleaned_to(m->b.log, &view, ret->next_dirty);
    return 0;
}

void model_clean(struct compact_model *m)
{
    struct cleaner_stats stats;

    ck_assert_int_eq(model_try_clean(m, &stats), 0);
}

/* ---- reading ---- */

struct reader_state {
    struct aborted_txn *aborted;
    int32_t aborted_count;
    bool is_open[MODEL_PRODUCERS]; /* in an aborted transaction */
    int32_t next;
};

/* As a consumer does it: true where the batch is skipped. */
static bool skips(struct reader_state *s, const struct batch *b)
{
    for (; s->next < s->aborted_count && s->aborted[s->next].first_offset <= batch_last_offset(b);
         s->next++)
        s->is_open[s->aborted[s->next].producer_id - 100] = true;
    if (!batch_has_producer_id(b))
        return false;
    bool *is_open = &s->is_open[batch_producer_id(b) - 100];
    if (batch_is_control(b)) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        enum control_type type = CONTROL_UNKNOWN;
        struct record rec;

        ck_assert_int_eq(record_iter_init(&it, b, RECORD_UNPACK_MAX), 0);
        if (record_iter_next(&it, &rec) == 1)
            ck_assert_int_eq(control_record_type(&rec, &type), 0);
        if (type == CONTROL_ABORT)
            *is_open = false;
        return true;
    }
    return batch_is_transactional(b) && *is_open;
}

/* The number behind `from` characters, up to a blank; -1 for null. */
static int number_in(struct slice s, size_t from)
{
    struct str text = str_of_slice(s), number;
    int32_t n = -1;

    if (!s.p)
        return -1;
    text = (struct str){text.p + from, text.len - from};
    str_split(&text, ' ', &number);
    ck_assert_int_eq(str_to_i32(number, 0, INT32_MAX, &n), 0);
    return n;
}

static void take_batch(const struct batch *b, struct model_records *ret)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    ck_assert(batch_is_valid(b));
    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        r = 0;
        xgrow(ret->v, ret->cap, ret->count + 1);
        ret->v[ret->count++] = (struct model_record){
            .offset = rec.offset, .key = number_in(rec.key, 4), .value = number_in(rec.value, 0)};
    }
    ck_assert_int_eq(r, 0);
}

static int compare_aborted(const void *a, const void *b)
{
    const struct aborted_txn *x = a, *y = b;

    return (x->first_offset > y->first_offset) - (x->first_offset < y->first_offset);
}

static void read_aborted(struct compact_model *m, struct arena *a, struct reader_state *s)
{
    ck_assert_int_eq(log_aborted_txns(m->b.log, log_start_offset(m->b.log), INT64_MAX, a,
                                      &s->aborted, &s->aborted_count),
                     0);
    if (s->aborted_count)
        qsort(s->aborted, (size_t)s->aborted_count, sizeof *s->aborted, compare_aborted);
}

void model_read(struct compact_model *m, bool is_read_committed, struct model_records *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct reader_state state = {.next = 0};
    int64_t offset = log_start_offset(m->b.log), last = -1;

    *ret = (struct model_records){.count = 0};
    if (is_read_committed)
        read_aborted(m, &a, &state);
    while (offset < log_end_offset(m->b.log)) {
        const struct log_read_opts opts = {offset, 3000, INT64_MAX, true};
        struct log_read out = {.start = {0}};
        struct batch b;

        ck_assert_int_eq(log_read(m->b.log, &opts, &out), 0);
        CLEANUP(file_unref_p) struct file *file = out.records.file;
        if (!file)
            break; /* the rest of the offsets has no records */
        struct slice bytes = slice_of(arena_alloc(&a, out.records.len), out.records.len);
        ck_assert_int_eq(file_pread(file, (void *)(uintptr_t)bytes.p, bytes.len, out.records.pos),
                         0);
        while (batch_next(&bytes, &b) == 1) {
            ck_assert_int_gt(batch_base_offset(&b), last);
            last = batch_last_offset(&b);
            offset = last + 1;
            bool skip = is_read_committed && skips(&state, &b);
            if (!skip && !batch_is_control(&b))
                take_batch(&b, ret);
        }
    }
}

void model_records_deinit(struct model_records *r)
{
    free(r->v);
}

static void compare(const struct compact_model *m, const struct model_records *got,
                    bool is_read_committed)
{
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (is_read_committed && m->v[i].is_aborted)
            continue;
        ck_assert_uint_lt(n, got->count);
        ck_assert_int_eq(got->v[n].offset, m->v[i].offset);
        ck_assert_int_eq(got->v[n].key, m->v[i].key);
        ck_assert_int_eq(got->v[n].value, m->v[i].value);
        n++;
    }
    ck_assert_uint_eq(n, got->count);
}

void model_check(struct compact_model *m)
{
    for (int i = 0; i < 2; i++) {
        CLEANUP(model_records_deinit) struct model_records got = {0};

        model_read(m, i == 1, &got);
        compare(m, &got, i == 1);
    }
}
