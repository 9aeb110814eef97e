/*
 * test_cost.c - what many partitions cost: round trips to ZooKeeper, messages, memory
 *
 * The figures are bounds that a change of algorithm would break, not measurements.
 */
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_topics.h"

#include <malloc.h>

enum { TOPICS = 1000, PARTITIONS = 3 };

/* All at once, as one CreateTopics request would, and seen by the controller as one event. */
static void create_many(struct fake_cluster *f)
{
    int32_t ids[] = {1, 2, 3, 1, 2};
    struct node_config config = {0};
    struct node_partition p[PARTITIONS];

    fake_zk_hold_events(f->server, true);
    for (int i = 0; i < PARTITIONS; i++)
        p[i] = (struct node_partition){.id = i, .replicas = {ids + i, 3}};
    for (int i = 0; i < TOPICS; i++) {
        char name[32];
        struct node_topic t = {.id = uuid_random(), .partitions = p, .count = PARTITIONS};
        snprintf(name, sizeof name, "topic-%d", i);
        ck_assert_int_eq(zk_topic_create(f->admin, str_of(name), &t, &config), ZK_OK);
    }
    fake_zk_hold_events(f->server, false);
}

static size_t sent(const struct fake_broker *b)
{
    return b->channels.count;
}

START_TEST(a_thousand_topics_are_led_in_a_few_round_trips_and_one_batch)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    create_many(&f);
    uint64_t rounds = fake_zk_rounds(f.brokers[1].zk);
    size_t before = sent(&f.brokers[1]);
    fake_cluster_run(&f);
    ck_assert_int_eq(f.brokers[1].c->x.partition_count, TOPICS * PARTITIONS);
    ck_assert_int_eq(f.brokers[1].c->x.offline_partitions + f.brokers[1].c->x.new_partitions, 0);
    ck_assert_int_le((int)(fake_zk_rounds(f.brokers[1].zk) - rounds), 40);
    ck_assert_int_eq((int)(sent(&f.brokers[1]) - before), 6); /* LeaderAndIsr and UpdateMetadata */

    rounds = fake_zk_rounds(f.brokers[1].zk);
    fake_cluster_kill(&f, 3);
    ck_assert_int_eq(f.brokers[1].c->x.offline_partitions, 0);
    ck_assert_int_le((int)(fake_zk_rounds(f.brokers[1].zk) - rounds), 40);

    rounds = fake_zk_rounds(f.brokers[2].zk);
    fake_cluster_kill(&f, 1);
    ck_assert_ptr_eq(fake_cluster_active(&f), &f.brokers[2]);
    ck_assert_int_le((int)(fake_zk_rounds(f.brokers[2].zk) - rounds), 100);
    fake_cluster_deinit(&f);
}
END_TEST

/* What is known of a state is good enough for a write, which is done at that version only; and many
 * are written in one request. */
START_TEST(states_are_read_once)
{
    struct fake_cluster f;
    enum { STATES = TOPICS * PARTITIONS };

    fake_cluster_init(&f, 3);
    create_many(&f);
    fake_cluster_run(&f);
    uint64_t requests = fake_zk_requests(f.brokers[1].zk);
    fake_cluster_kill(&f, 3);
    ck_assert_int_le((int)(fake_zk_requests(f.brokers[1].zk) - requests), STATES / 20 + 200);

    /* Read with their topics, and not again. */
    requests = fake_zk_requests(f.brokers[2].zk);
    fake_cluster_kill(&f, 1);
    ck_assert_ptr_eq(fake_cluster_active(&f), &f.brokers[2]);
    ck_assert_int_le((int)(fake_zk_requests(f.brokers[2].zk) - requests),
                     TOPICS + STATES + STATES / 10 + 400);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(a_thousand_topics_are_deleted_in_a_few_round_trips)
{
    struct fake_cluster f;

    say_set_level(SAY_WARN);
    fake_cluster_init(&f, 3);
    create_many(&f);
    fake_cluster_run(&f);
    fake_zk_hold_events(f.server, true);
    for (int i = 0; i < TOPICS; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        ck_assert_int_eq(zk_delete_topic_request(f.admin, str_of(name)), ZK_OK);
    }
    fake_zk_hold_events(f.server, false);
    uint64_t rounds = fake_zk_rounds(f.brokers[1].zk);
    size_t before = sent(&f.brokers[1]);
    fake_cluster_run(&f);
    ck_assert_int_eq(f.brokers[1].c->x.topic_count, 0);
    ck_assert_int_le((int)(fake_zk_rounds(f.brokers[1].zk) - rounds), 150);
    ck_assert_int_le((int)(sent(&f.brokers[1]) - before), 12);
    fake_cluster_deinit(&f);
}
END_TEST

/* What a large batch needed is given back once the brokers should have it. */
START_TEST(memory_of_a_large_batch_is_given_back)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    const struct controller *c = f.brokers[1].c;
    ck_assert_int_eq(c->trim_due_us, NEVER_US);
    create_many(&f);
    fake_cluster_run(&f);
    ck_assert_int_gt(c->trim_due_us, clock_mono_us(&f.clock.clock));
    clock_fake_advance(&f.clock, 2000);
    fake_cluster_run(&f);
    ck_assert_int_eq(c->trim_due_us, NEVER_US);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(two_hundred_thousand_partitions_fit_into_little_memory)
{
    struct context x = {0};
    int32_t ids[] = {1, 2, 3};
    struct node_partition a = {.replicas = {ids, 3}};
    struct node_state st = {.leader = 1, .isr = {ids, 3}};
    size_t before = mallinfo2().uordblks;

    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "some-topic-name-%d", i);
        struct ctl_topic *t = context_topic_add(&x, str_of(name));
        context_topic_set_id(&x, t, uuid_random());
        for (int p = 0; p < 10; p++)
            context_set_leadership(&x, context_partition_add(&x, t, p, &a), &st, 0, 1);
    }
    size_t used = mallinfo2().uordblks - before;
    if (used) /* a sanitizer's allocator does not tell */
        ck_assert_int_le((int)(used / 200000), 240);
    context_clear(&x);
}
END_TEST

TEST_MAIN("controller/cost", a_thousand_topics_are_led_in_a_few_round_trips_and_one_batch,
          states_are_read_once, a_thousand_topics_are_deleted_in_a_few_round_trips,
          memory_of_a_large_batch_is_given_back,
          two_hundred_thousand_partitions_fit_into_little_memory)
