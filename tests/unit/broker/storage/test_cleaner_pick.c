#include "broker/storage/cleaner_pick.h"

#include "broker/storage/log_manager.h"
#include "common/base/mem.h"
#include "tests/support/compact_model.h"
#include "tests/support/test_main.h"

static struct compact_model m;

static void setup(void)
{
    model_init(&m, 1);
    m.b.conf->min_cleanable_dirty_ratio = 0.5;
    for (int i = 0; i < 400; i++) {
        m.b.clock.wall_ms += 10;
        model_put(&m, i % 10, m.next_value++);
    }
    ck_assert_uint_ge(m.b.log->segment_count, 8);
}

static struct cleanable look(void)
{
    CLEANUP(log_view_deinit) struct log_view view = {.count = 0};
    struct cleanable c;

    log_view_init(&view, m.b.log);
    ck_assert_int_eq(cleaner_look(m.b.log, &view, m.b.clock.wall_ms, &c), 0);
    return c;
}

static int64_t base(uint32_t i)
{
    return m.b.log->segments[i]->base;
}

START_TEST(a_log_that_was_never_cleaned_is_dirty_up_to_its_active_segment)
{
    setup();
    struct cleanable c = look();
    ck_assert_int_eq(c.first_dirty, 0);
    ck_assert_int_eq(c.upper, log_active(m.b.log)->base);
    ck_assert_int_eq(c.clean_bytes, 0);
    ck_assert_int_eq(c.dirty_bytes, log_size(m.b.log) - log_active(m.b.log)->size);
    ck_assert_double_eq(c.ratio, 1);
    ck_assert(c.is_due);
    model_deinit(&m);
}
END_TEST

START_TEST(a_clean_log_is_due_when_enough_of_it_is_dirty)
{
    setup();
    m.b.log->first_dirty = base(2);
    struct cleanable c = look();
    ck_assert_int_eq(c.clean_bytes, m.b.log->segments[0]->size + m.b.log->segments[1]->size);
    ck_assert(c.ratio > 0.5);
    ck_assert(c.is_due);
    m.b.log->first_dirty = base(m.b.log->segment_count - 2);
    c = look();
    ck_assert(c.ratio < 0.5);
    ck_assert(!c.is_due);
    m.b.conf->min_cleanable_dirty_ratio = c.ratio;
    ck_assert(!look().is_due);
    m.b.conf->min_cleanable_dirty_ratio = c.ratio - 0.001;
    ck_assert(look().is_due);
    m.b.log->first_dirty = log_active(m.b.log)->base;
    m.b.conf->min_cleanable_dirty_ratio = 0;
    c = look();
    ck_assert_int_eq(c.dirty_bytes, 0);
    ck_assert(!c.is_due);
    model_deinit(&m);
}
END_TEST

START_TEST(the_segment_of_the_last_stable_offset_is_left_alone)
{
    setup();
    int64_t high = base(4) + 3;
    log_bench_restart(&m.b);
    ck_assert(!look().is_due);
    log_set_high_watermark(m.b.log, high);
    ck_assert_int_eq(look().upper, base(4));
    log_set_high_watermark(m.b.log, base(4));
    ck_assert_int_eq(look().upper, base(4));
    log_set_high_watermark(m.b.log, base(4) - 1);
    ck_assert_int_eq(look().upper, base(3));
    /* The first dirty offset may lie above it. */
    m.b.log->first_dirty = base(5) + 1;
    ck_assert(!look().is_due);
    ck_assert_int_eq(look().dirty_bytes, 0);
    model_deinit(&m);
}
END_TEST

START_TEST(an_offset_that_does_not_fit_the_log_starts_over)
{
    setup();
    m.b.log->first_dirty = log_end_offset(m.b.log) + 1;
    struct cleanable c = look();
    ck_assert(c.is_reset);
    ck_assert_int_eq(c.first_dirty, 0);
    m.b.log->first_dirty = log_end_offset(m.b.log);
    ck_assert(!look().is_reset);
    ck_assert_int_eq(log_raise_start(m.b.log, base(3)), 0);
    m.b.log->first_dirty = base(3) - 1;
    c = look();
    ck_assert(c.is_reset);
    ck_assert_int_eq(c.first_dirty, base(3));
    model_deinit(&m);
}
END_TEST

START_TEST(young_records_wait_for_the_compaction_lag)
{
    setup();
    int64_t ts = 0;
    WITH_LOCK(&m.b.log->lock)
    {
        ck_assert_int_eq(log_segment_youngest(m.b.log, m.b.log->segments[4], &ts), 0);
    }
    m.b.conf->min_compaction_lag_ms = m.b.clock.wall_ms - ts;
    ck_assert_int_eq(look().upper, base(5));
    m.b.conf->min_compaction_lag_ms++;
    ck_assert_int_eq(look().upper, base(4));
    m.b.conf->min_compaction_lag_ms = 1000000;
    ck_assert_int_eq(look().upper, base(0));
    ck_assert(!look().is_due);
    model_deinit(&m);
}
END_TEST

START_TEST(old_records_are_due_however_few_they_are)
{
    setup();
    m.b.conf->min_cleanable_dirty_ratio = 1;
    m.b.log->first_dirty = base(m.b.log->segment_count - 2);
    ck_assert(!look().is_due);
    m.b.conf->max_compaction_lag_ms = 100000;
    ck_assert(!look().is_due);
    m.b.clock.wall_ms += 100001;
    ck_assert(look().is_overdue);
    ck_assert(look().is_due);
    m.b.log->first_dirty = log_active(m.b.log)->base;
    ck_assert(!look().is_due);
    model_deinit(&m);
}
END_TEST

TEST_MAIN("broker/storage/cleaner_pick",
          a_log_that_was_never_cleaned_is_dirty_up_to_its_active_segment,
          a_clean_log_is_due_when_enough_of_it_is_dirty,
          the_segment_of_the_last_stable_offset_is_left_alone,
          an_offset_that_does_not_fit_the_log_starts_over,
          young_records_wait_for_the_compaction_lag, old_records_are_due_however_few_they_are)
