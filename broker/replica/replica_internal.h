/*
 * replica_internal.h - the inside of the replica manager, shared by replica_manager.c (the table
 * and life) and orders.c (what the controller wants)
 */
#pragma once

#include "broker/replica/fetcher_pool.h"
#include "broker/replica/replica_manager.h"

struct alter_queue;
struct alter_zk;

enum { REPLICA_SHARDS = 64 };

struct replica_shard {
    struct mutex lock; /* LOCK_REPLICAS */
    struct partition **buckets;
    uint32_t bucket_count; /* a power of two, or 0 */
    uint32_t count;
};

struct replica_manager {
    struct replica_manager_opts opts;
    char *inter_broker_listener;
    char *control_plane_listener;
    struct replica_env env;
    struct replica_shard shards[REPLICA_SHARDS];
    struct fetch_sessions *sessions;
    struct fetcher_pool *fetchers;
    struct dir_mover *mover;
    struct alter_queue *alter_queue; /* one of these two */
    struct alter_zk *alter_zk;
    struct mutex state_lock;  /* LOCK_REPLICA_STATE: what follows, and every change of a role */
    int32_t controller_epoch; /* the highest seen */
    bool had_leader_and_isr;
    _Atomic bool is_shutting_down;
    struct timer shrink_timer;
    struct reactor *timer_reactor;
    struct message start;
    struct message stop;
    struct job shrink;
    _Atomic bool is_shrinking;
};

/* Finds it, or adds a fresh one to the table. With a reference. */
struct partition *replica_manager_obtain(struct replica_manager *m, struct str topic,
                                         int32_t partition);
/* What clients hear of a partition that is not here: NOT_LEADER_OR_FOLLOWER where others have it,
 * UNKNOWN_TOPIC_OR_PARTITION where nobody has. */
int replica_manager_why_not_here(struct replica_manager *m, struct str topic, int32_t partition);
/* Takes it out of the table. */
void replica_manager_remove(struct replica_manager *m, struct partition *part);
