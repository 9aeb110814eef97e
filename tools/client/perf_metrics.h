/*
 * perf_metrics.h - what --print-metrics prints: a name a line, as Kafka's perf tools lay it out
 *
 * Kafka prints all metrics of its client; ours has those of its counts that the tool itself knows.
 */
#pragma once

#include "common/base/strbuf.h"

struct perf_metric {
    const char *group, *name;
    double value;
};

void perf_metrics_print(const struct perf_metric *v, int count, const char *client_id,
                        struct strbuf *out);
