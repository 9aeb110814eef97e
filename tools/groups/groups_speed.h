/*
 * groups_speed.h - how fast a partition is read, and when its reader will have caught up, from
 * repeated looks at its offsets
 *
 * Pure. Thread: any; a value of its owner.
 */
#pragma once

#include "common/base/containers.h"
#include "tools/groups/groups_plan.h"

enum { LAG_LOOKS = 16 };

struct lag_look {
    int64_t at_ms, current, lag;
};

/* The last looks at a partition of a group, or at all of them together. */
struct lag_track {
    char *key;
    struct lag_look looks[LAG_LOOKS]; /* a ring */
    int count, next;
    UT_hash_handle hh;
};

/* Found or made. part NULL: the sum of the group. */
struct lag_track *lag_track(struct lag_track **tracks, struct str group, const struct part *part);
void lag_tracks_free(struct lag_track **tracks);

void lag_look(struct lag_track *t, const struct lag_look *look);
/* Records a second, and the seconds until the lag is 0, -1: never at this speed. False after one
 * look only. */
bool lag_speed(const struct lag_track *t, double *ret_rate, double *ret_eta_s);
/* "42s", "3m 05s", "2h 10m", "4d 01h", "never" */
void lag_eta_text(double eta_s, char *room, size_t size);
