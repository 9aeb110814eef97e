/*
 * core.h - the controller as its own files see it
 *
 * Owner: the controller's thread, but for what stands under "shared". Functions that go to
 * ZooKeeper return ZK_OK, or what ended the whole event: ZK_CONTROLLER_MOVED (the loop then looks
 * who is controller, and resigns), ZK_SESSION_EXPIRED and ZK_CLOSING (an event that deals with it
 * is on its way), or a fault of ZooKeeper, which the loop says. What concerns one partition or one
 * topic alone is said where it is seen, and the others go on.
 */
#pragma once

#include "common/base/say.h"
#include "common/base/thread.h"
#include "controller/context.h"
#include "controller/controller.h"
#include "controller/fanout.h"
#include "controller/lists.h"
#include "zk/node_cluster.h"

enum { NEVER_US = -1 };

struct controller {
    struct controller_opts opts;
    char *inter_broker_listener;
    char *control_listener;
    struct zk_store *store;
    struct context x;
    struct fanout fanout;
    int32_t epoch;         /* 0 while not active */
    int32_t epoch_version; /* of /controller_epoch: the fence of every write */
    bool is_active;
    bool stops;
    int64_t balance_due_us;   /* NEVER_US while not active or not wanted */
    int64_t trim_due_us;      /* when a large batch should be with its brokers; usually NEVER_US */
    int64_t elect_due_us;     /* when to stand again after ZooKeeper failed; usually NEVER_US */
    int32_t *watched_brokers; /* whose nodes have handlers */
    int32_t watched_count;
    int32_t watched_cap;
    struct node_features finalized; /* as /feature had them at failover */
    struct arena finalized_arena;
    int64_t unclean_elections;
    int64_t events;
    struct thread thread;

    /* Shared. */
    struct inbox inbox;
    struct mutex lock; /* LOCK_CONTROLLER */
    struct cond expired;
    uint32_t generation;           /* under lock */
    uint32_t expired_generation;   /* under lock: the newest whose EVENT_EXPIRE has run */
    bool is_closed;                /* under lock: nobody will take events any more */
    struct controller_stats stats; /* under lock */
    _Atomic int32_t queued;
    _Atomic bool pub_is_active;
    _Atomic int32_t pub_active_id;
    _Atomic int32_t pub_epoch;
};

/* event.c */
enum zk_result event_run(struct controller *c, struct event *e);
/* Answers an event that is not run: preempted, or not ours. */
void event_refuse(struct event *e);
enum controller_state event_state(const struct event *e);
const char *event_name(enum event_kind kind);
/* For channels: takes the answer over. Thread: any. */
void controller_post_answer(void *controller, struct control_answer *answer);

/* controller.c. Thread: any. */
void controller_post(struct controller *c, struct event *e, enum event_kind kind);

/* An event that carries a text or a number. Freed when it has run. */
struct event_named {
    struct event event;
    int32_t id;
    struct str name; /* null where there is none */
    char text[];
};

void controller_post_named(struct controller *c, enum event_kind kind, int32_t id, struct str name);

/* controller.c: one turn of the loop without waiting; false when nothing was due. For tests,
 * too. */
bool controller_turn(struct controller *c);

/* Ends a batch of messages: sent, where r is something that happened to this event alone, since
 * what is in it stands in ZooKeeper; dropped, where we are not the controller any more. Returns
 * r. */
enum zk_result controller_close_batch(struct controller *c, enum zk_result r);
/* UpdateMetadata of these partitions (NULL: none) to all, in a batch of its own. */
void controller_tell_all(struct controller *c, const struct partition_list *list);
/* True where r means that this broker's term as controller is over. */
bool controller_is_over(enum zk_result r);
