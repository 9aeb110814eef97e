#include "zk/zk_states.h"

#include "tests/unit/zk/zk_test.h"

enum { N = 10 };

static int32_t isr[] = {1, 2};

static void fill(struct zk_partition_state *list, int32_t controller_epoch)
{
    for (int i = 0; i < N; i++)
        list[i] = (struct zk_partition_state){
            .topic = i < 5 ? STR("t") : STR("u"),
            .partition = i % 5,
            .state = {1, 0, controller_epoch, {isr, 2}, NODE_RECOVERED},
        };
}

static void with_topics(struct zk_test *z)
{
    zk_test_init(z);
    zk_test_epoch(z);
    zk_store_create(z->s, ZK_PATH_TOPICS "/t", bytes("{}"), 0);
    zk_store_create(z->s, ZK_PATH_TOPICS "/u", bytes("{}"), 0);
}

START_TEST(states_are_created_in_three_rounds_and_read_in_one)
{
    struct zk_test z;
    struct zk_partition_state list[N], back[N];

    with_topics(&z);
    fill(list, 2);
    uint64_t before = fake_zk_rounds(z.one);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 3);
    fill(back, 0);
    before = fake_zk_rounds(z.one);
    ck_assert_int_eq(zk_states_read(z.s, &z.a, back, N), ZK_OK);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 1);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(list[i].result, ZK_OK);
        ck_assert_int_eq(back[i].result, ZK_OK);
        ck_assert_int_eq(back[i].version, 0);
        ck_assert(node_state_eq(&list[i].state, &back[i].state));
    }
    zk_test_deinit(&z);
}
END_TEST

START_TEST(absent_and_malformed_states_are_told_apart)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 2);
    say_set_level(SAY_ERROR + 1);
    zk_store_create_deep(z.s, ZK_PATH_TOPICS "/t/partitions/0/state", bytes("{\"leader\":\"1\"}"));
    ck_assert_int_eq(zk_states_read(z.s, &z.a, list, N), ZK_OK);
    ck_assert_int_eq(list[0].result, ZK_MALFORMED);
    ck_assert_int_eq(list[1].result, ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(lost_answer_to_a_create_counts_as_done)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 2);
    /* two for /partitions, ten for /partitions/P, then the first state */
    fake_zk_lose_reply(z.one, 13);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(list[i].result, ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(lost_answer_to_an_update_counts_as_done)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 2);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    for (int32_t fence = 1; fence >= ZK_NO_FENCE; fence -= 1 - ZK_NO_FENCE) {
        int32_t version = list[1].version + 1;
        for (int i = 0; i < N; i++)
            list[i].state.leader_epoch++;
        list[0].version = 77; /* this one is refused indeed */
        fake_zk_lose_reply(z.one, 2 + (fence > 0));
        ck_assert_int_eq(zk_states_update(z.s, list, N, fence), ZK_OK);
        ck_assert_int_eq(list[0].result, ZK_BAD_VERSION);
        for (int i = 1; i < N; i++) {
            ck_assert_int_eq(list[i].result, ZK_OK);
            ck_assert_int_eq(list[i].version, version);
        }
    }
    /* Another content of the same version is another's. */
    list[1].version--;
    list[1].state.leader_epoch++;
    ck_assert_int_eq(zk_states_update(z.s, list + 1, 1, 1), ZK_OK);
    ck_assert_int_eq(list[1].result, ZK_BAD_VERSION);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(state_of_an_earlier_controller_is_taken_over)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 1);
    list[3].state.leader = 2;
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    fill(list, 2);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    ck_assert_int_eq(list[3].result, ZK_NODE_EXISTS);
    ck_assert_int_eq(list[3].state.leader, 2);
    ck_assert_int_eq(list[3].state.controller_epoch, 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(update_is_conditional_on_the_version_of_each)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 2);
    zk_states_create(z.s, &z.a, list, N, 1);
    list[4].version = 7;
    list[9].partition = 99;
    ck_assert_int_eq(zk_states_update(z.s, list, N, 1), ZK_OK);
    ck_assert_int_eq(list[0].result, ZK_OK);
    ck_assert_int_eq(list[0].version, 1);
    ck_assert_int_eq(list[4].result, ZK_BAD_VERSION);
    ck_assert_int_eq(list[4].version, 7);
    ck_assert_int_eq(list[9].result, ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(many_are_written_in_one_request)
{
    enum { MANY = 100 };
    struct zk_test z;
    struct zk_partition_state list[MANY];

    with_topics(&z);
    for (int i = 0; i < MANY; i++)
        list[i] = (struct zk_partition_state){
            .topic = STR("t"), .partition = i, .state = {1, 0, 2, {isr, 2}, NODE_RECOVERED}};
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, MANY, 1), ZK_OK);
    uint64_t before = fake_zk_requests(z.one);
    ck_assert_int_eq(zk_states_update(z.s, list, MANY, 1), ZK_OK);
    ck_assert_uint_le(fake_zk_requests(z.one) - before, MANY / 20);
    /* One that is refused costs only those that went with it a request of their own. */
    list[50].version = 0;
    list[50].state.leader = 3;
    before = fake_zk_requests(z.one);
    ck_assert_int_eq(zk_states_update(z.s, list, MANY, 1), ZK_OK);
    ck_assert_uint_le(fake_zk_requests(z.one) - before, MANY / 20 + 40);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(list[i].result, i == 50 ? ZK_BAD_VERSION : ZK_OK);
        ck_assert_int_eq(list[i].version, i == 50 ? 0 : 2);
    }
    zk_test_deinit(&z);
}
END_TEST

