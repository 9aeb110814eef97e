/*
 * zk_paths.h - every znode path, built in one place
 *
 * Fixed ones are macros; the others are written to the caller's arena. Relative to the chroot.
 */
#pragma once

#include "common/base/arena.h"

#define ZK_PATH_CLUSTER_ID         "/cluster/id"
#define ZK_PATH_BROKER_IDS         "/brokers/ids"
#define ZK_PATH_BROKER_SEQID       "/brokers/seqid"
#define ZK_PATH_TOPICS             "/brokers/topics"
#define ZK_PATH_CONTROLLER         "/controller"
#define ZK_PATH_CONTROLLER_EPOCH   "/controller_epoch"
#define ZK_PATH_ISR_CHANGES        "/isr_change_notification"
#define ZK_PATH_LOG_DIR_EVENTS     "/log_dir_event_notification"
#define ZK_PATH_DELETE_TOPICS      "/admin/delete_topics"
#define ZK_PATH_REASSIGN           "/admin/reassign_partitions"
#define ZK_PATH_PREFERRED_ELECTION "/admin/preferred_replica_election"
#define ZK_PATH_CONFIG             "/config"
#define ZK_PATH_CONFIG_CHANGES     "/config/changes"
#define ZK_PATH_PRODUCER_IDS       "/latest_producer_id_block"
#define ZK_PATH_FEATURE            "/feature"
#define ZK_PATH_CONSUMERS          "/consumers"
#define ZK_PATH_MIGRATION          "/migration"

#define ZK_PREFIX_ISR_CHANGE    ZK_PATH_ISR_CHANGES "/isr_change_"
#define ZK_PREFIX_LOG_DIR_EVENT ZK_PATH_LOG_DIR_EVENTS "/log_dir_event_"
#define ZK_PREFIX_CONFIG_CHANGE ZK_PATH_CONFIG_CHANGES "/config_change_"

/* What a broker makes sure of at its start, in that order. */
extern const char *const zk_persistent_paths[];
extern const size_t zk_persistent_paths_count;

const char *zk_path_broker(struct arena *a, int32_t id);
const char *zk_path_topic(struct arena *a, struct str topic);
const char *zk_path_partitions(struct arena *a, struct str topic);
const char *zk_path_partition(struct arena *a, struct str topic, int32_t partition);
const char *zk_path_state(struct arena *a, struct str topic, int32_t partition);
const char *zk_path_delete_topic(struct arena *a, struct str topic);
/* type: topics, brokers, clients, users, ips; name as it stands in ZooKeeper (sanitised;
 * "u/clients/c" for a pair). */
const char *zk_path_config(struct arena *a, const char *type, struct str name);
/* Of OffsetCommit v0: the topic's node, and a partition's. */
const char *zk_path_consumer_offsets(struct arena *a, struct str group, struct str topic);
const char *zk_path_consumer_offset(struct arena *a, struct str group, struct str topic,
                                    int32_t partition);
const char *zk_path_child(struct arena *a, const char *parent, struct str name);
/* "/a/b" of "/a/b/c"; NULL for a path directly below the root. */
const char *zk_path_parent(struct arena *a, const char *path);
/* "c" of "/a/b/c". */
const char *zk_path_name(const char *path);
/* Why ZooKeeper refuses dir + name as a path, in the words of its Java client, which Kafka passes
 * on; null where it takes it. dir is one of ours, and ends with a slash. */
struct str zk_path_fault(struct arena *a, const char *dir, struct str name);
