/*
 * record_oracle.c - our half of the comparison of batches, validation and producer state with
 * Kafka's own classes
 *
 * RecordOracle.java starts it and asks over stdin as it does codec_oracle.c: [i32 length][op
 * i8][i16 + text][i16][rest]. The rest is
 *
 *   V  settings, then records   what a leader makes of a client's records: the answer's bytes, and
 *                               indexes of bad records as text
 *   D  magic i8, first offset i64, then a set   each batch down-converted
 *   P  steps                    producer state, told step by step as text (see run_step)
 *   C  settings and a directory one cleaning of the log in it; the next dirty offset as text
 *
 * The answer is [i32 code as on the wire][i32 length, bytes][i32 length, text].
 */
#include "broker/storage/cleaner_pass.h"
#include "broker/storage/log_manager.h"
#include "broker/storage/producer_state.h"
#include "broker/storage/validate.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/record/legacy.h"
#include "common/wire/reader.h"

#include <stdio.h>

enum { LARGEST_QUESTION = 1 << 26, UNPACK_MAX = 1 << 28 };

struct answer {
    int status;
    struct strbuf bytes;
    struct strbuf text;
};

static struct slice rest_of(struct reader *r)
{
    size_t n = reader_left(r);

    return slice_of(reader_take(r, n), n);
}

/* ---- validation ---- */

static struct validate_opts read_settings(struct reader *r, struct topic_conf *conf)
{
    struct validate_opts opts = {.conf = conf, .topic = "t"};

    conf->compression = (enum compression)reader_i8(r);
    conf->cleanup_policy = reader_i8(r) ? CLEANUP_COMPACT : CLEANUP_DELETE;
    conf->timestamp_type = reader_i8(r) ? TIMESTAMP_LOG_APPEND_TIME : TIMESTAMP_CREATE_TIME;
    conf->timestamp_before_max_ms = reader_i64(r);
    conf->timestamp_after_max_ms = reader_i64(r);
    conf->max_message_bytes = reader_i32(r);
    conf->record_version = reader_i8(r);
    conf->allows_zstd = reader_i8(r);
    opts.origin = reader_i8(r) ? APPEND_COORDINATOR : APPEND_CLIENT;
    opts.now_ms = reader_i64(r);
    opts.first_offset = reader_i64(r);
    opts.leader_epoch = reader_i32(r);
    return opts;
}

static void validate(struct reader *r, struct arena *a, struct answer *out)
{
    struct topic_conf *conf = topic_conf_new();
    const struct validate_opts opts = read_settings(r, conf);
    struct validated v;

    out->status = err_to_wire(validate_leader(rest_of(r), &opts, a, &v));
    for (int32_t i = 0; i < v.record_error_count; i++)
        strbuf_addf(&out->text, "%" PRId32 ",", v.record_errors[i].batch_index);
    if (out->status == 0) {
        strbuf_add_str(&out->bytes, str_of_slice(v.set.bytes));
        strbuf_addf(&out->text, "%" PRId64 " %" PRId64, v.set.last_offset, v.set.max_timestamp);
    }
    topic_conf_unref(conf);
}

/* ---- down-conversion ---- */

static void convert(struct reader *r, struct answer *out)
{
    const struct down_convert_opts opts = {
        .magic = reader_i8(r), .first_offset = reader_i64(r), .max_unpacked = UNPACK_MAX};
    struct slice rest = rest_of(r);
    struct batch b;
    int e = 0;

    while (e == 0 && batch_next(&rest, &b) == 1)
        e = down_convert_batch(&b, &opts, &out->bytes);
    out->status = err_to_wire(e);
}

/* ---- producer state ---- */

static void tell_completed(struct producer_state *ps, const struct completed_txn *c,
                           struct strbuf *text)
{
    strbuf_addf(text, " %s(%" PRId64 " %" PRId64 "-%" PRId64 " lso %" PRId64 ")",
                c->is_aborted ? "abort" : "commit", c->producer_id, c->first_offset, c->last_offset,
                producer_state_lso_after(ps, c));
    producer_state_complete(ps, c);
}

static void append(struct producer_state *ps, struct reader *r, struct strbuf *text)
{
    static const int origins[] = {APPEND_CLIENT, APPEND_COORDINATOR, PRODUCER_ORIGIN_REPLICATION};
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    const struct producer_check_opts opts = {.origin = origins[reader_i8(r) % 3]};
    size_t n = (size_t)reader_i32(r);
    struct slice batches = slice_of(reader_take(r, n), n);
    int e = producer_state_check(ps, batches, &opts, &ch);

    strbuf_addf(text, "append %d", err_to_wire(e));
    if (e != 0)
        return;
    if (ch.is_duplicate) {
        strbuf_addf(text, " duplicate %" PRId64 " %" PRId64 " %" PRId64, ch.duplicate.first_offset,
                    ch.duplicate.last_offset, ch.duplicate.timestamp);
        return;
    }
    producer_state_apply(ps, &ch);
    for (size_t i = 0; i < ch.completed_count; i++)
        tell_completed(ps, &ch.completed[i], text);
}

static int compare_ids(const void *a, const void *b)
{
    const struct producer_info *x = a, *y = b;

    return (x->producer_id > y->producer_id) - (x->producer_id < y->producer_id);
}

struct infos {
    struct producer_info *v;
    size_t count, cap;
};

static void collect(void *ctx, const struct producer_info *p)
{
    struct infos *all = ctx;

    xgrow(all->v, all->cap, all->count + 1);
    all->v[all->count++] = *p;
}

