#include "broker/storage/log_manager.h"

#include "broker/storage/checkpoint.h"
#include "broker/storage/manager_internal.h"
#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "common/record/builder.h"
#include "tests/support/test_main.h"

#include <sys/wait.h>
#include <unistd.h>

enum { DIRS = 3, RECORDS = 40 };

static struct bench {
    struct clock_fake clock;
    char *dirs[DIRS];
    struct topic_conf *conf;
    struct log_manager *m;
    int failed;
} b;

static void on_failed(void *ctx UNUSED, const char *dir UNUSED)
{
    b.failed++;
}

static struct topic_conf *on_conf(void *ctx UNUSED, const char *topic UNUSED)
{
    return topic_conf_ref(b.conf);
}

static int try_start(void)
{
    CLEANUP(free_p) char *why = NULL;
    const struct log_manager_opts opts = {
        .clock = &b.clock.clock,
        .dirs = (const char *const *)b.dirs,
        .dir_count = DIRS,
        .recovery_threads_per_dir = 1,
        .flush_scheduler_interval_ms = INT64_MAX,
        .retention_check_interval_ms = 300000,
        .recovery_checkpoint_interval_ms = 60000,
        .start_offset_checkpoint_interval_ms = 60000,
        .high_watermark_checkpoint_interval_ms = 5000,
        .producer_id_expiration_ms = 86400000,
        .producer_id_expiration_check_interval_ms = 600000,
        .events = {.dir_failed = on_failed, .topic_conf = on_conf}};

    ck_assert_int_eq(log_manager_new(&opts, &b.m, &why), 0);
    return log_manager_load(b.m);
}

static void start(void)
{
    ck_assert_int_eq(try_start(), 0);
    log_manager_enable_hw_checkpoints(b.m);
}

