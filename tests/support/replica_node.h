/*
 * replica_node.h - one broker's replicas in a test: real logs in a directory, a fake clock, a
 * reactor that the test turns, and peers of fake_peer.h
 *
 * Several nodes share the clock and the reactor, so that a test is one thread and repeats itself
 * exactly. Topic ids are made from topic names; brokers listen as "INT" on port 9000 + id.
 */
#pragma once

#include "broker/replica/delayed_fetch.h"
#include "broker/replica/delayed_produce.h"
#include "broker/replica/orders.h"
#include "broker/replica/replica_manager.h"
#include "broker/storage/log_manager.h"
#include "common/base/strbuf.h"
#include "tests/support/fake_peer.h"

enum { NODE_PORT = 9000, NODE_DIRS_MAX = 3 };

/* What all nodes of a test share. */
struct node_world {
    struct clock_fake clock;
    struct reactor *reactor;
    struct reactor_pool pool;
    enum ibp ibp;
    int32_t min_isr;
    int32_t segment_bytes; /* 0: the default */
    bool is_rack_aware;
    const char *throttled; /* replicas of every topic, while they send and fetch; NULL: none */
    int32_t fetch_session_slots;
    int32_t controller_epoch; /* of UpdateMetadata and StopReplica */
    struct zk_store *zk;      /* for ISR changes below IBP 2.7-IV2 */
    struct workq *workq;
    int log_dirs; /* of a node, NODE_DIRS_MAX at most; 0 is 1. With several, a failed one is passed
                   * on to its replicas, on the workq */
    bool keeps_dirs; /* of the world before; else its nodes begin empty */
    int run;
};

void world_init(struct node_world *w);
void world_deinit(struct node_world *w);
/* Turns the reactor until nothing is left to do now, then lets ms pass, in steps of one. */
void world_run(struct node_world *w, int64_t ms);

struct node {
    struct node_world *world;
    int32_t id;
    char dir[96]; /* the first log dir */
    char dirs[NODE_DIRS_MAX][100];
    _Atomic int64_t broker_epoch;
    struct metadata *metadata;
    struct log_manager *logs;
    struct replica_manager *m;
    const char *rack;
    void (*serve_other)(struct node *n, struct fake_call *fc); /* AlterPartition, ... */
    /* True: the test has taken the request and will pass it to node_serve(). NULL: never. */
    bool (*intercept)(struct node *n, struct fake_call *fc);
    int dirs_failed;
};

/* Loads what is in its directory and serves its port. */
void node_open(struct node *n, struct node_world *w, int32_t id);
/* Stops and frees; with crash nothing is flushed or checkpointed. */
void node_close(struct node *n);
void node_crash(struct node *n);

void node_serve(struct node *n, struct fake_call *fc);

/* ---- what the controller does ---- */

struct node_state_of {
    const char *topic;
    int32_t partition;
    int32_t leader;
    int32_t leader_epoch;
    int32_t partition_epoch;
    const int32_t *isr;
    int32_t isr_count;
    const int32_t *replicas;
    int32_t replica_count;
    bool is_new;
};

struct uuid node_topic_id(const char *topic);
/* Live brokers, and the state of one partition (NULL: none). controller: where AlterPartition
 * goes. */
void node_tell(struct node *n, int32_t controller, const int32_t *alive, int32_t alive_count,
               const struct node_state_of *st);
/* LeaderAndIsr for one partition; returns its error, or the request's. */
int node_order(struct node *n, int32_t controller_epoch, const struct node_state_of *st);
int node_stop_replica(struct node *n, const char *topic, int32_t partition, int32_t epoch,
                      bool is_delete);
struct partition *node_partition(struct node *n, const char *topic, int32_t partition);

/* ---- what clients do ---- */

struct node_produce {
    struct produce produce;
    struct produce_part part;
    struct arena arena;
    bool is_done;
    int error;
    int64_t offset;
};

/* One batch with one record, to partition 0. Free it once it is done. */
struct node_produce *node_produce(struct node *n, const char *topic, int16_t acks,
                                  int32_t timeout_ms, const char *value);
struct node_producer {
    int64_t id;
    int16_t epoch;
    int32_t sequence;
};
/* Of an idempotent producer. */
struct node_produce *node_produce_as(struct node *n, const char *topic, int16_t acks,
                                     const struct node_producer *who);
/* The same, not started. */
struct node_produce *node_produce_make(struct node *n, const char *topic, int16_t acks,
                                       int32_t timeout_ms, const char *value);
void node_produce_free(struct node_produce *p);

struct node_fetch {
    struct fetch_request req;
    struct fetch fetch;
    struct arena arena;
    bool is_done;
    int16_t version;
};

/* A request with default fields for a consumer (replica_id -1); add partitions, then start. */
struct node_fetch *node_fetch_new(int16_t version, int32_t replica_id);
struct fetch_request_partition *node_fetch_add(struct node_fetch *f, const char *topic,
                                               int32_t partition, int64_t offset);
void node_fetch_start(struct node *n, struct node_fetch *f);
/* The answer for a partition, NULL where it is not named. */
const struct fetch_response_partition *node_fetch_part(const struct node_fetch *f,
                                                       const char *topic, int32_t partition);
void node_fetch_free(struct node_fetch *f);

/* The values of all records of a log up to `upper`, one on each line. */
void node_read_log(struct log *log, int64_t upper, struct strbuf *out);
