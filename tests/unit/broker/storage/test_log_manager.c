#include "broker/storage/log_manager.h"

#include "broker/storage/checkpoint.h"
#include "broker/storage/manager_internal.h"
#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/base/props.h"
#include "common/record/builder.h"
#include "tests/support/test_main.h"

#include <sys/wait.h>
#include <unistd.h>

enum { DIRS_MAX = 3 };

static struct bench {
    struct clock_fake clock;
    char *dirs[DIRS_MAX];
    int dir_count;
    int threads;
    struct topic_conf *conf;
    struct log_manager *m;
    int failed;
    bool is_over;
} b;

static void on_failed(void *ctx UNUSED, const char *dir UNUSED)
{
    b.failed++;
}

static void on_over(void *ctx UNUSED)
{
    b.is_over = true;
}

static struct topic_conf *on_conf(void *ctx UNUSED, const char *topic UNUSED)
{
    return topic_conf_ref(b.conf);
}

static void bench_init(int dirs)
{
    b = (struct bench){.dir_count = dirs, .threads = 1, .conf = topic_conf_new()};
    clock_fake_init(&b.clock, 1700000000000);
    for (int i = 0; i < dirs; i++)
        b.dirs[i] = xasprintf("%s/data%d", test_tmpdir(), i);
}

static void bench_deinit(void)
{
    log_manager_free(b.m);
    topic_conf_unref(b.conf);
    for (int i = 0; i < b.dir_count; i++)
        free(b.dirs[i]);
}

static int try_new(char **why)
{
    const struct log_manager_opts opts = {
        .clock = &b.clock.clock,
        .dirs = (const char *const *)b.dirs,
        .dir_count = b.dir_count,
        .recovery_threads_per_dir = b.threads,
        .flush_scheduler_interval_ms = INT64_MAX,
        .retention_check_interval_ms = 300000,
        .recovery_checkpoint_interval_ms = 60000,
        .start_offset_checkpoint_interval_ms = 60000,
        .high_watermark_checkpoint_interval_ms = 5000,
        .producer_id_expiration_ms = 86400000,
        .producer_id_expiration_check_interval_ms = 600000,
        .events = {.dir_failed = on_failed, .all_dirs_failed = on_over, .topic_conf = on_conf}};

    return log_manager_new(&opts, &b.m, why);
}

static void start(void)
{
    CLEANUP(free_p) char *why = NULL;

    ck_assert_int_eq(try_new(&why), 0);
    ck_assert_int_eq(log_manager_load(b.m), 0);
}

static void stop(void)
{
    log_manager_stop(b.m);
    b.m = log_manager_free(b.m);
}

/* As kill -9 leaves it. */
static void kill_it(void)
{
    b.m = log_manager_free(b.m);
}

static int try_create(const char *topic, int32_t partition, bool is_new, struct log **ret)
{
    const struct log_create_opts opts = {
        .topic = str_of(topic), .partition = partition, .is_new = is_new, .conf = b.conf};

    return log_manager_create(b.m, &opts, ret);
}

static struct log *create(const char *topic, int32_t partition)
{
    struct log *log = NULL;

    ck_assert_int_eq(try_create(topic, partition, true, &log), 0);
    return log;
}

static int append(struct log *log, int count)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct log_append_opts opts = {0, APPEND_CLIENT, b.clock.wall_ms};
    struct batch_opts bo = BATCH_OPTS_PLAIN;
    struct log_append done;

    batch_builder_init(&bb, &bo);
    for (int i = 0; i < count; i++)
        batch_builder_add(&bb, &(struct record){.offset = i,
                                                .timestamp = b.clock.wall_ms,
                                                .value = slice_of("value", 5)});
    ck_assert_int_eq(batch_builder_finish(&bb, &out), 0);
    return log_append_leader(log, slice_of_str(strbuf_str(&out)), &opts, &a, &done);
}

