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

struct throttled {
    bool is_all;
    int64_t *v; /* partition << 32 | broker, ascending */
    size_t count;
};

/* Entries that are none are passed over: whoever sets the list is told. */
void throttled_parse(struct throttled *t, const char *list);
void throttled_copy(struct throttled *to, const struct throttled *from);
void throttled_deinit(struct throttled *t);
bool throttled_has(const struct throttled *t, int32_t partition, int32_t broker);
