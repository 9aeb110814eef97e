#include "broker/replica/delayed.h"

#include "common/base/mem.h"
#include "common/base/thread.h"
#include "tests/support/test_main.h"

#include <stdatomic.h>

static struct clock_fake clock_;
static struct reactor *reactor;

struct op {
    struct delayed delayed;
    _Atomic int wanted; /* looks that find nothing yet */
    int looks;
    int finished;
    bool was_last;
};

static bool on_look(struct delayed *d, bool is_last)
{
    struct op *op = container_of(d, struct op, delayed);

    op->looks++;
    op->was_last |= is_last;
    return is_last || atomic_load(&op->wanted) == 0;
}

static void on_finish(struct delayed *d)
{
    container_of(d, struct op, delayed)->finished++;
}

static void op_init(struct op *op, int wanted)
{
    *op = (struct op){.delayed = {.reactor = reactor, .look = on_look, .finish = on_finish}};
    atomic_store(&op->wanted, wanted);
    delayed_init(&op->delayed);
}

static void begin(void)
{
    clock_fake_init(&clock_, 1000);
    ck_assert_int_eq(reactor_new("test", &clock_.clock, &reactor), 0);
    reactor_turn(reactor, 0);
}

START_TEST(ends_at_once_where_all_is_there)
{
    struct op op;

    begin();
    op_init(&op, 0);
    delayed_park(&op.delayed, clock_mono_us(&clock_.clock) + 1000000);
    ck_assert_int_eq(op.finished, 1);
    clock_fake_advance(&clock_, 2000);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.finished, 1);
    reactor_free(reactor);
}
END_TEST

START_TEST(poke_makes_it_look_once)
{
    struct op op;

    begin();
    op_init(&op, 1);
    delayed_park(&op.delayed, clock_mono_us(&clock_.clock) + 1000000);
    ck_assert_int_eq(op.looks, 1);
    delayed_poke(&op.delayed);
    delayed_poke(&op.delayed);
    delayed_poke(&op.delayed);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.looks, 2);
    ck_assert_int_eq(op.finished, 0);
    atomic_store(&op.wanted, 0);
    delayed_poke(&op.delayed);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.finished, 1);
    ck_assert(!op.was_last);
    reactor_free(reactor);
}
END_TEST

START_TEST(timer_ends_it_by_force)
{
    struct op op;

    begin();
    op_init(&op, 1);
    delayed_park(&op.delayed, clock_mono_us(&clock_.clock) + 500000);
    clock_fake_advance(&clock_, 499);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.finished, 0);
    clock_fake_advance(&clock_, 2);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.finished, 1);
    ck_assert(op.was_last);
    reactor_free(reactor);
}
END_TEST

START_TEST(poke_on_its_way_is_waited_for)
{
    struct op op;

    begin();
    op_init(&op, 1);
    delayed_park(&op.delayed, clock_mono_us(&clock_.clock) + 500000);
    delayed_poke(&op.delayed);
    clock_fake_advance(&clock_, 600);
    reactor_turn(reactor, 0);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(op.finished, 1);
    reactor_free(reactor);
}
END_TEST

/* ---- from many threads ---- */

enum { POKERS = 4, OPS = 2000 };

struct race {
    struct delayed delayed;
    pthread_mutex_t lock; /* as a partition's: pokes happen under it */
    bool is_linked;
    int need;
    int finished;
};

static struct race races[OPS];
static _Atomic int ended;

static bool on_race_look(struct delayed *d, bool is_last)
{
    struct race *r = container_of(d, struct race, delayed);

    pthread_mutex_lock(&r->lock);
    bool ends = is_last || r->need <= 0;
    if (ends)
        r->is_linked = false;
    pthread_mutex_unlock(&r->lock);
    return ends;
}

static void on_race_finish(struct delayed *d)
{
    container_of(d, struct race, delayed)->finished++;
    atomic_fetch_add(&ended, 1);
}

static void poke_all(void *arg UNUSED)
{
    for (int i = 0; i < OPS; i++) {
        struct race *r = &races[i];
        pthread_mutex_lock(&r->lock);
        r->need--;
        if (r->is_linked)
            delayed_poke(&r->delayed);
        pthread_mutex_unlock(&r->lock);
    }
}

static void park_all(struct message *m UNUSED)
{
    for (int i = 0; i < OPS; i++)
        delayed_park(&races[i].delayed, reactor_now_us(reactor) + (i % 7) * 200 + 1);
}

START_TEST(ends_exactly_once_whoever_comes_first)
{
    struct message park = {.run = park_all};
    struct thread pokers[POKERS] = {0};

    ck_assert_int_eq(reactor_new("test", &clock_system, &reactor), 0);
    for (int i = 0; i < OPS; i++) {
        races[i] = (struct race){
            .delayed = {.reactor = reactor, .look = on_race_look, .finish = on_race_finish},
            .is_linked = true,
            .need = POKERS,
        };
        pthread_mutex_init(&races[i].lock, NULL);
        delayed_init(&races[i].delayed);
    }
    ck_assert_int_eq(reactor_start(reactor), 0);
    reactor_post(reactor, &park);
    for (int i = 0; i < POKERS; i++)
        ck_assert_int_eq(thread_start(&pokers[i], "poker", poke_all, NULL), 0);
    for (int i = 0; i < POKERS; i++)
        thread_join(&pokers[i]);
    while (atomic_load(&ended) < OPS)
        sched_yield();
    reactor_stop(reactor);
    for (int i = 0; i < OPS; i++)
        ck_assert_int_eq(races[i].finished, 1);
    reactor_free(reactor);
}
END_TEST

TEST_MAIN("broker/replica/delayed", ends_at_once_where_all_is_there, poke_makes_it_look_once,
          timer_ends_it_by_force, poke_on_its_way_is_waited_for,
          ends_exactly_once_whoever_comes_first)
