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

TEST_MAIN("common/io/workq", a_job_comes_back_on_its_reactor, without_a_reactor_it_ends_on_the_pool,
          free_finishes_what_was_submitted)
