/*
 * zk_admin.h - what tools and brokers leave in ZooKeeper for the controller: notifications and
 * requests
 */
#pragma once

#include "zk/node_admin.h"
#include "zk/zk_store.h"

/* Sequential notifications, by their directory: ZK_PATH_ISR_CHANGES or ZK_PATH_LOG_DIR_EVENTS.
 * Sorted; watch arms. */
enum zk_result zk_notifications_list(struct zk_store *s, const char *dir, bool watch,
                                     struct arena *a, struct zk_names *ret);
/* Fenced, pipelined; absent ones are fine. */
enum zk_result zk_notifications_delete(struct zk_store *s, const char *dir,
                                       const struct zk_names *names, int32_t epoch_version);

/* Partitions of all these notifications together; malformed ones are said and passed over. */
enum zk_result zk_isr_changes_read(struct zk_store *s, const struct zk_names *names,
                                   struct arena *a, struct node_partition_names *ret);
enum zk_result zk_isr_change_notify(struct zk_store *s, const struct node_partition_names *changed);
/* Brokers of all these notifications, each once. */
enum zk_result zk_log_dir_events_read(struct zk_store *s, const struct zk_names *names,
                                      struct arena *a, struct node_ids *ret);
enum zk_result zk_log_dir_event_notify(struct zk_store *s, int32_t broker_id);

/*
 * /admin/reassign_partitions and /admin/preferred_replica_election. Reading arms the data handler
 * by exists, also on an absent node. ZK_NO_NODE: nothing is asked for. ZK_MALFORMED: said.
 */
enum zk_result zk_reassign_read(struct zk_store *s, struct arena *a, struct node_reassign *ret);
/* An empty list deletes the node; fenced. */
enum zk_result zk_reassign_write(struct zk_store *s, const struct node_reassign *r,
                                 int32_t epoch_version);
enum zk_result zk_preferred_read(struct zk_store *s, struct arena *a,
                                 struct node_partition_names *ret);
/* Fenced; absent is fine. */
enum zk_result zk_preferred_delete(struct zk_store *s, int32_t epoch_version);
