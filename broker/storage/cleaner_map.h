/*
 * cleaner_map.h - key -> largest offset, for one cleaning (disk.md §10.2)
 *
 *   cleaner_map_init(&m, &opts);
 *   for each record, by offset: if (!cleaner_map_put(&m, key, offset)) it is full
 *   cleaner_map_cover(&m, last offset of the batch)
 *
 * A key is remembered by 128 bits of a keyed hash, 24 bytes in all with its offset. How many keys
 * go in is set by memory and load factor, as in Kafka; what is allocated is no more than the
 * offsets at hand can need. Value owned by one thread.
 */
#pragma once

#include "common/base/siphash.h"

struct cleaner_map_opts {
    int64_t bytes; /* allowed for a full map */
    double load_factor;
    int64_t expected; /* more keys than that do not come */
};

struct cleaner_map_slot {
    struct hash128 hash;
    int64_t next_offset; /* offset + 1; 0: the slot is free */
};

struct cleaner_map {
    struct siphash_key key;
    struct cleaner_map_slot *slots;
    uint64_t slot_count;
    uint64_t limit; /* of keys */
    uint64_t count;
    int64_t latest; /* everything up to this offset is covered, -1: nothing */
};

enum { CLEANER_MAP_SLOT = 24 };

void cleaner_map_init(struct cleaner_map *m, const struct cleaner_map_opts *opts);
void cleaner_map_deinit(struct cleaner_map *m);
/* Offsets go up. False where it is full, for keys that are in it too. */
bool cleaner_map_put(struct cleaner_map *m, struct slice key, int64_t offset) MUST_CHECK;
/* -1 where the key is not in it. */
int64_t cleaner_map_get(const struct cleaner_map *m, struct slice key);
/* Raises latest. */
void cleaner_map_cover(struct cleaner_map *m, int64_t offset);
