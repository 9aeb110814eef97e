#include "broker/storage/cleaner_pass.h"

#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "tests/support/compact_model.h"
#include "tests/support/test_main.h"

static struct compact_model m;

static void append_some(int count)
{
    for (int i = 0; i < count; i++)
        model_append(&m);
}

/* ---- what survives ---- */

START_TEST(the_last_record_of_every_key_survives)
{
    model_init(&m, 1);
    for (int i = 0; i < 400; i++)
        model_put(&m, i % 10, m.next_value++);
    uint32_t before = m.b.log->segment_count;
    int64_t size = log_size(m.b.log);
    model_clean(&m);
    ck_assert_int_lt(log_size(m.b.log), size / 2);
    model_check(&m);
    for (int i = 0; i < 100; i++)
        model_put(&m, i % 10, m.next_value++);
    model_clean(&m); /* what is left of the segments fits into few */
    ck_assert_uint_le(m.b.log->segment_count, before / 2);
    model_check(&m);
    log_bench_restart(&m.b);
    model_check(&m);
    model_deinit(&m);
}
END_TEST

START_TEST(a_tombstone_survives_one_cleaning_and_its_retention)
{
    CLEANUP(model_records_deinit) struct model_records got = {0};

    model_init(&m, 1);
    model_put(&m, 0, 1);
    model_put(&m, 0, -1);
    for (int i = 0; i < 100; i++)
        model_put(&m, 1 + i % 3, m.next_value++);
    m.b.clock.wall_ms += 1000000; /* however old it is */
    model_clean(&m);
    model_read(&m, false, &got);
    ck_assert_int_eq(got.v[0].offset, 1);
    ck_assert_int_eq(got.v[0].value, -1);
    m.b.clock.wall_ms += 999;
    model_clean(&m);
    model_check(&m);
    model_records_deinit(&got);
    model_read(&m, false, &got);
    ck_assert_int_eq(got.v[0].value, -1);
    m.b.clock.wall_ms += 1;
    model_clean(&m);
    model_check(&m);
    model_records_deinit(&got);
    model_read(&m, false, &got);
    ck_assert_int_ne(got.v[0].value, -1);
    model_deinit(&m);
}
END_TEST

static void live(uint64_t seed, int64_t map_bytes)
{
    model_init(&m, seed);
    m.map_bytes = map_bytes;
    m.keys = 5 + (int)random_to(&m.random, MODEL_KEYS - 5);
    for (int round = 0; round < 6; round++) {
        append_some(20 + (int)random_to(&m.random, 100));
        if (random_to(&m.random, 2))
            model_end_transactions(&m);
        for (int i = 1 + (int)random_to(&m.random, 3); i > 0; i--) {
            m.b.clock.wall_ms += (int64_t)random_to(&m.random, 900);
            model_clean(&m);
            model_check(&m);
        }
        if (random_to(&m.random, 3) == 0)
            log_bench_restart(&m.b);
        else if (random_to(&m.random, 3) == 0)
            log_bench_kill(&m.b), log_bench_open(&m.b, false);
        log_set_high_watermark(m.b.log, log_end_offset(m.b.log));
        model_check(&m);
    }
    model_deinit(&m);
}

START_TEST(random_logs_are_cleaned_as_the_rules_say)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        live(seed, 1 << 20);
}
END_TEST

START_TEST(a_map_that_is_full_cleans_as_far_as_it_reaches)
{
    for (uint64_t seed = 100; seed < 108; seed++)
        live(seed, 24 * (int64_t)(2 + seed % 40));
}
END_TEST

START_TEST(what_is_not_stable_yet_is_left_alone)
{
    struct cleaner_stats stats;

    model_init(&m, 3);
    for (int i = 0; i < 100; i++)
        model_put(&m, i % 3, m.next_value++);
    log_bench_restart(&m.b); /* and with it the high watermark is back at the start */
    ck_assert_int_eq(model_try_clean(&m, &stats), 0);
    ck_assert_int_eq(stats.next_dirty, 0);
    ck_assert_uint_eq(stats.segments_before, 0);
    log_set_high_watermark(m.b.log, 50);
    ck_assert_int_eq(model_try_clean(&m, &stats), 0);
    ck_assert_int_gt(stats.next_dirty, 0);
    ck_assert_int_le(stats.next_dirty, 50);
    model_check(&m);
    model_deinit(&m);
}
END_TEST

