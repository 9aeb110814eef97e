#include "broker/replica/delayed.h"

#include <stdatomic.h>

static void end(struct delayed *d)
{
    d->has_ended = true;
    timer_cancel(d->reactor, &d->timer);
    if (!atomic_load(&d->is_poked))
        d->finish(d);
}

static void look(struct delayed *d, bool is_last)
{
    bool has_ended = d->look(d, is_last);

    assert(has_ended || !is_last);
    if (has_ended)
        end(d);
}

static void on_message(struct message *m)
{
    struct delayed *d = container_of(m, struct delayed, message);

    /* Cleared before looking: news that comes while we look posts again. */
    atomic_store(&d->is_poked, false);
    if (d->has_ended)
        d->finish(d);
    else
        look(d, false);
}

static void on_timer(struct timer *t)
{
    look(container_of(t, struct delayed, timer), true);
}

void delayed_init(struct delayed *d)
{
    d->timer = (struct timer){.fire = on_timer};
    d->message = (struct message){.run = on_message};
    atomic_store(&d->is_poked, false);
    d->has_ended = false;
}

void delayed_park(struct delayed *d, int64_t deadline_us)
{
    timer_arm(d->reactor, &d->timer, deadline_us);
    look(d, false);
}

void delayed_poke(struct delayed *d)
{
    if (!atomic_exchange(&d->is_poked, true))
        reactor_post(d->reactor, &d->message);
}
