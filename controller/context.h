/*
 * context.h - the controller's memory: brokers, topics, assignments, leadership, states
 *
 * Filled from ZooKeeper at failover, emptied at resignation. Kept small: a cluster may have 200,000
 * partitions. Whatever a gauge shows is counted as it changes, never by looking at everything.
 *
 * Owner: the controller's thread, no locks.
 * Always: a partition's ids hold RS, then AR, then RR; AR and RR are parts of RS. in_state of a
 * topic counts the states of all replicas in the RS of its partitions.
 */
#pragma once

#include "common/base/containers.h"
#include "controller/ibp.h"
#include "zk/node_broker.h"
#include "zk/node_state.h"
#include "zk/node_topic.h"

enum partition_state {
    PARTITION_NEW = 0,
    PARTITION_ONLINE = 1,
    PARTITION_OFFLINE = 2,
    PARTITION_NONE = 3,
};

enum replica_state {
    REPLICA_NEW = 1,
    REPLICA_ONLINE = 2,
    REPLICA_OFFLINE = 3,
    REPLICA_DELETION_STARTED = 4,
    REPLICA_DELETION_SUCCESSFUL = 5,
    REPLICA_DELETION_INELIGIBLE = 6,
    REPLICA_NONE = 7,
    REPLICA_STATE_COUNT
};

enum { NO_LEADER = -1, LEADER_DURING_DELETE = -2, EPOCH_DURING_DELETE = -2, NO_EPOCH = -1 };

struct ctl_broker {
    int32_t id;
    int64_t epoch;         /* czxid of its registration */
    bool is_shutting_down; /* registered, but not live: it asked for a controlled shutdown */
    struct node_broker node;
    struct arena arena;
};

struct fan;

struct ctl_partition {
    struct ctl_topic *topic;
    uint32_t mark;   /* scratch of one event: where it stands in a list, plus one; else 0 */
    struct fan *fan; /* what the batch being filled has for it; NULL outside of one */
    int32_t *ids;    /* RS, AR, RR; then a byte per replica of RS */
    int32_t *isr;
    int64_t written_zxid; /* of the state, as failover read it; not kept up */
    int32_t id;
    int32_t leader;
    int32_t leader_epoch;
    int32_t partition_epoch;
    int32_t controller_epoch; /* of the controller that made the leadership */
    uint16_t replica_count;
    uint16_t adding_count;
    uint16_t removing_count;
    uint16_t isr_count;
    int8_t recovery_state;
    uint8_t state; /* enum partition_state */
    bool has_leadership;
    bool is_imbalanced; /* counted in preferred_imbalance */
};

struct ctl_topic {
    struct uuid id; /* zero: none */
    UT_hash_handle hh;
    UT_hash_handle hh_id;
    struct ctl_partition **partitions; /* by id, ascending */
    int32_t count;
    int32_t cap;
    int32_t fan_seq; /* order in the batch being filled; 0 outside of one */
    int32_t in_state[REPLICA_STATE_COUNT];
    int32_t reassigning; /* partitions with AR or RR */
    struct ctl_topic *next_queued;
    struct ctl_topic *prev_queued;
    bool is_queued;     /* for deletion */
    bool is_started;    /* its deletion has begun */
    bool is_ineligible; /* its deletion waits for something */
    bool is_hashed_by_id;
    uint16_t name_len;
    char name[];
};

struct context {
    struct ctl_broker **brokers; /* by id, ascending */
    int32_t broker_count;
    int32_t broker_cap;
    struct ctl_topic *topics;
    struct ctl_topic *topics_by_id;
    struct ctl_topic *queued;
    int32_t topic_count;
    int32_t queued_count;
    int32_t partition_count;
    int32_t offline_partitions; /* of topics not queued for deletion, like the next one */
    int32_t new_partitions;
    int32_t preferred_imbalance;
};

void context_clear(struct context *x);

/* Brokers. NULL where unknown. */
struct ctl_broker *context_broker(const struct context *x, int32_t id);
/* Adds or replaces it, with a copy of node; not shutting down. */
struct ctl_broker *context_broker_put(struct context *x, int32_t id, int64_t epoch,
                                      const struct node_broker *node);
void context_broker_remove(struct context *x, int32_t id);
bool context_is_live(const struct context *x, int32_t id);

