#include "common/io/timer.h"

#include "common/base/mem.h"
#include "common/base/say.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

enum { MS = 1000 };

struct probe {
    struct timer timer;
    int fired;
    int64_t due_us;
};

static struct timer_wheel wheel;
static int64_t now_us;

static void on_fire(struct timer *t)
{
    struct probe *p = container_of(t, struct probe, timer);

    if (timer_is_armed(t) || p->due_us > now_us)
        ck_abort_msg("fired early: due %" PRId64 ", now %" PRId64, p->due_us, now_us);
    p->fired++;
}

static void arm(struct probe *p, int64_t due_us)
{
    p->timer.fire = on_fire;
    p->due_us = due_us;
    timer_wheel_arm(&wheel, &p->timer, due_us);
}

static void advance_to(int64_t us)
{
    now_us = us;
    timer_wheel_advance(&wheel, us);
}

START_TEST(fires_at_its_deadline_and_never_before)
{
    struct probe p = {0};

    timer_wheel_init(&wheel, 5 * MS);
    arm(&p, 70 * MS + 1);
    advance_to(70 * MS);
    ck_assert_int_eq(p.fired, 0);
    advance_to(71 * MS);
    ck_assert_int_eq(p.fired, 1);
    advance_to(1000 * MS);
    ck_assert_int_eq(p.fired, 1);
}
END_TEST

START_TEST(cancelled_timer_does_not_fire)
{
    struct probe p = {0};

    timer_wheel_init(&wheel, 0);
    arm(&p, 3 * MS);
    timer_wheel_cancel(&wheel, &p.timer);
    timer_wheel_cancel(&wheel, &p.timer);
    ck_assert_int_eq(timer_wheel_next_us(&wheel), INT64_MAX);
    advance_to(10 * MS);
    ck_assert_int_eq(p.fired, 0);
}
END_TEST

START_TEST(armed_again_it_moves)
{
    struct probe p = {0};

    timer_wheel_init(&wheel, 0);
    arm(&p, 3 * MS);
    arm(&p, 5000 * MS);
    advance_to(4999 * MS);
    ck_assert_int_eq(p.fired, 0);
    advance_to(5000 * MS);
    ck_assert_int_eq(p.fired, 1);
}
END_TEST

START_TEST(a_deadline_in_the_past_fires_next)
{
    struct probe p = {0};

    timer_wheel_init(&wheel, 100 * MS);
    arm(&p, 0);
    ck_assert(timer_is_armed(&p.timer));
    ck_assert_int_le(timer_wheel_next_us(&wheel), 100 * MS);
    advance_to(100 * MS);
    ck_assert_int_eq(p.fired, 1);
}
END_TEST

START_TEST(far_deadlines_are_kept)
{
    struct probe never = {0}, year = {0};

    timer_wheel_init(&wheel, 0);
    arm(&never, INT64_MAX);
    arm(&year, (int64_t)365 * 86400 * 1000 * MS);
    while (timer_wheel_next_us(&wheel) <= year.due_us)
        advance_to(timer_wheel_next_us(&wheel));
    ck_assert_int_eq(year.fired, 1);
    ck_assert_int_eq(now_us, year.due_us);
    ck_assert_int_eq(never.fired, 0);
}
END_TEST

static void arm_again(struct timer *t)
{
    struct probe *p = container_of(t, struct probe, timer);

    p->fired++;
    timer_wheel_arm(&wheel, t, 1);
}

START_TEST(rearming_for_the_past_does_not_spin)
{
    struct probe p = {.timer.fire = arm_again};

    timer_wheel_init(&wheel, 0);
    timer_wheel_arm(&wheel, &p.timer, 1);
    advance_to(10 * MS);
    ck_assert_int_eq(p.fired, 1);
    advance_to(10 * MS);
    ck_assert_int_eq(p.fired, 2);
}
END_TEST

/* Against the plain definition: a timer fires in the first advance that is not before its
 * deadline. */
START_TEST(random_timers_fire_when_due)
{
    enum { COUNT = 500, STEPS = 4000 };
    static struct probe probes[COUNT];
    struct random_source r = {42};

    timer_wheel_init(&wheel, 12345 * MS);
    now_us = 12345 * MS;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 3; i++) {
            struct probe *p = &probes[random_to(&r, COUNT)];

            if (random_to(&r, 4) == 0)
                timer_wheel_cancel(&wheel, &p->timer);
            else
                arm(p, now_us + (int64_t)(random_next(&r) % (1u << random_to(&r, 31))));
        }
        advance_to(now_us + (int64_t)(random_next(&r) % (1u << random_to(&r, 27))));
        int late = 0;
        for (int i = 0; i < COUNT; i++)
            late += timer_is_armed(&probes[i].timer) && probes[i].due_us <= now_us - MS;
        ck_assert_int_eq(late, 0);
        ck_assert_int_ge(timer_wheel_next_us(&wheel), now_us - MS);
    }
}
END_TEST

TEST_MAIN("common/io/timer", fires_at_its_deadline_and_never_before, cancelled_timer_does_not_fire,
          armed_again_it_moves, a_deadline_in_the_past_fires_next, far_deadlines_are_kept,
          rearming_for_the_past_does_not_spin, random_timers_fire_when_due)
