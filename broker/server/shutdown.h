/*
 * shutdown.h - asks the controller to move this broker's leaders away before it stops
 * (controller.md A13)
 */
#pragma once

#include "broker/meta/controller_link.h"
#include "common/conf/ibp.h"

struct shutdown_opts {
    struct controller_link *link;
    int32_t broker_id;
    int64_t broker_epoch;
    enum ibp ibp;
    int32_t max_tries;
    int64_t backoff_ms;
    int64_t timeout_ms; /* of one try */
};

/* Waits. True when nothing is led here any more that another replica could lead. Thread: any that
 * may block. */
bool shutdown_controlled(const struct shutdown_opts *opts);
