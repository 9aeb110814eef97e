/*
 * latency.h - how long things took, as shares of them
 *
 * Latencies fall into buckets that are 1/64 wide. A value owned by one thread; zeroed: none yet.
 */
#pragma once

#include "common/base/base.h"

#include <stdint.h>

enum { LATENCY_SUB = 64, LATENCY_BUCKETS = LATENCY_SUB * 40 };

struct latency {
    uint64_t buckets[LATENCY_BUCKETS]; /* of microseconds */
    uint64_t count;
    int64_t longest_us;
};

void latency_add(struct latency *l, int64_t us);
/* The time that a share q of them took at most; 0 where there are none. */
double latency_quantile_us(const struct latency *l, double q);
/* `"p50_us": ..., "p99_us": ..., "p999_us": ..., "max_us": ...`, for the JSON line of a program. */
void latency_print(const struct latency *l);
