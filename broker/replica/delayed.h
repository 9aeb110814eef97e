/*
 * delayed.h - something that waits on a reactor: parked, woken from any thread, ended exactly once
 *
 * All of it happens on its reactor's thread but the poke: whoever has news calls delayed_poke(),
 * which posts one message however often it is called, and the reactor looks. The timer ends it by
 * force. The cost of parking, waking and expiring is O(1), whatever else waits.
 *
 * Who pokes must be kept from doing so (taken off its lists, under its lock) before look() returns
 * true; a poke that is on its way then is waited for, and finish() comes after it.
 */
#pragma once

#include "common/io/reactor.h"

struct delayed {
    struct reactor *reactor;
    /* Whether it has ended, and nobody can poke it any more; must be true where is_last. */
    bool (*look)(struct delayed *d, bool is_last);
    /* Once, after look() returned true. The struct may be freed in it. */
    void (*finish)(struct delayed *d);
    /* Its own: */
    struct timer timer;
    struct message message;
    _Atomic bool is_poked;
    bool has_ended;
};

/* Before anybody can poke it; reactor, look and finish are set. */
void delayed_init(struct delayed *d);
/* Parks it, and looks at once, as news may have come before. Thread: the reactor's. */
void delayed_park(struct delayed *d, int64_t deadline_us);
/* Thread: any. */
void delayed_poke(struct delayed *d);