static struct log *get(const char *topic, int32_t partition)
{
    struct log *log = log_manager_get(b.m, str_of(topic), partition);

    ck_assert_ptr_nonnull(log);
    return log;
}

static bool exists(int dir, const char *name)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", b.dirs[dir], name);

    return fs_exists(path);
}

static int count_names(int dir, const char *part)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    int n = 0;

    ck_assert_int_eq(fs_list_dir(b.dirs[dir], &names), 0);
    for (size_t i = 0; i < names.count; i++)
        n += strstr(names.v[i], part) != NULL;
    return n;
}

/* -1 where the file does not name it. */
static int64_t checkpointed(int dir, const char *file, const char *topic, int32_t partition)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", b.dirs[dir], file);
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0};
    CLEANUP(free_p) char *why = NULL;

    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    const struct checkpoint_entry *e = checkpoint_find(&c, str_of(topic), partition);
    return e ? e->offset : -1;
}

START_TEST(logs_come_back_after_a_clean_stop)
{
    bench_init(1);
    start();
    CLEANUP(log_put_p) struct log *log = create("orders", 3);
    ck_assert_int_eq(append(log, 7), 0);
    log_set_high_watermark(log, 5);
    log_manager_enable_hw_checkpoints(b.m);
    log_put(TAKE(log));
    stop();
    ck_assert(exists(0, ".kafka_cleanshutdown"));
    ck_assert_int_eq(checkpointed(0, "recovery-point-offset-checkpoint", "orders", 3), 7);
    ck_assert_int_eq(checkpointed(0, "replication-offset-checkpoint", "orders", 3), 5);
    ck_assert_int_eq(checkpointed(0, "log-start-offset-checkpoint", "orders", 3), -1);
    start();
    ck_assert(!exists(0, ".kafka_cleanshutdown"));
    log = get("orders", 3);
    ck_assert_int_eq(log_end_offset(log), 7);
    ck_assert_int_eq(log_high_watermark(log), 0);
    ck_assert_int_eq(log_manager_checkpointed_hw(b.m, STR("orders"), 3), 5);
    ck_assert_ptr_null(log_manager_get(b.m, STR("orders"), 2));
    log_put(TAKE(log));
    bench_deinit();
}
END_TEST

START_TEST(logs_come_back_after_a_kill)
{
    bench_init(1);
    start();
    CLEANUP(log_put_p) struct log *log = create("orders", 3);
    ck_assert_int_eq(append(log, 7), 0);
    log_put(TAKE(log));
    kill_it();
    start();
    log = get("orders", 3);
    ck_assert_int_eq(log_end_offset(log), 7);
    ck_assert_int_eq(append(log, 1), 0);
    log_put(TAKE(log));
    bench_deinit();
}
END_TEST

START_TEST(a_crash_while_loading_is_no_clean_stop)
{
    bench_init(1);
    start();
    stop();
    ck_assert(exists(0, ".kafka_cleanshutdown"));
    start();
    kill_it();
    ck_assert(!exists(0, ".kafka_cleanshutdown"));
    bench_deinit();
}
END_TEST

START_TEST(a_watermark_that_nobody_set_is_kept_in_its_checkpoint)
{
    bench_init(1);
    start();
    CLEANUP(log_put_p) struct log *log = create("orders", 0);
    ck_assert_int_eq(append(log, 9), 0);
    log_set_high_watermark(log, 6);
    log_manager_enable_hw_checkpoints(b.m);
    log_put(TAKE(log));
    stop();
    start();
    log_manager_enable_hw_checkpoints(b.m);
    stop();
    ck_assert_int_eq(checkpointed(0, "replication-offset-checkpoint", "orders", 0), 6);
    bench_deinit();
}
END_TEST

START_TEST(logs_are_spread_over_the_dirs)
{
    bench_init(3);
    start();
    for (int i = 0; i < 9; i++)
        log_put(create("t", i));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(count_names(i, "t-"), 3);
    stop();
    b.threads = 4;
    start();
    for (int i = 0; i < 9; i++)
        log_put(get("t", i));
    bench_deinit();
}
END_TEST

