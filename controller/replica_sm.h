/*
 * replica_sm.h - states of replicas, and what brokers are told when they change
 *
 *   NONE ──▶ NEW ──▶ ONLINE ◀──▶ OFFLINE ──▶ DELETION_STARTED ──▶ DELETION_SUCCESSFUL ──▶ NONE
 *                       ▲          ▲  │              │
 *                       └──────────┴──┴─ DELETION_INELIGIBLE ◀──────┘
 *
 * To OFFLINE takes the replica out of the ISR in ZooKeeper, but for the ISR's last member. A change
 * that is not allowed or fails concerns its replica alone.
 *
 * Thread: the controller's. Returns: see core.h.
 */
#pragma once

#include "controller/core.h"

/* Sets the states after a failover; then online replicas are told. */
enum zk_result replica_sm_start(struct controller *c);
/* After the leaders were elected: the others go offline. */
enum zk_result replica_sm_start_offline(struct controller *c);
/* Brokers that are in the RS of their partition no more: they leave the ISR, are stopped, and
 * delete the replica; nobody waits for that. Where nobody who stays is online and in sync, the
 * replica is not deleted. Sorts list by broker. */
enum zk_result replica_sm_remove(struct controller *c, struct replica_list *list);
/* All of them to one state, in one batch of messages. Sorts list by broker. */
enum zk_result replica_sm_change(struct controller *c, struct replica_list *list,
                                 enum replica_state to);
