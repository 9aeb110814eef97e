/*
 * replica_manager.h - all replicas that this broker hosts: the table of partitions, and the parts
 * around it
 *
 * Handlers call: delayed_produce.h (Produce), delayed_fetch.h and fetch_session.h (Fetch),
 * offsets.h (ListOffsets, OffsetForLeaderEpoch), delayed_delete.h (DeleteRecords), orders.h
 * (LeaderAndIsr, StopReplica, UpdateMetadata); each takes the struct replica_manager and finds its
 * partitions here.
 *
 * The table is split into shards with a lock each (LOCK_REPLICAS) that is held for a lookup only. A
 * partition handed out is a reference. Thread: any, unless noted.
 */
#pragma once

#include "broker/config/topic_conf.h"
#include "broker/meta/metadata.h"
#include "broker/quota/repl_quota.h"
#include "common/conf/ibp.h"
#include "common/io/reactor.h"
#include "common/io/workq.h"

struct log_manager;
struct partition;
struct fetch_sessions;
struct replica_env;
struct replica_manager;
struct tls_client;
struct zk_store;

/* Called up from here; handed over at construction. Any thread, no lock of a partition held;
 * members may be NULL but topic_conf. */
struct replica_events {
    void *ctx;
    /* A topic's settings, with a reference, for a log that is to be made; NULL where ZooKeeper
     * cannot be reached. Runs on a worker, may block. */
    struct topic_conf *(*topic_conf)(void *ctx, const char *topic);
    /* How often settings have changed so far; and, where that differs after logs of a topic have
     * been made of settings that were read before: they are to be read again, on a worker. */
    uint64_t (*conf_changes)(void *ctx);
    void (*conf_again)(void *ctx, const char *topic);
    /* This broker leads, or does not lead any more, a partition of an internal topic
     * (coordinators). On a worker. */
    void (*elected)(void *ctx, struct str topic, int32_t partition, int32_t leader_epoch);
    void (*resigned)(void *ctx, struct str topic, int32_t partition, int32_t leader_epoch);
    /* An UpdateMetadata was applied: what waits for the cluster's state may look again. On a
     * worker. */
    void (*metadata_updated)(void *ctx, const struct update_metadata_request *req);
    /* The partitions of a log dir are offline now: the controller is to be told through ZooKeeper.
     * On a worker. */
    void (*dir_offline)(void *ctx, const char *dir);
};

struct replica_manager_opts {
    const struct clock *clock;
    struct metadata *metadata;
    struct log_manager *logs;
    struct reactor_pool *reactors; /* fetchers and the way to the controller live there */
    struct workq *workq;
    struct zk_store *zk; /* ISR changes below IBP 2.7-IV2; may be NULL otherwise */
    int32_t broker_id;
    _Atomic int64_t *broker_epoch;
    enum ibp ibp;
    /* Copied: */
    const char *inter_broker_listener;
    const char *control_plane_listener; /* NULL: the inter-broker listener */
    struct tls_client *tls;             /* of the inter-broker listener, NULL = plain */
    struct tls_client *control_tls;
    int64_t replica_lag_time_max_ms;
    int64_t replica_fetch_wait_max_ms;
    int32_t replica_fetch_min_bytes;
    int32_t replica_fetch_max_bytes;
    int32_t replica_fetch_response_max_bytes;
    int64_t replica_fetch_backoff_ms;
    int64_t replica_socket_timeout_ms;
    int64_t request_timeout_ms;
    int64_t controller_socket_timeout_ms;
    int32_t num_replica_fetchers;
    int32_t fetch_max_bytes;     /* fetch.max.bytes of the broker */
    int32_t fetch_session_slots; /* max.incremental.fetch.session.cache.slots */
    struct repl_window throttle_window;
    struct repl_window move_window; /* alter.log.dirs.replication.quota.window.* */
    int32_t alter_log_dirs_threads; /* num.replica.alter.log.dirs.threads; 0: turns are made by the
                                     * caller */
    bool is_rack_aware;             /* replica.selector.class names the rack-aware selector */
    struct replica_events events;
};

/* Listener names are copied; the rest must outlive the manager. */
struct replica_manager *replica_manager_new(const struct replica_manager_opts *opts);
/* Starts the timers: ISR shrinking and, at old IBPs, the announcements. Reactors run already. 0 or
 * -errno. */
int replica_manager_start(struct replica_manager *m) MUST_CHECK;
/* From now on no fetcher is started: controlled shutdown has begun. */
void replica_manager_begin_shutdown(struct replica_manager *m);
/* Stops fetchers and timers and fails what waits. Before the reactors stop. */
void replica_manager_stop(struct replica_manager *m);
/* After the reactors have stopped. NULL-safe, returns NULL. */
struct replica_manager *replica_manager_free(struct replica_manager *m);

/* For log_manager_events.dir_failed: partitions in it go offline, on a worker. */
void replica_manager_dir_failed(struct replica_manager *m, const char *dir);
/* num.replica.fetchers has changed: partitions are spread anew. */
void replica_manager_set_fetchers(struct replica_manager *m, int32_t num_replica_fetchers);
/* leader.replication.throttled.rate and follower.replication.throttled.rate, bytes per second;
 * REPL_QUOTA_UNLIMITED as they are at first. */
struct replica_throttle {
    int64_t leader_rate;
    int64_t follower_rate;
};
void replica_manager_set_throttle(struct replica_manager *m, const struct replica_throttle *t);

/* replica.alter.log.dirs.io.max.bytes.per.second, unlimited at first. */
void replica_manager_set_move_rate(struct replica_manager *m, int64_t bytes_per_second);

/* What partitions share; the fetch sessions. For this folder. */
struct replica_env *replica_manager_env(struct replica_manager *m);
struct fetch_sessions *replica_manager_sessions(struct replica_manager *m);

/* With a reference (partition_unref), NULL where it is not hosted. */
struct partition *replica_manager_find(struct replica_manager *m, struct str topic,
                                       int32_t partition);
/*
 * The same for a request: KAFKA_STORAGE_ERROR on an offline dir; not hosted: NOT_LEADER_OR_FOLLOWER
 * where the metadata knows it, else UNKNOWN_TOPIC_OR_PARTITION.
 */
int replica_manager_get(struct replica_manager *m, struct str topic, int32_t partition,
                        struct partition **ret) MUST_CHECK;
/* Stops when each() returns false. No lock is held while it runs. */
void replica_manager_each(struct replica_manager *m,
                          bool (*each)(struct partition *part, void *ctx), void *ctx);

struct replica_stats {
    int32_t partitions;
    int32_t leaders;
    int32_t offline;
    int32_t under_replicated; /* led here: ISR smaller than the assignment */
    int32_t under_min_isr;
    int32_t at_min_isr;
    int32_t reassigning;
    int64_t isr_shrinks;
    int64_t isr_expands;
    int64_t isr_update_failures;
    int32_t failed_partitions; /* given up by a fetcher until the next LeaderAndIsr */
    int64_t max_lag;           /* of the partitions that are followed here, in records */
    int32_t fetch_sessions;
};

/* Walks all partitions. */
void replica_manager_stats(struct replica_manager *m, struct replica_stats *ret);
