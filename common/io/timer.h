/*
 * timer.h - a reactor's timer wheel: arm, cancel and fire in O(1)
 *
 * A timer belongs to one reactor and is touched on its thread only. Resolution is one millisecond, never early. Owned by the
 * caller, unmoved while armed; a zeroed struct with fire set is a valid timer that is not armed.
 */
#pragma once

#include "common/base/base.h"

struct reactor;

struct timer {
    struct timer *next;
    struct timer *prev;
    int64_t deadline_us; /* monotonic; 0 = not armed */
    void (*fire)(struct timer *t);
};

/* Arms, or moves, t. It is not armed any more when fire() is called. */
void timer_arm(struct reactor *r, struct timer *t, int64_t deadline_us);
/* Does nothing where it is not armed. */
void timer_cancel(struct reactor *r, struct timer *t);

static inline bool timer_is_armed(const struct timer *t)
{
    return t->deadline_us != 0;
}
