/*
 * rebalance.h - the rules of the classic group protocol: join, sync, heartbeat, leave (protocol.md
 * 11.7 to 11.11; KIP-62, KIP-345, KIP-394, KIP-800, KIP-814)
 *
 * All take the group's lock themselves, and end calls under it. The checks that come before a group
 * is known (authorisation, which broker coordinates) are the callers'. Thread: a reactor's for what
 * may complete a rebalance, which is stored (join, sync, leave, tick); any for the others.
 */
#pragma once

#include "broker/group/group.h"

struct join_request {
    struct str member_id; /* empty: new */
    struct str instance;  /* null: dynamic */
    struct member_client client;
    int32_t session_timeout_ms;
    int32_t rebalance_timeout_ms;
    struct str protocol_type;
    struct member_protocols protocols;
    bool must_know_id; /* v4: a new dynamic member is given an id, and joins with that */
    bool can_skip;     /* v9: a leader may be told to leave the assignment as it is */
};

/* Ends c, or parks it. */
void rebalance_join(struct group *g, const struct join_request *req, struct join_call *c);

struct assignment {
    struct str member_id;
    struct slice bytes;
};

struct sync_request {
    struct str member_id;
    struct str instance;
    int32_t generation;
    struct str protocol_type; /* null: not said */
    struct str protocol;
    const struct assignment *assignments; /* of the leader */
    int32_t assignment_count;
};

void rebalance_sync(struct group *g, const struct sync_request *req, struct sync_call *c);

/* Codes of protocol.md 11.10. */
int rebalance_heartbeat(struct group *g, struct str member_id, struct str instance,
                        int32_t generation) MUST_CHECK;

/* One member of a LeaveGroup: 0 or its code. COORDINATOR_NOT_AVAILABLE: the group is dead, for the
 * answer as a whole. */
int rebalance_leave(struct group *g, struct str member_id, struct str instance) MUST_CHECK;

/* Before an offset commit: 0 and the member's session renewed, or its code (11.12). */
int rebalance_check_commit(struct group *g, struct str member_id, struct str instance,
                           int32_t generation) REQUIRES(g->lock) MUST_CHECK;

/* The group's timer: what is due at now_us. */
void rebalance_tick(struct group *g, int64_t now_us);

/* Members as they were read from the log: Stable with their sessions begun, or Empty. */
void rebalance_resume(struct group *g, const struct group_metadata_value *value);
/* It is coordinated elsewhere, deleted, or expired: Dead, and what waits is answered with error. */
void rebalance_kill(struct group *g, int error) REQUIRES(g->lock);
