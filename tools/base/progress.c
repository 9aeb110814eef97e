#include "tools/base/progress.h"

#include "common/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { REDRAW_US = 500000 };

void progress_start(struct progress *p, const char *verb, uint64_t wanted, bool quiet)
{
    int64_t now = clock_mono_us(&clock_system);

    *p = (struct progress){.verb = verb,
                           .shown = !quiet && isatty(STDERR_FILENO),
                           .start_us = now,
                           .next_us = now + REDRAW_US,
                           .wanted = wanted};
}

double progress_seconds(const struct progress *p)
{
    return (double)(clock_mono_us(&clock_system) - p->start_us) / 1e6;
}

static void print(const struct progress *p, uint64_t records, uint64_t bytes)
{
    double seconds = progress_seconds(p);

    fprintf(stderr, "%s %" PRIu64, p->verb, records);
    if (p->wanted)
        fprintf(stderr, " of %" PRIu64, p->wanted);
    fprintf(stderr, " records, %.1f MB in %.1f s, %.0f/s", (double)bytes / 1e6, seconds,
            seconds > 0 ? (double)records / seconds : 0.0);
}

/* True, and the cursor stands where the line begins, when it is time to draw. */
static bool is_time(struct progress *p)
{
    int64_t now = p->shown ? clock_mono_us(&clock_system) : 0;

    if (!p->shown || now < p->next_us)
        return false;
    p->drawn = true;
    p->next_us = now + REDRAW_US;
    fputc('\r', stderr);
    return true;
}

static void drawn(void)
{
    fputs("\033[K", stderr);
    fflush(stderr);
}

void progress_at(struct progress *p, uint64_t records, uint64_t bytes)
{
    if (!is_time(p))
        return;
    print(p, records, bytes);
    drawn();
}

double progress_left(uint64_t done, uint64_t wanted, double seconds)
{
    return done && wanted > done ? seconds * (double)(wanted - done) / (double)done : -1;
}

void progress_things(struct progress *p, const char *things, uint64_t done)
{
    if (!is_time(p))
        return;
    double seconds = progress_seconds(p), left = progress_left(done, p->wanted, seconds);

    fprintf(stderr, "%s %" PRIu64 " of %" PRIu64 " %s, %.1f s", p->verb, done, p->wanted, things,
            seconds);
    if (left >= 0)
        fprintf(stderr, ", about %.0f s left", left);
    drawn();
}

void progress_wipe(struct progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

void progress_end(struct progress *p, uint64_t records, uint64_t bytes)
{
    progress_wipe(p);
    if (!p->shown)
        return;
    print(p, records, bytes);
    fputc('\n', stderr);
}
