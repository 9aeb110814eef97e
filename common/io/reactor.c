#include "common/io/reactor.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/thread.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS_PER_TURN = 256 };

struct reactor {
    const struct clock *clock;
    struct thread thread;
    char name[16];
    int epoll_fd;
    struct io_event wakeup; /* an eventfd, written when the first message of a batch is posted */
    int64_t now_us;
    bool stop;

    /* The events of this turn; reactor_remove() blanks those that are still to come. */
    struct epoll_event events[EVENTS_PER_TURN];
    int event_count;
    int event_at;

    struct message *deferred;
    struct message **deferred_tail;
    struct inbox inbox;
    bool has_own_posts; /* posted from the loop itself: needs no wakeup */
    struct message stop_message;
    struct timer_wheel wheel;
};

static _Thread_local struct reactor *current;

static void drain_wakeup(struct io_event *ev, uint32_t mask UNUSED)
{
    uint64_t n;
    ssize_t r = read(ev->fd, &n, sizeof n);
    (void)r; /* the messages are taken at the end of the turn in any case */
}

int reactor_new(const char *name, const struct clock *clock, struct reactor **ret)
{
    struct reactor *r = xnew(struct reactor);

    r->clock = clock;
    r->now_us = clock_mono_us(clock);
    memcpy(r->name, name, MIN(strlen(name), sizeof r->name - 1));
    inbox_init(&r->inbox);
    r->deferred_tail = &r->deferred;
    timer_wheel_init(&r->wheel, r->now_us);
    r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    r->wakeup = (struct io_event){
        .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .mask = EPOLLIN, .ready = drain_wakeup};
    int rc = r->epoll_fd < 0 || r->wakeup.fd < 0 ? -errno : reactor_add(r, &r->wakeup);
    if (rc < 0) {
        reactor_free(r);
        return rc;
    }
    *ret = r;
    return 0;
}

struct reactor *reactor_free(struct reactor *r)
{
    if (!r)
        return NULL;
    assert(!r->thread.started);
    if (r->epoll_fd >= 0)
        close(r->epoll_fd);
    if (r->wakeup.fd >= 0)
        close(r->wakeup.fd);
    inbox_deinit(&r->inbox);
    free(r);
    return NULL;
}

bool reactor_is_current(const struct reactor *r)
{
    return current == r;
}

struct reactor *reactor_current(void)
{
    return current;
}

const struct clock *reactor_clock(const struct reactor *r)
{
    return r->clock;
}

int64_t reactor_now_us(const struct reactor *r)
{
    return r->now_us;
}

int reactor_add(struct reactor *r, struct io_event *ev)
{
    struct epoll_event e = {.events = ev->mask, .data.ptr = ev};

    return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, ev->fd, &e) < 0 ? -errno : 0;
}

void reactor_modify(struct reactor *r, struct io_event *ev, uint32_t mask)
{
    struct epoll_event e = {.events = mask, .data.ptr = ev};

    if (ev->mask == mask)
        return;
    ev->mask = mask;
    /* Fails only for a descriptor that is not watched: a fault in the caller. */
    int rc = epoll_ctl(r->epoll_fd, EPOLL_CTL_MOD, ev->fd, &e);
    assert(rc == 0);
}

void reactor_remove(struct reactor *r, struct io_event *ev)
{
    int rc = epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, ev->fd, NULL);
    assert(rc == 0);
    for (int i = r->event_at; i < r->event_count; i++) {
        if (r->events[i].data.ptr == ev)
            r->events[i].data.ptr = NULL;
    }
}

void reactor_post(struct reactor *r, struct message *m)
{
    if (current == r) {
        inbox_post(&r->inbox, m);
        r->has_own_posts = true;
        return;
    }
    if (inbox_post_was_empty(&r->inbox, m)) {
        uint64_t one = 1;
        ssize_t n = write(r->wakeup.fd, &one, sizeof one);
        assert(n == sizeof one);
    }
}

void reactor_defer(struct reactor *r, struct message *m)
{
    m->next = NULL;
    *r->deferred_tail = m;
    r->deferred_tail = &m->next;
}

void timer_arm(struct reactor *r, struct timer *t, int64_t deadline_us)
{
    timer_wheel_arm(&r->wheel, t, deadline_us);
}

void timer_cancel(struct reactor *r, struct timer *t)
{
    timer_wheel_cancel(&r->wheel, t);
}

static void run_all(struct message *m)
{
    while (m) {
        struct message *next = m->next;

        m->run(m); /* m may be gone now */
        m = next;
    }
}

static void run_deferred(struct reactor *r)
{
    /* What is deferred meanwhile belongs to this turn, too. */
    while (r->deferred) {
        struct message *m = r->deferred;

        r->deferred = NULL;
        r->deferred_tail = &r->deferred;
        run_all(m);
    }
}

/* How long to sleep, in the unit of epoll_wait: rounded up, since a timer is never early. */
static int wait_ms(const struct reactor *r, int64_t max_wait_us)
{
    int64_t next = timer_wheel_next_us(&r->wheel);

    if (r->has_own_posts || r->deferred)
        return 0;
    if (next != INT64_MAX)
        max_wait_us = MIN(max_wait_us, MAX(next - clock_mono_us(r->clock), 0));
    if (max_wait_us == INT64_MAX)
        return -1;
    return (int)MIN((max_wait_us + 999) / 1000, INT_MAX);
}

void reactor_turn(struct reactor *r, int64_t max_wait_us)
{
    struct reactor *outer = current;

    current = r;
    r->event_count = epoll_wait(r->epoll_fd, r->events, EVENTS_PER_TURN, wait_ms(r, max_wait_us));
    assert(r->event_count >= 0 || errno == EINTR);
    r->now_us = clock_mono_us(r->clock);
    for (r->event_at = 0; r->event_at < r->event_count;) {
        const struct epoll_event *e = &r->events[r->event_at++];
        struct io_event *ev = e->data.ptr;

        if (ev)
            ev->ready(ev, e->events);
    }
    r->event_count = 0;
    timer_wheel_advance(&r->wheel, r->now_us);
    r->has_own_posts = false;
    run_all(inbox_take_all(&r->inbox));
    run_deferred(r);
    current = outer;
}

static void loop(void *arg)
{
    struct reactor *r = arg;

    while (!r->stop)
        reactor_turn(r, INT64_MAX);
    while (r->has_own_posts) /* what the last messages left to be done, such as freeing */
        reactor_turn(r, 0);
}

int reactor_start(struct reactor *r)
{
    return thread_start(&r->thread, r->name, loop, r);
}

static void stop_loop(struct message *m)
{
    container_of(m, struct reactor, stop_message)->stop = true;
}

void reactor_stop(struct reactor *r)
{
    if (!r->thread.started)
        return;
    assert(current != r);
    r->stop_message.run = stop_loop;
    reactor_post(r, &r->stop_message);
    thread_join(&r->thread);
    r->stop = false;
}

struct reactor *reactor_pool_next(struct reactor_pool *pool)
{
    return pool->v[pool->next++ % (unsigned)pool->count];
}
