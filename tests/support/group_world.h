/*
 * group_world.h - one consumer group in a test: a fake clock, a reactor that the test turns, a
 * store that ends when the test says so, and calls that write down what they were told
 *
 * One thread, nothing sleeps. Lists are written as text: "range=meta,rr=meta" the protocols of a
 * member, "id=bytes,..." assignments; texts that a test compares come the same way.
 */
#pragma once

#include "broker/group/rebalance.h"
#include "common/base/clock.h"
#include "tests/support/test_main.h"

enum { WORLD_STORES = 16, WORLD_TEXT = 512 };

struct fake_store {
    struct group_store *store; /* NULL: it has ended */
    char text[WORLD_TEXT];     /* "generation protocol leader id/instance=assignment,..." */
};

struct group_world {
    struct clock_fake clock;
    struct reactor *reactor;
    struct group_env env;
    struct group *group;
    struct fake_store stores[WORLD_STORES];
    int store_count;
};

/* With the delay and size of Kafka's defaults: 3 s, no limit. */
void group_world_init(struct group_world *w);
/* Kills the group where it lives, and ends what is being stored. */
void group_world_deinit(struct group_world *w);
/* Lets ms pass, in steps that are shorter than any deadline's distance to the next. */
void group_world_run(struct group_world *w, int64_t ms);
/* The oldest store that has not ended. */
void group_world_stored(struct group_world *w, int error);
int group_world_storing(const struct group_world *w);
enum group_state group_world_state(struct group_world *w);
int32_t group_world_size(struct group_world *w);
void group_world_kill(struct group_world *w, int error);

/* ---- calls ---- */

struct fake_join {
    struct join_call call;
    int ended; /* how often: more than once is a fault */
    int superseded;
    int error;
    int32_t generation;
    bool skip_assignment;
    bool has_members;
    bool is_protocol_null;
    char protocol[64], leader[96], member_id[96];
    char members[WORLD_TEXT]; /* "id/instance=metadata,..." in the order they came */
};

struct fake_sync {
    struct sync_call call;
    int ended;
    int superseded;
    int error;
    char protocol[64], assignment[96];
};

/* Who joins. What is left out: a dynamic member, "range=m", type "consumer", client "c",
 * timeouts of 10 s and 60 s. */
struct joining {
    const char *id, *instance, *client, *type, *protocols;
    int32_t session_ms, rebalance_ms;
    bool must_know_id, can_skip;
};

void fake_join(struct group_world *w, struct fake_join *j, struct joining who);

/* The same as a request, which points into args; j is made ready. */
enum { FAKE_LIST_MAX = 64 };
struct joining_args {
    struct member_protocol protocols[FAKE_LIST_MAX];
};
struct join_request fake_join_request(struct joining_args *args, struct fake_join *j,
                                      struct joining who);

struct syncing {
    const char *id, *instance, *type, *protocol, *assignments;
    int32_t generation;
};

void fake_sync(struct group_world *w, struct fake_sync *s, struct syncing who);

struct syncing_args {
    struct assignment assignments[FAKE_LIST_MAX];
};
struct sync_request fake_sync_request(struct syncing_args *args, struct fake_sync *s,
                                      struct syncing who);

/* Heartbeat and LeaveGroup of a member; instance may be NULL. */
int fake_heartbeat(struct group_world *w, const char *id, const char *instance, int32_t generation);
int fake_leave(struct group_world *w, const char *id, const char *instance);

/* What was told, checked as it is read. */
#define ASSERT_WAITS(c)                                                                            \
    do {                                                                                           \
        ck_assert_int_eq((c)->ended, 0);                                                           \
        ck_assert_int_eq((c)->superseded, 0);                                                      \
    } while (0)
#define ASSERT_ENDED(c, err)                                                                       \
    do {                                                                                           \
        ck_assert_int_eq((c)->ended, 1);                                                           \
        ck_assert_int_eq((c)->superseded, 0);                                                      \
        ck_assert_int_eq((c)->error, err);                                                         \
    } while (0)
#define ASSERT_STATE(w, state) ck_assert_int_eq(group_world_state(w), state)

/* ---- whole stories ---- */

/* A first member of an empty group, through its first generation: Stable, with "a" assigned.
 * The id that it was given is in j->member_id. */
void group_world_first(struct group_world *w, struct fake_join *j, struct joining who);
/* The leader j syncs with these assignments ("%s" stands for its own id) and they are stored. */
void group_world_assign(struct group_world *w, const struct fake_join *j, const char *assignments);
