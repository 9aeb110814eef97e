/*
 * channels.h - the seam between the controller and the brokers' connections
 *
 * The controller adds and removes brokers and hands over requests; each broker gets its own in that
 * order, one at a time, and each is repeated until it is answered or the broker is removed.
 * channel.c does that over the wire, a fake in tests keeps the requests for the test to look at.
 *
 * A message is built once and shared by all brokers it goes to (only broker_epoch differs),
 * immutable from then on.
 */
#pragma once

#include "common/base/arena.h"
#include "zk/node_broker.h"

#include <stdatomic.h>

struct control_message {
    atomic_uint refs;
    int16_t api_key; /* API_LEADER_AND_ISR, API_UPDATE_METADATA, API_STOP_REPLICA */
    int16_t version;
    bool deletes;  /* of a StopReplica: all its partitions are to be deleted */
    int32_t epoch; /* of the controller that made it */
    void *body;    /* in the arena; its broker_epoch is replaced on sending */
    struct arena arena;
};

struct control_message *control_message_new(int16_t api_key, int16_t version);
struct control_message *control_message_ref(struct control_message *m);
/* NULL-safe, returns NULL. Thread: any. */
struct control_message *control_message_unref(struct control_message *m);
/* Puts epoch into whichever of the three requests body is; msg is a private, shallow copy. */
void control_message_set_broker_epoch(int16_t api_key, void *msg, int64_t broker_epoch);
size_t control_message_body_size(int16_t api_key);

/* The answer to a message. Owner: whoever got it; control_answer_free(). */
struct control_answer {
    struct control_message *message; /* one reference */
    int32_t broker_id;
    const void *response; /* decoded, in the arena */
    struct arena arena;
};

/* NULL-safe. */
void control_answer_free(struct control_answer *a);

struct channels;

struct channels_ops {
    /* A broker that is not there yet; ep is copied. */
    void (*add)(struct channels *ch, int32_t broker_id, const struct node_endpoint *ep);
    /* What is queued is discarded, nothing is answered any more. Unknown ids are fine. */
    void (*remove)(struct channels *ch, int32_t broker_id);
    void (*remove_all)(struct channels *ch);
    /* Takes its own reference. Dropped where the broker is not there. */
    void (*send)(struct channels *ch, int32_t broker_id, int64_t broker_epoch,
                 struct control_message *m);
    /* Who gets answers; set by the controller before anything else. fn takes the answer over and
     * may only post. */
    void (*on_answer)(struct channels *ch, void (*fn)(void *ctx, struct control_answer *a),
                      void *ctx);
};

/* Thread: the controller's for all of them. */
struct channels {
    const struct channels_ops *ops;
};
