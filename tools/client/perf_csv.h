/*
 * perf_csv.h - the lines of kafka-consumer-perf-test
 *
 * Thread: any; pure.
 */
#pragma once

#include "common/base/strbuf.h"

/* What was read until now, and until the last line. */
struct perf_reading {
    uint64_t messages, bytes, last_messages, last_bytes;
};

void perf_csv_header(struct strbuf *out, bool detailed);
/* A time by the clock on the wall; join_ms of it went by before partitions were assigned. */
struct perf_span {
    int64_t start_ms, end_ms, join_ms;
};

/* One line about an interval. */
void perf_csv_interval(struct strbuf *out, const struct perf_reading *r,
                       const struct perf_span *span, const char *date_format);
/* The line about all. */
void perf_csv_total(struct strbuf *out, const struct perf_reading *r, const struct perf_span *span,
                    const char *date_format);
/* The same as a JSON object. */
void perf_csv_total_json(struct strbuf *out, const struct perf_reading *r,
                         const struct perf_span *span);
