/*
 * timer.h - a reactor's timer wheel: arm, cancel and fire in O(1)
 *
 * A timer belongs to one reactor and is touched on its thread only. Resolution is one millisecond,
 * never early. Owned by the caller, unmoved while armed; a zeroed struct with fire set is a valid
 * timer that is not armed.
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

/*
 * The wheel itself, a part of the reactor. Seven levels of 64 slots, in ticks of a millisecond:
 * level n holds what is due within 64^(n+1) ticks. A slot's timers move one level down when its
 * time begins, so that each is touched seven times at most.
 */
enum { TIMER_LEVELS = 7, TIMER_SLOT_BITS = 6, TIMER_SLOTS = 1 << TIMER_SLOT_BITS };

struct timer_wheel {
    int64_t now_tick;
    uint64_t used[TIMER_LEVELS]; /* a bit for each slot that is not empty */
    struct timer due;            /* heads of circular lists */
    struct timer slots[TIMER_LEVELS][TIMER_SLOTS];
};

void timer_wheel_init(struct timer_wheel *w, int64_t now_us);
void timer_wheel_arm(struct timer_wheel *w, struct timer *t, int64_t deadline_us);
void timer_wheel_cancel(struct timer_wheel *w, struct timer *t);
/* Fires what is due at now_us, in no particular order. What fire() arms for the past fires in the
 * next call. */
void timer_wheel_advance(struct timer_wheel *w, int64_t now_us);
/* When to call advance next: not later than the earliest deadline; INT64_MAX where nothing is
 * armed. */
int64_t timer_wheel_next_us(const struct timer_wheel *w);

static inline bool timer_is_armed(const struct timer *t)
{
    return t->deadline_us != 0;
}
