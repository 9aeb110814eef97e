/*
 * fanout_messages.h - the requests that a batch becomes
 *
 * Thread: the controller's. Messages are new, with one reference.
 */
#pragma once

#include "controller/fanout.h"

struct fan_memory {
    atomic_uint refs;
    struct arena arena;
};

/* One reference for the caller. */
struct fan_memory *fan_memory_new(void);
struct fan_memory *fan_memory_unref(struct fan_memory *m);

/* Orders of one broker, by topic. */
struct fan_orders {
    int32_t broker;
    struct fan_order **v;
    int32_t count;
    int32_t cap;
};

/* The fan's partition as it is now, in the batch's memory. */
const struct leader_and_isr_request_partition_state *fan_freeze_lead(struct fanout *f,
                                                                     const struct fan *fan);
const struct update_metadata_request_partition_state *fan_freeze_told(struct fanout *f,
                                                                      const struct fan *fan);

/* NULL where the orders hold none of that kind. */
struct control_message *fan_leader_and_isr(struct fanout *f, const struct fan_orders *orders);
struct control_message *fan_stop_replica(struct fanout *f, const struct fan_orders *orders,
                                         bool deletes);
/* Of all the batch's fans, which are sorted by topic. */
struct control_message *fan_update_metadata(struct fanout *f);
