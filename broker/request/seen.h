/*
 * seen.h - which names stood in a request before, for lists that must not hold one twice
 *
 * A zeroed pointer is an empty set. Entries lie in the request's arena; seen_clear() frees the
 * table itself.
 */
#pragma once

#include "common/base/arena.h"

struct seen;

/* The place that was noted with the name, or -1 where it is new: it is then noted with this
 * place. */
int32_t seen_add(struct seen **set, struct arena *a, struct str name, int32_t at);
void seen_clear(struct seen **set);
