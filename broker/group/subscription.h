/*
 * subscription.h - which topics the members of a consumer group read, as far as that can be told
 *
 * Members of protocol type "consumer" say so in the metadata of their protocol (KIP-211 keeps what
 * is read from expiring). Where one of them cannot be read, nothing is known of any. Under the
 * group's lock; texts are copied into the arena.
 */
#pragma once

#include "broker/group/group.h"

struct subscription {
    bool is_known;
    struct str *topics; /* ascending */
    size_t count;
};

void subscription_read(const struct group *g, struct arena *a, struct subscription *ret)
    REQUIRES(g->lock);
bool subscription_has(const struct subscription *s, struct str topic);
bool group_is_of_consumers(const struct group *g) REQUIRES(g->lock);
