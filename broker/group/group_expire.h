/*
 * group_expire.h - which offsets of a group have reached their age (disk.md 12.8, KIP-211)
 *
 * Pure: it is told the group's state, what its members read, and the time.
 *
 *   CLEANUP(read_topics_deinit) struct read_topics topics = {0};
 *   for each member: read_topics_add(&topics, metadata of the chosen protocol);
 *   offset_is_expired(&(struct group_age){...}, topic, commit, is_pending)
 */
#pragma once

#include "broker/group/commits.h"

/*
 * The topics that the members of a consumer group have subscribed to, each once. Zeroed: none. One
 * member that cannot be read makes all of it unknown, since any topic might be among its own.
 * A value owned by one thread; its memory is its own.
 */
struct read_topics {
    struct read_topic *set; /* uthash */
    bool is_unknown;
};

void read_topics_deinit(struct read_topics *t);
/* A member's subscription (ConsumerProtocolSubscription). Of whatever version: all begin with the
 * fields of version 0. -EBADMSG, and all is unknown, where the bytes are none. */
int read_topics_add(struct read_topics *t, struct slice metadata) MUST_CHECK;
/* Whether a member reads it. Where that is unknown: true, it may be. */
bool read_topics_has(const struct read_topics *t, struct str topic);

struct group_age {
    struct str protocol_type; /* null: a group that only stores offsets */
    bool is_empty;
    bool is_stable;
    int64_t state_ms;                 /* since when it is so; -1: unknown (old records) */
    const struct read_topics *topics; /* looked at where it is stable; NULL: unknown */
    int64_t retention_ms;
    int64_t now_ms;
};

/* is_pending: an append for this partition is under way, which keeps the offset that is there. */
bool offset_is_expired(const struct group_age *g, struct str topic, const struct committed *c,
                       bool is_pending);
