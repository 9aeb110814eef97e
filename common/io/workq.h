/*
 * workq.h - a small pool of threads for what can block for long
 *
 * fsync, deletes, recovery, cold reads, ZooKeeper writes of admin requests. A job comes back by
 * message: its done() is posted to the reactor that submitted it, or runs on the pool's thread
 * where reply is NULL.
 */
#pragma once

#include "common/io/reactor.h"

struct workq;

struct job {
    struct message message; /* used by the pool */
    void (*work)(struct job *j);
    void (*done)(struct job *j); /* may be NULL */
    struct reactor *reply;
};

int workq_new(const char *name, int threads, struct workq **ret) MUST_CHECK;
/* More threads, or fewer once they have nothing to do; jobs go on meanwhile. -errno where a thread
 * cannot be started: as many as there are go on. Thread: any, the pool's too. */
int workq_resize(struct workq *q, int threads) MUST_CHECK;
/* Finishes the jobs that were submitted, and those that they submit meanwhile, on the pool or here;
 * then ends. NULL-safe, returns NULL. */
struct workq *workq_free(struct workq *q);
/* Thread: any. */
void workq_submit(struct workq *q, struct job *j);
/* Jobs that wait or run. Thread: any. */
int workq_pending(const struct workq *q);