/* ---- producers ---- */

struct known {
    struct producer_info v[MODEL_PRODUCERS];
};

static void know(void *ctx, const struct producer_info *p)
{
    ((struct known *)ctx)->v[p->producer_id - 100] = *p;
}

START_TEST(producers_are_known_after_cleaning_and_a_crash)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct known before = {0}, after = {0};

        model_init(&m, seed);
        m.keys = 5;
        append_some(300);
        model_end_transactions(&m);
        /* What the producers sent is older than all other records. */
        for (int i = 0; i < 200; i++)
            model_put(&m, i % 5, m.next_value++);
        for (int i = 0; i < 3; i++) {
            model_clean(&m);
            m.b.clock.wall_ms += 2000;
        }
        model_check(&m);
        producer_state_each(m.b.log->producers, know, &before);
        log_bench_kill(&m.b);
        m.b.recovery_point = 0;
        for (;;) { /* no snapshot helps */
            CLEANUP(fs_names_deinit) struct fs_names names = {0};
            size_t found = 0;

            ck_assert_int_eq(fs_list_dir(m.b.path, &names), 0);
            for (size_t i = 0; i < names.count; i++) {
                struct segment_file f;
                CLEANUP(free_p) char *path = xasprintf("%s/%s", m.b.path, names.v[i]);

                if (!segment_file_parse(names.v[i], &f) || f.type != SEGMENT_SNAPSHOT)
                    continue;
                ck_assert_int_eq(fs_remove_tree(path), 0);
                found++;
            }
            if (!found)
                break;
        }
        log_bench_open(&m.b, false);
        producer_state_each(m.b.log->producers, know, &after);
        for (int i = 0; i < MODEL_PRODUCERS; i++) {
            ck_assert_int_eq(before.v[i].producer_id, 100 + i);
            ck_assert_int_eq(after.v[i].last_sequence, before.v[i].last_sequence);
            ck_assert_int_eq(after.v[i].epoch, before.v[i].epoch);
            ck_assert_int_eq(after.v[i].last_offset, before.v[i].last_offset);
            ck_assert_int_eq(after.v[i].txn_first_offset, -1);
        }
        model_check(&m);
        model_deinit(&m);
    }
}
END_TEST

/* ---- what happens meanwhile ---- */

static int calls_left;
static void (*meanwhile)(void);

static int interrupt(void *ctx UNUSED, uint64_t bytes UNUSED)
{
    if (--calls_left == 0)
        meanwhile();
    return 0;
}

static void truncate_it(void)
{
    ck_assert_int_eq(log_truncate_to(m.b.log, 150), 0);
}

static void make_it_deleted(void)
{
    struct topic_conf *conf = topic_conf_copy(m.b.conf);

    conf->cleanup_policy = CLEANUP_DELETE;
    log_set_conf(m.b.log, conf);
    topic_conf_unref(conf);
}

static void raise_its_start(void)
{
    int deleted;

    ck_assert_int_eq(log_raise_start(m.b.log, 200), 0);
    ck_assert_int_eq(log_apply_retention(m.b.log, m.b.clock.wall_ms, &deleted), 0);
    ck_assert_int_gt(deleted, 0);
}

static void append_one(void)
{
    for (int i = 0; i < 100; i++)
        model_put(&m, 1, m.next_value++);
}

static int clean_with(void (*fn)(void), int after, struct cleaner_stats *stats)
{
    model_init(&m, 9);
    for (int i = 0; i < 400; i++)
        model_put(&m, i % 30, m.next_value++);
    meanwhile = fn;
    calls_left = after;
    m.pace.pass = interrupt;
    int r = model_try_clean(&m, stats);
    m.pace.pass = NULL;
    return r;
}