START_TEST(large_states_are_written_in_requests_that_a_server_takes)
{
    enum { MANY = 40, ISR = 2000 };
    struct zk_test z;
    struct zk_partition_state list[MANY];
    int32_t *large;

    with_topics(&z);
    large = arena_new_array(&z.a, int32_t, ISR);
    for (int i = 0; i < ISR; i++)
        large[i] = 1000000 + i;
    for (int i = 0; i < MANY; i++)
        list[i] = (struct zk_partition_state){
            .topic = STR("t"), .partition = i, .state = {1, 0, 2, {isr, 2}, NODE_RECOVERED}};
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, MANY, 1), ZK_OK);
    for (int i = 0; i < MANY; i++)
        list[i].state.isr = (struct node_ids){large, ISR};
    uint64_t before = fake_zk_requests(z.one);
    ck_assert_int_eq(zk_states_update(z.s, list, MANY, 1), ZK_OK);
    ck_assert_uint_ge(fake_zk_requests(z.one) - before, MANY / 8); /* 16 kB each */
    ck_assert_int_eq(list[MANY - 1].version, 1);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(old_controller_writes_nothing)
{
    struct zk_test z;
    struct zk_partition_state list[N], back[N];

    with_topics(&z);
    fill(list, 2);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 0), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_OK);
    list[0].state.leader = 2;
    ck_assert_int_eq(zk_states_update(z.s, list, N, 0), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(list[0].result, ZK_CONTROLLER_MOVED);
    fill(back, 0);
    zk_states_read(z.s, &z.a, back, N);
    ck_assert_int_eq(back[0].state.leader, 1);
    ck_assert_int_eq(back[0].version, 0);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(expiry_ends_the_whole_call)
{
    struct zk_test z;
    struct zk_partition_state list[N];

    with_topics(&z);
    fill(list, 2);
    fake_zk_expire(z.one);
    ck_assert_int_eq(zk_states_read(z.s, &z.a, list, N), ZK_SESSION_EXPIRED);
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, N, 1), ZK_SESSION_EXPIRED);
    ck_assert_int_eq(list[N - 1].result, ZK_SESSION_EXPIRED);
    ck_assert_int_eq(zk_states_update(z.s, list, N, 1), ZK_SESSION_EXPIRED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(twenty_thousand_states_are_read_in_bounded_batches)
{
    enum { MANY = 20000 };
    struct zk_test z;
    CLEANUP(free_p) struct zk_partition_state *list = xnew_array(struct zk_partition_state, MANY);

    with_topics(&z);
    for (int i = 0; i < MANY; i++)
        list[i] = (struct zk_partition_state){
            .topic = STR("t"), .partition = i, .state = {1, 0, 2, {isr, 2}, 0}};
    ck_assert_int_eq(zk_states_create(z.s, &z.a, list, MANY, 1), ZK_OK);
    ck_assert_int_eq(zk_states_read(z.s, &z.a, list, MANY), ZK_OK);
    ck_assert_int_eq(list[MANY - 1].result, ZK_OK);
    ck_assert_int_eq(list[MANY - 1].state.isr.count, 2);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_states", states_are_created_in_three_rounds_and_read_in_one,
          absent_and_malformed_states_are_told_apart, lost_answer_to_a_create_counts_as_done,
          lost_answer_to_an_update_counts_as_done, state_of_an_earlier_controller_is_taken_over,
          update_is_conditional_on_the_version_of_each, many_are_written_in_one_request,
          large_states_are_written_in_requests_that_a_server_takes, old_controller_writes_nothing,
          expiry_ends_the_whole_call, twenty_thousand_states_are_read_in_bounded_batches)
