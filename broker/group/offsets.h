/*
 * offsets.h - what one group has committed: an offset for each partition of each topic
 *
 * Topics by name; the partitions of a topic in one array, in ascending order, since most groups
 * commit all of them. A commit is counted as pending while its record is being appended, and shows
 * only once that is acknowledged; which of two is the newer one is told by where their records lie
 * in __consumer_offsets (disk.md 12.6). Transactional commits wait, by producer id, for the marker
 * that ends their transaction (12.7).
 *
 * Owner: the group; guarded by its lock (LOCK_GROUP), or by nobody while the group is being loaded.
 * All memory is the table's own.
 */
#pragma once

#include "common/base/containers.h"
#include "common/base/str.h"

/* A commit. As an argument its text is borrowed; from the table it is valid until the next
 * change. */
struct committed {
    int64_t offset;
    int32_t leader_epoch; /* -1: unknown */
    struct str metadata;  /* never null */
    int64_t commit_ms;    /* wall clock */
    int64_t expire_ms;    /* set by the client (OffsetCommit v2 to v4); -1: by retention */
    int64_t log_offset;   /* of its record in __consumer_offsets */
};

struct offsets_topic;
struct offsets_txn;

struct offsets {
    struct offsets_topic *topics; /* uthash, by name */
    struct offsets_txn *txns;     /* uthash, by producer id */
    int64_t committed;            /* partitions that have one */
    int64_t pending;              /* appends under way */
};

void offsets_init(struct offsets *o);
void offsets_deinit(struct offsets *o);

/* NULL where nothing is committed. */
const struct committed *offsets_find(const struct offsets *o, struct str topic, int32_t partition);
/* Whether it has a transactional commit whose transaction is open (UNSTABLE_OFFSET_COMMIT). */
bool offsets_is_unstable(const struct offsets *o, struct str topic, int32_t partition);
/* Neither committed, nor pending, nor in a transaction: such a group may be forgotten. */
bool offsets_is_empty(const struct offsets *o);

/* An append begins. Each is followed by one offsets_settle(). */
void offsets_begin(struct offsets *o, struct str topic, int32_t partition);
/* It has ended; c is NULL where it failed. Kept where there is no commit, or one whose record lies
 * lower; not kept where offsets_remove() has come between. */
void offsets_settle(struct offsets *o, struct str topic, int32_t partition,
                    const struct committed *c);
/* As read from the log, where a later record replaces what came before. */
void offsets_put(struct offsets *o, struct str topic, int32_t partition, const struct committed *c);
/* Drops the commit, pending and transactional ones too, as when the topic is deleted or its offset
 * is. True where there was a commit. */
bool offsets_remove(struct offsets *o, struct str topic, int32_t partition);
/* Drops the commit alone, as when it has expired, or by a tombstone that is read from the log: what
 * a transaction holds has been acknowledged, and counts at its marker. True where there was one. */
bool offsets_drop(struct offsets *o, struct str topic, int32_t partition);

/* A transactional commit, as read from the log; the last one of a partition counts. */
void offsets_txn_put(struct offsets *o, int64_t producer_id, struct str topic, int32_t partition,
                     const struct committed *c);
/* Its marker. At a commit, each pending offset replaces what is absent or lies lower in the log. */
void offsets_txn_end(struct offsets *o, int64_t producer_id, bool is_commit);

/* False ends the walk. It may not change the table. is_pending: an append is under way. */
typedef bool (*offsets_each_fn)(void *ctx, struct str topic, int32_t partition,
                                const struct committed *c, bool is_pending);

/* Every partition with a commit: topics in no order, partitions of a topic in order. */
void offsets_each(const struct offsets *o, offsets_each_fn each, void *ctx);
