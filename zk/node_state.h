/*
 * node_state.h - /brokers/topics/T/partitions/P/state: leader and ISR of a partition
 *
 * The node's version is the partition epoch and not in here.
 */
#pragma once

#include "zk/node.h"

enum { NODE_RECOVERED = 0, NODE_RECOVERING = 1 };

struct node_state {
    int32_t leader; /* -1: none */
    int32_t leader_epoch;
    int32_t controller_epoch; /* of the controller that made the decision */
    struct node_ids isr;      /* order kept */
    int8_t leader_recovery_state;
};

int node_state_decode(struct slice data, struct arena *a, struct node_why *why,
                      struct node_state *ret) MUST_CHECK;
struct slice node_state_encode(struct arena *a, const struct node_state *st);
bool node_state_eq(const struct node_state *a, const struct node_state *b);
