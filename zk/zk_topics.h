/*
 * zk_topics.h - topics: which there are, their assignments, their creation and removal
 */
#pragma once

#include "zk/node_config.h"
#include "zk/node_topic.h"
#include "zk/zk_store.h"

struct zk_topic {
    struct str name;       /* in */
    enum zk_result result; /* ZK_OK, ZK_NO_NODE, ZK_MALFORMED (said) */
    int32_t version;       /* of the znode */
    struct node_topic node;
};

/* Names below /brokers/topics, sorted; watch arms the child handler. */
enum zk_result zk_topics_list(struct zk_store *s, bool watch, struct arena *a,
                              struct zk_names *ret);
/* Fills in count topics by name, pipelined; each read arms that topic's data handler. ZK_OK, or
 * what ended it altogether (expiry and the like). */
enum zk_result zk_topics_read(struct zk_store *s, struct arena *a, struct zk_topic *topics,
                              size_t count);
/* True in *ret where /brokers/topics/T is there. */
enum zk_result zk_topic_exists(struct zk_store *s, struct str name, bool *ret);

/*
 * Makes many topics, pipelined: each one's config first, checked against a change of controller,
 * then its node. topics[i].node is written, topics[i].result says how it went: ZK_NODE_EXISTS where
 * there is such a topic. ZK_OK, or what ended it altogether: ZK_CONTROLLER_MOVED (there is no
 * controller now, or it changed meanwhile), ZK_REFUSED (a KRaft controller owns the cluster),
 * expiry and the like.
 */
enum zk_result zk_topics_create(struct zk_store *s, struct zk_topic *topics,
                                const struct node_config *configs, size_t count);
/* One of them. */
enum zk_result zk_topic_create(struct zk_store *s, struct str name, const struct node_topic *t,
                               const struct node_config *config);
/* Rewrites the whole node, any version. ZK_NO_FENCE for CreatePartitions, the controller's epoch
 * version otherwise. */
enum zk_result zk_topic_set(struct zk_store *s, struct str name, const struct node_topic *t,
                            int32_t epoch_version);
/* The same for many, pipelined; topics[i].node is written, topics[i].result says how it went. */
enum zk_result zk_topics_set(struct zk_store *s, struct zk_topic *topics, size_t count,
                             int32_t epoch_version);
/* The same, each only where its node still has topics[i].version: ZK_BAD_VERSION otherwise, read it
 * again. */
enum zk_result zk_topics_update(struct zk_store *s, struct zk_topic *topics, size_t count,
                                int32_t epoch_version);
/* Ids below /brokers/topics/T/partitions, sorted; an absent node has none. */
enum zk_result zk_topic_partition_ids(struct zk_store *s, struct str name, struct arena *a,
                                      struct node_ids *ret);
/* The three last steps of a deletion: the topic's tree, its config, its entry in
 * /admin/delete_topics. Done again from the start after a failure. */
enum zk_result zk_topic_delete(struct zk_store *s, struct str name, int32_t epoch_version);
/* The same for many, each step for all of them at once. */
enum zk_result zk_topics_delete(struct zk_store *s, const struct zk_names *names,
                                int32_t epoch_version);

/* /admin/delete_topics: the wish to have a topic deleted. NODE_EXISTS: it is wished already. */
enum zk_result zk_delete_topic_request(struct zk_store *s, struct str name);
enum zk_result zk_delete_topics_list(struct zk_store *s, bool watch, struct arena *a,
                                     struct zk_names *ret);
enum zk_result zk_delete_topics_is_requested(struct zk_store *s, struct str name, bool *ret);
/* Takes the wishes back, fenced, pipelined; absent ones are fine. */
enum zk_result zk_delete_topics_remove(struct zk_store *s, const struct zk_names *names,
                                       int32_t epoch_version);
