/*
 * progress.h - a line on stderr that says how far produce and consume have come
 *
 * Drawn twice a second, on a terminal only; wiped before anything else is said. Thread: the main
 * one.
 */
#pragma once

#include "common/base/base.h"

struct progress {
    const char *verb; /* "sent", "read" */
    bool shown;       /* there is somebody to see it */
    bool drawn;
    int64_t start_us;
    int64_t next_us;
    uint64_t wanted; /* 0 = unknown */
};

void progress_start(struct progress *p, const char *verb, uint64_t wanted, bool quiet);
void progress_at(struct progress *p, uint64_t records, uint64_t bytes);
void progress_wipe(struct progress *p);
double progress_seconds(const struct progress *p);
/* "100000 records, 11.4 MB in 0.8 s, 125000/s" on stderr, where it is a terminal. */
void progress_end(struct progress *p, uint64_t records, uint64_t bytes);
