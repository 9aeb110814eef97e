/*
 * member.h - one member of a group: what it can do, when it must be heard of again, and its calls
 * that wait
 *
 * Owner: the group, under its lock. All memory is the member's own.
 */
#pragma once

#include "common/base/containers.h"
#include "common/base/str.h"

struct group;

struct member_protocol {
    struct str name;
    struct slice metadata;
};

/* In the member's order of preference. */
struct member_protocols {
    const struct member_protocol *v;
    int32_t count;
};

/* Who calls: of the request that brought it. Borrowed. */
struct member_client {
    struct str id;   /* client id */
    struct str host; /* "/127.0.0.1" */
};

/* The answer to a JoinGroup. Valid during the call that hands it over only. */
struct join_answer {
    int error;
    int32_t generation;
    struct str protocol_type; /* null: none */
    struct str protocol;      /* null: none */
    struct str leader;
    struct str member_id;
    bool skip_assignment;
    const struct group *members_of; /* its members are told, to the leader; NULL: none */
};

/* A JoinGroup or SyncGroup that is answered now or later, exactly once, on any thread, with the
 * group's lock held where it was found: it may not take that. */
struct join_call {
    void (*done)(struct join_call *c, const struct join_answer *a);
    /* Another JoinGroup of the same member has taken its place: nobody waits for this one. */
    void (*superseded)(struct join_call *c);
};

struct sync_answer {
    int error;
    struct str protocol_type;
    struct str protocol;
    struct slice assignment;
};

struct sync_call {
    void (*done)(struct sync_call *c, const struct sync_answer *a);
    void (*superseded)(struct sync_call *c);
};

struct member {
    UT_hash_handle hh;        /* by id, in its group */
    UT_hash_handle hh_static; /* by instance id */
    struct str id;
    struct str instance; /* null: a dynamic member */
    struct str client_id;
    struct str client_host;
    int32_t rebalance_timeout_ms;
    int32_t session_timeout_ms;
    struct member_protocols protocols; /* owned, in one piece */
    struct slice assignment;           /* owned; empty: none */
    struct slice proposed;             /* by the leader's request; during that call only */
    struct join_call *join;            /* parked */
    struct sync_call *sync;
    int64_t due_us; /* heard of again by then, unless one of its calls is parked */
    /* It has not been told its id yet, so that it cannot send heartbeats: due_us counts although
     * its join is parked. */
    bool is_new;
    bool is_unsynced; /* awaited in this generation */
};

struct member *member_new(struct str id, struct str instance, const struct member_client *client);
/* No call is parked. NULL-safe, returns NULL. */
struct member *member_free(struct member *m);
void member_set_protocols(struct member *m, const struct member_protocols *p);
/* Whether they are the same, in the same order, with the same metadata. */
bool member_has_protocols(const struct member *m, const struct member_protocols *p);
/* NULL where it does not know that. */
const struct member_protocol *member_protocol(const struct member *m, struct str name);
void member_set_assignment(struct member *m, struct slice assignment);