static void begin(void)
{
    b = (struct bench){.conf = topic_conf_new()};
    b.conf->segment_bytes = 700; /* several segments */
    clock_fake_init(&b.clock, 1700000000000);
    for (int i = 0; i < DIRS; i++)
        b.dirs[i] = xasprintf("%s/data%d", test_tmpdir(), i);
    start();
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

static void end(void)
{
    b.m = log_manager_free(b.m);
    topic_conf_unref(b.conf);
    for (int i = 0; i < DIRS; i++)
        free(b.dirs[i]);
}

static struct log *create(const char *topic)
{
    const struct log_create_opts opts = {.topic = str_of(topic), .is_new = true, .conf = b.conf};
    struct log *log = NULL;

    ck_assert_int_eq(log_manager_create(b.m, &opts, &log), 0);
    return log;
}

static struct log *get(void)
{
    struct log *log = log_manager_get(b.m, STR("t"), 0);

    ck_assert_ptr_nonnull(log);
    return log;
}

static int append_in(struct log *log, int32_t epoch, int count)
{
    CLEANUP(batch_builder_deinit) struct batch_builder bb;
    CLEANUP(strbuf_deinit) struct strbuf out = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct log_append_opts opts = {epoch, APPEND_CLIENT, b.clock.wall_ms};
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

static int append(struct log *log, int count)
{
    return append_in(log, 3, count);
}

/* Everything that the log has to its copy, one batch at a time; at most count of them. */
static void copy(struct log *log, struct log *future, int count)
{
    while (count-- > 0 && log_end_offset(future) < log_end_offset(log)) {
        const struct log_read_opts opts = {log_end_offset(future), 1, INT64_MAX, true};
        struct log_read got;
        struct log_append done;

        ck_assert_int_eq(log_read(log, &opts, &got), 0);
        CLEANUP(free_p) uint8_t *bytes = xmalloc(got.records.len);
        ck_assert_int_eq(file_pread(got.records.file, bytes, got.records.len, got.records.pos), 0);
        file_unref(got.records.file);
        ck_assert_int_eq(log_append_follower(future, (struct slice){bytes, got.records.len}, &done),
                         0);
    }
}

static int dir_of(const struct log *log)
{
    for (int i = 0; i < DIRS; i++)
        if (strcmp(log_dir_path(log), b.dirs[i]) == 0)
            return i;
    return -1;
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

static int64_t checkpointed(int dir, const char *file)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", b.dirs[dir], file);
    CLEANUP(checkpoint_deinit) struct checkpoint c = {0};
    CLEANUP(free_p) char *why = NULL;

    ck_assert_int_eq(checkpoint_read(path, &c, &why), 0);
    const struct checkpoint_entry *e = checkpoint_find(&c, STR("t"), 0);
    return e ? e->offset : -1;
}

/* t-0 with its records in dir 0, its whole copy in dir 1. */
static void set_up(struct log **ret_log, struct log **ret_future)
{
    log_manager_prefer_dir(b.m, STR("t"), 0, 0);
    *ret_log = create("t");
    ck_assert_int_eq(dir_of(*ret_log), 0);
    for (int i = 0; i < RECORDS; i++)
        ck_assert_int_eq(append(*ret_log, 1), 0);
    log_set_high_watermark(*ret_log, RECORDS);
    ck_assert_int_eq(log_raise_start(*ret_log, 5), 0);
    ck_assert_int_eq(log_manager_create_future(b.m, *ret_log, 1, ret_future), 0);
    ck_assert_int_eq(log_truncate_fully(*ret_future, 5), 0);
    copy(*ret_log, *ret_future, INT32_MAX);
}

static bool swap(struct log *log, struct log *future)
{
    struct swap_result result;

    ck_assert_int_eq(log_manager_prepare_swap(b.m, future), 0);
    log_manager_swap(b.m, log, future, &result);
    log_manager_swapped(b.m, log, future, &result);
    return result.is_done;
}

/* All that was appended is there, wherever. */
static void check_records(struct log *log, int64_t end)
{
    ck_assert_int_eq(log_end_offset(log), end);
    for (int64_t at = log_start_offset(log); at < end; at++) {
        const struct log_read_opts opts = {at, 1, INT64_MAX, true};
        struct log_read got;

        ck_assert_int_eq(log_read(log, &opts, &got), 0);
        ck_assert_ptr_nonnull(got.records.file);
        file_unref(got.records.file);
    }
    ck_assert_int_eq(log_latest_epoch(log), 3);
}

START_TEST(a_log_is_made_in_the_dir_that_was_asked_for)
{
    begin();
    log_manager_prefer_dir(b.m, STR("t"), 0, 2);
    CLEANUP(log_put_p) struct log *log = create("t");
    ck_assert_int_eq(dir_of(log), 2);
    ck_assert_ptr_null(manager_preferred_dir(b.m, STR("t"), 0));
    /* The dir it is in is no wish. */
    log_manager_prefer_dir(b.m, STR("t"), 0, 2);
    ck_assert_ptr_null(manager_preferred_dir(b.m, STR("t"), 0));
    end();
}
END_TEST

START_TEST(no_other_dir_will_do_where_the_one_asked_for_is_offline)
{
    const struct log_create_opts opts = {.topic = STR("t"), .is_new = true, .conf = NULL};
    struct log *log = NULL;

    begin();
    log_manager_prefer_dir(b.m, STR("t"), 0, 2);
    log_manager_dir_failed(b.m, b.dirs[2], -EIO, "a test");
    ck_assert_int_eq(log_manager_create(b.m, &opts, &log), KAFKA_STORAGE_ERROR);
    end();
}
END_TEST

START_TEST(a_log_goes_on_in_its_new_dir)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    ck_assert(log_is_future(future));
    ck_assert_int_eq(count_names(1, "-future"), 1);
    ck_assert(swap(log, future));
    log_put(future);
    ck_assert_int_eq(dir_of(log), 1);
    ck_assert_int_eq(log_start_offset(log), 5);
    ck_assert_int_eq(log_high_watermark(log), RECORDS);
    check_records(log, RECORDS);
    ck_assert_int_eq(append(log, 2), 0);
    check_records(log, RECORDS + 2);
    ck_assert_int_eq(count_names(1, "-future"), 0);
    ck_assert_int_eq(count_names(0, "-delete"), 1);
    ck_assert_ptr_null(log_manager_get_future(b.m, STR("t"), 0));
    ck_assert_int_eq(checkpointed(0, "recovery-point-offset-checkpoint"), -1);
    ck_assert_int_eq(checkpointed(0, "log-start-offset-checkpoint"), -1);
    ck_assert_int_eq(checkpointed(0, "replication-offset-checkpoint"), -1);
    ck_assert_int_eq(checkpointed(1, "recovery-point-offset-checkpoint"), RECORDS);
    ck_assert_int_eq(checkpointed(1, "replication-offset-checkpoint"), RECORDS);
    log_put(log);
    kill_it();
    start();
    log = get();
    ck_assert_int_eq(dir_of(log), 1);
    ck_assert_int_eq(log_start_offset(log), 5);
    check_records(log, RECORDS + 2);
    log_put(log);
    end();
}
END_TEST

START_TEST(the_log_start_and_an_epoch_without_records_come_along)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    ck_assert_int_eq(log_raise_start(log, 17), 0);
    ck_assert_int_eq(log_start_epoch(log, 9), 0);
    ck_assert(swap(log, future));
    log_put(future);
    ck_assert_int_eq(log_start_offset(log), 17);
    ck_assert_int_eq(log_latest_epoch(log), 9);
    log_put(log);
    kill_it();
    start();
    log = get();
    ck_assert_int_eq(log_start_offset(log), 17);
    log_put(log);
    end();
}
END_TEST

