/*
 * node_controller.h - /controller and /controller_epoch
 */
#pragma once

#include "zk/node.h"

struct node_controller {
    int32_t broker_id;
    int64_t timestamp_ms;
    int32_t kraft_epoch; /* > 0: a KRaft controller owns the node */
};

int node_controller_decode(struct slice data, struct node_why *why, struct node_controller *ret)
    MUST_CHECK;
struct slice node_controller_encode(struct arena *a, const struct node_controller *c);

/* Decimal text, the whole payload. */
int node_epoch_decode(struct slice data, struct node_why *why, int32_t *ret) MUST_CHECK;
struct slice node_epoch_encode(struct arena *a, int32_t epoch);
