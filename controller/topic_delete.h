/*
 * topic_delete.h - deleting topics, step by step, for as long as it takes
 *
 *   queued ─▶ started: partitions offline, all brokers told (leader -2), replicas stopped, then
 *   deleted one by one ─▶ all deleted: removed from ZooKeeper, forgotten
 *
 * A replica whose broker is down, or that could not be deleted, makes the topic ineligible: it
 * waits until that broker starts, and begins again with what is left. Thread: the controller's.
 * Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* At failover: queues what is to be deleted. topic_delete_resume() follows later. */
enum zk_result topic_delete_load(struct controller *c);
/* Children of /admin/delete_topics changed. */
enum zk_result topic_delete_requested(struct controller *c);
/* Goes on wherever it can be gone on. */
enum zk_result topic_delete_resume(struct controller *c);
/* Replicas of queued topics that cannot be deleted now; sorts the list. */
enum zk_result topic_delete_failed(struct controller *c, struct replica_list *list);
/* Replicas that are deleted; sorts the list. */
enum zk_result topic_delete_done(struct controller *c, struct replica_list *list);
