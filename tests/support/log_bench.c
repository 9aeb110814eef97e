#include "tests/support/log_bench.h"

#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/batch_stamp.h"
#include "common/record/builder.h"
#include "common/record/record_iter.h"
#include "tests/support/test_main.h"

static const int64_t first_ts = 1700000000000;

void log_bench_init(struct log_bench *b)
{
    static int count;

    *b = (struct log_bench){.conf = topic_conf_new(), .step_ms = 1, .value_len = 10};
    clock_fake_init(&b->clock, first_ts);
    b->path = xasprintf("%s/t%d-0", test_tmpdir(), count++);
    ck_assert_int_eq(fs_mkdir(b->path), 0);
}

void log_bench_deinit(struct log_bench *b)
{
    log_put(b->log);
    topic_conf_unref(b->conf);
    free(b->path);
}

int log_bench_try_open(struct log_bench *b, bool is_clean)
{
    const struct log_open_opts opts = {.topic = STR("t"),
                                       .root = test_tmpdir(),
                                       .path = b->path,
                                       .conf = b->conf,
                                       .clock = &b->clock.clock,
                                       .hooks = b->hooks,
                                       .producer_id_expiration_ms = 86400000,
                                       .is_clean = is_clean,
                                       .recovery_point = b->recovery_point,
                                       .start_offset = b->start_offset};

    assert(!b->log);
    return log_open(&opts, &b->log);
}

void log_bench_open(struct log_bench *b, bool is_clean)
{
    ck_assert_int_eq(log_bench_try_open(b, is_clean), 0);
}

void log_bench_kill(struct log_bench *b)
{
    b->recovery_point = log_recovery_point(b->log);
    log_put(TAKE(b->log));
}

void log_bench_restart(struct log_bench *b)
{
    ck_assert_int_eq(log_close(b->log), 0);
    b->start_offset = log_start_offset(b->log);
    log_bench_kill(b);
    log_bench_open(b, true);
}

int64_t log_bench_ts(const struct log_bench *b, int64_t offset)
{
    return first_ts + offset * b->step_ms;
}

struct slice log_bench_batch(const struct log_bench *b, int64_t offset, int count, struct arena *a)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;

    opts.base_offset = offset;
    opts.leader_epoch = b->epoch;
    batch_builder_init(&bb, &opts);
    for (int i = 0; i < count; i++) {
        struct str v = arena_printf(a, "o %lld %*s", (long long)(offset + i), b->value_len, "");
        struct record rec = {.offset = offset + i,
                             .timestamp = log_bench_ts(b, offset + i),
                             .key = slice_of("k", 1),
                             .value = slice_of_str(v)};

        batch_builder_add(&bb, &rec);
    }
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    struct str bytes = arena_str(a, strbuf_str(&out));
    return slice_of_str(bytes);
}

int log_bench_try_append(struct log_bench *b, int count)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t offset = log_end_offset(b->log);
    struct slice bytes = log_bench_batch(b, offset, count, &a);
    const struct log_append_opts opts = {b->epoch, APPEND_COORDINATOR, b->clock.wall_ms};
    struct log_append out;

    /* A client counts from 0. */
    batch_set_base_offset(&(struct batch){bytes.p, (uint32_t)bytes.len, 2}, 0);
    int r = log_append_leader(b->log, bytes, &opts, &a, &out);
    if (r == 0) {
        ck_assert_int_eq(out.first_offset, offset);
        ck_assert_int_eq(out.last_offset, offset + count - 1);
        ck_assert_int_eq(out.max_timestamp, log_bench_ts(b, offset + count - 1));
    }
    return r;
}

void log_bench_append(struct log_bench *b, int count)
{
    ck_assert_int_eq(log_bench_try_append(b, count), 0);
}

void log_bench_follow(struct log_bench *b, int count, int each)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf set = {0};
    int64_t offset = log_end_offset(b->log);
    struct log_append out;

    for (int i = 0; i < count; i++) {
        struct slice one = log_bench_batch(b, offset + i * each, each, &a);

        strbuf_add(&set, one.p, one.len);
    }
    ck_assert_int_eq(log_append_follower(b->log, slice_of_str(strbuf_str(&set)), &out), 0);
    ck_assert_int_eq(log_end_offset(b->log), offset + count * each);
}

