/*
 * reassign.h - moving partitions from some brokers to others
 *
 *   U   the topic's node gets the new RS, AR and RR; replicas that an earlier move was adding and
 *       that are not wanted any more are stopped and deleted
 *   ?   all target replicas in the ISR, as ZooKeeper has it, or nothing to add and to remove?
 *   A   no: leader epoch + 1, LeaderAndIsr to all with the new RS; replicas to add become new.
 *       Every change of the ISR then asks again
 *   B   yes: RS = target in memory; a leader out of the target; replicas to remove leave the ISR,
 *       are stopped and deleted; the topic's node gets the new RS; all brokers are told
 *
 * What the topic's node says is what is to be done: a controller that dies at any point is followed
 * by one that asks again. Nothing is deleted unless a replica that stays leads, and is online.
 *
 * Phases run over all partitions of an event together, each in the round trips of one. Thread: the
 * controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* One partition and where it goes. */
struct move {
    struct ctl_partition *p;
    struct node_partition to; /* its assignment after this step; lives in the arena of moves */
    /* Out: 0; INVALID_REPLICA_ASSIGNMENT: what it asks for would lose records; else
     * UNKNOWN_SERVER_ERROR. Other moves are not concerned. */
    int16_t error;

    /* Of reassign.c and reassign_write.c: */
    struct node_partition from; /* as it was before phase B; a copy */
    struct kept_state *kept;    /* of each of from.removing */
    struct node_ids dropped;    /* in RS before U, not any more */
    bool is_complete;
    bool is_picked; /* scratch of one phase */
};

struct moves {
    struct arena arena;
    struct move *v;
    size_t count;
    size_t cap;
};

void moves_deinit(struct moves *m);
/* A partition stands in moves once. */
struct move *moves_add(struct moves *m, struct ctl_partition *p, const struct node_partition *to);

/* Begins, changes or goes on with each move. Topics whose last move ended may be deleted at the
 * end, so nothing of the context that the caller points to is sure to be there afterwards. */
enum zk_result reassign_run(struct controller *c, struct moves *m);
/* The ISRs of these partitions have changed: what is complete now is brought to its end. */
enum zk_result reassign_check(struct controller *c, const struct partition_list *list);
/* Goes on with the moves that the topics' nodes tell of: those to one of brokers; NULL: all, but
 * for partitions that are marked. */
enum zk_result reassign_resume(struct controller *c, const struct node_ids *brokers);
/* The state node of a partition changed that is watched because its leader writes the ISR itself
 * (before IBP 2.7-IV2). */
enum zk_result reassign_isr_changed(struct controller *c, struct str topic, int32_t partition);
/* Watches of a topic's state nodes end. */
void reassign_unwatch(struct controller *c, const struct ctl_topic *t);