static void tell_all(const struct producer_state *ps, struct strbuf *text)
{
    struct infos all = {0};

    producer_state_each(ps, collect, &all);
    if (all.count)
        qsort(all.v, all.count, sizeof *all.v, compare_ids);
    for (size_t i = 0; i < all.count; i++) {
        const struct producer_info *p = &all.v[i];

        strbuf_addf(text,
                    "(%" PRId64 " %d %" PRId32 " %" PRId32 " %" PRId64 " %" PRId32 " %" PRId64
                    " %" PRId32 " %" PRId64 ")",
                    p->producer_id, p->epoch, p->first_sequence, p->last_sequence, p->last_offset,
                    p->last_offset_delta, p->last_timestamp, p->coordinator_epoch,
                    p->txn_first_offset);
    }
    free(all.v);
}

static void run_step(struct producer_state *ps, struct reader *r, struct strbuf *text)
{
    switch (reader_i8(r)) {
    case 'a':
        append(ps, r, text);
        break;
    case 'w':
        producer_state_high_watermark_moved(ps, reader_i64(r));
        break;
    case 'x':
        producer_state_expire(ps, reader_i64(r));
        break;
    default:
        tell_all(ps, text);
    }
    strbuf_addf(text, " unstable %" PRId64 " count %zu\n", producer_state_first_unstable(ps),
                producer_state_count(ps));
}

static void run_steps(struct reader *r, struct answer *out)
{
    const struct fs_names none = {0};
    const struct producer_state_opts opts = {
        .name = "t-0", .dir = "/", .files = &none, .expiration_ms = 86400000};
    struct producer_state *ps = producer_state_new(&opts);

    while (!r->bad && reader_left(r) > 0)
        run_step(ps, r, &out->text);
    producer_state_free(ps);
}

/* ---- cleaning ---- */

static int clean_log(struct log *log, struct reader *r, const struct clock *clock, int64_t *ret)
{
    CLEANUP(log_view_deinit) struct log_view view = {.count = 0};
    const struct cleaner_pass_opts opts = {.clock = clock,
                                           .map_bytes = reader_i32(r),
                                           .map_load_factor = 0.9,
                                           .buffer_bytes = 1 << 16};
    struct cleaner_stats stats;
    struct cleanable what;

    log->first_dirty = reader_i64(r);
    log_set_high_watermark(log, log_end_offset(log));
    log_view_init(&view, log);
    int e = cleaner_look(log, &view, clock_wall_ms(clock), &what);
    what.upper = reader_i64(r); /* not all that could be cleaned */
    if (e == 0)
        e = cleaner_pass(log, &view, &what, &opts, &stats);
    *ret = e == 0 ? stats.next_dirty : -1;
    return e;
}

static void clean(struct reader *r, struct answer *out)
{
    CLEANUP(log_put_p) struct log *log = NULL;
    struct topic_conf *conf = topic_conf_new();
    struct clock_fake clock;
    struct reader rest;
    int64_t next = -1;

    clock_fake_init(&clock, reader_i64(r));
    conf->cleanup_policy = CLEANUP_COMPACT;
    conf->segment_bytes = reader_i32(r);
    conf->delete_retention_ms = reader_i64(r);
    conf->index_interval_bytes = 500;
    rest = *r;
    reader_take(r, 4 + 8 + 8);
    size_t n = (size_t)reader_i16(r);
    CLEANUP(free_p) char *path = xstrndup((const char *)reader_take(r, n), n);
    int e = log_open(&(struct log_open_opts){.topic = STR("t"),
                                             .root = "/",
                                             .path = path,
                                             .conf = conf,
                                             .clock = &clock.clock,
                                             .producer_id_expiration_ms = INT64_MAX,
                                             .recovery_point = INT64_MAX},
                     &log);
    if (e == 0)
        e = clean_log(log, &rest, &clock.clock, &next);
    out->status = err_to_wire(e);
    strbuf_addf(&out->text, "%" PRId64, next);
    topic_conf_unref(conf);
}

/* ---- dialogue ---- */

static void answer_one(struct slice question, struct arena *a, struct answer *out)
{
    struct reader r = reader_on(question);
    char op = (char)reader_i8(&r);

    reader_take(&r, (size_t)reader_i16(&r));
    reader_i16(&r);
    if (op == 'V')
        validate(&r, a, out);
    else if (op == 'D')
        convert(&r, out);
    else if (op == 'C')
        clean(&r, out);
    else
        run_steps(&r, out);
}

static void put_bytes(const struct strbuf *sb)
{
    uint8_t len[4];

    be32_write(len, (uint32_t)sb->len);
    fwrite(len, 1, sizeof len, stdout);
    if (sb->len)
        fwrite(sb->s, 1, sb->len, stdout);
}

int main(void)
{
    uint8_t len[4], status[4];

    say_set_level(SAY_ERROR);
    while (fread(len, 1, sizeof len, stdin) == sizeof len) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct answer out = {0};
        uint32_t n = be32_read(len);

        if (n > LARGEST_QUESTION)
            return 1;
        CLEANUP(free_p) uint8_t *question = xmalloc(n ? n : 1);
        if (fread(question, 1, n, stdin) != n)
            return 1;
        answer_one(slice_of(question, n), &a, &out);
        be32_write(status, (uint32_t)out.status);
        fwrite(status, 1, sizeof status, stdout);
        put_bytes(&out.bytes);
        put_bytes(&out.text);
        fflush(stdout);
        strbuf_deinit(&out.bytes);
        strbuf_deinit(&out.text);
    }
    return 0;
}