/* Which of the two is the partition nobody can say: one is further, the other was truncated. */
START_TEST(the_same_partition_in_two_dirs_stops_the_start)
{
    CLEANUP(free_p) char *why = NULL;

    bench_init(2);
    start();
    struct log *log = create("t", 0);
    ck_assert_int_eq(append(log, 3), 0);
    log_put(log);
    stop();
    for (int i = 0; i < 2; i++) {
        CLEANUP(free_p) char *path = xasprintf("%s/t-0", b.dirs[i]);

        CLEANUP(free_p) char *start = xasprintf("%s/log-start-offset-checkpoint", b.dirs[i]);

        if (fs_exists(path))
            continue;
        ck_assert_int_eq(fs_mkdir(path), 0);
        ck_assert_int_eq(fs_replace_file(start, STR("0\n1\nt 0 7\n")), 0);
    }
    ck_assert_int_eq(try_new(&why), 0);
    ck_assert_int_eq(log_manager_load(b.m), -EEXIST);
    bench_deinit();
}
END_TEST

START_TEST(it_is_empty_without_logs)
{
    bench_init(2);
    start();
    ck_assert(log_manager_is_empty(b.m));
    log_put(create("t", 0));
    ck_assert(!log_manager_is_empty(b.m));
    stop();
    start();
    ck_assert(!log_manager_is_empty(b.m));
    ck_assert_int_eq(log_manager_delete(b.m, STR("t"), 0), 0);
    ck_assert(log_manager_is_empty(b.m));
    bench_deinit();
}
END_TEST

START_TEST(a_deleted_log_is_renamed_and_its_name_is_free)
{
    bench_init(1);
    b.conf->file_delete_delay_ms = 60000;
    start();
    CLEANUP(log_put_p) struct log *old = create("t", 0);
    ck_assert_int_eq(append(old, 500), 0);
    log_set_high_watermark(old, 500);
    ck_assert_int_eq(log_raise_start(old, 400), 0);
    ck_assert_int_eq(log_manager_delete(b.m, STR("t"), 0), 0);
    ck_assert_int_eq(log_manager_delete(b.m, STR("t"), 0), 0);
    ck_assert_int_eq(count_names(0, "-delete"), 1);
    ck_assert(!exists(0, "t-0"));
    ck_assert_int_eq(append(old, 1), KAFKA_STORAGE_ERROR);
    /* The new one must not inherit what the checkpoints said of the old one. */
    CLEANUP(log_put_p) struct log *log = create("t", 0);
    ck_assert_int_eq(log_end_offset(log), 0);
    ck_assert_int_eq(append(log, 2), 0);
    ck_assert_int_eq(checkpointed(0, "log-start-offset-checkpoint", "t", 0), -1);
    log_put(TAKE(log));
    kill_it();
    start();
    log = get("t", 0);
    ck_assert_int_eq(log_start_offset(log), 0);
    ck_assert_int_eq(log_end_offset(log), 2);
    bench_deinit();
}
END_TEST

static bool wait_until_gone(void)
{
    for (int i = 0; i < 5000 && count_names(0, "-delete") > 0; i++)
        usleep(1000); /* another thread's work */
    return count_names(0, "-delete") == 0;
}

START_TEST(deleted_directories_found_at_start_are_removed)
{
    bench_init(1);
    start();
    log_put(create("t", 0));
    ck_assert_int_eq(log_manager_delete(b.m, STR("t"), 0), 0);
    kill_it();
    ck_assert_int_eq(count_names(0, "-delete"), 1);
    start();
    ck_assert_ptr_null(log_manager_get(b.m, STR("t"), 0));
    ck_assert_int_eq(log_manager_start(b.m), 0);
    ck_assert(wait_until_gone());
    bench_deinit();
}
END_TEST

