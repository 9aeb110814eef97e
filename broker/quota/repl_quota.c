#include "broker/quota/repl_quota.h"

#include "common/base/mem.h"

#include <stdatomic.h>

void repl_quota_init(struct repl_quota *q, const struct clock *clock, struct repl_window window)
{
    q->clock = clock;
    q->window = (struct repl_window){MAX(window.samples, 1), MAX(window.sample_ms, 1)};
    q->samples = xnew_array(struct repl_sample, (size_t)q->window.samples);
    q->count = 0;
    q->now = 0;
    atomic_init(&q->limit, REPL_QUOTA_UNLIMITED);
    mutex_init(&q->lock, LOCK_REPL_QUOTA);
}

void repl_quota_deinit(struct repl_quota *q)
{
    mutex_deinit(&q->lock);
    free(q->samples);
    q->samples = NULL;
}

void repl_quota_set_rate(struct repl_quota *q, int64_t bytes_per_second)
{
    atomic_store(&q->limit, bytes_per_second);
}

bool repl_quota_is_limited(const struct repl_quota *q)
{
    return atomic_load(&q->limit) != REPL_QUOTA_UNLIMITED;
}

void repl_quota_record(struct repl_quota *q, int64_t bytes)
{
    int64_t now_ms = clock_mono_ms(q->clock);

    LOCK_SCOPE(&q->lock);
    if (q->count == 0 || now_ms - q->samples[q->now].began_ms >= q->window.sample_ms) {
        q->now = q->count == 0 ? 0 : (q->now + 1) % q->window.samples;
        q->count = MIN(q->count + 1, q->window.samples);
        q->samples[q->now] = (struct repl_sample){.began_ms = now_ms};
    }
    q->samples[q->now].bytes += bytes;
}

/* What the samples hold that still count, and the time that they span. */
static int64_t held_bytes(const struct repl_quota *q, int64_t *ret_span_ms)
{
    int64_t now_ms = clock_mono_ms(q->clock), oldest_ms = now_ms, bytes = 0;

    for (int32_t i = 0; i < q->count; i++) {
        const struct repl_sample *s = &q->samples[i];
        if (now_ms - s->began_ms >= q->window.samples * q->window.sample_ms)
            continue; /* too long ago to count */
        oldest_ms = MIN(oldest_ms, s->began_ms);
        bytes += s->bytes;
    }
    *ret_span_ms = MAX(now_ms - oldest_ms, q->window.sample_ms);
    return bytes;
}

int64_t repl_quota_wait_ms(struct repl_quota *q)
{
    int64_t limit = atomic_load(&q->limit), span_ms;

    if (limit == REPL_QUOTA_UNLIMITED)
        return 0;
    LOCK_SCOPE(&q->lock);
    double bytes = (double)held_bytes(q, &span_ms);
    double over_ms = bytes * 1000.0 / (double)limit - (double)span_ms; /* infinite with none */
    if (!(over_ms > 0))
        return 0;
    return MAX((int64_t)MIN(over_ms, (double)q->window.sample_ms), (int64_t)1);
}

bool repl_quota_is_exceeded(struct repl_quota *q)
{
    return repl_quota_wait_ms(q) > 0;
}
