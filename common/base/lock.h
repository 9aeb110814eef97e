/*
 * lock.h - mutexes with ranks
 *
 * Every lock has a rank from ranks.def; taking one out of order aborts at once instead of
 * deadlocking one day. The check costs a few thread-local words and stays on in release builds.
 */
#pragma once

#include "common/base/base.h"

#include <pthread.h>

enum lock_rank {
#define RANK(name) LOCK_##name,
#include "common/base/ranks.def"
#undef RANK
    LOCK_RANK_COUNT
};

struct CAPABILITY mutex {
    pthread_mutex_t m;
    enum lock_rank rank;
};

void mutex_init(struct mutex *m, enum lock_rank rank);
void mutex_deinit(struct mutex *m);
void mutex_lock(struct mutex *m) ACQUIRE(m);
void mutex_unlock(struct mutex *m) RELEASE(m);
/* Asserts that this thread holds a lock of that rank. */
void lock_assert_held(enum lock_rank rank);

struct cond {
    pthread_cond_t c;
};

/* Waits on the monotonic clock. */
void cond_init(struct cond *c);
void cond_deinit(struct cond *c);
void cond_wait(struct cond *c, struct mutex *m) REQUIRES(m);
/* False when deadline_us of the monotonic clock passed first. */
bool cond_wait_until(struct cond *c, struct mutex *m, int64_t deadline_us) REQUIRES(m);
void cond_signal(struct cond *c);
void cond_broadcast(struct cond *c);

static inline void mutex_unlock_p(struct mutex **m) NO_TSA
{
    if (*m)
        mutex_unlock(*m);
}

static inline struct mutex *mutex_locked(struct mutex *m) NO_TSA
{
    mutex_lock(m);
    return m;
}

/* Holds m until the end of the block. */
#define WITH_LOCK(m)        WITH_LOCK_AT_(m, __COUNTER__)
#define WITH_LOCK_AT_(m, n) WITH_LOCK_AS_(m, n)
#define WITH_LOCK_AS_(m, n)                                                                        \
    for (struct mutex *CLEANUP(mutex_unlock_p) held_##n = mutex_locked(m), *once_##n = held_##n;   \
         once_##n; once_##n = NULL)
/* Holds m until the function returns. */
#define LOCK_SCOPE(m)                                                                              \
    struct mutex *CLEANUP(mutex_unlock_p)                                                          \
    scope_lock_ UNUSED = mutex_locked(m)