START_TEST(truncation_retention_and_another_policy_end_it)
{
    void (*const fns[])(void) = {truncate_it, make_it_deleted, raise_its_start};
    struct cleaner_stats stats;

    for (size_t i = 0; i < ARRAY_LEN(fns); i++) {
        for (int after = 1; after < 30; after += 5) {
            ck_assert_int_eq(clean_with(fns[i], after, &stats), -ECANCELED);
            ck_assert_int_eq(log_bench_files(&m.b, ".cleaned"), 0);
            ck_assert_int_eq(log_bench_files(&m.b, ".swap"), 0);
            int64_t start = log_start_offset(m.b.log), end = log_end_offset(m.b.log);
            log_bench_restart(&m.b);
            ck_assert_int_eq(log_start_offset(m.b.log), start);
            ck_assert_int_eq(log_end_offset(m.b.log), end);
            model_deinit(&m);
        }
    }
}
END_TEST

START_TEST(a_truncation_makes_what_it_cut_dirty_again)
{
    model_init(&m, 9);
    for (int i = 0; i < 400; i++)
        model_put(&m, i % 30, m.next_value++);
    model_clean(&m);
    int64_t clean = m.b.log->first_dirty;
    ck_assert_int_gt(clean, 300);
    ck_assert_int_eq(log_truncate_to(m.b.log, clean + 1), 0);
    ck_assert_int_eq(m.b.log->first_dirty, clean);
    ck_assert_int_eq(log_truncate_to(m.b.log, 200), 0);
    ck_assert_int_eq(m.b.log->first_dirty, log_active(m.b.log)->base);
    ck_assert_int_le(m.b.log->first_dirty, 200);
    ck_assert_int_eq(log_truncate_fully(m.b.log, 0), 0);
    ck_assert_int_eq(m.b.log->first_dirty, 0);
    model_deinit(&m);
}
END_TEST

START_TEST(appends_and_rolls_meanwhile_are_kept)
{
    struct cleaner_stats stats;

    for (int after = 1; after < 30; after += 5) {
        ck_assert_int_eq(clean_with(append_one, after, &stats), 0);
        model_check(&m);
        log_bench_restart(&m.b);
        model_check(&m);
        model_deinit(&m);
    }
}
END_TEST

static int stop_it(void *ctx UNUSED, uint64_t bytes UNUSED)
{
    return --calls_left == 0 ? -ECANCELED : 0;
}

START_TEST(it_can_be_ended_at_any_time)
{
    struct cleaner_stats stats;

    for (calls_left = 1; calls_left < 40;) {
        int after = calls_left;

        model_init(&m, 9);
        for (int i = 0; i < 400; i++)
            model_put(&m, i % 30, m.next_value++);
        m.pace.pass = stop_it;
        int r = model_try_clean(&m, &stats);
        m.pace.pass = NULL;
        if (r == 0)
            calls_left = 1000;
        else
            ck_assert_int_eq(r, -ECANCELED);
        ck_assert_int_eq(log_bench_files(&m.b, ".cleaned"), 0);
        model_clean(&m);
        model_check(&m);
        model_deinit(&m);
        calls_left = r == 0 ? 1000 : after + 3;
    }
}
END_TEST

START_TEST(a_broken_batch_is_found_and_nothing_changes)
{
    struct cleaner_stats stats;

    say_set_level(SAY_ERROR + 1);
    for (uint64_t pos = 10; pos < 100; pos += 9) {
        model_init(&m, 9);
        for (int i = 0; i < 400; i++)
            model_put(&m, i % 30, m.next_value++);
        uint32_t segments = m.b.log->segment_count;
        log_bench_flip_byte(&m.b, 0, SEGMENT_LOG, pos);
        int r = model_try_clean(&m, &stats);
        ck_assert_int_eq(r, -EBADMSG);
        ck_assert_uint_eq(m.b.log->segment_count, segments);
        ck_assert_int_eq(log_bench_files(&m.b, ".cleaned"), 0);
        model_deinit(&m);
    }
}
END_TEST

TEST_MAIN("broker/storage/cleaner_pass", the_last_record_of_every_key_survives,
          a_tombstone_survives_one_cleaning_and_its_retention,
          random_logs_are_cleaned_as_the_rules_say, a_map_that_is_full_cleans_as_far_as_it_reaches,
          what_is_not_stable_yet_is_left_alone, producers_are_known_after_cleaning_and_a_crash,
          truncation_retention_and_another_policy_end_it,
          a_truncation_makes_what_it_cut_dirty_again, appends_and_rolls_meanwhile_are_kept,
          it_can_be_ended_at_any_time, a_broken_batch_is_found_and_nothing_changes)
