/*
 * nearest.h - which known name a mistyped one may have meant
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

struct nearest nearest_to(struct str name);
/* Of several that are equally near the first stays. */
void nearest_try(struct nearest *n, const char *known);
