/*
 * throttled.h - which replicas of a topic are throttled while they catch up (KIP-73)
 *
 *   "*"          all of them
 *   "0:1,0:2"    partition 0 on brokers 1 and 2
 *
 * Parsed once for each topic_conf, looked up with each fetch. Immutable.
 */
#pragma once

#include "common/base/base.h"

struct throttled;

/* NULL where nothing is listed. Entries that are none are passed over: whoever sets the list is
 * told. */
struct throttled *throttled_parse(const char *list);
/* NULL-safe, returns NULL. */
struct throttled *throttled_free(struct throttled *t);
/* NULL has none. */
bool throttled_has(const struct throttled *t, int32_t partition, int32_t broker);
