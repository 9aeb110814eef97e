#include "controller/context.h"

#include "controller/lists.h"
#include "tests/support/test_main.h"

static struct ctl_partition *add(struct context *x, struct ctl_topic *t, int32_t id, int32_t first,
                                 int32_t second)
{
    int32_t ids[] = {first, second};
    struct node_partition a = {.replicas = {ids, 2}};

    return context_partition_add(x, t, id, &a);
}

static void lead(struct context *x, struct ctl_partition *p, int32_t leader)
{
    struct node_state st = {.leader = leader, .isr = partition_replicas(p)};

    context_set_leadership(x, p, &st, 0, 1);
}

START_TEST(brokers_are_kept_by_id)
{
    struct context x = {0};
    struct node_broker node = {.rack = STR("r")};

    for (int32_t id = 9; id > 0; id -= 2)
        context_broker_put(&x, id, 10 * id, &node);
    ck_assert_int_eq(x.broker_count, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(x.brokers[i]->id, 2 * i + 1);
    ck_assert_ptr_null(context_broker(&x, 4));
    context_broker_put(&x, 5, 99, &node)->is_shutting_down = true;
    ck_assert_int_eq(x.broker_count, 5);
    ck_assert_int_eq(context_broker(&x, 5)->epoch, 99);
    ck_assert(!context_is_live(&x, 5));
    context_broker_remove(&x, 5);
    context_broker_remove(&x, 5);
    ck_assert_ptr_null(context_broker(&x, 5));
    ck_assert(context_is_live(&x, 9));
    context_clear(&x);
}
END_TEST

START_TEST(partitions_are_kept_by_id_with_gaps)
{
    struct context x = {0};
    struct ctl_topic *t = context_topic_add(&x, STR("t"));
    const int32_t order[] = {7, 0, 3, 12, 1};

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        add(&x, t, order[i], 1, 2);
    for (int i = 1; i < t->count; i++)
        ck_assert_int_lt(t->partitions[i - 1]->id, t->partitions[i]->id);
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        ck_assert_int_eq(context_partition(&x, STR("t"), order[i])->id, order[i]);
    ck_assert_ptr_null(context_partition(&x, STR("t"), 2));
    ck_assert_ptr_null(context_partition(&x, STR("t"), -1));
    ck_assert_ptr_null(context_partition(&x, STR("u"), 0));
    ck_assert_int_eq(x.partition_count, 5);
    context_clear(&x);
}
END_TEST

START_TEST(topics_are_found_by_id_while_they_have_one)
{
    struct context x = {0};
    struct ctl_topic *t = context_topic_add(&x, STR("t"));
    struct uuid a = uuid_random(), b = uuid_random();

    ck_assert_ptr_null(context_topic_by_id(&x, a));
    context_topic_set_id(&x, t, a);
    ck_assert_ptr_eq(context_topic_by_id(&x, a), t);
    context_topic_set_id(&x, t, b);
    ck_assert_ptr_null(context_topic_by_id(&x, a));
    /* The same id twice, by hand: the first keeps it, and nothing breaks. */
    struct ctl_topic *u = context_topic_add(&x, STR("u"));
    context_topic_set_id(&x, u, b);
    ck_assert_ptr_eq(context_topic_by_id(&x, b), t);
    context_topic_remove(&x, u);
    ck_assert_ptr_eq(context_topic_by_id(&x, b), t);
    context_clear(&x);
}
END_TEST

START_TEST(replicas_that_stay_keep_their_state)
{
    struct context x = {0};
    struct ctl_topic *t = context_topic_add(&x, STR("t"));
    struct ctl_partition *p = add(&x, t, 0, 1, 2);
    int32_t ids[] = {3, 2};
    struct node_partition next = {
        .replicas = {ids, 2}, .adding = {ids, 1}, .removing = {ids + 1, 1}};

    replica_set_state(p, 2, REPLICA_ONLINE);
    replica_set_offline_dir(p, 2, true);
    context_assign(&x, p, &next);
    ck_assert_int_eq(replica_state(p, 2), REPLICA_ONLINE);
    ck_assert(replica_on_offline_dir(p, 2));
    ck_assert_int_eq(replica_state(p, 3), REPLICA_NONE);
    ck_assert_int_eq(replica_state(p, 1), REPLICA_NONE);
    ck_assert_int_eq(t->reassigning, 1);
    ck_assert_int_eq(t->in_state[REPLICA_ONLINE], 1);
    ck_assert_int_eq(topic_replica_count(t), 2);
    replica_remove(&x, p, 2);
    ck_assert_int_eq(p->replica_count, 1);
    ck_assert_int_eq(p->removing_count, 0);
    ck_assert_int_eq(topic_replica_count(t), 1);
    replica_remove(&x, p, 3);
    ck_assert_int_eq(t->reassigning, 0);
    context_clear(&x);
}
END_TEST

START_TEST(figures_follow_states_and_leaders)
{
    struct context x = {0};
    struct ctl_topic *t = context_topic_add(&x, STR("t"));
    struct ctl_partition *p = add(&x, t, 0, 1, 2), *q = add(&x, t, 1, 1, 2);

    context_set_partition_state(&x, p, PARTITION_OFFLINE);
    context_set_partition_state(&x, q, PARTITION_NEW);
    ck_assert_int_eq(x.offline_partitions, 1);
    ck_assert_int_eq(x.new_partitions, 1);
    lead(&x, p, 2);
    lead(&x, q, 1);
    ck_assert_int_eq(x.preferred_imbalance, 1);
    context_topic_queue(&x, t);
    context_topic_queue(&x, t);
    ck_assert_int_eq(x.offline_partitions + x.new_partitions, 0);
    ck_assert_int_eq(x.preferred_imbalance, 0);
    ck_assert_int_eq(x.queued_count, 1);
    ck_assert_int_eq(partition_stop_epoch(p), EPOCH_DURING_DELETE);
    context_topic_remove(&x, t);
    ck_assert_int_eq(x.topic_count + x.partition_count + x.queued_count, 0);
    ck_assert_ptr_null(x.queued);
    context_clear(&x);
}
END_TEST

TEST_MAIN("controller/context", brokers_are_kept_by_id, partitions_are_kept_by_id_with_gaps,
          topics_are_found_by_id_while_they_have_one, replicas_that_stay_keep_their_state,
          figures_follow_states_and_leaders)
