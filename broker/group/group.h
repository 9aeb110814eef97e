/*
 * group.h - one consumer group: its members, the rebalance they are in, and what it has committed
 *
 *              join                       all have joined, or time is up
 *   EMPTY ───────────> PREPARING_REBALANCE ──────────────────────────> COMPLETING_REBALANCE
 *     ^                  ^     │     ^                                    │
 *     │                  │     │     └── a member left, joined again, ────┤
 *     │ nobody is left   │     │         or did not sync in time          │ the leader's assignment
 *     └──────────────────┼─────┘                                          │ is stored
 *                        └──────────────────── STABLE <───────────────────┘
 *   DEAD from everywhere: expired, deleted, or this broker coordinates it no more.
 *
 * The rules are in rebalance.c; this is the memory they work on. Everything below `lock` is guarded
 * by it (LOCK_GROUP). It is held over the rules and the answers they give, not over an append: what
 * is stored is handed to env->store, which reports back with the lock taken again by the callee.
 *
 * A group has one timer, on its reactor, for the earliest of all its deadlines. Deadlines move
 * later all the time (each heartbeat does that), which costs nothing: a timer that fires early
 * looks, and is armed again.
 */
#pragma once

#include "broker/group/commits.h"
#include "broker/group/member.h"
#include "common/base/arena.h"
#include "common/base/lock.h"
#include "common/io/reactor.h"

enum group_state {
    GROUP_EMPTY,
    GROUP_PREPARING_REBALANCE,
    GROUP_COMPLETING_REBALANCE,
    GROUP_STABLE,
    GROUP_DEAD,
};

struct group;
struct group_metadata_value;

/* A group's record on its way into __consumer_offsets. Made by the rules, which end it in
 * done(). */
struct group_store {
    struct group *group; /* a reference */
    struct arena arena;
    struct group_metadata_value *value; /* valid inside store() */
    /* On the reactor that began it, no lock held, in a later turn. */
    void (*done)(struct group_store *s, int error);
};

/* What all groups of a broker share; constant once made, outlives them. */
struct group_env {
    const struct clock *clock;
    int32_t initial_rebalance_delay_ms;
    int32_t max_size;
    void *ctx;
    /* Begins to append; called on a reactor, with the group's lock held, so that records of one
     * group lie in the log in the order of its changes. */
    void (*store)(void *ctx, struct group_store *s);
};

/* A member id that was given out and has not joined yet (KIP-394). */
struct pending_member {
    UT_hash_handle hh;
    int64_t due_us;
    struct str id; /* behind the struct */
};

/* Behind the struct: its name. */
struct known_protocol {
    UT_hash_handle hh;
    int32_t members;
    int32_t votes;
    bool is_counted; /* of the member that is being counted, which may name it twice */
};

struct group {
    _Atomic unsigned refs;
    const struct group_env *env;
    struct str id;           /* NUL-terminated */
    int32_t partition;       /* of __consumer_offsets */
    struct reactor *reactor; /* its timer lives there */
    UT_hash_handle hh;       /* in the table of its partition */

    struct timer timer;   /* its reactor's */
    struct message alarm; /* brings a new deadline to the reactor */

    struct mutex lock;
    enum group_state state;
    int64_t state_since_ms;   /* wall clock; -1 unknown */
    struct str protocol_type; /* owned; null: none, a group that only commits */
    struct str protocol;      /* owned; chosen for this generation, null: none */
    int32_t generation;
    struct str leader;      /* the member's own id, null: none */
    struct member *members; /* uthash, by id, in the order they came */
    struct member *statics; /* uthash, by instance id */
    struct pending_member *pending;
    struct known_protocol *known; /* uthash, by name: how many members know it */
    int32_t joined;               /* members with a parked JoinGroup */
    int32_t unsynced;             /* members that have not sent SyncGroup in this generation */
    /* Preparing: the phase ends then. The first rebalance of an empty group waits a little for more
     * members: remaining_ms is what it may be extended by, -1 in other rebalances. */
    int64_t join_due_us;
    int64_t remaining_ms;
    bool has_new_member;
    int64_t sync_due_us; /* members that have not synced by then are removed; NEVER_US: no limit */
    int64_t alarm_us;    /* the timer fires then */
    bool is_alarm_posted;
    struct commits offsets;
};

