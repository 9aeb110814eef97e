/*
 * test_malformed.c - what zkCli or another program may have left in ZooKeeper: said, passed over,
 * never fatal, and taken in once it is mended
 */
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_paths.h"
#include "zk/zk_topics.h"

static const char *const garbage[] = {
    "",
    "x",
    "{",
    "[]",
    "null",
    "{\"version\":\"1\"}",
    "{\"version\":1,\"leader\":\"1\",\"leader_epoch\":0,\"controller_epoch\":0,\"isr\":[1]}",
    "{\"version\":1,\"leader\":2,\"leader_epoch\":2147483647,\"controller_epoch\":0,\"isr\":[2]}",
    "{\"version\":1,\"leader\":2,\"leader_epoch\":-7,\"controller_epoch\":0,\"isr\":[]}",
    "{\"version\":1,\"leader\":9,\"leader_epoch\":3,\"controller_epoch\":0,\"isr\":[-1,9]}",
    "{\"version\":3,\"partitions\":{\"x\":[1]}}",
    "{\"version\":3,\"partitions\":{\"0\":[-1,2]}}",
    "{\"version\":3,\"partitions\":{\"2147483647\":[3,2]},\"adding_replicas\":{\"2147483647\":[9]}"
    "}",
    "{\"version\":3,\"partitions\":{\"0\":[]}}",
    "{\"version\":3,\"partitions\":{\"0\":[1,1]}}",
    "{\"version\":3,\"partitions\":{\"0\":\"1\"}}",
};

static struct slice bytes(const char *z)
{
    return slice_of(z, strlen(z));
}

static void put(struct fake_cluster *f, const char *path, struct slice data)
{
    enum zk_result r = zk_store_set(f->admin, path, data, -1, NULL);

    if (r == ZK_NO_NODE)
        r = zk_store_create_deep(f->admin, path, data);
    ck_assert_int_eq(r, ZK_OK);
    fake_cluster_run(f);
}

/* Everything else goes on: a failover, an election, a new topic. */
static void expect_alive(struct fake_cluster *f)
{
    fake_cluster_kill(f, 1);
    ck_assert_ptr_eq(fake_cluster_active(f), &f->brokers[2]);
    ck_assert_str_eq(fake_cluster_state(f, "good", 0), "L2 e1 isr 2,3 v1");
    fake_cluster_create(f, "more", "3,2");
    ck_assert_str_eq(fake_cluster_state(f, "more", 0), "L3 e0 isr 3,2 v0");
}

static void with_garbage_at(const char *path, struct slice data)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "good", "1,2,3");
    fake_cluster_create(&f, "bad", "2,3");
    put(&f, path, data);
    expect_alive(&f);
    fake_cluster_deinit(&f);
}

static void with_all_garbage_at(const char *path)
{
    say_set_level(SAY_ERROR + 1);
    with_garbage_at(path, (struct slice){NULL, 0});
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++)
        with_garbage_at(path, bytes(garbage[i]));
    say_set_level(SAY_INFO);
}

START_TEST(topic_node)
{
    with_all_garbage_at("/brokers/topics/bad");
    with_all_garbage_at("/brokers/topics/new");
}
END_TEST

START_TEST(overlong_topic_name)
{
    struct fake_cluster f;
    static char path[70000];

    say_set_level(SAY_ERROR + 1);
    memset(path, 'x', sizeof path);
    memcpy(path, "/brokers/topics/", 16);
    path[sizeof path - 1] = 0;
    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "good", "1,2,3");
    put(&f, path, bytes("{\"version\":1,\"partitions\":{\"0\":[2,1]}}"));
    ck_assert_int_eq(f.brokers[1].c->x.topic_count, 1);
    expect_alive(&f);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(state_node)
{
    with_all_garbage_at("/brokers/topics/bad/partitions/0/state");
}
END_TEST

START_TEST(registration)
{
    with_all_garbage_at("/brokers/ids/7");
    with_all_garbage_at("/brokers/ids/x");
}
END_TEST

START_TEST(feature_node)
{
    with_all_garbage_at(ZK_PATH_FEATURE);
}
END_TEST

START_TEST(notifications_and_wishes)
{
    with_all_garbage_at(ZK_PATH_PREFERRED_ELECTION);
    with_all_garbage_at(ZK_PATH_ISR_CHANGES "/isr_change_0000000001");
    with_all_garbage_at(ZK_PATH_LOG_DIR_EVENTS "/log_dir_event_0000000001");
    with_all_garbage_at(ZK_PATH_DELETE_TOPICS "/bad");
    with_all_garbage_at(ZK_PATH_DELETE_TOPICS "/unknown");
    with_all_garbage_at("/config/topics/bad");
}
END_TEST

START_TEST(registration_without_our_listener_is_left_out_until_mended)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    put(&f, "/brokers/ids/7",
        bytes("{\"version\":5,\"host\":null,\"port\":-1,\"endpoints\":[\"OTHER://h:1\"],"
              "\"listener_security_protocol_map\":{\"OTHER\":\"PLAINTEXT\"},\"jmx_port\":-1,"
              "\"timestamp\":\"1\",\"features\":{}}"));
    ck_assert_ptr_null(context_broker(&f.brokers[1].c->x, 7));
    ck_assert(!fake_channels_has(&f.brokers[1].channels, 7));
    put(&f, "/brokers/ids/7",
        bytes("{\"version\":5,\"host\":\"h\",\"port\":1,\"endpoints\":[\"PLAINTEXT://h:1\"],"
              "\"listener_security_protocol_map\":{\"PLAINTEXT\":\"PLAINTEXT\"},\"jmx_port\":-1,"
              "\"timestamp\":\"1\",\"features\":{}}"));
    ck_assert_ptr_nonnull(context_broker(&f.brokers[1].c->x, 7));
    ck_assert(fake_channels_has(&f.brokers[1].channels, 7));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(mended_topic_gets_its_partitions)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    put(&f, "/brokers/topics/t", bytes("oops"));
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "none");
    put(&f, "/brokers/topics/t", bytes("{\"version\":1,\"partitions\":{\"0\":[2,1]}}"));
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e0 isr 2,1 v0");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(topic_without_an_id_gets_one)
{
    struct fake_cluster f;
    struct zk_topic t = {.name = STR("t")};

    fake_cluster_init(&f, 2);
    put(&f, "/brokers/topics/t", bytes("{\"version\":1,\"partitions\":{\"0\":[2,1]}}"));
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    ck_assert(!uuid_is_zero(t.node.id));
    ck_assert_int_eq(t.node.count, 1);
    ck_assert(uuid_eq(t.node.id, context_topic(&f.brokers[1].c->x, STR("t"))->id));
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/malformed", topic_node, overlong_topic_name, state_node, registration,
          feature_node, notifications_and_wishes,
          registration_without_our_listener_is_left_out_until_mended,
          mended_topic_gets_its_partitions, topic_without_an_id_gets_one)
