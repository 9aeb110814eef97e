#include "tools/client/perf_csv.h"

#include "tools/base/java_text.h"

#include <inttypes.h>

static const double MB = 1024.0 * 1024.0;

void perf_csv_header(struct strbuf *out, bool detailed)
{
    strbuf_addz(out, detailed ? "time, threadId, " : "start.time, end.time, ");
    strbuf_addz(out, "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
                     "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec\n");
}

static void add_number(struct strbuf *out, double v)
{
    strbuf_addz(out, ", ");
    java_add_fixed(out, v, 4);
}

void perf_csv_interval(struct strbuf *out, const struct perf_reading *r,
                       const struct perf_span *span, const char *date_format)
{
    double ms = (double)(span->end_ms - span->start_ms),
           mb = (double)(r->bytes - r->last_bytes) / MB;
    double messages = (double)(r->messages - r->last_messages);
    int64_t fetch_ms = span->end_ms - span->start_ms - span->join_ms;

    java_add_date(out, date_format, span->end_ms);
    strbuf_addz(out, ", 0");
    add_number(out, (double)r->bytes / MB);
    add_number(out, 1000.0 * mb / ms);
    strbuf_addf(out, ", %" PRIu64, r->messages);
    add_number(out, messages / ms * 1000.0);
    strbuf_addf(out, ", %" PRId64 ", %" PRId64, span->join_ms, fetch_ms);
    add_number(out, fetch_ms <= 0 ? 0 : 1000.0 * mb / (double)fetch_ms);
    add_number(out, fetch_ms <= 0 ? 0 : 1000.0 * messages / (double)fetch_ms);
    strbuf_add_char(out, '\n');
}

void perf_csv_total(struct strbuf *out, const struct perf_reading *r, const struct perf_span *span,
                    const char *date_format)
{
    double seconds = (double)(span->end_ms - span->start_ms) / 1000.0, mb = (double)r->bytes / MB;
    int64_t fetch_ms = span->end_ms - span->start_ms - span->join_ms;
    double fetch_seconds = (double)fetch_ms / 1000.0;

    java_add_date(out, date_format, span->start_ms);
    strbuf_addz(out, ", ");
    java_add_date(out, date_format, span->end_ms);
    add_number(out, mb);
    add_number(out, mb / seconds);
    strbuf_addf(out, ", %" PRIu64, r->messages);
    add_number(out, (double)r->messages / seconds);
    strbuf_addf(out, ", %" PRId64 ", %" PRId64, span->join_ms, fetch_ms);
    add_number(out, mb / fetch_seconds);
    add_number(out, (double)r->messages / fetch_seconds);
    strbuf_add_char(out, '\n');
}

void perf_csv_total_json(struct strbuf *out, const struct perf_reading *r,
                         const struct perf_span *span)
{
    double seconds = (double)MAX(span->end_ms - span->start_ms, INT64_C(1)) / 1000.0;
    double fetching =
        (double)MAX(span->end_ms - span->start_ms - span->join_ms, INT64_C(1)) / 1000.0;

    strbuf_addf(out,
                "{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64
                ",\"seconds\":%.3f,\"records_per_second\":%.1f,\"mb_per_second\":%.3f"
                ",\"rebalance_ms\":%" PRId64 ",\"fetch_records_per_second\":%.1f"
                ",\"fetch_mb_per_second\":%.3f}\n",
                r->messages, r->bytes, seconds, (double)r->messages / seconds,
                (double)r->bytes / MB / seconds, span->join_ms, (double)r->messages / fetching,
                (double)r->bytes / MB / fetching);
}
