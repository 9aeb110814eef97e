/*
 * lists.h - lists of partitions and of replicas, which decisions are made about
 *
 * Values; zeroed is empty. They borrow what they list from the context: no list outlives the event
 * that made it. Thread: the controller's.
 */
#pragma once

#include "controller/context.h"

struct partition_list {
    struct ctl_partition **v;
    size_t count;
    size_t cap;
};

struct ctl_replica {
    struct ctl_partition *p;
    int32_t broker;
};

struct replica_list {
    struct ctl_replica *v;
    size_t count;
    size_t cap;
};

void partition_list_add(struct partition_list *l, struct ctl_partition *p);
void partition_list_add_topic(struct partition_list *l, const struct ctl_topic *t);
void partition_list_deinit(struct partition_list *l);
void replica_list_add(struct replica_list *l, struct ctl_partition *p, int32_t broker);
/* Those of a topic in one state; of any state with REPLICA_STATE_COUNT. */
void replica_list_add_topic(struct replica_list *l, const struct ctl_topic *t,
                            enum replica_state state);
void replica_list_deinit(struct replica_list *l);
