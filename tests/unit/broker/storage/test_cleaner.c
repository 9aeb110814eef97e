#include "broker/storage/cleaner.h"

#include "broker/storage/checkpoint.h"
#include "broker/storage/manager_internal.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/record/builder.h"
#include "common/record/record_iter.h"
#include "tests/support/test_main.h"

#include <stdatomic.h>

enum { KEYS = 20 };

static struct bench {
    struct clock_fake clock;
    char *dir;
    struct topic_conf *conf;
    struct cleaner_conf cleaner;
    struct log_manager *m;
    int failed;
} b;

static void on_failed(void *ctx UNUSED, const char *dir UNUSED)
{
    b.failed++;
}

static void on_over(void *ctx UNUSED)
{
}

static struct topic_conf *on_conf(void *ctx UNUSED, const char *topic UNUSED)
{
    return topic_conf_ref(b.conf);
}

static void start(void)
{
    CLEANUP(free_p) char *why = NULL;
    const char *dirs[] = {b.dir};
    const struct log_manager_opts opts = {
        .clock = &b.clock.clock,
        .dirs = dirs,
        .dir_count = 1,
        .recovery_threads_per_dir = 1,
        .flush_scheduler_interval_ms = INT64_MAX,
        .retention_check_interval_ms = INT64_MAX,
        .recovery_checkpoint_interval_ms = INT64_MAX,
        .start_offset_checkpoint_interval_ms = INT64_MAX,
        .high_watermark_checkpoint_interval_ms = INT64_MAX,
        .producer_id_expiration_ms = 86400000,
        .producer_id_expiration_check_interval_ms = INT64_MAX,
        .cleaner = b.cleaner,
        .events = {.dir_failed = on_failed, .all_dirs_failed = on_over, .topic_conf = on_conf}};

    ck_assert_int_eq(log_manager_new(&opts, &b.m, &why), 0);
    ck_assert_int_eq(log_manager_load(b.m), 0);
}

static void setup(void)
{
    b = (struct bench){.conf = topic_conf_new(),
                       .cleaner = {.threads = 1,
                                   .dedupe_buffer_bytes = 2 << 20,
                                   .load_factor = 0.9,
                                   .io_buffer_bytes = 1 << 16,
                                   .max_bytes_per_second = 1e300,
                                   .backoff_ms = 1}};
    clock_fake_init(&b.clock, 1700000000000);
    b.dir = xasprintf("%s/data", test_tmpdir());
    b.conf->cleanup_policy = CLEANUP_COMPACT;
    b.conf->segment_bytes = 2000;
    b.conf->index_interval_bytes = 200;
    start();
}

static void teardown(void)
{
    log_manager_free(b.m);
    topic_conf_unref(b.conf);
    free(b.dir);
}

static struct log *create(const char *topic)
{
    struct log *log = NULL;
    const struct log_create_opts opts = {.topic = str_of(topic), .is_new = true, .conf = b.conf};

    ck_assert_int_eq(log_manager_create(b.m, &opts, &log), 0);
    return log;
}

