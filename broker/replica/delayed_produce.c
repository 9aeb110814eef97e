#include "broker/replica/delayed_produce.h"

#include "broker/replica/replica_manager.h"
#include "common/base/err.h"

#include <stdatomic.h>

/* Under the partition's lock, on any thread. */
static void on_reached(struct hw_wait *w, int error)
{
    struct produce_part *pp = container_of(w, struct produce_part, wait);

    pp->error = error;
    if (atomic_fetch_sub(&pp->produce->pending, 1) == 1)
        delayed_poke(&pp->produce->delayed);
}

/*
 * Taking the lock once more matters also for parts that have ended: on_reached() runs under it, so
 * when this returns nobody is in the middle of poking.
 */
static void settle(struct produce_part *pp)
{
    if (!pp->append.is_waiting || !partition_hw_unwait(pp->part, &pp->wait))
        return;
    pp->error = REQUEST_TIMED_OUT;
    atomic_fetch_sub(&pp->produce->pending, 1);
}

static bool on_look(struct delayed *d, bool is_last)
{
    struct produce *p = container_of(d, struct produce, delayed);

    if (!is_last && atomic_load(&p->pending) > 0)
        return false;
    for (int32_t i = 0; i < p->count; i++)
        settle(&p->parts[i]);
    return true;
}

static void finish(struct produce *p)
{
    for (int32_t i = 0; i < p->count; i++)
        p->parts[i].part = partition_unref(p->parts[i].part);
    p->done(p);
}

static void on_finish(struct delayed *d)
{
    finish(container_of(d, struct produce, delayed));
}

static void append(struct replica_manager *m, struct produce *p, struct produce_part *pp)
{
    struct partition_append_opts opts = {
        .records = pp->records,
        .acks = p->acks,
        .origin = p->origin,
        .wait = p->acks == -1 ? &pp->wait : NULL,
        .arena = p->arena,
    };

    pp->append.log.first_offset = -1;
    pp->append.log.append_time_ms = -1;
    pp->append.log.log_start_offset = -1;
    pp->append.leader = -1;
    pp->append.leader_epoch = -1;
    if (pp->error)
        return;
    pp->error = replica_manager_get(m, pp->topic, pp->partition, &pp->part);
    if (pp->error)
        return;
    /* Counted before: the watermark may pass before partition_append() has returned. */
    atomic_fetch_add(&p->pending, 1);
    int r = partition_append(pp->part, &opts, &pp->append);
    if (pp->append.is_waiting)
        return;
    pp->error = r;
    atomic_fetch_sub(&p->pending, 1);
}

void produce_start(struct replica_manager *m, struct produce *p)
{
    p->delayed.reactor = p->reactor;
    p->delayed.look = on_look;
    p->delayed.finish = on_finish;
    delayed_init(&p->delayed);
    atomic_store(&p->pending, 1);
    for (int32_t i = 0; i < p->count; i++) {
        p->parts[i].produce = p;
        p->parts[i].wait = (struct hw_wait){.reached = on_reached};
        append(m, p, &p->parts[i]);
    }
    /* Nobody has poked yet where this is the last to go. */
    if (atomic_fetch_sub(&p->pending, 1) == 1)
        finish(p);
    else
        delayed_park(&p->delayed,
                     reactor_now_us(p->reactor) + (int64_t)MAX(p->timeout_ms, 0) * 1000);
}
