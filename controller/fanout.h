/*
 * fanout.h - collects what one decision means for each broker, and sends it in one go
 *
 *   fanout_begin(f);
 *   ... fanout_lead(), fanout_stop(), fanout_tell() ...
 *   fanout_flush(f);       -- LeaderAndIsr to all, then UpdateMetadata, then StopReplica
 *
 * At most one of each kind for a broker. What a partition looks like is frozen when it is added; a
 * later add for the same broker replaces it, but "new" and "delete" stay once they are set. A
 * broker that is not registered any more at the flush is passed over.
 *
 * Owner: the controller's thread. Memory of a batch is shared by its messages, and goes with the
 * last of them.
 */
#pragma once

#include "controller/channels.h"
#include "controller/context.h"

#include "common/wire/messages.h"

/* What is to be said to one broker about one partition. */
struct fan_order {
    struct fan *fan;
    struct fan_order *next;                                    /* of the same partition */
    const struct leader_and_isr_request_partition_state *lead; /* NULL: no LeaderAndIsr */
    int32_t broker;
    int32_t stop_epoch;
    bool is_new;
    bool stops;
    bool deletes;
};

/* One partition in a batch. */
struct fan {
    struct ctl_partition *p;
    struct fan_order *orders;
    const struct update_metadata_request_partition_state *told; /* NULL: not in UpdateMetadata */
    struct str topic; /* its name, in the batch's memory */
    int32_t topic_seq;
    int32_t seq;
};

struct fan_memory;

struct fanout {
    const struct context *x;
    struct channels *channels;
    const char *inter_broker_listener;
    enum ibp ibp;
    int32_t controller_id;
    int32_t controller_epoch;
    struct fan_memory *memory; /* NULL while no batch is open */
    struct fan **fans;
    int32_t count;
    int32_t cap;
    bool was_large; /* a batch since the owner looked */
    int32_t topic_count;
    bool tells_all;
    int32_t *tells; /* brokers to be told, where not all */
    int32_t tells_count;
    int32_t tells_cap;
};

void fanout_deinit(struct fanout *f);
void fanout_begin(struct fanout *f);
/* Sends the batch and closes it. */
void fanout_flush(struct fanout *f);
/* Closes the batch unsent; does nothing where none is open. */
void fanout_drop(struct fanout *f);

/* LeaderAndIsr to these brokers (negative ids are skipped), and UpdateMetadata of p to all. p has
 * leadership. */
void fanout_lead(struct fanout *f, struct node_ids brokers, struct ctl_partition *p, bool is_new);
void fanout_lead_one(struct fanout *f, int32_t broker, struct ctl_partition *p, bool is_new);
/* StopReplica. */
void fanout_stop(struct fanout *f, int32_t broker, struct ctl_partition *p, bool deletes);
/* UpdateMetadata to a broker, to all. */
void fanout_tell_broker(struct fanout *f, int32_t broker);
void fanout_tell_all(struct fanout *f);
/* Puts p into UpdateMetadata, whoever gets it; without leadership there is nothing to say. */
void fanout_tell_about(struct fanout *f, struct ctl_partition *p);
