/*
 * topics.h - topics that appear and vanish in ZooKeeper, and partitions that are added to them
 *
 * A topic whose node cannot be decoded is known, but has no partitions; once the node is mended
 * they are created. Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* At failover: topics, assignments, ids, then the state of every partition. */
enum zk_result topics_load(struct controller *c);
void topics_unwatch_all(struct controller *c);
void topic_unwatch(struct controller *c, const struct ctl_topic *t);

/* Children of /brokers/topics changed. */
enum zk_result topics_changed(struct controller *c);
/* Data of /brokers/topics/NAME changed. */
enum zk_result topic_modified(struct controller *c, struct str name);

/* The write of CreatePartitions. */
enum zk_result topics_set_partitions(struct controller *c, struct controller_set_partitions *call);

/* Reads the states of these partitions into the context; absent ones keep what they have. */
enum zk_result topics_refresh(struct controller *c, const struct partition_list *list);
