/*
 * topic_map.h - topics by name or by id, as a persistent map: a change shares everything that it
 * does not touch
 *
 * A tree of fixed depth (64 x 64 buckets) over the key's hash; nodes and topics are
 * reference-counted and immutable once more than one map holds them. A writer's own nodes (one
 * reference) are changed in place, so that many changes on the way from one snapshot to the next
 * copy each node once. Not thread-safe for writers; a map that is only read needs no lock.
 */
#pragma once

#include "broker/meta/metadata.h"

/* A topic in one block of memory: itself, its name, its partitions and their replica lists. */
struct topic_entry {
    _Atomic unsigned refs;
    struct meta_topic topic;
};

enum topic_key { TOPIC_BY_NAME, TOPIC_BY_ID };

struct topic_map_root;

struct topic_map {
    struct topic_map_root *root; /* NULL while empty */
    enum topic_key key;
    int32_t count;
};

struct topic_entry *topic_entry_ref(struct topic_entry *e);
struct topic_entry *topic_entry_unref(struct topic_entry *e);

/* A second map with the same content, in O(1). */
struct topic_map topic_map_share(const struct topic_map *m);
void topic_map_deinit(struct topic_map *m);

/* key holds the name or the id to look for. NULL where it is not there. */
struct topic_entry *topic_map_find(const struct topic_map *m, const struct meta_topic *key);
/* Adds e, or replaces the topic with the same key; takes a reference of its own. */
void topic_map_set(struct topic_map *m, struct topic_entry *e);
/* Absent is fine. */
void topic_map_remove(struct topic_map *m, const struct meta_topic *key);
/* False where each() stopped it. */
bool topic_map_each(const struct topic_map *m, meta_topic_fn each, void *ctx);
