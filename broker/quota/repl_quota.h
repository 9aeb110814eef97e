/*
 * repl_quota.h - how many bytes of throttled replicas may pass in a second (KIP-73)
 *
 * A ring of samples, each of a window's length; the rate is what they hold over the time that they
 * span, one window at least. All traffic of throttled replicas is counted, and those that are not
 * in sync wait while the rate is above the limit; without one nothing is counted. Which replicas
 * are throttled is the topics' business (broker/config/throttled.h).
 *
 * Thread: any; LOCK_REPL_QUOTA inside, and none where there is no limit.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/lock.h"

/* replication.quota.window.num and .size.seconds. */
struct repl_window {
    int32_t samples;
    int64_t sample_ms;
};

#define REPL_QUOTA_UNLIMITED INT64_MAX

struct repl_sample {
    int64_t began_ms;
    int64_t bytes;
};

struct repl_quota {
    const struct clock *clock;
    _Atomic int64_t limit; /* bytes per second */
    struct mutex lock;     /* LOCK_REPL_QUOTA: the rest */
    struct repl_window window;
    struct repl_sample *samples; /* a ring */
    int32_t count;               /* that have been begun */
    int32_t now;                 /* the newest */
};

/* Unlimited. clock outlives it. */
void repl_quota_init(struct repl_quota *q, const struct clock *clock, struct repl_window window);
void repl_quota_deinit(struct repl_quota *q);
void repl_quota_set_rate(struct repl_quota *q, int64_t bytes_per_second);
bool repl_quota_is_limited(const struct repl_quota *q);
bool repl_quota_is_exceeded(struct repl_quota *q);
/* Milliseconds until it is no longer exceeded, if nothing passes; a sample's length at most, as old
 * samples fall out. 0 where it is not. */
int64_t repl_quota_wait_ms(struct repl_quota *q);
void repl_quota_record(struct repl_quota *q, int64_t bytes);
