/*
 * cleaner_throttle.h - how long the cleaners have to pause so as to stay below
 * log.cleaner.io.max.bytes.per.second
 *
 * Reads and writes are added up; once they are a while's worth, the pause is what is missing to the
 * time that they should have taken. Guarded by its owner's lock; it reads no clock and waits for
 * nothing.
 */
#pragma once

#include "common/base/base.h"

struct cleaner_throttle {
    double bytes_per_second;
    double bytes; /* since then */
    int64_t since_us;
};

void cleaner_throttle_init(struct cleaner_throttle *t, double bytes_per_second, int64_t now_us);
/* So many bytes were moved: microseconds to wait, mostly 0. */
int64_t cleaner_throttle_add(struct cleaner_throttle *t, uint64_t bytes, int64_t now_us);
