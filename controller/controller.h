/*
 * controller.h - the cluster's decisions: runs in every broker, active in one
 *
 * One thread owns everything; whoever else wants something posts an event and is called back. The
 * thread's code is straight lines: blocking, pipelined batches of ZooKeeper requests, then messages
 * to brokers through the channels. Every write is fenced by the version of /controller_epoch; a
 * failed check makes it resign.
 *
 *   struct controller *c = controller_new(&opts);
 *   zk_add_listener(zk, &(struct zk_listener){controller_session_lost, controller_session_new,
 *                                             .ctx = c});
 *   ... zk_start(), zk_register_start() ...
 *   controller_start(c);
 *   ... zk_stop(): /controller goes with the session, and nobody waits for ZooKeeper any more ...
 *   controller_stop(c);
 *   channel_free(channels);
 *   c = controller_free(c);
 *
 * Thread: any for all functions here. Callbacks (done) run on the controller's thread and may not
 * block.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/wire/messages.h"
#include "controller/channels.h"
#include "controller/event.h"
#include "controller/ibp.h"
#include "zk/zk_topics.h"

/* What the controller asks of its broker. Called on the controller's thread. */
struct controller_host {
    /* Registers the broker again in the new session (zk_register_again) and publishes its new
     * epoch. */
    enum zk_result (*register_again)(void *ctx);
    /* unclean.leader.election.enable as this broker's configuration has it now. */
    bool (*unclean_default)(void *ctx);
    void *ctx;
};

struct controller_opts {
    int32_t broker_id;
    enum ibp ibp;
    const char *inter_broker_listener;
    const char
        *control_listener; /* control.plane.listener.name; NULL = the inter-broker listener */
    bool delete_topic_enable;
    bool auto_leader_rebalance_enable;
    int32_t leader_imbalance_check_interval_seconds;
    int32_t leader_imbalance_per_broker_percentage;
    struct zk_store *store;
    const struct clock *clock;
    struct channels *channels; /* freed between controller_stop() and controller_free() */
    struct controller_host host;
};

struct controller;

/* Copies the options (texts too). */
struct controller *controller_new(const struct controller_opts *opts);
/* After stop. NULL-safe, returns NULL. */
struct controller *controller_free(struct controller *c);
/* Starts the thread, which stands for election. Thread: one that starts the broker. */
int controller_start(struct controller *c) MUST_CHECK;
/* Waiting events are answered as preempted, the controller resigns, the thread ends. Later calls
 * are answered at once. */
void controller_stop(struct controller *c);

/* Members of a struct zk_listener. The first returns when the old session's term has ended. */
void controller_session_lost(void *controller);
void controller_session_new(void *controller, int64_t session_id);

/* As of the last event; may be old news by the time it is used. */
bool controller_is_active(const struct controller *c);
/* The broker that /controller names; -1 where none is known. */
int32_t controller_active_id(const struct controller *c);
/* Our epoch while active, 0 otherwise. */
int32_t controller_epoch(const struct controller *c);

/* unclean.leader.election.enable has been turned on: for one topic, or for all (null). Ignored
 * where not active. */
void controller_unclean_enabled(struct controller *c, struct str topic);

/*
 * A request to the controller. Owned by the caller, usually in a parked request's arena, untouched
 * from the call until done() runs, exactly once. response is in arena.
 */
struct controller_call {
    struct event event;
    struct arena *arena;
    const void *request;
    int16_t version;
    void *response;
    void (*done)(struct controller_call *call);
    void *ctx;
};

/* The calls set the answer's error code themselves; preempted or not active: NOT_CONTROLLER
 * (ControlledShutdown: STALE_CONTROLLER_EPOCH). Requests and responses are those of common/wire. */
void controller_alter_partition(struct controller *c, struct controller_call *call);
void controller_controlled_shutdown(struct controller *c, struct controller_call *call);
void controller_allocate_producer_ids(struct controller *c, struct controller_call *call);
void controller_alter_reassignments(struct controller *c, struct controller_call *call);
void controller_list_reassignments(struct controller *c, struct controller_call *call);
void controller_update_features(struct controller *c, struct controller_call *call);

struct controller_election {
    struct str topic;  /* in */
    int32_t partition; /* in */
    /* 0, NOT_CONTROLLER, UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION (being deleted),
     * ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE */
    int16_t error;
    const char *message; /* static text; NULL with error 0 */
    int32_t leader;      /* with error 0: the leader elected, which brokers are being told */
};

/* ElectLeaders, without its waiting for the metadata cache. request, version and response of the
 * call are not used. */
struct controller_elections {
    struct controller_call call;
    bool unclean;
    struct controller_election *list;
    size_t count;
};

void controller_elect_leaders(struct controller *c, struct controller_elections *call);

/*
 * The write of CreatePartitions: the topic's node is replaced, fenced, provided that it still has
 * the version which the caller read, and that no partition is being reassigned. On the controller's
 * thread, so that nothing can come between.
 */
struct controller_set_partitions {
    struct controller_call call; /* request, version and response are not used */
    struct str topic;
    struct node_topic node;
    int32_t node_version;
    /* 0, NOT_CONTROLLER, REASSIGNMENT_IN_PROGRESS, INVALID_TOPIC_EXCEPTION (being deleted),
     * UNKNOWN_TOPIC_OR_PARTITION; -EAGAIN: the node has changed, read it again; another negative:
     * ZooKeeper failed */
    int error;
};

void controller_set_topic_partitions(struct controller *c, struct controller_set_partitions *call);

/* Kafka's gauges of kafka.controller; consistent as of the end of some event. */
struct controller_stats {
    bool is_active;
    enum controller_state state;
    int32_t active_brokers;
    int32_t topics;
    int32_t partitions;
    int32_t offline_partitions;
    int32_t preferred_imbalance;
    int32_t topics_to_delete;
    int32_t replicas_to_delete;
    int32_t topics_ineligible_to_delete;
    int32_t replicas_ineligible_to_delete;
    int64_t unclean_elections; /* since the start of the process */
    int64_t events;            /* run so far */
    int32_t queued;            /* events that wait */
};

void controller_stats(struct controller *c, struct controller_stats *ret);
