/*
 * why_lists.h - what is known or not; lists of broker ids and of texts, in an arena
 *
 * Values; what a list has grown out of stays in its arena. Thread: the main one.
 */
#pragma once

#include "common/base/arena.h"

enum why_known { WHY_UNKNOWN, WHY_NO, WHY_YES };

struct why_ids {
    int32_t *v;
    int32_t count;
};

struct why_texts {
    struct str *v;
    size_t count, cap; /* cap: see why_texts_add() */
};

bool why_has(const struct why_ids *ids, int32_t id);
/* Ascending, so that what is said of the same brokers is said in the same order. */
struct why_ids why_ids_sorted(struct arena *a, const struct why_ids *ids);
void why_texts_add(struct arena *a, struct why_texts *t, struct str text);
/* "[1,2,3]" */
struct str why_ids_text(struct arena *a, const struct why_ids *ids);
