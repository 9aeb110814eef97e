/*
 * config_admin.h - changing the settings of topics, brokers and loggers: the checks, and what is
 * written to ZooKeeper
 *
 * For AlterConfigs and IncrementalAlterConfigs, which any broker serves (protocol.md 11.25). What
 * is written is applied by every broker, this one too, when the notification arrives. All calls
 * block on ZooKeeper: they belong on a worker. Errors are wire codes with a message for the client.
 */
#pragma once

#include "broker/config/live_conf.h"
#include "broker/meta/config_edit.h"
#include "broker/meta/metadata.h"
#include "zk/zk_store.h"

struct config_admin;

struct config_admin_opts {
    struct zk_store *zk;
    struct metadata *metadata;
    struct live_conf *live;
    int32_t broker_id;
};

struct config_admin *config_admin_new(const struct config_admin_opts *opts);
/* NULL-safe, returns NULL. */
struct config_admin *config_admin_free(struct config_admin *ca);

/* Of the wire. */
enum config_resource_type {
    RESOURCE_TOPIC = 2,
    RESOURCE_BROKER = 4,
    RESOURCE_BROKER_LOGGER = 8,
    RESOURCE_CLIENT_METRICS = 16
};

struct config_alteration {
    int8_t type;
    struct str name;           /* of a broker: its id, or empty for all brokers */
    struct config_edit *edits; /* each key once */
    int32_t edit_count;
    /* The answer; one whose error is not 0 beforehand is passed over. */
    int16_t error;
    struct str message; /* null where there is none */
};

struct config_request {
    struct config_alteration *list;
    size_t count;
    /* False: the edits, all of them CONFIG_OP_SET, replace what is set. */
    bool is_incremental;
    bool is_dry_run; /* checks, and writes nothing */
};

/* Each alteration on its own. */
void config_admin_alter(struct config_admin *ca, struct arena *a, const struct config_request *req);

/* A logger (common/base/say.h), "broker.storage", in the arena, and its level in log4j's words.
 * Thread: any. */
const char *config_admin_logger(struct arena *a, int logger, const char **ret_level);
