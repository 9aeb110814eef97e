/*
 * thread.h - named threads
 *
 * All signals are blocked in them: the main thread alone takes SIGTERM.
 */
#pragma once

#include "common/base/base.h"

#include <pthread.h>

typedef void (*thread_fn)(void *arg);

struct thread {
    pthread_t id;
    bool started;
    char name[16];
    thread_fn fn;
    void *arg;
};

/* The struct stays where it is until thread_join(). 0 or -errno. */
int thread_start(struct thread *t, const char *name, thread_fn fn, void *arg) MUST_CHECK;
/* Does nothing where the thread was never started. */
void thread_join(struct thread *t);
/* Name of the calling thread, for diagnostics. */
const char *thread_name(void);
void thread_set_name(const char *name);
