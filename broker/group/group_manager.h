/*
 * group_manager.h - all groups that this broker coordinates: those of the partitions of
 * __consumer_offsets that it leads
 *
 * A partition is loaded when this broker becomes its leader, on a worker (group_load.h), and its
 * groups are dropped when another does; requests are told to wait, or to go there, meanwhile. The
 * table is split into shards with a lock each (LOCK_GROUPS) that is held for a lookup only; a group
 * handed out is a reference, with its own lock.
 *
 * Reading order: group.h, rebalance.h (the rules), group_append.h (what is written), this,
 * group_commit.h (offsets), group_cleanup.h (what ends by itself). Thread: any, unless noted.
 */
#pragma once

#include "broker/group/group.h"
#include "common/conf/ibp.h"
#include "common/io/workq.h"
#include "common/record/compress.h"

struct group_manager;
struct metadata;
struct replica_manager;

struct group_manager_opts {
    const struct clock *clock;
    struct metadata *metadata;
    struct replica_manager *replicas;
    struct reactor_pool *reactors;
    struct workq *workq;
    enum ibp ibp;
    int32_t partitions; /* offsets.topic.num.partitions, as long as there is no such topic */
    int32_t load_buffer_size;
    int32_t min_session_timeout_ms;
    int32_t max_session_timeout_ms;
    int32_t initial_rebalance_delay_ms;
    int32_t max_size;
    int32_t max_metadata_bytes; /* offset.metadata.max.bytes */
    int32_t commit_timeout_ms;
    int16_t commit_acks;
    enum compression codec;
    int64_t retention_ms;
    int64_t check_interval_ms;
};

struct group_manager *group_manager_new(const struct group_manager_opts *opts);
/* From now on requests are served. Reactors run already. */
void group_manager_start(struct group_manager *m);
/* Every group is dropped, and what waits is answered. Before the reactors and the workers stop. */
void group_manager_stop(struct group_manager *m);
/* After the reactors and the workers have stopped. NULL-safe, returns NULL. */
struct group_manager *group_manager_free(struct group_manager *m);
const struct group_manager_opts *group_manager_opts(const struct group_manager *m);

/* For replica_events: this broker leads a partition of __consumer_offsets, or does not any more. On
 * a worker; the first blocks while it reads the partition's log. */
void group_manager_elected(struct group_manager *m, int32_t partition, int32_t leader_epoch);
void group_manager_resigned(struct group_manager *m, int32_t partition, int32_t leader_epoch);

bool group_manager_is_running(const struct group_manager *m);

/* Which of count partitions an id belongs to: of a group, or of a transaction (disk.md 12.1). */
int32_t group_partition_of(struct str id, int32_t count);
/* Which partition of __consumer_offsets a group belongs to. */
int32_t group_manager_partition(struct group_manager *m, struct str group_id);

/* 0, or why this broker does not answer for that group: COORDINATOR_NOT_AVAILABLE,
 * COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR. */
int group_manager_check(struct group_manager *m, struct str group_id) MUST_CHECK;
/* The same; *ret is the group with a reference (group_unref), or NULL where there is none. */
int group_manager_find(struct group_manager *m, struct str group_id, struct group **ret) MUST_CHECK;
/* The same; made where there is none. */
int group_manager_obtain(struct group_manager *m, struct str group_id, struct group **ret)
    MUST_CHECK;
/* It is dead: no lookup finds it any more. The group's lock may be held. */
void group_manager_forget(struct group_manager *m, struct group *g);
/* Every group that is loaded, with a reference that each() may take more of, no lock held; stops
 * where it returns false. COORDINATOR_LOAD_IN_PROGRESS where some are not loaded yet. */
int group_manager_each(struct group_manager *m, bool (*each)(struct group *g, void *ctx),
                       void *ctx);

/* While a partition is loaded (group_load.c): its groups, not seen by anybody yet. */
struct group *group_manager_make(struct group_manager *m, struct str id, int32_t partition);
