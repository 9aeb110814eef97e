#include "broker/meta/metadata_waits.h"

#include "common/base/containers.h"

struct metadata_waits {
    struct mutex lock; /* LOCK_METADATA */
    struct metadata *metadata;
    struct metadata_wait *parked;
};

struct metadata_waits *metadata_waits_new(struct metadata *m)
{
    struct metadata_waits *ws = xnew(struct metadata_waits);

    mutex_init(&ws->lock, LOCK_METADATA);
    ws->metadata = m;
    return ws;
}

struct metadata_waits *metadata_waits_free(struct metadata_waits *ws)
{
    if (!ws)
        return NULL;
    assert(!ws->parked);
    mutex_deinit(&ws->lock);
    free(ws);
    return NULL;
}

/* Whoever takes it off the list completes it, and nobody else. */
static bool unpark(struct metadata_wait *w)
{
    if (!w->is_parked)
        return false;
    DL_DELETE(w->waits->parked, w);
    w->is_parked = false;
    return true;
}

static void on_timer(struct timer *t)
{
    struct metadata_wait *w = container_of(t, struct metadata_wait, timer);
    bool is_ours = false;

    WITH_LOCK(&w->waits->lock)
    {
        is_ours = unpark(w);
    }
    if (is_ours)
        w->done(w, true);
}

static void on_message(struct message *m)
{
    struct metadata_wait *w = container_of(m, struct metadata_wait, message);

    timer_cancel(w->reactor, &w->timer);
    w->done(w, w->is_timed_out);
}

static void look_at(struct metadata_waits *ws, bool is_timed_out)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(ws->metadata);
    struct metadata_wait *w, *next;

    WITH_LOCK(&ws->lock)
    {
        DL_FOREACH_SAFE (ws->parked, w, next) {
            if (!is_timed_out && !w->is_over(w, s))
                continue;
            unpark(w);
            w->is_timed_out = is_timed_out;
            w->message.run = on_message;
            reactor_post(w->reactor, &w->message);
        }
    }
}

void metadata_waits_park(struct metadata_waits *ws, struct metadata_wait *w)
{
    w->waits = ws;
    w->timer.fire = on_timer;
    timer_arm(w->reactor, &w->timer, w->deadline_us);
    WITH_LOCK(&ws->lock)
    {
        DL_APPEND(ws->parked, w);
        w->is_parked = true;
    }
    /* What came between the caller's look and the parking is seen now. */
    look_at(ws, false);
}

void metadata_waits_look(struct metadata_waits *ws)
{
    look_at(ws, false);
}

void metadata_waits_cancel(struct metadata_waits *ws)
{
    look_at(ws, true);
}
