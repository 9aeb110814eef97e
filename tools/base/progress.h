/*
 * progress.h - a line on stderr that says how far it is: records sent and read, or any other things
 * of which the number is known
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
/* "12 of 40 partitions, 3.1 s, about 7 s left"; wanted is known. */
void progress_things(struct progress *p, const char *things, uint64_t done);
/* The seconds that it will take at the pace so far; -1 where that is not known. */
double progress_left(uint64_t done, uint64_t wanted, double seconds);
void progress_wipe(struct progress *p);
double progress_seconds(const struct progress *p);
/* "100000 records, 11.4 MB in 0.8 s, 125000/s" on stderr, where it is a terminal. */
void progress_end(struct progress *p, uint64_t records, uint64_t bytes);
