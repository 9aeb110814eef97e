/*
 * groups_execute.c - committing what a reset has planned, with progress, and what Ctrl-C does
 */
#include "tools/groups/groups_reset.h"

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

/* How far a group is. */
struct extent {
    size_t applied, in_doubt;
    const struct part *last; /* that was applied */
};

static struct extent extent_of(const struct group_reset *gr)
{
    struct extent e = {0};

    for (size_t i = 0; i < gr->count; i++) {
        e.applied += gr->v[i].is_applied;
        e.in_doubt += gr->v[i].is_in_doubt && !gr->v[i].is_applied;
        e.last = gr->v[i].is_applied ? &gr->v[i].part : e.last;
    }
    return e;
}

static void say_extent(const struct group_reset *gr)
{
    const struct extent e = extent_of(gr);

    if (e.applied == 0 && e.in_doubt == 0)
        return;
    fprintf(stderr, "; group '%.*s': ", STR_ARG(gr->group->id));
    if (e.applied == gr->count)
        fprintf(stderr, "all %zu", e.applied);
    else if (e.applied)
        fprintf(stderr, "%zu of %zu, up to %.*s-%d", e.applied, gr->count, STR_ARG(e.last->topic),
                e.last->partition);
    if (e.in_doubt)
        fprintf(stderr, "%s%zu perhaps, no answer came", e.applied ? ", " : "", e.in_doubt);
}

/* One line about what has changed, which is said where not all has. */
static void say_applied(const struct reset *r)
{
    size_t done = 0;

    for (size_t i = 0; i < r->count; i++)
        done += extent_of(&r->v[i]).applied;
    fflush(stdout);
    fprintf(stderr, "%zu of %zu partitions were reset", done, partition_count(r));
    for (size_t i = 0; i < r->count; i++)
        say_extent(&r->v[i]);
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
