/*
 * metadata_waits.h - requests that wait until the metadata shows something: a topic created,
 * deleted, a leader elected
 *
 * A wait is parked on its reactor with a deadline, looked at again after each UpdateMetadata, and
 * completed exactly once, on its reactor. The list is guarded by LOCK_METADATA.
 */
#pragma once

#include "broker/meta/metadata.h"
#include "common/io/reactor.h"

struct metadata_waits;

/* Owned by the caller (usually in a request's arena), untouched until done(). */
struct metadata_wait {
    struct reactor *reactor;
    int64_t deadline_us; /* monotonic */
    /* Whether the snapshot shows what is awaited. Only looks; runs on any thread, under the
     * lock. */
    bool (*is_over)(struct metadata_wait *w, const struct metadata_snapshot *s);
    /* On the reactor. */
    void (*done)(struct metadata_wait *w, bool is_timed_out);
    /* Private: */
    struct metadata_waits *waits;
    struct metadata_wait *prev, *next;
    struct timer timer;
    struct message message;
    bool is_parked;
    bool is_timed_out;
};

struct metadata_waits *metadata_waits_new(struct metadata *m);
/* Nothing may be parked any more. NULL-safe, returns NULL. */
struct metadata_waits *metadata_waits_free(struct metadata_waits *ws);
/* done() may be called before this returns. Thread: w->reactor's. */
void metadata_waits_park(struct metadata_waits *ws, struct metadata_wait *w);
/* The metadata has changed. Thread: any. */
void metadata_waits_look(struct metadata_waits *ws);
/* Ends all of them as timed out; before the reactors stop. Thread: any. */
void metadata_waits_cancel(struct metadata_waits *ws);
