#include "common/base/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const rank_names[] = {
#define RANK(name) [LOCK_##name] = #name,
#include "common/base/ranks.def"
#undef RANK
};

/* The ranks that this thread holds, a bit each. */
static _Thread_local uint64_t held;

static_assert(LOCK_RANK_COUNT <= 64, "ranks are kept as bits of a word");

static uint64_t bit_of(enum lock_rank rank)
{
    return UINT64_C(1) << rank;
}

static void check_order(enum lock_rank rank)
{
    uint64_t inner = held >> rank;

    if (!inner)
        return;
    int inner_rank = (int)rank + __builtin_ctzll(inner);
    fprintf(stderr, "lock order broken: %s is wanted while %s is held\n", rank_names[rank],
            rank_names[inner_rank]);
    abort();
}

void mutex_init(struct mutex *m, enum lock_rank rank)
{
    pthread_mutex_init(&m->m, NULL);
    m->rank = rank;
}

void mutex_deinit(struct mutex *m)
{
    pthread_mutex_destroy(&m->m);
}

void mutex_lock(struct mutex *m) NO_TSA
{
    check_order(m->rank);
    int r = pthread_mutex_lock(&m->m);
    assert(r == 0);
    held |= bit_of(m->rank);
}

void mutex_unlock(struct mutex *m) NO_TSA
{
    assert(held & bit_of(m->rank));
    held &= ~bit_of(m->rank);
    int r = pthread_mutex_unlock(&m->m);
    assert(r == 0);
}

void lock_assert_held(enum lock_rank rank)
{
    assert(held & bit_of(rank));
}

void cond_init(struct cond *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->c, &attr);
    pthread_condattr_destroy(&attr);
}

void cond_deinit(struct cond *c)
{
    pthread_cond_destroy(&c->c);
}

void cond_wait(struct cond *c, struct mutex *m)
{
    pthread_cond_wait(&c->c, &m->m);
}

bool cond_wait_until(struct cond *c, struct mutex *m, int64_t deadline_us)
{
    struct timespec ts = {.tv_sec = deadline_us / 1000000, .tv_nsec = deadline_us % 1000000 * 1000};

    return pthread_cond_timedwait(&c->c, &m->m, &ts) != ETIMEDOUT;
}

void cond_signal(struct cond *c)
{
    pthread_cond_signal(&c->c);
}

void cond_broadcast(struct cond *c)
{
    pthread_cond_broadcast(&c->c);
}
