/*
 * topic_configs.h - topics' settings from ZooKeeper: for logs that are made, and when they change;
 * and who is told of other changes
 *
 * At start the settings of all topics are read in one pipelined pass, for the logs that are loaded;
 * later each topic's are read when its log is made. Changes are told by notifications below
 * /config/changes, which are read on a worker and swapped into the logs. Thread: any, unless noted.
 */
#pragma once

#include "broker/meta/metadata.h"
#include "broker/server/broker_configs.h"
#include "broker/storage/log_manager.h"
#include "common/io/workq.h"
#include "controller/controller.h"

struct topic_configs;

struct topic_configs_opts {
    struct zk_store *zk;
    struct live_conf *live;
    struct metadata *metadata;
    struct workq *workq;
};

struct topic_configs *topic_configs_new(const struct topic_configs_opts *opts);
/* After zk_stop() and the work queue's end. NULL-safe, returns NULL. */
struct topic_configs *topic_configs_free(struct topic_configs *tc);

/* Reads all of them. Blocks. ZK_OK, or why not. */
enum zk_result topic_configs_preload(struct topic_configs *tc);
/* Gives the memory of the preload back. */
void topic_configs_end_preload(struct topic_configs *tc);
/* With a reference; NULL where ZooKeeper cannot be reached. Blocks, but for preloaded ones. An
 * override that cannot be used is said and passed over as a whole: the topic then has the broker's
 * defaults. */
struct topic_conf *topic_configs_get(struct topic_configs *tc, const char *topic);

/* From now on changes are followed, beginning with those that happened meanwhile. */
void topic_configs_follow(struct topic_configs *tc, struct log_manager *logs,
                          struct controller *controller, struct broker_configs *brokers);
/* A topic's settings may have changed before its logs could be found: they are read again, and
 * swapped in. */
void topic_configs_again(struct topic_configs *tc, const char *topic);
/* A new session: what was missed is read. */
void topic_configs_session_new(void *tc, int64_t session_id);
