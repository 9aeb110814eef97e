#include "broker/server/conn_set.h"

#include "broker/server/conn.h"
#include "common/base/mem.h"

enum { SPARE_ARENAS = 32, STARVED_RETRY_US = 2000 };

struct conn_set {
    struct reactor *reactor;
    struct net *net;
    struct conn *oldest;
    struct conn *newest;
    _Atomic int count; /* closed ones too, until their last request is answered */
    struct timer idle;
    struct conn *starved;
    struct timer retry;
    struct arena spare[SPARE_ARENAS];
    int spare_count;
    struct inbox *stopper; /* told when the last connection has gone */
    struct message stopped;
    uint8_t scratch[CONN_SCRATCH];
};

static void on_idle(struct timer *t);
static void on_retry(struct timer *t);

struct conn_set *conn_set_new(struct reactor *r, struct net *net)
{
    struct conn_set *s = xnew(struct conn_set);

    s->reactor = r;
    s->net = net;
    s->idle.fire = on_idle;
    s->retry.fire = on_retry;
    return s;
}

struct conn_set *conn_set_free(struct conn_set *s)
{
    if (!s)
        return NULL;
    for (int i = 0; i < s->spare_count; i++)
        arena_deinit(&s->spare[i]);
    free(s);
    return NULL;
}

struct reactor *conn_set_reactor(const struct conn_set *s)
{
    return s->reactor;
}

struct net *conn_set_net(const struct conn_set *s)
{
    return s->net;
}

int conn_set_count(const struct conn_set *s)
{
    return s->count;
}

void *conn_set_scratch(struct conn_set *s)
{
    return s->scratch;
}

struct arena conn_set_take_arena(struct conn_set *s)
{
    return s->spare_count ? s->spare[--s->spare_count] : (struct arena){0};
}

void conn_set_give_arena(struct conn_set *s, struct arena *a)
{
    if (s->spare_count == SPARE_ARENAS) {
        arena_deinit(a);
        return;
    }
    arena_reset(a);
    s->spare[s->spare_count++] = *a;
}

/* ---- the order of use ---- */

static void unlink_used(struct conn_set *s, struct conn *c)
{
    struct conn_link *l = conn_link(c);

    *(l->prev ? &conn_link(l->prev)->next : &s->oldest) = l->next;
    *(l->next ? &conn_link(l->next)->prev : &s->newest) = l->prev;
    l->prev = l->next = NULL;
}

static void link_newest(struct conn_set *s, struct conn *c)
{
    struct conn_link *l = conn_link(c);

    l->used_us = reactor_now_us(s->reactor);
    l->prev = s->newest;
    *(s->newest ? &conn_link(s->newest)->next : &s->oldest) = c;
    s->newest = c;
}

static void arm_idle(struct conn_set *s)
{
    if (s->net->max_idle_us > 0 && s->oldest && !timer_is_armed(&s->idle))
        timer_arm(s->reactor, &s->idle, conn_link(s->oldest)->used_us + s->net->max_idle_us);
}

void conn_set_add(struct conn_set *s, struct conn *c)
{
    s->count++;
    link_newest(s, c);
    arm_idle(s);
}

void conn_set_touch(struct conn_set *s, struct conn *c)
{
    if (s->newest == c) {
        conn_link(c)->used_us = reactor_now_us(s->reactor);
        return;
    }
    unlink_used(s, c);
    link_newest(s, c);
}

/* The timer runs for the oldest; it is looked up anew when it fires, not moved with every use. */
static void on_idle(struct timer *t)
{
    struct conn_set *s = container_of(t, struct conn_set, idle);
    int64_t before = reactor_now_us(s->reactor) - s->net->max_idle_us;

    while (s->oldest && conn_link(s->oldest)->used_us <= before)
        conn_close(s->oldest, "it was idle");
    arm_idle(s);
}

/* ---- waiting for request memory ---- */

static void unstarve(struct conn_set *s, struct conn *c)
{
    struct conn_link *l = conn_link(c);

    if (!l->is_starved)
        return;
    *(l->starved_prev ? &conn_link(l->starved_prev)->starved_next : &s->starved) = l->starved_next;
    if (l->starved_next)
        conn_link(l->starved_next)->starved_prev = l->starved_prev;
    l->starved_prev = l->starved_next = NULL;
    l->is_starved = false;
}