START_TEST(a_flush_that_met_the_move_says_nothing_of_the_new_files)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    ck_assert_int_eq(log_flush(log), 0);
    ck_assert_int_eq(log_recovery_point(log), RECORDS);
    ck_assert(swap(log, future));
    /* What the old dir had flushed, the new one has to have too. */
    ck_assert_int_eq(log_recovery_point(log), RECORDS);
    ck_assert_int_eq(log_flush(future), 0);
    log_put(future);
    log_put(log);
    end();
}
END_TEST

/* In a child that dies of it; true where it did not come so far. */
static bool swap_with_crash(struct log *log, struct log *future, const char *point, int nth)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        fault_arm(point, (struct fault){FAULT_CRASH, 0}, nth, false);
        bool is_done = swap(log, future);
        _exit(is_done ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

/* One partition in one dir, with all of its records; a future log only beside it. */
static void check_after_crash(const char *point, int nth)
{
    int plain = 0, futures = 0;

    start();
    struct log *log = get();
    struct log *future = log_manager_get_future(b.m, STR("t"), 0);
    for (int i = 0; i < DIRS; i++) {
        futures += count_names(i, "-future");
        plain += count_names(i, "t-0") - count_names(i, "t-0.");
    }
    ck_assert_msg(plain == 1 && futures == (future ? 1 : 0), "%s %d: %d and %d", point, nth, plain,
                  futures);
    check_records(log, RECORDS);
    if (future) {
        ck_assert_int_eq(dir_of(log), 0);
        ck_assert_int_eq(log_end_offset(future), RECORDS);
        ck_assert(swap(log, future));
        log_put(future);
    }
    ck_assert_int_eq(dir_of(log), 1);
    check_records(log, RECORDS);
    ck_assert_int_eq(append(log, 1), 0);
    log_put(log);
    stop();
    start();
    log = get();
    check_records(log, RECORDS + 1);
    log_put(log);
}

static void crash_everywhere(const char *point, int step)
{
    bool is_over = false;
    int nth = 1;

    say_set_level(SAY_ERROR + 1);
    for (; !is_over && nth < 200; nth += step) {
        struct log *log, *future;

        test_begin();
        begin();
        set_up(&log, &future);
        is_over = swap_with_crash(log, future, point, nth);
        log_put(log);
        log_put(future);
        kill_it();
        check_after_crash(point, nth);
        end();
    }
    ck_assert(is_over && nth > 2);
}

START_TEST(a_crash_at_any_rename_leaves_the_partition_once_and_whole)
{
    crash_everywhere("fs.rename", 1);
}
END_TEST

START_TEST(a_crash_at_any_fsync_or_open_leaves_the_partition_once_and_whole)
{
    crash_everywhere("fs.fsync", 7);
    crash_everywhere("fs.open", 23);
}
END_TEST

/* Until a change of dir would be told from the ones so far: file systems count time in steps. */
static void let_time_pass(const char *dir)
{
    CLEANUP(free_p) char *path = xasprintf("%s/../later", dir);
    struct fs_info before, now = {.changed_us = 0};

    ck_assert_int_eq(fs_stat(dir, &before), 0);
    while (now.changed_us <= before.changed_us) {
        ck_assert_int_eq(fs_replace_file(path, STR("x")), 0);
        ck_assert_int_eq(fs_stat(path, &now), 0);
    }
}

/* dir 0 and dir 1 both have a t-0; the copy has as many batches of it as are asked for. */
static void make_twins(int batches)
{
    struct log *log, *future;
    CLEANUP(free_p) char *plain = xasprintf("%s/t-0", b.dirs[1]);

    log_manager_prefer_dir(b.m, STR("t"), 0, 0);
    log = create("t");
    for (int i = 0; i < RECORDS; i++)
        ck_assert_int_eq(append(log, 1), 0);
    ck_assert_int_eq(log_manager_create_future(b.m, log, 1, &future), 0);
    copy(log, future, batches);
    let_time_pass(log->path);
    ck_assert_int_eq(log_move_dir(future, plain), 0);
    log_put(log);
    log_put(future);
    kill_it();
}

START_TEST(of_two_dirs_the_one_with_less_goes)
{
    begin();
    make_twins(10);
    start();
    struct log *log = get();
    ck_assert_int_eq(dir_of(log), 0);
    check_records(log, RECORDS);
    ck_assert_int_eq(count_names(1, "-delete"), 1);
    log_put(log);
    end();
}
END_TEST

START_TEST(of_two_equal_dirs_the_one_that_a_move_ended_in_stays)
{
    begin();
    make_twins(RECORDS);
    start();
    struct log *log = get();
    ck_assert_int_eq(dir_of(log), 1);
    check_records(log, RECORDS);
    ck_assert_int_eq(count_names(0, "-delete"), 1);
    log_put(log);
    end();
}
END_TEST

START_TEST(dirs_that_have_parted_stop_the_start)
{
    struct log *log, *future;

    begin();
    CLEANUP(free_p) char *target = xasprintf("%s/t-0", b.dirs[1]);
    set_up(&log, &future);
    ck_assert_int_eq(log_truncate_to(future, 20), 0);
    ck_assert_int_eq(append_in(future, 4, 1), 0);
    ck_assert_int_eq(log_move_dir(future, target), 0);
    log_put(log);
    log_put(future);
    kill_it();
    say_set_level(SAY_ERROR + 1);
    ck_assert_int_eq(try_start(), -EEXIST);
    end();
}
END_TEST

START_TEST(a_copy_that_is_found_twice_is_found_once)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    CLEANUP(free_p)
    char *second = xasprintf("%s/t-0.0123456789abcdef0123456789abcdef-future", b.dirs[2]);
    ck_assert_int_eq(fs_mkdir(second), 0);
    log_put(log);
    log_put(future);
    kill_it();
    start();
    future = log_manager_get_future(b.m, STR("t"), 0);
    ck_assert_int_eq(dir_of(future), 1);
    ck_assert_int_eq(count_names(2, "-delete"), 1);
    log_put(future);
    end();
}
END_TEST

