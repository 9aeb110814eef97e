/*
 * node_admin.h - lists of partitions that tools and brokers leave for the controller
 *
 *   /admin/reassign_partitions            partitions with their new replicas; unknown keys are
 *   refused /admin/preferred_replica_election     partitions
 *   /isr_change_notification/isr_change_N partitions
 *   /log_dir_event_notification/..._N     a broker
 */
#pragma once

#include "zk/node.h"

struct node_reassign_entry {
    struct str topic;
    int32_t partition;
    struct node_ids replicas;
};

struct node_reassign {
    struct node_reassign_entry *list;
    int32_t count;
};

int node_reassign_decode(struct slice data, struct arena *a, struct node_why *why,
                         struct node_reassign *ret) MUST_CHECK;
struct slice node_reassign_encode(struct arena *a, const struct node_reassign *r);

struct node_partition_name {
    struct str topic;
    int32_t partition;
};

struct node_partition_names {
    struct node_partition_name *list;
    int32_t count;
};

/* For the preferred election and for ISR changes. */
int node_partition_names_decode(struct slice data, struct arena *a, struct node_why *why,
                                struct node_partition_names *ret) MUST_CHECK;
struct slice node_partition_names_encode(struct arena *a, const struct node_partition_names *n);

int node_log_dir_event_decode(struct slice data, struct node_why *why, int32_t *ret_broker)
    MUST_CHECK;
struct slice node_log_dir_event_encode(struct arena *a, int32_t broker);
