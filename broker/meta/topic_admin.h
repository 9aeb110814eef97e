/*
 * topic_admin.h - making topics: the checks, the placement, and what is written to ZooKeeper
 *
 * Used for CreateTopics on the controller and for topics that a Metadata request brings into being
 * on any broker (protocol.md 11.5, 11.21). All calls block on ZooKeeper: they belong on a worker.
 * Errors are wire codes with a message for the client.
 */
#pragma once

#include "broker/config/live_conf.h"
#include "broker/meta/metadata.h"
#include "zk/zk_store.h"

struct topic_admin;

struct topic_admin_opts {
    struct zk_store *zk;
    struct metadata *metadata;
    struct live_conf *live;
};

struct topic_admin *topic_admin_new(const struct topic_admin_opts *opts);
struct topic_admin *topic_admin_free(struct topic_admin *ta);

struct topic_assignment {
    int32_t partition;
    const int32_t *brokers;
    int32_t broker_count;
};

/* One topic to be made. The caller's memory; texts in the answer lie in the arena. */
struct topic_creation {
    struct str name;
    int32_t num_partitions;     /* -1: the broker's default */
    int32_t replication_factor; /* -1: the broker's default */
    const struct topic_assignment *assignments;
    int32_t assignment_count; /* 0: placed automatically */
    const struct topic_override *overrides;
    size_t override_count;
    /* The answer; a creation whose error is not 0 beforehand is passed over. */
    int16_t error;
    struct str message;
    struct uuid id;
};

/* Makes them, or only checks. num_partitions and replication_factor are set to what was made. */
void topic_admin_create(struct topic_admin *ta, struct arena *a, struct topic_creation *list,
                        size_t count, bool is_dry_run);

/*
 * Makes a topic that a client asked for with the broker's defaults (the internal ones with theirs),
 * and answers what Metadata tells the client: LEADER_NOT_AVAILABLE where it exists now,
 * UNKNOWN_TOPIC_OR_PARTITION where this broker is at it already, and else as topic_admin_create().
 */
int16_t topic_admin_auto_create(struct topic_admin *ta, struct arena *a, struct str name);

/* Marks the topic for deletion; 0 also where it is marked already. -errno where ZooKeeper
 * failed. */
int topic_admin_delete(struct topic_admin *ta, struct str name) MUST_CHECK;

/* The topic's overrides as they stand in ZooKeeper, in the arena. */
int topic_admin_overrides(struct topic_admin *ta, struct arena *a, struct str name,
                          struct topic_override **ret, size_t *ret_count) MUST_CHECK;