START_TEST(a_move_that_is_given_up_leaves_the_log)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    ck_assert_int_eq(log_manager_delete_future(b.m, STR("t"), 0), 0);
    ck_assert_int_eq(log_manager_delete_future(b.m, STR("t"), 0), 0);
    ck_assert(!log->is_moving);
    ck_assert_int_eq(count_names(1, "-delete"), 1);
    ck_assert(!swap(log, future));
    ck_assert_int_eq(dir_of(log), 0);
    check_records(log, RECORDS);
    log_put(log);
    log_put(future);
    end();
}
END_TEST

START_TEST(a_failed_target_leaves_the_log_where_it_is)
{
    struct log *log, *future;
    struct swap_result result;

    begin();
    set_up(&log, &future);
    ck_assert_int_eq(log_manager_prepare_swap(b.m, future), 0);
    fault_arm("fs.rename", (struct fault){FAULT_ERRNO, EIO}, 1, false);
    log_manager_swap(b.m, log, future, &result);
    fault_disarm_all();
    ck_assert(!result.is_done);
    ck_assert_int_eq(result.error, -EIO);
    log_manager_swapped(b.m, log, future, &result);
    ck_assert_int_eq(b.failed, 1);
    ck_assert_ptr_null(log_manager_get_future(b.m, STR("t"), 0));
    ck_assert(!log_manager_is_offline(b.m, STR("t"), 0));
    ck_assert_int_eq(append(log, 1), 0);
    log_put(log);
    log_put(future);
    end();
}
END_TEST

