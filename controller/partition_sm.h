/*
 * partition_sm.h - states of partitions, and the elections between them
 *
 *   NONE ──▶ NEW ──▶ ONLINE ◀──▶ OFFLINE ──▶ NONE
 *
 * New to online makes the state node; online or offline to online elects a leader and writes it;
 * the others only change memory. A change that is not allowed, or that fails, concerns its
 * partition alone: it is said, the state stays, and the next trigger tries again.
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"
#include "controller/elect.h"

/* Sets the states after a failover, then triggers. */
enum zk_result partition_sm_start(struct controller *c);
/* To NEW, OFFLINE or NONE. */
void partition_sm_set(struct controller *c, const struct partition_list *list,
                      enum partition_state to);
/*
 * To ONLINE, in one batch of messages. unclean: a leader out of the ISR is allowed (OFFLINE) even
 * where the topic's configuration forbids it. ret_done may be NULL; otherwise ret_done[i] tells
 * whether list->v[i] got there.
 */
enum zk_result partition_sm_elect(struct controller *c, const struct partition_list *list,
                                  enum elect_strategy strategy, bool unclean, bool *ret_done);
/* Everything that is new or offline, and not to be deleted, tries to go online; only says of which
 * topic, NULL of all. ret_elected (may be NULL) counts those that did. */
enum zk_result partition_sm_trigger(struct controller *c, struct ctl_topic *only,
                                    size_t *ret_elected);

/* After replicas went offline: a leader of an older protocol may have widened an ISR after nobody
 * in it could be elected and before it was taken out of it. */
enum zk_result partition_sm_trigger_again(struct controller *c);

struct zk_partition_state;

/*
 * The state as the context has it (ZK_NO_NODE: there is none), with a copy of its ISR. Good for a
 * write, which ZooKeeper does at that version only; that nobody can lead is read first, as leaders
 * of an older protocol write the node themselves.
 */
void partition_known_state(const struct ctl_partition *p, struct arena *a,
                           struct zk_partition_state *ret);
/* Why a state must not be built upon, or NULL. */
const char *partition_state_unfit(const struct controller *c, const struct zk_partition_state *st);
