/*
 * nearest.h - which known name a mistyped one may have meant, and how far two words are apart
 *
 *   struct nearest near = nearest_to(name);
 *   for (...) nearest_try(&near, known);
 *   if (near.best) "did you mean ..."
 *
 * A value. Thread: any.
 */
#pragma once

#include "common/base/str.h"

struct nearest {
    struct str name;
    int least;        /* at most so many letters may differ */
    const char *best; /* borrowed from whoever tried it; NULL: none is near */
};

/* What it costs to make one word into another, letter by letter. */
struct edit_costs {
    int change, insert, leave_out, swap; /* swap: of two neighbours */
    int leave_first;                     /* leave_out, of letters in front of all others */
};

enum { EDIT_FAR = 1 << 20 }; /* of words of more than 64 letters */
int edit_distance(struct str from, struct str to, const struct edit_costs *costs);

struct nearest nearest_to(struct str name);
/* Of several that are equally near the first stays. */
void nearest_try(struct nearest *n, const char *known);
