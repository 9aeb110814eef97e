/*
 * Members of one group on threads of their own, with real time, while the group's timer runs on its
 * reactor, records are stored there, and at last the group is given up: every call ends once, and
 * nobody who is told a generation is told nonsense. Meant for the tsan build.
 */
#include "broker/group/rebalance.h"

#include "common/base/err.h"
#include "common/base/thread.h"
#include "tests/support/group_world.h"

#include <sched.h>
#include <stdatomic.h>

enum { MEMBERS = 4, ROUNDS_MAX = 1000000, SYNCED = 500, WAIT_US = 20000000 };

static struct reactor *reactor;
static struct group *group;
static _Atomic int stored, syncs;

/* ---- the store: its end comes in a later turn of the reactor ---- */

struct ending {
    struct message message;
    struct group_store *store;
};

static void on_stored(struct message *m)
{
    struct ending *e = container_of(m, struct ending, message);
    struct group_store *s = e->store;
    int error = atomic_fetch_add(&stored, 1) % 7 == 6 ? UNKNOWN_SERVER_ERROR : 0;

    free(e);
    s->done(s, error);
}

static void store(void *ctx UNUSED, struct group_store *s)
{
    struct ending *e = xnew(struct ending);

    e->store = s;
    e->message.run = on_stored;
    reactor_post(reactor, &e->message);
}

/* ---- members ---- */

struct actor {
    struct thread thread;
    int number;
    struct join_call join;
    struct sync_call sync;
    _Atomic int ended;
    int error;
    int32_t generation;
    char id[96];
};

static void on_joined(struct join_call *c, const struct join_answer *a)
{
    struct actor *m = container_of(c, struct actor, join);

    m->error = a->error;
    m->generation = a->generation;
    ck_assert_int_lt(a->member_id.len, sizeof m->id);
    snprintf(m->id, sizeof m->id, "%.*s", STR_ARG(a->member_id));
    atomic_fetch_add(&m->ended, 1);
}

static void on_synced(struct sync_call *c, const struct sync_answer *a)
{
    struct actor *m = container_of(c, struct actor, sync);

    m->error = a->error;
    atomic_fetch_add(&m->ended, 1);
}

static void wait_for(struct actor *m)
{
    int64_t until = clock_mono_us(&clock_system) + WAIT_US;

    while (atomic_load(&m->ended) == 0 && clock_mono_us(&clock_system) < until)
        sched_yield();
    ck_assert_int_eq(atomic_load(&m->ended), 1);
}

/* As a static member, or a dynamic one. */
static void join(struct actor *m)
{
    static const struct str instances[MEMBERS] = {{"a", 1}, {NULL, 0}, {"c", 1}, {NULL, 0}};
    const struct member_protocol p = {STR("range"), slice_of("m", 1)};
    char id[sizeof m->id];

    memcpy(id, m->id, sizeof id);
    atomic_store(&m->ended, 0);
    rebalance_join(group,
                   &(struct join_request){.member_id = str_of(id),
                                          .instance = instances[m->number],
                                          .client = {STR("c"), STR("/h")},
                                          .session_timeout_ms = 2000,
                                          .rebalance_timeout_ms = 20,
                                          .protocol_type = STR("consumer"),
                                          .protocols = {&p, 1}},
                   &m->join);
    wait_for(m);
}

static void sync_group(struct actor *m)
{
    const struct assignment a = {str_of(m->id), slice_of("x", 1)};

    atomic_store(&m->ended, 0);
    rebalance_sync(group,
                   &(struct sync_request){.member_id = str_of(m->id),
                                          .instance = STR_NULL,
                                          .generation = m->generation,
                                          .protocol_type = STR_NULL,
                                          .protocol = STR_NULL,
                                          .assignments = &a,
                                          .assignment_count = 1},
                   &m->sync);
    wait_for(m);
}

/* Comes, stays for some heartbeats, and leaves or forgets who it was; until the group is dead. */
static void act(void *arg)
{
    struct actor *m = arg;

    for (int i = 0; i < ROUNDS_MAX && m->error != COORDINATOR_NOT_AVAILABLE; i++) {
        join(m);
        if (m->error == 0)
            sync_group(m);
        if (m->error == 0)
            atomic_fetch_add(&syncs, 1);
        for (int k = 0; k < 20 && m->error == 0; k++)
            m->error = rebalance_heartbeat(group, str_of(m->id), STR_NULL, m->generation);
        if (i % 5 == m->number)
            (void)!rebalance_leave(group, str_of(m->id), STR_NULL);
        if (i % 5 == m->number || m->error == UNKNOWN_MEMBER_ID || m->error == FENCED_INSTANCE_ID)
            m->id[0] = '\0';
    }
}

START_TEST(members_timer_and_store_on_threads_of_their_own)
{
    static struct actor actors[MEMBERS];
    const struct group_env env = {.clock = &clock_system,
                                  .initial_rebalance_delay_ms = 1,
                                  .max_size = INT32_MAX,
                                  .store = store};

    ck_assert_int_eq(reactor_new("group", &clock_system, &reactor), 0);
    ck_assert_int_eq(reactor_start(reactor), 0);
    group = group_new(&env, STR("g"), 0, reactor);
    for (int i = 0; i < MEMBERS; i++) {
        actors[i] = (struct actor){.number = i, .join = {.done = on_joined}};
        actors[i].sync.done = on_synced;
        ck_assert_int_eq(thread_start(&actors[i].thread, "member", act, &actors[i]), 0);
    }
    /* Given up in the middle: whoever comes after is refused, and so ends soon. */
    while (atomic_load(&syncs) < SYNCED)
        sched_yield();
    WITH_LOCK(&group->lock)
    rebalance_kill(group, NOT_COORDINATOR);
    for (int i = 0; i < MEMBERS; i++) {
        thread_join(&actors[i].thread);
        ck_assert_int_eq(atomic_load(&actors[i].ended), 1);
        ck_assert_int_eq(actors[i].error, COORDINATOR_NOT_AVAILABLE);
    }
    reactor_stop(reactor);
    ck_assert_int_eq(atomic_load(&group->refs), 1); /* no timer, no store holds it */
    group_unref(group);
    reactor = reactor_free(reactor);
}
END_TEST

TEST_MAIN("broker/group/races", members_timer_and_store_on_threads_of_their_own)