void conn_set_starve(struct conn_set *s, struct conn *c)
{
    struct conn_link *l = conn_link(c);

    if (l->is_starved)
        return;
    l->is_starved = true;
    l->starved_next = s->starved;
    if (s->starved)
        conn_link(s->starved)->starved_prev = c;
    s->starved = c;
    if (!timer_is_armed(&s->retry))
        timer_arm(s->reactor, &s->retry, reactor_now_us(s->reactor) + STARVED_RETRY_US);
}

static void on_retry(struct timer *t)
{
    struct conn_set *s = container_of(t, struct conn_set, retry);

    while (s->starved && !net_is_full(s->net)) {
        struct conn *c = s->starved;

        unstarve(s, c);
        conn_resume(c);
    }
    if (s->starved && !timer_is_armed(t))
        timer_arm(s->reactor, t, reactor_now_us(s->reactor) + STARVED_RETRY_US);
}

/* ---- ends ---- */

/* Closed: it is not found any more. It counts until conn_set_gone(). */
void conn_set_remove(struct conn_set *s, struct conn *c)
{
    unstarve(s, c);
    unlink_used(s, c);
    if (!s->oldest)
        timer_cancel(s->reactor, &s->idle);
}

void conn_set_gone(struct conn_set *s)
{
    if (--s->count == 0 && s->stopper)
        inbox_post(s->stopper, &s->stopped);
}

/* What connections of which listener are to be closed. */
struct eviction {
    struct message message;
    struct conn_set *set;
    const struct listener *listener;
};

static void run_eviction(struct message *m)
{
    struct eviction *e = container_of(m, struct eviction, message);

    for (struct conn *c = e->set->oldest; c; c = conn_link(c)->next) {
        if (conn_listener(c) != e->listener) {
            conn_close(c, "another broker needs its place");
            break;
        }
    }
    free(e);
}

void conn_set_evict(struct conn_set *s, const struct listener *except)
{
    struct eviction *e = xnew(struct eviction);

    *e = (struct eviction){{.run = run_eviction}, s, except};
    reactor_post(s->reactor, &e->message);
}

static void run_close(struct message *m)
{
    struct eviction *e = container_of(m, struct eviction, message);

    for (struct conn *c = e->set->oldest, *next; c; c = next) {
        next = conn_link(c)->next;
        if (conn_listener(c) == e->listener)
            conn_close(c, "its listener is taken away");
    }
    free(e);
}

void conn_set_close_listener(struct conn_set *s, const struct listener *listener)
{
    struct eviction *e = xnew(struct eviction);

    *e = (struct eviction){{.run = run_close}, s, listener};
    reactor_post(s->reactor, &e->message);
}

struct stop {
    struct message message;
    struct conn_set *set;
    struct inbox *stopper;
};

static void run_stop(struct message *m)
{
    struct stop *stop = container_of(m, struct stop, message);
    struct conn_set *s = stop->set;

    while (s->oldest)
        conn_close(s->oldest, "the broker stops");
    s->stopper = stop->stopper;
    if (s->count == 0)
        inbox_post(s->stopper, &s->stopped);
}

static void run_forget(struct message *m)
{
    struct stop *stop = container_of(m, struct stop, message);

    stop->set->stopper = NULL;
    inbox_post(stop->stopper, m);
}

bool conn_set_stop(struct conn_set *s, int64_t deadline_us)
{
    struct inbox done, forgotten;
    struct stop stop = {{.run = run_stop}, s, &done};

    assert(!reactor_current());
    inbox_init(&done);
    inbox_init(&forgotten);
    reactor_post(s->reactor, &stop.message);
    bool is_empty = inbox_take(&done, deadline_us) != NULL;
    /* Whether it came in time or not: nobody may post to our stack any more. */
    struct stop forget = {{.run = run_forget}, s, &forgotten};
    reactor_post(s->reactor, &forget.message);
    inbox_take(&forgotten, INT64_MAX);
    inbox_deinit(&forgotten);
    inbox_deinit(&done);
    return is_empty;
}
