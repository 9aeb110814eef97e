/*
 * leaders.h - one question about many partitions, each put to the broker that leads it
 *
 *   leaders_run(cluster, &work, &arena, &why) finds the leaders, asks each about all of its
 *   partitions, in parts of at most LEADERS_CHUNK, and again where a leader has changed or is not
 *   there, until the time of a call is over.
 *
 * As our own tool a topic or partition that does not exist is told at once; as Kafka's it is looked
 * for until the time is over, as Kafka's clients do. Thread: the main one.
 */
#pragma once

#include "tools/base/cluster.h"

enum { LEADERS_CHUNK = 2000 };

struct led {
    struct str topic;
    int32_t partition;
    int64_t asked;  /* an offset, a timestamp */
    int64_t answer; /* -1: none */
    int16_t error;  /* once done: 0, or why there is no answer */
    bool done;
    int32_t leader; /* -1: not known */
};

struct leaders_work {
    struct led *v; /* sorted by topic */
    size_t count;
    /* Asks the leader about these, all of one; sets answer or error of each. */
    int (*ask)(void *ctx, int32_t leader, struct led *const *parts, size_t count,
               struct strbuf *why);
    /* How many are done; NULL: nobody wants to know. */
    void (*progress)(void *ctx, size_t done);
    void *ctx;
    const char *metadata_call; /* its name, for messages */
    bool patient;              /* looks for what does not exist, too */
};

/* 0 where every partition is done, with an answer or an error. -ETIMEDOUT, -EINTR (stop.h): some
 * are not. */
int leaders_run(struct cluster *c, struct leaders_work *w, struct arena *a, struct strbuf *why)
    MUST_CHECK;
/* For ask: ListOffsets, of which asked is the timestamp: -1 the next offset, -2 the first, ... */
int leaders_ask_offsets(struct cluster *c, int32_t leader, struct led *const *parts, size_t count,
                        struct strbuf *why) MUST_CHECK;
/* For an answer: the part that it is about, NULL where nobody asked. Answers come in the order of
 * the questions: it is looked for from *at on, which begins with 0. */
struct led *leaders_find(struct led *const *parts, size_t count, size_t *at, struct str topic,
                         int32_t partition);
