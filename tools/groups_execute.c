/*
 * groups_execute.c - committing what a reset has planned, with progress, and what Ctrl-C does
 */
#include "tools/groups_reset.h"

#include "common/base/err.h"

#include <signal.h>
#include <unistd.h>

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 250 };

static volatile sig_atomic_t stops_asked;

static void on_signal(int sig)
{
    stops_asked++;
    if (stops_asked > 2)
        signal(sig, SIG_DFL);
}

struct committing {
    struct reset *r;
    size_t done, total; /* partitions */
    int64_t start_ms, next_ms;
    bool is_shown, is_drawn;
};

static size_t partition_count(const struct reset *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++)
        n += r->v[i].count;
    return n;
}

static void draw(struct committing *c)
{
    int64_t now = clock_mono_ms(&clock_system), spent = now - c->start_ms;

    if (!c->is_shown || now < c->next_ms || c->done == 0)
        return;
    fprintf(stderr, "\rreset %zu of %zu partitions, %.0f s left\033[K", c->done, c->total,
            (double)spent / 1000 / (double)c->done * (double)(c->total - c->done));
    fflush(stderr);
    c->next_ms = now + PROGRESS_EVERY_MS;
    c->is_drawn = true;
}

/* The second Ctrl-C does not wait for the end of the group. */
static bool on_step(void *ctx, size_t count)
{
    struct committing *c = ctx;

    c->done += count;
    draw(c);
    return stops_asked < 2;
}

static size_t applied_count(const struct group_reset *gr)
{
    size_t n = 0;

    for (size_t i = 0; i < gr->count; i++)
        n += gr->v[i].is_applied;
    return n;
}

static const struct part *last_applied(const struct group_reset *gr)
{
    const struct part *last = NULL;

    for (size_t i = 0; i < gr->count; i++)
        last = gr->v[i].is_applied ? &gr->v[i].part : last;
    return last;
}

/* One line about what has changed, which is said where not all has. */
static void say_applied(const struct reset *r)
{
    size_t done = 0;

    for (size_t i = 0; i < r->count; i++)
        done += applied_count(&r->v[i]);
    fflush(stdout);
    fprintf(stderr, "%zu of %zu partitions were reset", done, partition_count(r));
    for (size_t i = 0; i < r->count; i++) {
        const struct group_reset *gr = &r->v[i];
        const struct part *last = last_applied(gr);
        size_t n = applied_count(gr);
        if (n && n == gr->count)
            fprintf(stderr, "; group '%.*s': all %zu", STR_ARG(gr->group->id), n);
        else if (n)
            fprintf(stderr, "; group '%.*s': %zu of %zu, up to %.*s-%d", STR_ARG(gr->group->id), n,
                    gr->count, STR_ARG(last->topic), last->partition);
    }
    fprintf(stderr, "; everything else is as it was\n");
}

static int commit_all(struct reset *r, struct committing *c)
{
    for (size_t i = 0; i < r->count; i++) {
        struct group_reset *gr = &r->v[i];
        const struct commit_opts opts = {gr->v, gr->count, on_step, c};
        if (gr->count == 0)
            continue;
        int e = stops_asked ? -EINTR : groups_commit(r->g, gr->group, &opts);
        if (e)
            return e;
    }
    return 0;
}

int reset_execute(struct reset *r)
{
    int64_t now = clock_mono_ms(&clock_system);
    struct committing c = {.r = r,
                           .total = partition_count(r),
                           .start_ms = now,
                           .next_ms = now + PROGRESS_AFTER_MS,
                           .is_shown = isatty(STDERR_FILENO) && !groups_as_kafka(r->g)};

    stops_asked = 0;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    int e = commit_all(r, &c);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (c.is_drawn)
        fputs("\r\033[K", stderr);
    if (e == -EINTR && r->g->why.len == 0)
        strbuf_addz(&r->g->why, "interrupted");
    if (e)
        say_applied(r);
    return e;
}
