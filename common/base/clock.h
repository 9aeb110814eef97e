/*
 * clock.h - time behind a struct that a test can set
 *
 * Wall-clock milliseconds stamp records and files; the monotonic clock measures waits and never
 * jumps. Logic gets a struct clock handed in and calls nothing else; clock_system is the one that
 * reads the machine.
 */
#pragma once

#include "common/base/base.h"

struct clock {
    int64_t (*wall_ms)(const struct clock *c);
    int64_t (*mono_us)(const struct clock *c);
};

extern const struct clock clock_system;

static inline int64_t clock_wall_ms(const struct clock *c)
{
    return c->wall_ms(c);
}

static inline int64_t clock_mono_us(const struct clock *c)
{
    return c->mono_us(c);
}

static inline int64_t clock_mono_ms(const struct clock *c)
{
    return c->mono_us(c) / 1000;
}

/* A clock that moves only when it is told to; for tests, whose threads may all read it. */
struct clock_fake {
    struct clock clock;
    _Atomic int64_t wall_ms;
    _Atomic int64_t mono_us;
};

void clock_fake_init(struct clock_fake *f, int64_t wall_ms);
void clock_fake_advance(struct clock_fake *f, int64_t ms);
