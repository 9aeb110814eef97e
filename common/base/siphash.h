/*
 * siphash.h - SipHash-2-4 with 128 bits of result, for keys that others choose
 *
 * With a random key nobody outside can make two texts collide; where a collision would cost data,
 * an unkeyed hash does not do. Thread: any.
 */
#pragma once

#include "common/base/str.h"

struct hash128 {
    uint64_t v[2];
};

struct siphash_key {
    uint64_t v[2];
};

struct siphash_key siphash_key_random(void);
struct hash128 siphash128(const struct siphash_key *key, struct slice data);