enum { GROUP_NEVER_US = INT64_MAX };

/* Ids that nobody has joined with yet cost a client nothing, and so are bounded. */
enum { GROUP_PENDING_MAX = 10000 };

/* Empty, one reference. id is copied. */
struct group *group_new(const struct group_env *env, struct str id, int32_t partition,
                        struct reactor *reactor);
struct group *group_ref(struct group *g);
/* NULL-safe, returns NULL. */
struct group *group_unref(struct group *g);
void group_unref_p(struct group **g);

/* "Stable" and so on, as Kafka prints them. */
const char *group_state_name(enum group_state state);
void group_set_state(struct group *g, enum group_state state) REQUIRES(g->lock);
static inline bool group_is(const struct group *g, enum group_state state)
{
    return g->state == state;
}

/* ---- members ---- */

int32_t group_size(const struct group *g) REQUIRES(g->lock);
struct member *group_find_member(const struct group *g, struct str id) REQUIRES(g->lock);
struct member *group_find_static(const struct group *g, struct str instance) REQUIRES(g->lock);
bool group_is_leader(const struct group *g, const struct member *m) REQUIRES(g->lock);
/* Takes it over, with its protocols. The first one sets the protocol type; without a leader, it
 * leads. */
void group_add_member(struct group *g, struct member *m, struct str protocol_type)
    REQUIRES(g->lock);
void group_set_protocols(struct group *g, struct member *m, const struct member_protocols *p)
    REQUIRES(g->lock);
/* Takes it out, not freed; another leads where it did. Its parked calls are the caller's to end. */
void group_take_member(struct group *g, struct member *m) REQUIRES(g->lock);
/* A static member comes back under another id. */
void group_rename_member(struct group *g, struct member *m, struct str id) REQUIRES(g->lock);
/* 0, FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID. *ret is set where 0. instance may be null. */
int group_check_member(const struct group *g, struct str id, struct str instance,
                       struct member **ret) REQUIRES(g->lock) MUST_CHECK;

struct pending_member *group_pending(const struct group *g, struct str id) REQUIRES(g->lock);
/* Where there are too many, the oldest is forgotten. */
void group_add_pending(struct group *g, struct str id, int64_t due_us) REQUIRES(g->lock);
void group_drop_pending(struct group *g, struct pending_member *p) REQUIRES(g->lock);

/* ---- protocols ---- */

/* Whether a member with these can be in it: the type is the group's, and one of them all members
 * know. */
bool group_supports(const struct group *g, struct str type, const struct member_protocols *p)
    REQUIRES(g->lock);
/* The one that most members like best, of those all know. There are members. */
struct str group_vote(const struct group *g) REQUIRES(g->lock);
/* The longest of its members' rebalance timeouts. */
int32_t group_rebalance_timeout_ms(const struct group *g) REQUIRES(g->lock);

/* As its record says, without its members: Stable where there are to be some, else Empty. */
void group_restore(struct group *g, const struct group_metadata_value *value) REQUIRES(g->lock);
/* The next generation: COMPLETING_REBALANCE with a protocol, or EMPTY where there are no
 * members. */
void group_next_generation(struct group *g) REQUIRES(g->lock);

/* rebalance_tick() runs on its reactor at the latest then. */
void group_wake_at(struct group *g, int64_t due_us) REQUIRES(g->lock);
/* The group is dead: its timer is taken off the reactor, on the reactor. */
void group_stop_timer(struct group *g) REQUIRES(g->lock);