/* ---- checks ---- */

static void check_record(const struct log_bench *b, const struct record *rec, int64_t offset)
{
    char want[64];
    int n = snprintf(want, sizeof want, "o %lld ", (long long)offset);

    ck_assert_int_eq(rec->offset, offset);
    ck_assert_int_eq(rec->timestamp, log_bench_ts(b, offset));
    ck_assert_uint_ge(rec->value.len, (size_t)n);
    ck_assert_mem_eq(rec->value.p, want, n);
}

/* The whole batches in the bytes; returns the offset after them. */
static int64_t check_bytes(const struct log_bench *b, struct slice bytes, int64_t offset)
{
    struct batch batch;
    int64_t next = offset;

    while (batch_next(&bytes, &batch) == 1) {
        CLEANUP(record_iter_deinit) struct record_iter it = {0};
        struct record rec;
        int r = record_iter_init(&it, &batch, RECORD_UNPACK_MAX);

        ck_assert(batch_is_valid(&batch));
        ck_assert_int_le(batch_base_offset(&batch), next);
        for (next = batch_base_offset(&batch); r == 0 && record_iter_next(&it, &rec) == 1; next++)
            check_record(b, &rec, next);
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(next, batch_next_offset(&batch));
    }
    return next;
}

void log_bench_check_from(struct log_bench *b, int64_t offset, uint32_t max_bytes)
{
    while (offset < log_end_offset(b->log)) {
        const struct log_read_opts opts = {offset, max_bytes, INT64_MAX, true};
        struct log_read out = {.start = {0}};

        ck_assert_int_eq(log_read(b->log, &opts, &out), 0);
        CLEANUP(file_unref_p) struct file *file = out.records.file;
        ck_assert_ptr_nonnull(file);
        CLEANUP(free_p) uint8_t *bytes = xmalloc(out.records.len);
        ck_assert_int_eq(file_pread(file, bytes, out.records.len, out.records.pos), 0);
        int64_t next = check_bytes(b, slice_of(bytes, out.records.len), offset);
        ck_assert_int_gt(next, offset);
        offset = next;
    }
}

void log_bench_check(struct log_bench *b, int64_t start, int64_t end)
{
    ck_assert_int_eq(log_start_offset(b->log), start);
    ck_assert_int_eq(log_end_offset(b->log), end);
    log_bench_check_from(b, start, 1 << 20);
    for (int64_t o = start; o < end; o += MAX((end - start) / 97, (int64_t)1)) {
        const struct log_read_opts opts = {o, 1, INT64_MAX, true};
        struct log_read out = {.start = {0}};

        ck_assert_int_eq(log_read(b->log, &opts, &out), 0);
        CLEANUP(file_unref_p) struct file *file = out.records.file;
        CLEANUP(free_p) uint8_t *bytes = xmalloc(out.records.len);
        ck_assert_int_eq(file_pread(file, bytes, out.records.len, out.records.pos), 0);
        ck_assert_int_gt(check_bytes(b, slice_of(bytes, out.records.len), o), o);
    }
}

int log_bench_files(const struct log_bench *b, const char *suffix)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    int count = 0;

    ck_assert_int_eq(fs_list_dir(b->path, &names), 0);
    for (size_t i = 0; i < names.count; i++) {
        size_t n = strlen(names.v[i]), m = strlen(suffix);

        count += n >= m && strcmp(names.v[i] + n - m, suffix) == 0;
    }
    return count;
}

uint64_t log_bench_file_size(const struct log_bench *b, int64_t base, enum segment_file_type type)
{
    CLEANUP(free_p) char *path = segment_file_path(b->path, base, type);
    struct fs_info info;

    ck_assert_int_eq(fs_stat(path, &info), 0);
    return info.size;
}

void log_bench_flip_byte(const struct log_bench *b, int64_t base, enum segment_file_type type,
                         uint64_t pos)
{
    CLEANUP(free_p) char *path = segment_file_path(b->path, base, type);
    CLEANUP(file_unref_p) struct file *f = NULL;
    uint8_t byte;

    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_pread(f, &byte, 1, pos), 0);
    byte ^= 0x5a;
    ck_assert_int_eq(file_pwrite(f, slice_of(&byte, 1), pos), 0);
}
