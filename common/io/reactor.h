/*
 * reactor.h - one epoll loop: file descriptors, timers, and the inbox that other threads post to
 *
 * A reactor is one thread. Everything that belongs to it (connections, peers, timers) is touched by
 * that thread only; whoever is elsewhere posts a message. Callbacks run to completion and must not
 * block, but for writes to the page cache.
 *
 * Thread: functions marked "any" may be called from everywhere, all others on the reactor's own
 * thread.
 */
#pragma once

#include "common/base/clock.h"
#include "common/io/inbox.h"
#include "common/io/timer.h"

#include <sys/epoll.h>

struct reactor;

/* A descriptor that is watched. Owned by the caller, unmoved while added. */
struct io_event {
    int fd;
    uint32_t mask; /* EPOLLIN, EPOLLOUT, ... level-triggered */
    void (*ready)(struct io_event *ev, uint32_t mask);
};

/* Not yet running. -errno when the kernel gives no epoll or event descriptor. Thread: any. */
int reactor_new(const char *name, const struct clock *clock, struct reactor **ret) MUST_CHECK;
int reactor_start(struct reactor *r) MUST_CHECK;
/* Asks the loop to end after the messages posted so far, and waits for it. Thread: any other. */
void reactor_stop(struct reactor *r);
/*
 * One turn of the loop on the calling thread, which is the reactor's meanwhile: waits up to
 * max_wait_us for something to happen, runs it, fires timers. For whoever drives a reactor without
 * a thread of its own, as tests with a fake clock do.
 */
void reactor_turn(struct reactor *r, int64_t max_wait_us);
/* After stop. NULL-safe, returns NULL. */
struct reactor *reactor_free(struct reactor *r);

/* Thread: any. */
bool reactor_is_current(const struct reactor *r);
/* The reactor whose thread calls, NULL elsewhere. Thread: any. */
struct reactor *reactor_current(void);
const struct clock *reactor_clock(const struct reactor *r);
/* Monotonic time at the start of this turn of the loop. */
int64_t reactor_now_us(const struct reactor *r);

int reactor_add(struct reactor *r, struct io_event *ev) MUST_CHECK;
void reactor_modify(struct reactor *r, struct io_event *ev, uint32_t mask);
/* ev->ready is not called any more, not even for an event of this turn. */
void reactor_remove(struct reactor *r, struct io_event *ev);

/* Runs m->run(m) on the reactor's thread, in the order of posting, soon. Thread: any. */
void reactor_post(struct reactor *r, struct message *m);
/* Runs at the end of this turn, after all events. */
void reactor_defer(struct reactor *r, struct message *m);

/* A set of reactors that share work: connections and peers are spread over them round robin. */
struct reactor_pool {
    struct reactor **v;
    int count;
    _Atomic unsigned next;
};

/* Thread: any. */
struct reactor *reactor_pool_next(struct reactor_pool *pool);