/* Topics. */
struct ctl_topic *context_topic(const struct context *x, struct str name);
struct ctl_topic *context_topic_by_id(const struct context *x, struct uuid id);
struct ctl_topic *context_topic_add(struct context *x, struct str name);
void context_topic_set_id(struct context *x, struct ctl_topic *t, struct uuid id);
/* Frees it and its partitions. */
void context_topic_remove(struct context *x, struct ctl_topic *t);
void context_topic_queue(struct context *x, struct ctl_topic *t);

static inline struct str topic_name(const struct ctl_topic *t)
{
    return (struct str){t->name, t->name_len};
}

int32_t topic_replica_count(const struct ctl_topic *t);

/* Partitions. */
struct ctl_partition *topic_partition(const struct ctl_topic *t, int32_t id);
struct ctl_partition *context_partition(const struct context *x, struct str topic, int32_t id);
/* A partition that is not there yet: state NONE, replicas NONE. */
struct ctl_partition *context_partition_add(struct context *x, struct ctl_topic *t, int32_t id,
                                            const struct node_partition *assignment);
/* Another assignment; replicas that stay keep their states. */
void context_assign(struct context *x, struct ctl_partition *p,
                    const struct node_partition *assignment);
void context_set_partition_state(struct context *x, struct ctl_partition *p,
                                 enum partition_state state);
/* controller_epoch: which one to remember as the author. */
void context_set_leadership(struct context *x, struct ctl_partition *p, const struct node_state *st,
                            int32_t partition_epoch, int32_t controller_epoch);
/* Forgets it; at failover only. */
void context_drop_leadership(struct context *x, struct ctl_partition *p);

static inline struct node_ids partition_replicas(const struct ctl_partition *p)
{
    return (struct node_ids){p->ids, p->replica_count};
}

static inline struct node_ids partition_adding(const struct ctl_partition *p)
{
    return (struct node_ids){p->ids + p->replica_count, p->adding_count};
}

static inline struct node_ids partition_removing(const struct ctl_partition *p)
{
    return (struct node_ids){p->ids + p->replica_count + p->adding_count, p->removing_count};
}

static inline struct node_ids partition_isr(const struct ctl_partition *p)
{
    return (struct node_ids){p->isr, p->isr_count};
}

/* The assignment as the topic's node has it; borrows from p. */
struct node_partition partition_assignment(const struct ctl_partition *p);
bool partition_is_reassigning(const struct ctl_partition *p);
/* The epoch that a StopReplica carries: -2 while being deleted, -1 where none is known. */
int32_t partition_stop_epoch(const struct ctl_partition *p);

/* Replicas. A broker that is not in RS has state NONE. */
enum replica_state replica_state(const struct ctl_partition *p, int32_t broker);
void replica_set_state(struct ctl_partition *p, int32_t broker, enum replica_state state);
/* Drops it from RS, AR and RR, and its state. */
void replica_remove(struct context *x, struct ctl_partition *p, int32_t broker);
/* Whether the broker said that the replica is on a failed log directory. */
bool replica_on_offline_dir(const struct ctl_partition *p, int32_t broker);
void replica_set_offline_dir(struct ctl_partition *p, int32_t broker, bool is_offline);
/* Counts as gone for as long as a failover sorts out who went and came back. */
bool replica_is_away(const struct ctl_partition *p, int32_t broker);
void replica_set_away(struct ctl_partition *p, int32_t broker, bool is_away);
/* At failover: whether the broker registered after the state was written. */
bool replica_is_restarted(const struct context *x, const struct ctl_partition *p, int32_t broker);
/* On a live broker, not on a failed log directory, and not away. */
bool replica_is_online(const struct context *x, const struct ctl_partition *p, int32_t broker);
/* The same, but brokers that are shutting down count too. */
bool replica_is_reachable(const struct context *x, const struct ctl_partition *p, int32_t broker);

#define CONTEXT_EACH_TOPIC(x, t)                                                                   \
    for (struct ctl_topic *t = (x)->topics; t; t = (struct ctl_topic *)(t)->hh.next)
#define TOPIC_EACH_PARTITION(t, p)                                                                 \
    for (struct ctl_partition **p##_at = (t)->partitions, *p;                                      \
         p##_at < (t)->partitions + (t)->count && ((p) = *p##_at, true); p##_at++)