START_TEST(a_source_that_fails_at_the_end_has_been_left_already)
{
    struct log *log, *future;
    struct swap_result result;

    begin();
    set_up(&log, &future);
    ck_assert_int_eq(log_manager_prepare_swap(b.m, future), 0);
    fault_arm("fs.rename", (struct fault){FAULT_ERRNO, EIO}, 2, false);
    log_manager_swap(b.m, log, future, &result);
    fault_disarm_all();
    ck_assert(result.is_done);
    log_manager_swapped(b.m, log, future, &result);
    ck_assert_int_eq(b.failed, 1);
    ck_assert(log_manager_dir_is_offline(b.m, 0));
    ck_assert(!log_manager_is_offline(b.m, STR("t"), 0));
    ck_assert_int_eq(append(log, 1), 0);
    check_records(log, RECORDS + 1);
    log_put(log);
    log_put(future);
    /* Mended, the old dir has what the new one has, and less. */
    kill_it();
    start();
    log = get();
    ck_assert_int_eq(dir_of(log), 1);
    check_records(log, RECORDS + 1);
    log_put(log);
    end();
}
END_TEST

START_TEST(a_source_that_failed_before_is_not_exchanged)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    log_manager_dir_failed(b.m, b.dirs[0], -EIO, "a test");
    struct swap_result result;
    log_manager_swap(b.m, log, future, &result);
    ck_assert(!result.is_done);
    ck_assert(log_manager_is_offline(b.m, STR("t"), 0));
    ck_assert_int_eq(dir_of(log), 0);
    log_put(log);
    log_put(future);
    end();
}
END_TEST

START_TEST(no_copy_is_made_while_a_dir_is_offline)
{
    struct log *future = NULL;

    begin();
    CLEANUP(log_put_p) struct log *log = create("t");
    int other = (dir_of(log) + 1) % DIRS;
    log_manager_dir_failed(b.m, b.dirs[(dir_of(log) + 2) % DIRS], -EIO, "a test");
    ck_assert_int_eq(log_manager_create_future(b.m, log, other, &future), KAFKA_STORAGE_ERROR);
    ck_assert(!log->is_moving);
    log_put(TAKE(log));
    end();
}
END_TEST

START_TEST(a_log_whose_copy_is_found_is_not_compacted)
{
    struct log *log, *future;

    begin();
    set_up(&log, &future);
    log_put(log);
    log_put(future);
    stop();
    start();
    log = get();
    ck_assert(log->is_moving);
    log_put(log);
    end();
}
END_TEST

TEST_MAIN("broker/storage/log_futures", a_log_is_made_in_the_dir_that_was_asked_for,
          no_other_dir_will_do_where_the_one_asked_for_is_offline, a_log_goes_on_in_its_new_dir,
          the_log_start_and_an_epoch_without_records_come_along,
          a_flush_that_met_the_move_says_nothing_of_the_new_files,
          a_crash_at_any_rename_leaves_the_partition_once_and_whole,
          a_crash_at_any_fsync_or_open_leaves_the_partition_once_and_whole,
          of_two_dirs_the_one_with_less_goes, of_two_equal_dirs_the_one_that_a_move_ended_in_stays,
          dirs_that_have_parted_stop_the_start, a_copy_that_is_found_twice_is_found_once,
          a_move_that_is_given_up_leaves_the_log, a_failed_target_leaves_the_log_where_it_is,
          a_source_that_fails_at_the_end_has_been_left_already,
          a_source_that_failed_before_is_not_exchanged, no_copy_is_made_while_a_dir_is_offline,
          a_log_whose_copy_is_found_is_not_compacted)
