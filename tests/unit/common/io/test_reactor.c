#include "common/io/reactor.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

#include <sys/socket.h>
#include <unistd.h>

static struct reactor *new_reactor(const struct clock *clock)
{
    struct reactor *r = NULL;

    ck_assert_int_eq(reactor_new("test", clock, &r), 0);
    return r;
}

struct ping {
    struct message message;
    struct reactor *from;
    struct reactor *to;
    struct inbox *done;
    int left;
};

static void pass_on(struct message *m)
{
    struct ping *p = container_of(m, struct ping, message);
    struct reactor *here = p->to;

    ck_assert(reactor_is_current(here));
    ck_assert_ptr_eq(reactor_current(), here);
    p->to = p->from;
    p->from = here;
    if (p->left-- > 0)
        reactor_post(p->to, m);
    else
        inbox_post(p->done, m);
}

START_TEST(messages_travel_between_reactors)
{
    struct reactor *a = new_reactor(&clock_system), *b = new_reactor(&clock_system);
    struct inbox done;
    struct ping p = {{.run = pass_on}, .from = a, .to = b, .done = &done, .left = 10000};

    inbox_init(&done);
    ck_assert_int_eq(reactor_start(a), 0);
    ck_assert_int_eq(reactor_start(b), 0);
    reactor_post(b, &p.message);
    ck_assert_ptr_eq(inbox_take(&done, INT64_MAX), &p.message);
    reactor_stop(a);
    reactor_stop(b);
    reactor_free(a);
    reactor_free(b);
    inbox_deinit(&done);
}
END_TEST

struct counter {
    struct message message;
    struct reactor *r;
    int count;
};

static void count_on(struct message *m)
{
    struct counter *c = container_of(m, struct counter, message);

    if (++c->count < 3)
        reactor_post(c->r, m);
}

START_TEST(posting_to_oneself_needs_no_sleep)
{
    struct reactor *r = new_reactor(&clock_system);
    struct counter c = {{.run = count_on}, .r = r};

    reactor_post(r, &c.message);
    for (int i = 0; i < 3; i++)
        reactor_turn(r, INT64_MAX);
    ck_assert_int_eq(c.count, 3);
    reactor_free(r);
}
END_TEST

static void set_flag(struct message *m)
{
    container_of(m, struct counter, message)->count++;
}

START_TEST(stop_runs_what_was_posted_before)
{
    struct reactor *r = new_reactor(&clock_system);
    struct counter c[100];

    ck_assert_int_eq(reactor_start(r), 0);
    for (size_t i = 0; i < ARRAY_LEN(c); i++) {
        c[i] = (struct counter){{.run = set_flag}, .r = r};
        reactor_post(r, &c[i].message);
    }
    reactor_stop(r);
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        ck_assert_int_eq(c[i].count, 1);
    reactor_free(r);
}
END_TEST

struct watched {
    struct io_event ev;
    struct reactor *r;
    struct watched *other;
    int ready;
};

static void remove_other(struct io_event *ev, uint32_t mask UNUSED)
{
    struct watched *w = container_of(ev, struct watched, ev);

    w->ready++;
    reactor_remove(w->r, &w->other->ev);
}

START_TEST(a_removed_event_is_not_called_in_the_same_turn)
{
    struct reactor *r = new_reactor(&clock_system);
    int s[2], t[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, t), 0);
    struct watched a = {{s[0], EPOLLOUT, remove_other}, .r = r},
                   b = {{t[0], EPOLLOUT, remove_other}, .r = r, .other = &a};
    a.other = &b;
    ck_assert_int_eq(reactor_add(r, &a.ev), 0);
    ck_assert_int_eq(reactor_add(r, &b.ev), 0);
    reactor_turn(r, INT64_MAX);
    ck_assert_int_eq(a.ready + b.ready, 1);
    close(s[0]), close(s[1]), close(t[0]), close(t[1]);
    reactor_free(r);
}
END_TEST

START_TEST(deferred_work_runs_in_the_same_turn)
{
    struct reactor *r = new_reactor(&clock_system);
    struct counter c = {{.run = set_flag}};

    reactor_defer(r, &c.message);
    reactor_turn(r, 0);
    ck_assert_int_eq(c.count, 1);
    reactor_free(r);
}
END_TEST

struct alarm {
    struct timer timer;
    int fired;
};

static void on_alarm(struct timer *t)
{
    container_of(t, struct alarm, timer)->fired++;
}

START_TEST(timers_follow_the_clock_that_was_handed_in)
{
    struct clock_fake clock;
    struct alarm a = {{.fire = on_alarm}};

    clock_fake_init(&clock, 1000);
    struct reactor *r = new_reactor(&clock.clock);
    timer_arm(r, &a.timer, reactor_now_us(r) + 60000000);
    clock_fake_advance(&clock, 59999);
    reactor_turn(r, 0);
    ck_assert_int_eq(a.fired, 0);
    clock_fake_advance(&clock, 1);
    reactor_turn(r, INT64_MAX);
    ck_assert_int_eq(a.fired, 1);
    reactor_free(r);
}
END_TEST

START_TEST(a_pool_is_used_in_turn)
{
    struct reactor *v[3] = {new_reactor(&clock_system), new_reactor(&clock_system),
                            new_reactor(&clock_system)};
    struct reactor_pool pool = {.v = v, .count = 3};

    for (int i = 0; i < 7; i++)
        ck_assert_ptr_eq(reactor_pool_next(&pool), v[i % 3]);
    for (int i = 0; i < 3; i++)
        reactor_free(v[i]);
}
END_TEST

TEST_MAIN("common/io/reactor", messages_travel_between_reactors, posting_to_oneself_needs_no_sleep,
          stop_runs_what_was_posted_before, a_removed_event_is_not_called_in_the_same_turn,
          deferred_work_runs_in_the_same_turn, timers_follow_the_clock_that_was_handed_in,
          a_pool_is_used_in_turn)