START_TEST(a_failed_dir_takes_its_logs_offline_and_the_others_go_on)
{
    struct log *log = NULL;

    bench_init(2);
    start();
    log_put(create("t", 0));
    log_put(create("t", 1));
    CLEANUP(log_put_p) struct log *first = get("t", 0);
    log_manager_dir_failed(b.m, log_dir_path(first), -EIO, "a test");
    log_manager_dir_failed(b.m, log_dir_path(first), -EIO, "a test");
    ck_assert_int_eq(b.failed, 1);
    ck_assert(!b.is_over);
    ck_assert_int_eq(log_manager_offline_dir_count(b.m), 1);
    ck_assert_ptr_null(log_manager_get(b.m, STR("t"), 0));
    ck_assert(log_manager_is_offline(b.m, STR("t"), 0));
    ck_assert(!log_manager_is_offline(b.m, STR("t"), 1));
    ck_assert_int_lt(append(first, 1), 0);
    ck_assert_int_eq(try_create("t", 0, true, &log), KAFKA_STORAGE_ERROR);
    ck_assert_int_eq(try_create("u", 0, false, &log), KAFKA_STORAGE_ERROR);
    log_put(create("u", 0));
    CLEANUP(log_put_p) struct log *second = get("t", 1);
    log_manager_dir_failed(b.m, log_dir_path(second), -EIO, "a test");
    ck_assert(b.is_over);
    bench_deinit();
}
END_TEST

START_TEST(a_full_disk_takes_its_dir_offline_and_is_whole_afterwards)
{
    bench_init(1);
    start();
    CLEANUP(log_put_p) struct log *full = create("t", 0);
    ck_assert_int_eq(append(full, 3), 0);
    fault_arm("fs.pwrite", (struct fault){FAULT_ERRNO, ENOSPC}, 1, true);
    ck_assert_int_eq(append(full, 1), -ENOSPC);
    ck_assert_int_eq(log_end_offset(full), 3);
    log_manager_dir_failed(b.m, log_dir_path(full), -ENOSPC, "a test");
    fault_disarm_all();
    ck_assert_int_eq(b.failed, 1);
    ck_assert(b.is_over);
    bench_deinit();
}
END_TEST

START_TEST(a_dir_that_cannot_be_made_into_a_log_is_left_for_the_next)
{
    bench_init(2);
    start();
    fault_arm("fs.open", (struct fault){FAULT_ERRNO, EIO}, 1, false);
    log_put(create("t", 0));
    fault_disarm_all();
    ck_assert_int_eq(b.failed, 1);
    bench_deinit();
}
END_TEST

START_TEST(a_malformed_checkpoint_counts_as_empty)
{
    bench_init(1);
    start();
    CLEANUP(log_put_p) struct log *log = create("t", 0);
    ck_assert_int_eq(append(log, 5), 0);
    log_put(TAKE(log));
    stop();
    CLEANUP(free_p) char *rp = xasprintf("%s/recovery-point-offset-checkpoint", b.dirs[0]);
    CLEANUP(free_p) char *ls = xasprintf("%s/log-start-offset-checkpoint", b.dirs[0]);
    ck_assert_int_eq(fs_replace_file(rp, STR("0\n1\nt 0 five\n")), 0);
    ck_assert_int_eq(fs_replace_file(ls, STR("")), 0);
    start();
    log = get("t", 0);
    ck_assert_int_eq(log_end_offset(log), 5);
    log_put(TAKE(log));
    bench_deinit();
}
END_TEST

