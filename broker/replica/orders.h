/*
 * orders.h - what the controller tells this broker to do: LeaderAndIsr, StopReplica, UpdateMetadata
 * (controller.md B1-B4)
 *
 * Each takes a decoded request and fills the answer, all memory from the request's arena. They
 * exclude one another (LOCK_REPLICA_STATE), make and delete logs and read topic settings from
 * ZooKeeper: call them on a worker, in the order of the connection. Authorization is the caller's.
 * Errors are in the answer.
 */
#pragma once

#include "common/base/arena.h"
#include "common/wire/messages.h"

struct replica_manager;

void orders_leader_and_isr(struct replica_manager *m, const struct leader_and_isr_request *req,
                           int16_t version, struct arena *a, struct leader_and_isr_response *ret);
void orders_stop_replica(struct replica_manager *m, const struct stop_replica_request *req,
                         struct arena *a, struct stop_replica_response *ret);
void orders_update_metadata(struct replica_manager *m, const struct update_metadata_request *req,
                            struct update_metadata_response *ret);
