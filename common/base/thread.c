#include "common/base/thread.h"

#include <signal.h>
#include <stdio.h>

static _Thread_local char own_name[16] = "main";

const char *thread_name(void)
{
    return own_name;
}

void thread_set_name(const char *name)
{
    snprintf(own_name, sizeof own_name, "%s", name);
    pthread_setname_np(pthread_self(), own_name);
}

static void *run(void *arg)
{
    struct thread *t = arg;

    thread_set_name(t->name);
    t->fn(t->arg);
    return NULL;
}

int thread_start(struct thread *t, const char *name, thread_fn fn, void *arg)
{
    sigset_t all, old;

    *t = (struct thread){.fn = fn, .arg = arg};
    snprintf(t->name, sizeof t->name, "%s", name);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&t->id, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    t->started = r == 0;
    return -r;
}

void thread_join(struct thread *t)
{
    if (!t->started)
        return;
    pthread_join(t->id, NULL);
    t->started = false;
}
