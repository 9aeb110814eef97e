#include "zk/zk_topics.h"

#include "tests/unit/zk/zk_test.h"
#include "zk/zk_election.h"

static int32_t replicas[] = {1, 2};
static struct node_partition partition = {.id = 0, .replicas = {replicas, 2}};
static const struct node_topic topic = {.partitions = &partition, .count = 1};
static const struct node_config no_config;

START_TEST(topic_needs_a_controller_and_gets_its_config_first)
{
    struct zk_test z;
    struct zk_election e;

    zk_test_init(&z);
    ck_assert_int_eq(zk_topic_create(z.s, STR("t"), &topic, &no_config), ZK_CONTROLLER_MOVED);
    zk_elect(z.s, 1, &e);
    ck_assert_int_eq(zk_topic_create(z.s, STR("t"), &topic, &no_config), ZK_OK);
    ck_assert_int_eq(zk_topic_create(z.s, STR("t"), &topic, &no_config), ZK_NODE_EXISTS);
    ck_assert(zk_test_holds(&z, "/config/topics/t", "{\"version\":1,\"config\":{}}"));
    ck_assert(zk_test_holds(&z, "/brokers/topics/t",
                            "{\"version\":3,\"partitions\":{\"0\":[1,2]},\"adding_replicas\":{},"
                            "\"removing_replicas\":{}}"));
    zk_test_deinit(&z);
}
END_TEST

START_TEST(lost_answer_to_the_create_is_told_by_the_topic_id)
{
    struct zk_test z;
    struct zk_election e;
    struct node_topic t = topic;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    t.id = uuid_random();
    fake_zk_lose_reply(z.one, 2); /* the config, then the node */
    ck_assert_int_eq(zk_topic_create(z.s, STR("t"), &t, &no_config), ZK_OK);
    t.id = uuid_random();
    ck_assert_int_eq(zk_topic_create(z.s, STR("t"), &t, &no_config), ZK_NODE_EXISTS);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(many_topics_are_read_in_one_round)
{
    struct zk_test z;
    struct zk_election e;
    struct zk_topic list[] = {{.name = STR("t")}, {.name = STR("absent")}, {.name = STR("bad")}};

    zk_test_init(&z);
    say_set_level(SAY_ERROR + 1);
    zk_elect(z.s, 1, &e);
    zk_topic_create(z.s, STR("t"), &topic, &no_config);
    zk_store_create(z.s, "/brokers/topics/bad", (struct slice){0}, 0);
    uint64_t before = fake_zk_rounds(z.one);
    ck_assert_int_eq(zk_topics_read(z.s, &z.a, list, 3), ZK_OK);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 1);
    ck_assert_int_eq(list[0].result, ZK_OK);
    ck_assert_int_eq(list[0].node.count, 1);
    ck_assert_int_eq(list[1].result, ZK_NO_NODE);
    ck_assert_int_eq(list[2].result, ZK_MALFORMED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(assignment_is_rewritten_under_the_fence)
{
    struct zk_test z;
    struct zk_election e;
    bool there;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    zk_topic_create(z.s, STR("t"), &topic, &no_config);
    ck_assert_int_eq(zk_topic_set(z.s, STR("t"), &topic, e.epoch_version - 1), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_topic_set(z.s, STR("t"), &topic, e.epoch_version), ZK_OK);
    ck_assert_int_eq(zk_topic_set(z.s, STR("t"), &topic, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_topic_set(z.s, STR("u"), &topic, e.epoch_version), ZK_NO_NODE);
    ck_assert_int_eq(zk_topic_exists(z.s, STR("t"), &there), ZK_OK);
    ck_assert(there);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(deletion_takes_tree_config_and_wish)
{
    struct zk_test z;
    struct zk_election e;
    struct zk_names names;
    struct node_ids ids;
    bool there;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    zk_topic_create(z.s, STR("t"), &topic, &no_config);
    zk_store_create_deep(z.s, "/brokers/topics/t/partitions/0/state", bytes("{}"));
    zk_store_create_deep(z.s, "/brokers/topics/t/partitions/11", bytes("{}"));
    ck_assert_int_eq(zk_topic_partition_ids(z.s, STR("t"), &z.a, &ids), ZK_OK);
    ck_assert(ids.count == 2 && ids.list[1] == 11);
    ck_assert_int_eq(zk_delete_topic_request(z.t, STR("t")), ZK_OK);
    ck_assert_int_eq(zk_delete_topic_request(z.t, STR("t")), ZK_NODE_EXISTS);
    ck_assert_int_eq(zk_delete_topics_is_requested(z.s, STR("t"), &there), ZK_OK);
    ck_assert(there);
    ck_assert_int_eq(zk_topic_delete(z.s, STR("t"), 0), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_topic_delete(z.s, STR("t"), e.epoch_version), ZK_OK);
    zk_topics_list(z.s, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 0);
    zk_delete_topics_list(z.s, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 0);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/topics/t", NULL), ZK_NO_NODE);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(wishes_are_taken_back_together)
{
    struct zk_test z;
    struct zk_election e;
    struct zk_names names;

    zk_test_init(&z);
    zk_elect(z.s, 1, &e);
    zk_delete_topic_request(z.s, STR("a"));
    zk_delete_topic_request(z.s, STR("b"));
    zk_delete_topics_list(z.s, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 2);
    zk_store_delete(z.t, "/admin/delete_topics/a", -1);
    ck_assert_int_eq(zk_delete_topics_remove(z.s, &names, e.epoch_version), ZK_OK);
    zk_delete_topics_list(z.s, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 0);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_topics", topic_needs_a_controller_and_gets_its_config_first,
          lost_answer_to_the_create_is_told_by_the_topic_id, many_topics_are_read_in_one_round,
          assignment_is_rewritten_under_the_fence, deletion_takes_tree_config_and_wish,
          wishes_are_taken_back_together)
