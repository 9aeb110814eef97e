/*
 * broker_configs.h - what ZooKeeper holds for this broker, and for all: read at start, and applied
 * when it changes
 *
 * Reads /config/brokers/<default> and /config/brokers/ID into the live configuration, and hands
 * each change on to the parts that hold settings of their own: the logs, the listeners. Thread: the
 * one that starts the server, later the worker that reads changes; one at a time.
 */
#pragma once

#include "broker/config/live_conf.h"
#include "zk/zk_result.h"

struct broker_configs;
struct log_manager;
struct zk_store;

struct broker_configs_opts {
    struct zk_store *zk;
    struct live_conf *live;
    int32_t broker_id;
    struct log_manager *logs;
    /* After a change: what hangs on settings beside the logs. One call at a time, and none after
     * broker_configs_stop(); does not wait for ZooKeeper. */
    void (*changed)(void *ctx, const struct conf_snapshot *old, const struct conf_snapshot *now);
    /* And then: what is to be told in ZooKeeper. */
    void (*announce)(void *ctx, const struct conf_snapshot *now);
    void *ctx;
};

struct broker_configs *broker_configs_new(const struct broker_configs_opts *opts);
/* NULL-safe, returns NULL. */
struct broker_configs *broker_configs_free(struct broker_configs *bc);

/* Reads both and applies them. Settings that cannot be used are said, and leave everything as it
 * was. Blocks. ZK_OK, or why they could not be read. */
enum zk_result broker_configs_read(struct broker_configs *bc);
/* From now on nothing is changed any more. Waits for a change that is under way. NULL-safe. */
void broker_configs_stop(struct broker_configs *bc);
/* Where password.encoder.old.secret is set: what it can open is sealed with the new secret. */
enum zk_result broker_configs_renew(struct broker_configs *bc);
