/*
 * elect.h - who is to lead a partition: the four strategies
 *
 * Pure: reads the context and the state just read from ZooKeeper, writes to the arena only.
 *
 *   OFFLINE     first replica of RS that is online and in the ISR; if none and unclean elections
 *               are allowed, the first that is online. Told: online members of RS.
 *   REASSIGN    first of the target replicas that is online and in the ISR. Told: all of them.
 *   PREFERRED   the head of RS, if online and in the ISR. Told: all of RS.
 *   SHUTDOWN    first of RS that can be reached, is in the ISR, and is not shutting down itself.
 *               Told: members of RS that can be reached, the leaving broker among them.
 */
#pragma once

#include "controller/context.h"

enum elect_strategy { ELECT_OFFLINE, ELECT_REASSIGN, ELECT_PREFERRED, ELECT_SHUTDOWN };

struct elect_input {
    struct arena *arena;
    const struct node_state *now; /* as read from ZooKeeper */
    bool unclean_allowed;         /* OFFLINE only */
};

struct elect_outcome {
    int32_t leader;
    struct node_ids isr;
    struct node_ids recipients;
    bool is_unclean; /* the leader was not in the ISR: records may be lost */
};

/* False if nobody can lead. Everything in *ret lives in the arena. */
bool elect(const struct context *x, const struct ctl_partition *p, enum elect_strategy strategy,
           const struct elect_input *in, struct elect_outcome *ret);
/* No member of the ISR is online: only an unclean election could help. */
bool elect_needs_unclean(const struct context *x, const struct ctl_partition *p,
                         const struct node_state *now);
