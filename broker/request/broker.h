/*
 * broker.h - what handlers are given: the parts of one broker
 *
 * Assembled in broker/server/server.c; parts are dependencies handed over, never globals. Every
 * part has its own owner and locks (see its header); this struct itself does not change once the
 * server runs.
 */
#pragma once

#include "common/base/clock.h"
#include "common/io/reactor.h"
#include "common/io/workq.h"

struct broker_conf;
struct live_conf;
struct metadata;
struct log_manager;
struct replica_manager;
struct controller;
struct zk_store;
struct id_block;
struct topic_admin;
struct config_admin;
struct metadata_waits;
struct group_manager;

struct broker {
    const struct clock *clock;
    struct broker_conf *conf;         /* as started with; broker/config/broker_conf.h */
    struct live_conf *live;           /* as it is now; broker/config/live_conf.h */
    struct metadata *metadata;        /* broker/meta/metadata.h */
    struct log_manager *logs;         /* broker/storage/log_manager.h */
    struct replica_manager *replicas; /* broker/replica/replica_manager.h */
    struct controller *controller;    /* controller/controller.h */
    struct zk_store *zk;              /* zk/zk_store.h */
    struct id_block *producer_ids;    /* broker/txn/id_block.h */
    struct topic_admin *topics;       /* broker/meta/topic_admin.h */
    struct config_admin *configs;     /* broker/meta/config_admin.h */
    struct metadata_waits *waits;     /* broker/meta/metadata_waits.h */
    struct group_manager *groups;     /* broker/group/group_manager.h */
    int32_t broker_id;
    int64_t start_ms;    /* of the monotonic clock: when it began */
    struct workq *workq; /* ZooKeeper and other blocking work of requests */
    struct reactor_pool *reactors;
    char *cluster_id;
    _Atomic int64_t *broker_epoch; /* czxid of our registration, -1 before it */
    /* Version of /feature, -1: there is none; NULL in tests. */
    const _Atomic int64_t *features_epoch;
};
