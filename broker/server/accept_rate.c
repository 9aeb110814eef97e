#include "broker/server/accept_rate.h"

#include <stdatomic.h>

void accept_rate_init(struct accept_rate *r, int window_count, int64_t window_ms, int64_t limit)
{
    *r = (struct accept_rate){
        .window_ms = MAX(window_ms, (int64_t)1),
        .count = CLAMP(window_count, 1, (int)ACCEPT_WINDOWS_MAX),
    };
    atomic_init(&r->limit, limit);
}

static void count_one(struct accept_rate *r, int64_t now_ms)
{
    int64_t began_ms = r->windows[r->newest].began_ms;

    if (began_ms == 0 || now_ms - began_ms >= r->window_ms) {
        r->newest = began_ms == 0 ? 0 : (r->newest + 1) % r->count;
        r->windows[r->newest].began_ms = now_ms;
        r->windows[r->newest].accepted = 0;
    }
    r->windows[r->newest].accepted++;
}

int64_t accept_rate_record(struct accept_rate *r, int64_t now_ms)
{
    int64_t limit = atomic_load(&r->limit), oldest_ms = now_ms, accepted = 0;

    count_one(r, now_ms);
    for (int i = 0; i < r->count; i++) {
        int64_t began_ms = r->windows[i].began_ms;

        if (began_ms == 0 || now_ms - began_ms >= r->count * r->window_ms)
            continue;
        oldest_ms = MIN(oldest_ms, began_ms);
        accepted += r->windows[i].accepted;
    }
    /* What is not past yet counts as if it were, but for the newest window. */
    int64_t whole = MAX((now_ms - oldest_ms) / r->window_ms, (int64_t)0);
    int64_t span_ms = now_ms - oldest_ms + MAX(r->count - 1 - whole, (int64_t)0) * r->window_ms;
    double rate = (double)accepted * 1000.0 / (double)MAX(span_ms, r->window_ms);

    if (rate <= (double)limit)
        return 0;
    /* The limit may be 0: then it is a whole window each time. */
    double wait_ms = limit > 0 ? (rate - (double)limit) / (double)limit * (double)span_ms : 1e12;
    return (int64_t)MIN(wait_ms, (double)r->window_ms);
}
