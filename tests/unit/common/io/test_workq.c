#include "common/io/workq.h"

#include "common/base/mem.h"
#include "tests/support/test_main.h"

enum { JOBS = 200 };

struct sum {
    struct job job;
    int in;
    int out;
    struct inbox *done;
    struct message message;
};

static void work(struct job *j)
{
    struct sum *s = container_of(j, struct sum, job);

    s->out = s->in * 2;
}

static void done(struct job *j)
{
    struct sum *s = container_of(j, struct sum, job);

    ck_assert_ptr_eq(reactor_current(), j->reply);
    inbox_post(s->done, &s->message);
}

static void run_jobs(struct reactor *reply)
{
    static struct sum sums[JOBS];
    struct workq *q = NULL;
    struct inbox in;

    inbox_init(&in);
    ck_assert_int_eq(workq_new("work", 3, &q), 0);
    for (int i = 0; i < JOBS; i++) {
        sums[i] =
            (struct sum){.job = {.work = work, .done = done, .reply = reply}, .in = i, .done = &in};
        workq_submit(q, &sums[i].job);
    }
    for (int i = 0; i < JOBS; i++) {
        const struct message *m = inbox_take(&in, INT64_MAX);
        const struct sum *s = container_of(m, struct sum, message);

        ck_assert_int_eq(s->out, s->in * 2);
    }
    workq_free(q);
    inbox_deinit(&in);
}

START_TEST(a_job_comes_back_on_its_reactor)
{
    struct reactor *r = NULL;

    ck_assert_int_eq(reactor_new("reply", &clock_system, &r), 0);
    ck_assert_int_eq(reactor_start(r), 0);
    run_jobs(r);
    reactor_stop(r);
    reactor_free(r);
}
END_TEST

START_TEST(without_a_reactor_it_ends_on_the_pool)
{
    run_jobs(NULL);
}
END_TEST

static _Atomic int ran;

static void work_and_free(struct job *j)
{
    ran++;
    free(j);
}

START_TEST(free_finishes_what_was_submitted)
{
    struct workq *q = NULL;

    ck_assert_int_eq(workq_new("work", 2, &q), 0);
    for (int i = 0; i < JOBS; i++) {
        struct job *j = xnew(struct job);

        j->work = work_and_free;
        workq_submit(q, j);
    }
    workq_free(q);
    ck_assert_int_eq(ran, JOBS);
}
END_TEST

struct chain {
    struct job job;
    struct workq *q;
    int left;
};

static void submit_next(struct job *j)
{
    struct chain *c = container_of(j, struct chain, job);

    if (c->left-- > 0)
        workq_submit(c->q, j);
}

START_TEST(free_finishes_what_its_last_jobs_submit)
{
    struct chain c = {.job = {.work = submit_next}, .left = 10000};

    ck_assert_int_eq(workq_new("work", 3, &c.q), 0);
    workq_submit(c.q, &c.job);
    ck_assert_int_eq(workq_resize(c.q, 1), 0);
    workq_free(c.q);
    ck_assert_int_eq(c.left, -1);
}
END_TEST

/* Each of so many jobs waits until all of them run: as many threads are there. */
struct meeting {
    struct job job;
    struct inbox *arrived;
    struct inbox *go;
    struct message message;
    struct message onward;
};

static void meet(struct job *j)
{
    struct meeting *m = container_of(j, struct meeting, job);

    inbox_post(m->arrived, &m->message);
    inbox_take(m->go, INT64_MAX);
}

static void check_threads(struct workq *q, int count)
{
    struct meeting m[8];
    struct inbox arrived, go;

    inbox_init(&arrived);
    inbox_init(&go);
    for (int i = 0; i < count; i++) {
        m[i] = (struct meeting){.job = {.work = meet}, .arrived = &arrived, .go = &go};
        workq_submit(q, &m[i].job);
    }
    for (int i = 0; i < count; i++)
        inbox_take(&arrived, INT64_MAX);
    for (int i = 0; i < count; i++)
        inbox_post(&go, &m[i].onward);
    while (workq_pending(q) > 0)
        continue;
    inbox_deinit(&arrived);
    inbox_deinit(&go);
}

struct resizing {
    struct job job;
    struct workq *q;
};

static void resize(struct job *j)
{
    struct resizing *r = container_of(j, struct resizing, job);

    ck_assert_int_eq(workq_resize(r->q, 3), 0);
}

START_TEST(it_grows_and_shrinks_while_it_works)
{
    struct workq *q = NULL;

    ck_assert_int_eq(workq_new("work", 1, &q), 0);
    check_threads(q, 1);
    ck_assert_int_eq(workq_resize(q, 8), 0);
    check_threads(q, 8);
    ck_assert_int_eq(workq_resize(q, 2), 0);
    check_threads(q, 2);
    struct resizing r = {.job = {.work = resize}, .q = q};
    workq_submit(q, &r.job);
    check_threads(q, 3);
    ck_assert_int_eq(workq_resize(q, 1), 0);
    workq_free(q);
}
END_TEST

TEST_MAIN("common/io/workq", a_job_comes_back_on_its_reactor, without_a_reactor_it_ends_on_the_pool,
          free_finishes_what_was_submitted, free_finishes_what_its_last_jobs_submit,
          it_grows_and_shrinks_while_it_works)
