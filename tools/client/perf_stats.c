#include "tools/client/perf_stats.h"

#include "common/base/mem.h"
#include "tools/base/java_text.h"

#include <inttypes.h>

enum { KEPT_MAX = 500000 };

static const double percentiles[] = {0.5, 0.95, 0.99, 0.999};

void perf_stats_init(struct perf_stats *s, uint64_t records, int64_t now_ms)
{
    *s = (struct perf_stats){.start_ms = now_ms,
                             .window_start_ms = now_ms,
                             .sampling = records / MIN(records, (uint64_t)KEPT_MAX)};
    s->cap = (size_t)(records / s->sampling) + 1;
    s->latencies = xnew_array(int32_t, s->cap);
}

void perf_stats_deinit(struct perf_stats *s)
{
    free(s->latencies);
    *s = (struct perf_stats){0};
}

/* At least one millisecond: few records may all be sent within one, and a rate has no use for 0. */
static int64_t elapsed_ms(const struct perf_stats *s, int64_t now_ms)
{
    return MAX(now_ms - s->start_ms, (int64_t)1);
}

static double per_second(uint64_t n, int64_t ms)
{
    return 1000.0 * (double)n / (double)ms;
}

static void add_rates(struct strbuf *out, uint64_t count, uint64_t bytes, int64_t ms, int digits)
{
    strbuf_addf(out, "%" PRIu64 " records sent, ", count);
    java_add_fixed(out, per_second(count, ms), digits);
    strbuf_addz(out, " records/sec (");
    java_add_fixed(out, per_second(bytes, ms) / (1024.0 * 1024.0), 2);
    strbuf_addz(out, " MB/sec), ");
}

static void add_latencies(struct strbuf *out, uint64_t sum, uint64_t count, int32_t max, int digits)
{
    java_add_fixed(out, (double)sum / (double)count, digits);
    strbuf_addz(out, " ms avg latency, ");
    java_add_fixed(out, (double)max, digits);
    strbuf_addz(out, " ms max latency");
}

static void end_window(struct perf_stats *s, int64_t now_ms, struct strbuf *out)
{
    add_rates(out, s->window_count, s->window_bytes, now_ms - s->window_start_ms, 1);
    add_latencies(out, s->window_latency_sum, s->window_count, s->window_latency_max, 1);
    strbuf_addz(out, ".\n");
    s->window_start_ms = now_ms;
    s->window_count = s->window_bytes = s->window_latency_sum = 0;
    s->window_latency_max = 0;
}

void perf_stats_record(struct perf_stats *s, int32_t latency_ms, size_t bytes, int64_t now_ms,
                       struct strbuf *out)
{
    s->count++;
    s->bytes += bytes;
    s->latency_sum += (uint64_t)latency_ms;
    s->latency_max = MAX(s->latency_max, latency_ms);
    s->window_count++;
    s->window_bytes += bytes;
    s->window_latency_sum += (uint64_t)latency_ms;
    s->window_latency_max = MAX(s->window_latency_max, latency_ms);
    if (s->iteration++ % s->sampling == 0 && s->kept < s->cap)
        s->latencies[s->kept++] = latency_ms;
    if (now_ms - s->window_start_ms >= PERF_WINDOW_MS)
        end_window(s, now_ms, out);
}

static int by_size(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void find_percentiles(struct perf_stats *s, int32_t *ret)
{
    qsort(s->latencies, s->kept, sizeof *s->latencies, by_size);
    for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
        ret[i] = s->latencies[(size_t)(percentiles[i] * (double)s->kept)];
}

void perf_stats_print(struct perf_stats *s, int64_t now_ms, struct strbuf *out)
{
    int32_t p[ARRAY_LEN(percentiles)];

    find_percentiles(s, p);
    add_rates(out, s->count, s->bytes, elapsed_ms(s, now_ms), 6);
    add_latencies(out, s->latency_sum, s->count, s->latency_max, 2);
    strbuf_addf(out,
                ", %" PRId32 " ms 50th, %" PRId32 " ms 95th, %" PRId32 " ms 99th, %" PRId32
                " ms 99.9th.\n",
                p[0], p[1], p[2], p[3]);
}

void perf_stats_print_json(struct perf_stats *s, int64_t now_ms, struct strbuf *out)
{
    int64_t ms = elapsed_ms(s, now_ms);
    int32_t p[ARRAY_LEN(percentiles)];

    find_percentiles(s, p);
    strbuf_addf(out,
                "{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.3f"
                ",\"records_per_second\":%.1f,\"mb_per_second\":%.3f,\"latency_avg_ms\":%.2f"
                ",\"latency_max_ms\":%" PRId32,
                s->count, s->bytes, (double)ms / 1000, per_second(s->count, ms),
                per_second(s->bytes, ms) / (1024.0 * 1024.0),
                s->count ? (double)s->latency_sum / (double)s->count : 0.0, s->latency_max);
    strbuf_addf(out,
                ",\"latency_50_ms\":%" PRId32 ",\"latency_95_ms\":%" PRId32
                ",\"latency_99_ms\":%" PRId32 ",\"latency_99_9_ms\":%" PRId32 "}\n",
                p[0], p[1], p[2], p[3]);
}
