/*
 * assignment.h - what a reassignment makes of a partition's replicas
 *
 *   RS  all replicas            AR  those being added        RR  those being removed
 *   origin = RS minus AR        target = RS minus RR
 *
 * Pure: results live in the arena, the order of RS is kept.
 */
#pragma once

#include "common/base/arena.h"
#include "zk/node_topic.h"

struct node_ids assignment_origin(struct arena *a, const struct node_partition *now);
struct node_ids assignment_target(struct arena *a, const struct node_partition *now);
/* On the way to target, whatever was under way before: RS = target, then origin; AR = RS minus
 * origin; RR = RS minus target. */
struct node_partition assignment_toward(struct arena *a, const struct node_partition *now,
                                        struct node_ids target);
/* Having arrived: RS = target, AR and RR empty. */
struct node_partition assignment_arrived(struct arena *a, const struct node_partition *now);
bool assignment_eq(const struct node_partition *x, const struct node_partition *y);
/* Members of ids that are not in others. */
struct node_ids ids_minus(struct arena *a, const struct node_ids *ids,
                          const struct node_ids *others);
/* Whether each member of ids is in others. */
bool ids_within(const struct node_ids *ids, const struct node_ids *others);
bool ids_repeat(const struct node_ids *ids);