/* One record whose value is its offset. */
static void put(struct log *log, int key)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    struct batch_opts opts = BATCH_OPTS_PLAIN;
    struct log_append done;
    char k[16], v[32];

    opts.base_offset = log_end_offset(log);
    opts.leader_epoch = 0;
    int kn = snprintf(k, sizeof k, "%d", key),
        vn = snprintf(v, sizeof v, "%lld", (long long)opts.base_offset);
    batch_builder_init(&bb, &opts);
    batch_builder_add(&bb, &(struct record){.offset = opts.base_offset,
                                            .timestamp = b.clock.wall_ms,
                                            .key = slice_of(k, (size_t)kn),
                                            .value = slice_of(v, (size_t)vn)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    ck_assert_int_eq(log_append_follower(log, slice_of_str(strbuf_str(&out)), &done), 0);
    log_set_high_watermark(log, log_end_offset(log));
}

static void fill(struct log *log, int count)
{
    for (int i = 0; i < count; i++)
        put(log, i % KEYS);
}

/* Reads all of it; each record is where its value says, and the last of each key is returned. */
static int read_all(struct log *log, int64_t last[KEYS])
{
    int64_t offset = log_start_offset(log);
    int count = 0;

    for (int i = 0; i < KEYS; i++)
        last[i] = -1;
    while (offset < log_end_offset(log)) {
        const struct log_read_opts opts = {offset, 1 << 16, INT64_MAX, true};
        struct log_read out = {.start = {0}};
        struct batch batch;

        ck_assert_int_eq(log_read(log, &opts, &out), 0);
        CLEANUP(file_unref_p) struct file *file = out.records.file;
        ck_assert_ptr_nonnull(file);
        CLEANUP(free_p) uint8_t *bytes = xmalloc(out.records.len);
        struct slice rest = slice_of(bytes, out.records.len);
        ck_assert_int_eq(file_pread(file, bytes, out.records.len, out.records.pos), 0);
        while (batch_next(&rest, &batch) == 1) {
            CLEANUP(record_iter_deinit) struct record_iter it = {0};
            struct record rec;
            int64_t value;
            int32_t key;

            ck_assert(batch_is_valid(&batch));
            ck_assert_int_ge(batch_base_offset(&batch), offset);
            ck_assert_int_eq(record_iter_init(&it, &batch, 1 << 20), 0);
            ck_assert_int_eq(record_iter_next(&it, &rec), 1);
            ck_assert_int_eq(str_to_i64(str_of_slice(rec.value), 0, INT64_MAX, &value), 0);
            ck_assert_int_eq(str_to_i32(str_of_slice(rec.key), 0, KEYS - 1, &key), 0);
            ck_assert_int_eq(value, rec.offset);
            last[key] = rec.offset;
            offset = batch_next_offset(&batch);
            count++;
        }
    }
    return count;
}

/* Of a log that fill() made, count records, every key's last one. */
static void check_last(struct log *log, int count)
{
    int64_t last[KEYS];

    read_all(log, last);
    for (int i = 0; i < KEYS; i++)
        ck_assert_int_eq(last[i], count - KEYS + (i - count % KEYS + KEYS) % KEYS);
}

static int64_t checkpointed(const char *topic)
{
    CLEANUP(free_p) char *path = xasprintf("%s/cleaner-offset-checkpoint", b.dir);
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0};
    CLEANUP(free_p) char *why = NULL;

    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    const struct checkpoint_entry *e = checkpoint_find(&c, str_of(topic), 0);
    return e ? e->offset : -1;
}

/* ---- turns ---- */

START_TEST(the_dirtiest_log_is_cleaned_first_and_remembered)
{
    setup();
    struct log *CLEANUP(log_put_p) a = create("a"), *CLEANUP(log_put_p) c = create("c");
    struct cleaner *cleaner = cleaner_new(b.m);

    fill(a, 200);
    ck_assert(cleaner_turn(cleaner));
    ck_assert_int_gt(checkpointed("a"), 0);
    ck_assert(!cleaner_turn(cleaner));
    fill(a, 600); /* dirty by half and more, but not all */
    fill(c, 200);
    ck_assert(cleaner_turn(cleaner));
    ck_assert_int_gt(checkpointed("c"), 0);
    ck_assert_int_lt(checkpointed("a"), 200);
    ck_assert(cleaner_turn(cleaner));
    ck_assert_int_gt(checkpointed("a"), 500);
    ck_assert(!cleaner_turn(cleaner));
    check_last(c, 200);
    cleaner_free(cleaner);
    teardown();
}
END_TEST

START_TEST(what_was_cleaned_is_known_after_a_restart)
{
    setup();
    struct log *a = create("a");
    struct cleaner *cleaner = cleaner_new(b.m);

    fill(a, 300);
    ck_assert(cleaner_turn(cleaner));
    int64_t clean = atomic_load(&a->first_dirty);
    ck_assert_int_eq(checkpointed("a"), clean);
    cleaner_free(cleaner);
    log_put(a);
    b.m = log_manager_free(b.m); /* as kill -9 */
    start();
    a = log_manager_get(b.m, STR("a"), 0);
    ck_assert_int_eq(atomic_load(&a->first_dirty), clean);
    ck_assert_int_eq(log_truncate_to(a, 50), 0);
    ck_assert_int_le(checkpointed("a"), 50);
    log_put(a);
    ck_assert_int_eq(log_manager_delete(b.m, STR("a"), 0), 0);
    log_put(create("other"));
    ck_assert_int_eq(checkpointed("a"), -1);
    teardown();
}
END_TEST