START_TEST(identity_is_written_once_and_must_agree)
{
    CLEANUP(free_p) char *why = NULL, *cluster = NULL;
    int32_t id = 0;

    bench_init(2);
    start();
    ck_assert_int_eq(log_manager_identity(b.m, &id, &cluster, &why), 0);
    ck_assert_int_eq(id, -1);
    ck_assert_ptr_null(cluster);
    ck_assert_int_eq(log_manager_set_identity(b.m, 7, "abcdefghijklmnopqrstuv"), 0);
    stop();
    start();
    ck_assert_int_eq(log_manager_identity(b.m, &id, &cluster, &why), 0);
    ck_assert_int_eq(id, 7);
    ck_assert_str_eq(cluster, "abcdefghijklmnopqrstuv");
    stop();
    CLEANUP(free_p) char *path = xasprintf("%s/meta.properties", b.dirs[1]);
    ck_assert_int_eq(fs_replace_file(path, STR("version=0\nbroker.id=8\n")), 0);
    start();
    free(TAKE(cluster));
    ck_assert_int_eq(log_manager_identity(b.m, &id, &cluster, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "broker.id"));
    bench_deinit();
}
END_TEST

START_TEST(a_directory_of_another_mode_is_refused)
{
    CLEANUP(free_p) char *why = NULL;

    bench_init(1);
    CLEANUP(free_p) char *path = xasprintf("%s/meta.properties", b.dirs[0]);
    ck_assert_int_eq(fs_mkdir(b.dirs[0]), 0);
    ck_assert_int_eq(fs_replace_file(path, STR("version=1\nnode.id=8\n")), 0);
    ck_assert_int_eq(try_new(&why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "KRaft"));
    bench_deinit();
}
END_TEST

START_TEST(a_dir_of_a_running_broker_is_refused)
{
    bench_init(1);
    start();
    pid_t child = fork();
    if (child == 0) {
        char *why = NULL;

        b.m = NULL;
        _exit(try_new(&why) == -EAGAIN && strstr(why, "another process") ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    bench_deinit();
}
END_TEST

START_TEST(strange_directories_are_left_alone)
{
    bench_init(1);
    start();
    stop();
    CLEANUP(free_p) char *stranger = xasprintf("%s/no partition", b.dirs[0]);
    CLEANUP(free_p)
    char *future = xasprintf("%s/t-0.0123456789abcdef0123456789abcdef-future", b.dirs[0]);
    ck_assert_int_eq(fs_mkdir(stranger), 0);
    ck_assert_int_eq(fs_mkdir(future), 0);
    start();
    ck_assert(fs_exists(stranger));
    ck_assert(fs_exists(future));
    ck_assert_ptr_null(log_manager_get(b.m, STR("t"), 0));
    bench_deinit();
}
END_TEST

START_TEST(many_logs_are_closed_and_loaded)
{
    bench_init(1);
    start();
    for (int i = 0; i < 300; i++) {
        CLEANUP(log_put_p) struct log *log = create("many", i);

        ck_assert_int_eq(append(log, i % 5 + 1), 0);
    }
    stop();
    start();
    for (int i = 0; i < 300; i++) {
        CLEANUP(log_put_p) struct log *log = get("many", i);

        ck_assert_int_eq(log_end_offset(log), i % 5 + 1);
    }
    bench_deinit();
}
END_TEST

TEST_MAIN("broker/storage/log_manager", logs_come_back_after_a_clean_stop,
          logs_come_back_after_a_kill, a_crash_while_loading_is_no_clean_stop,
          a_watermark_that_nobody_set_is_kept_in_its_checkpoint, logs_are_spread_over_the_dirs,
          the_same_partition_in_two_dirs_stops_the_start, it_is_empty_without_logs,
          a_deleted_log_is_renamed_and_its_name_is_free,
          deleted_directories_found_at_start_are_removed,
          a_failed_dir_takes_its_logs_offline_and_the_others_go_on,
          a_full_disk_takes_its_dir_offline_and_is_whole_afterwards,
          a_dir_that_cannot_be_made_into_a_log_is_left_for_the_next,
          a_malformed_checkpoint_counts_as_empty, identity_is_written_once_and_must_agree,
          a_directory_of_another_mode_is_refused, a_dir_of_a_running_broker_is_refused,
          strange_directories_are_left_alone, many_logs_are_closed_and_loaded)
