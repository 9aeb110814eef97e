#include "common/io/workq.h"

#include "common/base/containers.h"
#include "common/base/mem.h"
#include "common/base/thread.h"

#include <stdatomic.h>

/* One thread of the pool; the pool frees it once it has ended. */
struct worker {
    struct thread thread;
    struct workq *q;
    struct worker *next;
    _Atomic bool has_ended;
};

struct workq {
    struct inbox jobs;
    struct message
        end; /* not a job: the thread that takes it puts it back for the next one, and ends */
    atomic_int pending;
    char *name;
    struct mutex lock; /* LOCK_WORKERS; guards what follows */
    struct worker *workers;
    int count;     /* that are to go on */
    unsigned made; /* so far, for their names */
};

/* Not a job either: the thread that takes it ends. */
struct leave {
    struct message message;
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

static void do_job(struct workq *q, struct message *m)
{
    struct job *j = container_of(m, struct job, message);
    bool has_done = j->done != NULL; /* without it, the job may be gone after work() */
    struct reactor *reply = j->reply;

    m->run(m);
    q->pending--;
    if (!has_done)
        return;
    m->run = finish_job;
    if (reply)
        reactor_post(reply, m);
    else
        m->run(m);
}

static void work(void *arg)
{
    struct worker *w = arg;
    struct workq *q = w->q;
    struct message *m;

    while ((m = inbox_take(&q->jobs, INT64_MAX))->run)
        do_job(q, m);
    if (m == &q->end)
        inbox_post(&q->jobs, m);
    else
        free(container_of(m, struct leave, message));
    w->has_ended = true;
}

/* The lock is held. */
static int add_worker(struct workq *q)
{
    struct worker *w = xnew(struct worker);
    CLEANUP(free_p) char *name = xasprintf("%.10s-%u", q->name, q->made);

    w->q = q;
    int r = thread_start(&w->thread, name, work, w);
    if (r < 0) {
        free(w);
        return r;
    }
    q->made++;
    q->count++;
    LL_PREPEND(q->workers, w);
    return 0;
}

static void drop_worker(struct workq *q, struct worker *w)
{
    thread_join(&w->thread);
    LL_DELETE(q->workers, w);
    free(w);
}

/* The threads that have left meanwhile; the lock is held. */
static void drop_ended(struct workq *q)
{
    struct worker *w, *next;

    LL_FOREACH_SAFE (q->workers, w, next) {
        if (w->has_ended)
            drop_worker(q, w);
    }
}

int workq_resize(struct workq *q, int threads)
{
    int r = 0;
    LOCK_SCOPE(&q->lock);

    assert(threads > 0);
    drop_ended(q);
    for (; q->count > threads; q->count--)
        inbox_post(&q->jobs, &xnew(struct leave)->message);
    while (r == 0 && q->count < threads)
        r = add_worker(q);
    return r;
}

int workq_new(const char *name, int threads, struct workq **ret)
{
    struct workq *q = xnew(struct workq);

    inbox_init(&q->jobs);
    mutex_init(&q->lock, LOCK_WORKERS);
    q->name = xstrdup(name);
    int r = workq_resize(q, threads);
    if (r < 0)
        workq_free(q);
    else
        *ret = q;
    return r;
}

/* What is left behind the end: jobs that the last jobs have submitted; and whoever was to leave has
 * ended with the others. */
static void finish_all(struct workq *q, struct message *list)
{
    for (struct message *m = list, *next; m; m = next) {
        next = m->next;
        if (m->run)
            do_job(q, m);
        else if (m != &q->end)
            free(container_of(m, struct leave, message));
    }
}

struct workq *workq_free(struct workq *q)
{
    if (!q)
        return NULL;
    inbox_post(&q->jobs, &q->end);
    while (q->workers)
        drop_worker(q, q->workers);
    for (struct message *m; (m = inbox_take_all(&q->jobs));)
        finish_all(q, m);
    inbox_deinit(&q->jobs);
    mutex_deinit(&q->lock);
    free(q->name);
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
