/*
 * perf_stats.h - counts and latencies of kafka-producer-perf-test, computed and printed as by Kafka
 *
 * Latencies are whole milliseconds; of more than 500,000 records every nth is kept, and the
 * percentiles are the values at those places of the sorted list. Times are given by the caller.
 * Thread: one at a time.
 */
#pragma once

#include "common/base/strbuf.h"

struct perf_stats {
    int64_t start_ms, window_start_ms;
    int32_t *latencies;
    size_t cap, kept;
    uint64_t sampling, iteration;
    uint64_t count, bytes, latency_sum, window_count, window_bytes, window_latency_sum;
    int32_t latency_max, window_latency_max;
};

enum { PERF_WINDOW_MS = 5000 };

/* records: how many will come, at least 1. */
void perf_stats_init(struct perf_stats *s, uint64_t records, int64_t now_ms);
void perf_stats_deinit(struct perf_stats *s);
/* Adds a line to out where a window is over. */
void perf_stats_record(struct perf_stats *s, int32_t latency_ms, size_t bytes, int64_t now_ms,
                       struct strbuf *out);
void perf_stats_print(struct perf_stats *s, int64_t now_ms, struct strbuf *out);
/* The same as a JSON object. */
void perf_stats_print_json(struct perf_stats *s, int64_t now_ms, struct strbuf *out);
