/*
 * groups_reset.h - a reset of groups' offsets: groups_reset.c plans it, groups_execute.c does it
 *
 * Thread: the main one.
 */
#pragma once

#include "tools/groups/groups_print.h"

struct reset {
    struct groups *g;
    struct group_reset *v; /* every group that was named; those with members have no rows */
    size_t count;
    struct group *groups; /* without members: v[].group points in here */
    size_t group_count;
    struct log_ask *asks; /* every partition of all groups once */
    size_t ask_count;
    struct reset_plan plan; /* --from-file */
    int64_t time;           /* --to-datetime, --by-duration */
    int64_t number;         /* --to-offset, --shift-by */
    size_t moved;           /* offsets that lay outside of their logs */
    size_t late;            /* partitions without a record that late */
};

/*
 * Commits what was planned, a group after the other; each is one request, or a few where it is
 * long. Ctrl-C lets the group at hand be finished and leaves the others as they were; what has
 * changed is said where not all has.
 */
int reset_execute(struct reset *r) MUST_CHECK;
