/*
 * zk_election.h - who is controller: the ephemeral /controller and the count in /controller_epoch
 *
 * An election creates /controller and raises /controller_epoch in one multi. The znode version of
 * /controller_epoch is what every later write is fenced with. A node that names us counts as ours
 * only while its ephemeralOwner is our present session: one left by our own expired session is
 * somebody else's until it vanishes. Thread: the controller's.
 */
#pragma once

#include "zk/node_controller.h"
#include "zk/zk_store.h"

struct zk_controller {
    int32_t broker_id; /* -1: there is none, or the node cannot be read */
    int32_t version;   /* of /controller */
    bool is_ours;      /* names us, and belongs to the present session */
    bool is_present;
    bool is_kraft; /* persistent, owned by a KRaft controller: never to be taken over */
};

/* Arms the data handler of /controller (exists, then get) and reads it. Absent is ZK_OK. */
enum zk_result zk_controller_read(struct zk_store *s, int32_t own_id, struct zk_controller *ret);

struct zk_election {
    bool won;
    int32_t epoch;         /* won: ours */
    int32_t epoch_version; /* won: the fence */
    struct zk_controller
        seen; /* lost: who has it; nobody: wait for the next event of /controller */
};

/* One round. ZK_OK with won or not; ZK_SESSION_EXPIRED and the like otherwise. */
enum zk_result zk_elect(struct zk_store *s, int32_t own_id, struct zk_election *ret);

/* Deletes /controller, fenced: the next election begins. ZK_CONTROLLER_MOVED: somebody else had
 * taken over already. */
enum zk_result zk_controller_resign(struct zk_store *s, int32_t epoch_version);
