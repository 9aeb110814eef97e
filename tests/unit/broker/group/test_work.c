/*
 * What a big group costs: the rules are compiled once more, so that each of their basic blocks
 * counts itself, and a story is played by groups of two sizes. Whatever looks at every member
 * whenever one of them does something shows, whatever machine this runs on.
 */
#include "common/base/err.h"
#include "common/base/say.h"
#include "tests/support/group_world.h"

/* Four times the members may cost a little more than four times the work: not sixteen times. */
enum { SMALL = 250, BIG = 4 * SMALL, LIMIT = 5 };

static uint64_t work;

/* gcc calls this in each block of what it compiles with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

/* ---- members ---- */

struct actor {
    struct join_call join;
    struct sync_call sync;
    int error;
    bool is_parked;
    bool leads;
    char id[64];
};

struct crowd {
    struct group_world world;
    int size;
    int32_t generation;
    struct actor v[BIG + 1];
    struct assignment assignments[BIG + 1];
    struct group_store *store;
};

static void on_joined(struct join_call *c, const struct join_answer *a)
{
    struct actor *m = container_of(c, struct actor, join);

    m->error = a->error;
    m->is_parked = false;
    m->leads = a->members_of != NULL;
    ck_assert_uint_lt(a->member_id.len, sizeof m->id);
    snprintf(m->id, sizeof m->id, "%.*s", STR_ARG(a->member_id));
}

static void on_synced(struct sync_call *c, const struct sync_answer *a)
{
    struct actor *m = container_of(c, struct actor, sync);

    m->error = a->error;
    m->is_parked = false;
}

static void store(void *ctx, struct group_store *s)
{
    struct crowd *crowd = container_of((struct group_world *)ctx, struct crowd, world);

    ck_assert_ptr_null(crowd->store);
    crowd->store = s;
}

static void stored(struct crowd *c)
{
    struct group_store *s = TAKE(c->store);

    ck_assert_ptr_nonnull(s);
    s->done(s, 0);
}

static void join(struct crowd *c, struct actor *m, const char *metadata)
{
    const struct member_protocol p = {STR("range"), slice_of_str(str_of(metadata))};
    char id[sizeof m->id];

    memcpy(id, m->id, sizeof id);
    m->is_parked = true;
    rebalance_join(c->world.group,
                   &(struct join_request){.member_id = str_of(id),
                                          .instance = STR_NULL,
                                          .client = {STR("c"), STR("/h")},
                                          .session_timeout_ms = 10000,
                                          .rebalance_timeout_ms = 60000,
                                          .protocol_type = STR("consumer"),
                                          .protocols = {&p, 1},
                                          .must_know_id = true},
                   &m->join);
}

static void sync_member(struct crowd *c, struct actor *m)
{
    m->is_parked = true;
    rebalance_sync(c->world.group,
                   &(struct sync_request){.member_id = str_of(m->id),
                                          .instance = STR_NULL,
                                          .generation = c->generation,
                                          .protocol_type = STR_NULL,
                                          .protocol = STR_NULL,
                                          .assignments = c->assignments,
                                          .assignment_count = m->leads ? c->size : 0},
                   &m->sync);
}

/* ---- the story, act by act ---- */

static void heartbeats(struct crowd *c, int expected)
{
    for (int i = 0; i < c->size; i++)
        ck_assert_int_eq(
            rebalance_heartbeat(c->world.group, str_of(c->v[i].id), STR_NULL, c->generation),
            expected);
}

static void are_done(struct crowd *c)
{
    for (int i = 0; i < c->size; i++)
        ck_assert(!c->v[i].is_parked && c->v[i].error == 0);
}

static void all_come(struct crowd *c)
{
    for (int i = 0; i < c->size; i++) {
        join(c, &c->v[i], "a");
        ck_assert_int_eq(c->v[i].error, MEMBER_ID_REQUIRED);
    }
    for (int i = 0; i < c->size; i++)
        join(c, &c->v[i], "a");
    group_world_run(&c->world, 6000);
    c->generation++;
}

static void all_sync(struct crowd *c)
{
    are_done(c);
    for (int i = 0; i < c->size; i++)
        c->assignments[i] = (struct assignment){str_of(c->v[i].id), slice_of("x", 1)};
    for (int i = c->size - 1; i >= 0; i--)
        sync_member(c, &c->v[i]); /* the leader, who came first, is the last */
    stored(c);
    are_done(c);
    ASSERT_STATE(&c->world, GROUP_STABLE);
}

static void all_live(struct crowd *c)
{
    for (int i = 0; i < 5; i++) {
        group_world_run(&c->world, 3000);
        heartbeats(c, 0);
    }
}

static void one_more_comes(struct crowd *c)
{
    struct actor *m = &c->v[c->size];

    join(c, m, "a");
    join(c, m, "a");
    ASSERT_STATE(&c->world, GROUP_PREPARING_REBALANCE);
    heartbeats(c, REBALANCE_IN_PROGRESS);
    c->size++;
}

static void all_join_again(struct crowd *c)
{
    for (int i = 0; i < c->size - 1; i++)
        join(c, &c->v[i], "b");
    c->generation++;
    ASSERT_STATE(&c->world, GROUP_COMPLETING_REBALANCE);
}

static void half_leaves(struct crowd *c)
{
    int stay = c->size / 2;

    for (int i = stay; i < c->size; i++)
        ck_assert_int_eq(rebalance_leave(c->world.group, str_of(c->v[i].id), STR_NULL), 0);
    c->size = stay;
    heartbeats(c, REBALANCE_IN_PROGRESS);
}

static void all_die(struct crowd *c)
{
    group_world_run(&c->world, 60000);
    stored(c);
    ASSERT_STATE(&c->world, GROUP_EMPTY);
}

static const struct act {
    const char *name;
    void (*play)(struct crowd *c);
} acts[] = {
    {"all come", all_come},
    {"all sync", all_sync},
    {"all live", all_live},
    {"one more comes", one_more_comes},
    {"all join again", all_join_again},
    {"all sync again", all_sync},
    {"half leaves", half_leaves},
    {"all die", all_die},
};

static void play(int size, uint64_t *ret_work)
{
    struct crowd *c = calloc(1, sizeof *c);

    ck_assert_ptr_nonnull(c);
    group_world_init(&c->world);
    c->world.env.store = store;
    c->size = size;
    for (int i = 0; i <= size; i++)
        c->v[i] = (struct actor){.join = {.done = on_joined}, .sync = {.done = on_synced}};
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        uint64_t before = work;

        acts[i].play(c);
        ret_work[i] = work - before;
    }
    group_world_deinit(&c->world);
    free(c);
}

START_TEST(what_a_member_does_costs_the_same_in_a_big_group)
{
    uint64_t small[ARRAY_LEN(acts)], big[ARRAY_LEN(acts)];

    say_set_level(SAY_WARN);
    play(SMALL, small);
    play(BIG, big);
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        ck_assert_msg(small[i] >= SMALL / 2, "%s: the rules were not counted", acts[i].name);
        ck_assert_msg(big[i] <= LIMIT * small[i],
                      "%s: %d members take %llu steps, %d take %llu, which is more than %d times",
                      acts[i].name, SMALL, (unsigned long long)small[i], BIG,
                      (unsigned long long)big[i], LIMIT);
    }
}
END_TEST

TEST_MAIN("broker/group/work", what_a_member_does_costs_the_same_in_a_big_group)