START_TEST(a_log_that_cannot_be_read_is_put_aside_and_others_go_on)
{
    setup();
    struct log *CLEANUP(log_put_p) bad = create("bad"), *CLEANUP(log_put_p) good = create("good");
    struct cleaner *cleaner = cleaner_new(b.m);
    CLEANUP(free_p) char *path = segment_file_path(log_path(bad), 0, SEGMENT_LOG);
    CLEANUP(file_unref_p) struct file *f = NULL;

    fill(bad, 400);
    fill(good, 100);
    ck_assert_int_eq(file_open(path, FILE_WRITE, &f), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of("x", 1), 50), 0);
    say_set_level(SAY_ERROR + 1);
    for (int i = 0; i < 3; i++)
        cleaner_turn(cleaner);
    ck_assert_int_eq(cleaner_uncleanable_count(cleaner), 1);
    ck_assert_int_eq(b.failed, 0);
    ck_assert_int_gt(checkpointed("good"), 0);
    ck_assert_int_eq(checkpointed("bad"), -1);
    check_last(good, 100);
    put(bad, 1); /* and goes on itself */
    cleaner_free(cleaner);
    teardown();
}
END_TEST

#ifdef KLAMM_FAULTS
/* Of the disk as of open files: the dir stays, and it is done a minute later. */
static void check_passes(const char *name, int error)
{
    setup();
    struct log *CLEANUP(log_put_p) log = create(name);
    struct cleaner *cleaner = cleaner_new(b.m);

    fill(log, 400);
    say_set_level(SAY_ERROR + 1);
    fault_arm("fs.open", (struct fault){FAULT_ERRNO, error}, 1, true);
    cleaner_turn(cleaner);
    fault_disarm_all();
    ck_assert_int_eq(b.failed, 0);
    ck_assert_int_eq(cleaner_uncleanable_count(cleaner), 0);
    cleaner_turn(cleaner);
    ck_assert_int_eq(checkpointed(name), -1);
    clock_fake_advance(&b.clock, 60000);
    ck_assert(cleaner_turn(cleaner));
    ck_assert_int_gt(checkpointed(name), 0);
    check_last(log, 400);
    cleaner_free(cleaner);
    teardown();
}

START_TEST(what_passes_is_waited_for)
{
    check_passes("a", ENOSPC);
    check_passes("b", EMFILE);
    check_passes("c", ENFILE);
}
END_TEST
#define WITH_FAULTS what_passes_is_waited_for,
#else
#define WITH_FAULTS
#endif

/* Segments without records are as old as their files. */
static void date_files(struct log *log)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};

    ck_assert_int_eq(fs_list_dir(log_path(log), &names), 0);
    for (size_t i = 0; i < names.count; i++) {
        CLEANUP(free_p) char *path = xasprintf("%s/%s", log_path(log), names.v[i]);

        ck_assert_int_eq(fs_set_modified(path, b.clock.wall_ms), 0);
    }
}

START_TEST(retention_also_applies_where_the_policy_says_so)
{
    setup();
    b.conf->cleanup_policy = CLEANUP_COMPACT | CLEANUP_DELETE;
    b.conf->retention_ms = 1000;
    struct log *CLEANUP(log_put_p) a = create("a");
    struct cleaner *cleaner = cleaner_new(b.m);

    fill(a, 300);
    ck_assert(cleaner_turn(cleaner));
    ck_assert_int_eq(log_start_offset(a), 0);
    date_files(a);
    b.clock.wall_ms += 1001;
    fill(a, 1);
    ck_assert(!cleaner_turn(cleaner));
    ck_assert_int_gt(log_start_offset(a), 200);
    /* The offset below the log start is no cause for another cleaning of what is clean. */
    ck_assert(!cleaner_turn(cleaner));
    ck_assert_int_eq(b.failed, 0);
    cleaner_free(cleaner);
    teardown();
}
END_TEST

START_TEST(a_topic_that_is_not_compacted_is_left_alone)
{
    setup();
    b.conf->cleanup_policy = CLEANUP_DELETE;
    struct log *CLEANUP(log_put_p) a = create("a");
    struct cleaner *cleaner = cleaner_new(b.m);
    int64_t last[KEYS];

    fill(a, 300);
    ck_assert(!cleaner_turn(cleaner));
    ck_assert_int_eq(read_all(a, last), 300);
    cleaner_free(cleaner);
    teardown();
}
END_TEST

/* ---- threads ---- */

static _Atomic bool is_over;

/* Of each key what was its last record when a reading began, or a later one, is found in it,
 * whatever is cleaned meanwhile. */
