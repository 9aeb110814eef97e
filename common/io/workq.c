#include "common/io/workq.h"

#include "common/base/mem.h"
#include "common/base/thread.h"

#include <stdatomic.h>
#include <stdio.h>

struct workq {
    struct inbox jobs;
    struct message
        end; /* not a job: the thread that takes it puts it back for the next one, and ends */
    atomic_int pending;
    int thread_count;
    struct thread threads[];
};

static void run_job(struct message *m)
{
    struct job *j = container_of(m, struct job, message);

    j->work(j);
}

static void finish_job(struct message *m)
{
    struct job *j = container_of(m, struct job, message);

    j->done(j);
}

static void work(void *arg)
{
    struct workq *q = arg;

    for (;;) {
        struct message *m = inbox_take(&q->jobs, INT64_MAX);

        if (m == &q->end) {
            inbox_post(&q->jobs, m);
            return;
        }
        struct job *j = container_of(m, struct job, message);
        bool has_done = j->done != NULL; /* without it, the job may be gone after work() */
        struct reactor *reply = j->reply;

        m->run(m);
        q->pending--;
        if (!has_done)
            continue;
        m->run = finish_job;
        if (reply)
            reactor_post(reply, m);
        else
            m->run(m);
    }
}

int workq_new(const char *name, int threads, struct workq **ret)
{
    struct workq *q = xcalloc(1, sizeof *q + (size_t)threads * sizeof q->threads[0]);

    inbox_init(&q->jobs);
    for (int i = 0; i < threads; i++) {
        char own_name[32];

        snprintf(own_name, sizeof own_name, "%.12s-%d", name, i);
        int r = thread_start(&q->threads[i], own_name, work, q);
        if (r < 0) {
            workq_free(q);
            return r;
        }
        q->thread_count++;
    }
    *ret = q;
    return 0;
}

struct workq *workq_free(struct workq *q)
{
    if (!q)
        return NULL;
    inbox_post(&q->jobs, &q->end);
    for (int i = 0; i < q->thread_count; i++)
        thread_join(&q->threads[i]);
    inbox_deinit(&q->jobs);
    free(q);
    return NULL;
}

void workq_submit(struct workq *q, struct job *j)
{
    q->pending++;
    j->message.run = run_job;
    inbox_post(&q->jobs, &j->message);
}

int workq_pending(const struct workq *q)
{
    return atomic_load(&q->pending);
}
