#include "controller/elect.h"

#include "tests/support/test_main.h"

enum { LIVE, SHUTTING_DOWN, GONE };

/* One partition with replicas 1, 2, 3 (or fewer), whose brokers are as given. */
struct scene {
    struct context x;
    struct ctl_partition *p;
    struct arena arena;
    struct node_state now;
    struct elect_outcome out;
};

static void scene_init(struct scene *s, int one, int two, int three)
{
    const int how[] = {one, two, three};
    int32_t ids[] = {1, 2, 3};
    struct node_partition a = {.replicas = {ids, 3}};
    struct node_broker node = {.rack = STR_NULL};

    *s = (struct scene){0};
    for (int i = 0; i < 3; i++) {
        if (how[i] != GONE)
            context_broker_put(&s->x, i + 1, 1, &node)->is_shutting_down = how[i] == SHUTTING_DOWN;
    }
    s->p = context_partition_add(&s->x, context_topic_add(&s->x, STR("t")), 0, &a);
}

static void scene_deinit(struct scene *s)
{
    context_clear(&s->x);
    arena_deinit(&s->arena);
}

/* The leader, and "1,2" of the ISR and of who is told as a number: 12. */
static int number_of(struct node_ids ids)
{
    int n = 0;

    for (int32_t i = 0; i < ids.count; i++)
        n = n * 10 + ids.list[i];
    return n;
}

static bool run(struct scene *s, enum elect_strategy how, int isr, bool unclean)
{
    int32_t *list = arena_new_array(&s->arena, int32_t, 4);
    int32_t n = 0;

    for (int at = 100; at; at /= 10) {
        if (isr / at % 10)
            list[n++] = isr / at % 10;
    }
    s->now = (struct node_state){.leader = 9, .isr = {list, n}};
    struct elect_input in = {&s->arena, &s->now, unclean};
    return elect(&s->x, s->p, how, &in, &s->out);
}

static void expect(const struct scene *s, int leader, int isr, int told)
{
    ck_assert_int_eq(s->out.leader, leader);
    ck_assert_int_eq(number_of(s->out.isr), isr);
    ck_assert_int_eq(number_of(s->out.recipients), told);
}

START_TEST(offline_takes_the_first_live_member_of_the_isr)
{
    struct scene s;

    scene_init(&s, GONE, LIVE, LIVE);
    ck_assert(run(&s, ELECT_OFFLINE, 321, false));
    expect(&s, 2, 32, 23);
    ck_assert(run(&s, ELECT_OFFLINE, 31, true));
    expect(&s, 3, 3, 23);
    ck_assert(!s.out.is_unclean);
    ck_assert(!run(&s, ELECT_OFFLINE, 1, false));
    ck_assert(elect_needs_unclean(&s.x, s.p, &s.now));
    scene_deinit(&s);
}
END_TEST

START_TEST(unclean_leader_is_alone_in_the_isr)
{
    struct scene s;

    scene_init(&s, GONE, LIVE, LIVE);
    ck_assert(run(&s, ELECT_OFFLINE, 1, true));
    expect(&s, 2, 2, 23);
    ck_assert(s.out.is_unclean);
    scene_deinit(&s);
    scene_init(&s, GONE, GONE, GONE);
    ck_assert(!run(&s, ELECT_OFFLINE, 1, true));
    scene_deinit(&s);
}
END_TEST

START_TEST(broker_that_shuts_down_is_not_live)
{
    struct scene s;

    scene_init(&s, SHUTTING_DOWN, LIVE, LIVE);
    ck_assert(run(&s, ELECT_OFFLINE, 123, false));
    expect(&s, 2, 23, 23);
    ck_assert(!run(&s, ELECT_PREFERRED, 123, false));
    scene_deinit(&s);
}
END_TEST

START_TEST(failed_log_directory_is_as_good_as_gone)
{
    struct scene s;

    scene_init(&s, LIVE, LIVE, LIVE);
    replica_set_offline_dir(s.p, 1, true);
    ck_assert(run(&s, ELECT_OFFLINE, 123, false));
    expect(&s, 2, 23, 23);
    scene_deinit(&s);
}
END_TEST

START_TEST(preferred_is_the_head_or_nobody)
{
    struct scene s;

    scene_init(&s, LIVE, LIVE, GONE);
    ck_assert(run(&s, ELECT_PREFERRED, 312, false));
    expect(&s, 1, 312, 123);
    ck_assert(!run(&s, ELECT_PREFERRED, 23, false));
    scene_deinit(&s);
}
END_TEST

START_TEST(shutdown_tells_the_leaving_broker_too)
{
    struct scene s;

    scene_init(&s, SHUTTING_DOWN, GONE, LIVE);
    ck_assert(run(&s, ELECT_SHUTDOWN, 123, false));
    expect(&s, 3, 23, 13);
    ck_assert(!run(&s, ELECT_SHUTDOWN, 12, false));
    scene_deinit(&s);
}
END_TEST

START_TEST(reassign_takes_targets_only)
{
    struct scene s;
    int32_t ids[] = {1, 2, 3};
    struct node_partition a = {.replicas = {ids, 3}, .adding = {ids + 1, 2}, .removing = {ids, 1}};

    scene_init(&s, LIVE, GONE, LIVE);
    context_assign(&s.x, s.p, &a);
    ck_assert(run(&s, ELECT_REASSIGN, 123, false));
    expect(&s, 3, 123, 23);
    ck_assert(!run(&s, ELECT_REASSIGN, 12, false));
    scene_deinit(&s);
}
END_TEST

TEST_MAIN("controller/elect", offline_takes_the_first_live_member_of_the_isr,
          unclean_leader_is_alone_in_the_isr, broker_that_shuts_down_is_not_live,
          failed_log_directory_is_as_good_as_gone, preferred_is_the_head_or_nobody,
          shutdown_tells_the_leaving_broker_too, reassign_takes_targets_only)
