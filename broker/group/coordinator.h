/*
 * coordinator.h - what clients ask of the group coordinator: the checks that come before a group is
 * known, and the group that a call is for (protocol.md 11.7 and the order of checks of each API)
 *
 * Rules of a known group are in rebalance.h. Thread: any; JoinGroup, SyncGroup and LeaveGroup
 * on a reactor.
 */
#pragma once

#include "broker/group/group_manager.h"
#include "broker/group/rebalance.h"

/* Ends c, or parks it. */
void coordinator_join(struct group_manager *m, struct str group_id, const struct join_request *req,
                      struct join_call *c);
void coordinator_sync(struct group_manager *m, struct str group_id, const struct sync_request *req,
                      struct sync_call *c);
int coordinator_heartbeat(struct group_manager *m, struct str group_id, struct str member_id,
                          struct str instance, int32_t generation) MUST_CHECK;

struct leaving {
    struct str member_id;
    struct str instance;
    int error; /* out */
};

/* The error of the answer as a whole; where 0, each member has its own. */
int coordinator_leave(struct group_manager *m, struct str group_id, struct leaving *v,
                      int32_t count) MUST_CHECK;

/* Where the answer is about one group that must be there: 0 and a reference, its code, or
 * GROUP_ID_NOT_FOUND. */
int coordinator_find(struct group_manager *m, struct str group_id, struct group **ret) MUST_CHECK;
