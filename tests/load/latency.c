#include "tests/load/latency.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static size_t bucket_of(int64_t us)
{
    if (us < LATENCY_SUB)
        return (size_t)MAX(us, 0);
    int shift = 63 - __builtin_clzll((uint64_t)us) - 6; /* leaves 64 to 127 */
    size_t b = (size_t)(shift * LATENCY_SUB) + (size_t)(us >> shift);
    return MIN(b, (size_t)LATENCY_BUCKETS - 1);
}

static double us_of(size_t bucket)
{
    if (bucket < LATENCY_SUB)
        return (double)bucket;
    size_t shift = bucket / LATENCY_SUB - 1;
    return ldexp((double)(bucket - shift * LATENCY_SUB) + 0.5, (int)shift);
}

void latency_add(struct latency *l, int64_t us)
{
    l->count++;
    l->longest_us = MAX(l->longest_us, us);
    l->buckets[bucket_of(us)]++;
}

double latency_quantile_us(const struct latency *l, double q)
{
    uint64_t want = (uint64_t)ceil(q * (double)l->count), seen = 0;

    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += l->buckets[i];
        if (seen >= want && seen > 0)
            return MIN(us_of(i), (double)l->longest_us);
    }
    return 0;
}

void latency_print(const struct latency *l)
{
    printf("\"p50_us\": %.0f, \"p99_us\": %.0f, \"p999_us\": %.0f, \"max_us\": %" PRId64,
           latency_quantile_us(l, 0.5), latency_quantile_us(l, 0.99), latency_quantile_us(l, 0.999),
           l->longest_us);
}
