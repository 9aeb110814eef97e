/*
 * groups_job.h - one thing asked of many groups' coordinators
 *
 * Their coordinators are found with one request, each coordinator gets one request for all of its
 * groups, and what has moved, is loading or was lost is asked again until the time is over. Used by
 * groups_cluster.c and groups_commit.c only. Thread: the main one.
 */
#pragma once

#include "tools/groups/groups.h"

struct batch {
    const struct job *job;
    int32_t to;
    struct group **v; /* sorted by id */
    size_t count;
};

struct job {
    const char *name; /* as Java's AdminClient calls it */
    /* Sends what it takes, and settles each group of the batch; < 0: no answer came. */
    int (*send)(struct groups *g, const struct batch *b, struct str *ret_trouble);
    void *ctx;
};

/* v is sorted by id. What became of each group is in its error and trouble. */
void job_run(struct groups *g, struct group *v, size_t n, const struct job *job);
/* What a coordinator answered for a group: done, failed, or to be asked again. */
void group_settle(struct groups *g, struct group *group, int16_t code);
void group_fail(struct group *group, int error, struct str trouble);
/* NULL where it is not in there. */
struct group *batch_find(const struct batch *b, struct str id);
struct str *batch_ids(struct groups *g, const struct batch *b);
/* The first error of all, in why. */
int groups_first_error(struct groups *g, const struct group *v, size_t n);
