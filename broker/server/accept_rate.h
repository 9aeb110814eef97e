/*
 * accept_rate.h - how many connections are accepted in a second (max.connection.creation.rate,
 * KIP-612)
 *
 * As Kafka measures a rate: a ring of windows that counts as whole, but for the newest one, as long
 * as it is not, so that a burst may come at first. Above the limit it says how long to wait, one
 * window at most. Thread: one at a time, but for the limit.
 */
#pragma once

#include "common/base/base.h"

enum { ACCEPT_WINDOWS_MAX = 64 };

struct accept_rate {
    _Atomic int64_t limit; /* in a second; may change at any time */
    int64_t window_ms;     /* quota.window.size.seconds */
    int count;             /* quota.window.num, ACCEPT_WINDOWS_MAX at most */
    int newest;
    struct {
        int64_t began_ms; /* 0: not used yet */
        int64_t accepted;
    } windows[ACCEPT_WINDOWS_MAX];
};

void accept_rate_init(struct accept_rate *r, int window_count, int64_t window_ms, int64_t limit);
/* One more was accepted: milliseconds to wait before the next. now_ms > 0. */
int64_t accept_rate_record(struct accept_rate *r, int64_t now_ms);
