/*
 * random_msg.h - messages with random content, the same for the same seed
 *
 * Only what the version can say is filled in: strings and bytes of a few characters, arrays of a
 * few elements, nulls where they are allowed, numbers over their whole range; tagged fields are
 * sometimes left at their default.
 */
#pragma once

#include "common/wire/codec.h"

struct random_source {
    uint64_t state; /* never 0 */
};

static inline uint64_t random_next(struct random_source *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * 0x2545f4914f6cdd1dULL;
}

/* Uniform enough in [0, n). */
static inline uint32_t random_to(struct random_source *r, uint32_t n)
{
    return (uint32_t)((random_next(r) >> 32) * n >> 32);
}

/* The content lies in the arena. */
void random_msg(const struct msg_desc *d, int16_t version, struct random_source *r, struct arena *a,
                void *ret_msg);