static void read_on(void *arg)
{
    int64_t last[KEYS];

    while (!atomic_load(&is_over)) {
        int64_t end = log_end_offset(arg);

        read_all(arg, last);
        for (int i = 0; i < KEYS && end >= KEYS; i++)
            ck_assert_int_ge(last[i], end - KEYS);
    }
}

static bool is_clean(struct log *log)
{
    /* Waits for the cleaner's thread, which has no other way to say that it is done. */
    for (int i = 0; i < 2000; i++) {
        if (atomic_load(&log->first_dirty) > 0)
            return true;
        int64_t last[KEYS];
        read_all(log, last);
    }
    return false;
}

static void change_settings(int round)
{
    struct log_manager_settings s = {.recovery_threads_per_dir = 1,
                                     .producer_id_expiration_ms = 1000 + round,
                                     .cleaner = b.cleaner};

    s.cleaner.threads = 1 + round % 3;
    s.cleaner.max_bytes_per_second = round % 2 ? 1e300 : 1e200;
    s.cleaner.io_buffer_bytes = round % 4 ? 1 << 16 : 1 << 17;
    ck_assert_int_eq(log_manager_reconfigure(b.m, &s), 0);
}

START_TEST(appends_reads_and_settings_go_on_while_threads_clean)
{
    enum { LOGS = 3, ROUNDS = 12 };
    struct log *logs[LOGS];
    struct thread readers[LOGS];
    int64_t last[KEYS];

    setup();
    say_set_level(SAY_ERROR);
    b.cleaner.threads = 2;
    log_manager_stop(b.m);
    b.m = log_manager_free(b.m);
    start();
    atomic_store(&is_over, false);
    ck_assert_int_eq(log_manager_start(b.m), 0);
    for (int i = 0; i < LOGS; i++) {
        CLEANUP(free_p) char *name = xasprintf("t%d", i);

        logs[i] = create(name);
        fill(logs[i], KEYS);
        ck_assert_int_eq(thread_start(&readers[i], "reader", read_on, logs[i]), 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LOGS; i++) {
            fill(logs[i], 200);
            log_rest(logs[i], INT64_MAX);
            check_last(logs[i], (int)log_end_offset(logs[i]));
        }
        change_settings(round);
    }
    for (int i = 0; i < LOGS; i++)
        ck_assert(is_clean(logs[i]));
    atomic_store(&is_over, true);
    for (int i = 0; i < LOGS; i++)
        thread_join(&readers[i]);
    for (int i = 0; i < LOGS; i++) {
        ck_assert_int_eq(log_end_offset(logs[i]), KEYS + 200 * ROUNDS);
        check_last(logs[i], KEYS + 200 * ROUNDS);
        ck_assert_int_lt(read_all(logs[i], last), 200 * ROUNDS);
        log_put(logs[i]);
    }
    log_manager_stop(b.m);
    ck_assert_int_eq(b.failed, 0);
    teardown();
}
END_TEST

START_TEST(truncation_and_deletion_while_threads_clean)
{
    int64_t last[KEYS];

    setup();
    say_set_level(SAY_ERROR);
    ck_assert_int_eq(log_manager_start(b.m), 0);
    for (int round = 0; round < 15; round++) {
        struct log *log = create("t");

        fill(log, 400);
        for (int i = 0; i < 5; i++) {
            fill(log, 100);
            ck_assert_int_eq(log_truncate_to(log, log_end_offset(log) - 60), 0);
        }
        int64_t end = log_end_offset(log);
        ck_assert_int_eq(end, 400 + 5 * 40);
        fill(log, 2 * KEYS);
        read_all(log, last);
        for (int i = 0; i < KEYS; i++)
            ck_assert_int_eq(last[i], end + KEYS + i);
        ck_assert_int_eq(log_manager_delete(b.m, STR("t"), 0), 0);
        log_put(log);
    }
    log_manager_stop(b.m);
    ck_assert_int_eq(b.failed, 0);
    teardown();
}
END_TEST

TEST_MAIN("broker/storage/cleaner", WITH_FAULTS the_dirtiest_log_is_cleaned_first_and_remembered,
          what_was_cleaned_is_known_after_a_restart,
          a_log_that_cannot_be_read_is_put_aside_and_others_go_on,
          retention_also_applies_where_the_policy_says_so,
          a_topic_that_is_not_compacted_is_left_alone,
          appends_reads_and_settings_go_on_while_threads_clean,
          truncation_and_deletion_while_threads_clean)
