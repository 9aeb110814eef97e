/*
 * commits.h - what one group has committed: an offset for each partition of each topic
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

struct commits_topic;
struct commits_txn;

struct commits {
    struct commits_topic *topics; /* uthash, by name */
    struct commits_txn *txns;     /* uthash, by producer id */
    int64_t committed;            /* partitions that have one */
    int64_t pending;              /* appends under way */
};

void commits_init(struct commits *o);
void commits_deinit(struct commits *o);

/* NULL where nothing is committed. */
const struct committed *commits_find(const struct commits *o, struct str topic, int32_t partition);
/* Whether it has a transactional commit whose transaction is open (UNSTABLE_OFFSET_COMMIT). */
bool commits_is_unstable(const struct commits *o, struct str topic, int32_t partition);
/* Neither committed, nor pending, nor in a transaction: such a group may be forgotten. */
bool commits_is_empty(const struct commits *o);

/* An append begins. Each is followed by one commits_settle(). */
void commits_begin(struct commits *o, struct str topic, int32_t partition);
/* It has ended; c is NULL where it failed. Kept where there is no commit, or one whose record lies
 * lower; not kept where commits_remove() has come between. */
void commits_settle(struct commits *o, struct str topic, int32_t partition,
                    const struct committed *c);
/* As read from the log, where a later record replaces what came before. */
void commits_put(struct commits *o, struct str topic, int32_t partition, const struct committed *c);
/* Drops the commit, pending and transactional ones too, as when the topic is deleted or its offset
 * is. True where there was a commit or an append is under way: a tombstone must lie above it, or
 * whoever loads the group finds it again. */
bool commits_remove(struct commits *o, struct str topic, int32_t partition);
/* Drops the commit alone, as when it has expired, or by a tombstone that is read from the log: what
 * a transaction holds has been acknowledged, and counts at its marker. True where there was one. */
bool commits_drop(struct commits *o, struct str topic, int32_t partition);

/* A transactional commit, as read from the log; the last one of a partition counts. */
void commits_txn_put(struct commits *o, int64_t producer_id, struct str topic, int32_t partition,
                     const struct committed *c);
/* Its marker. At a commit, each pending offset replaces what is absent or lies lower in the log. */
void commits_txn_end(struct commits *o, int64_t producer_id, bool is_commit);

/* False ends the walk. It may not change the table. is_pending: an append is under way; where it is
 * the partition's first, c is NULL. */
typedef bool (*commits_each_fn)(void *ctx, struct str topic, int32_t partition,
                                const struct committed *c, bool is_pending);

/* Every partition with a commit, or one under way: topics in no order, partitions of a topic in
 * order. */
void commits_each(const struct commits *o, commits_each_fn each, void *ctx);
