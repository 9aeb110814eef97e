#include "tests/support/join_world.h"

#define BASE "broker.id=1\nzookeeper.connect=z:2181/k\nlisteners=PLAINTEXT://h1:9092\n"

static struct join_world w;

START_TEST(a_good_file_is_well)
{
    join_start(&w);
    join_file(&w, BASE "inter.broker.protocol.version=3.9\n");
    EXPECT_WELL(&w);
    EXPECT_NOT(&w, "server.properties", NULL);
    join_end(&w);
}
END_TEST

START_TEST(everything_that_a_start_refuses_blocks)
{
    join_start(&w);
    join_file(&w, BASE "authorizer.class.name=A\nzookeeper.set.acl=true\n");
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "authorizer.class.name=A");
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "zookeeper.set.acl=true");
    join_file(&w, BASE "num.io.threads=none\n");
    ck_assert_ptr_null(w.f.conf);
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "num.io.threads");
    join_end(&w);
}
END_TEST

START_TEST(keys_without_effect_are_told)
{
    join_start(&w);
    join_file(&w, BASE "sasl.enabled.mechanisms=PLAIN\nsome.key=x\n"
                       "remote.log.storage.system.enable=true\ndelegation.token.secret.key=s\n"
                       "create.topic.policy.class.name=P\nmetric.reporters=\n"
                       "password.encoder.secret=s\n");
    EXPECT(&w, JOIN_NOTE, "server.properties:4", "sasl.enabled.mechanisms has no effect");
    EXPECT(&w, JOIN_NOTE, "server.properties:5", "some.key: no 3.9 broker");
    EXPECT(&w, JOIN_WARNING, "server.properties:6", "tiered storage");
    EXPECT(&w, JOIN_WARNING, "server.properties:7", "delegation tokens");
    EXPECT(&w, JOIN_WARNING, "server.properties:8", "a policy for new topics");
    EXPECT(&w, JOIN_NOTE, "server.properties:9", "metric.reporters has no effect");
    EXPECT_NOT(&w, "server.properties:10", NULL);
    join_file(&w, BASE "remote.log.storage.system.enable=false\n");
    EXPECT(&w, JOIN_NOTE, "server.properties:4", "has no effect");
    join_end(&w);
}
END_TEST

START_TEST(the_file_is_of_this_cluster_and_this_broker)
{
    join_start(&w);
    join_file(&w, BASE);
    w.f.zookeeper = STR("z:2181/other");
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "has another chroot");
    w.f.zookeeper = STR("y:2181/k/");
    EXPECT(&w, JOIN_NOTE, "server.properties", "names other servers");
    w.f.zookeeper = STR("z:2181/k");
    w.f.wanted = w.f.broker = 2;
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "broker.id=1, but broker 2");
    join_file(&w, "zookeeper.connect=z:2181/k\n");
    w.f.wanted = w.f.broker = -1;
    EXPECT(&w, JOIN_BLOCKS, "server.properties", "which broker this is");
    join_end(&w);
}
END_TEST

START_TEST(the_dialect_is_that_of_the_others)
{
    struct join_live live[] = {{.id = 2, .ibp = STR("3.5-IV2"), .transactional_ids = -1}};

    join_start(&w);
    join_file(&w, BASE);
    EXPECT(&w, JOIN_NOTE, "server.properties", "inter.broker.protocol.version is not set");
    w.f.zk.zk.isr_changes = (struct why_notices){1, w.f.zk.now_ms};
    EXPECT(&w, JOIN_WARNING, "server.properties", "through ZooKeeper");
    w.f.zk.zk.isr_changes.count = 0;
    w.f.live = live;
    w.f.live_count = 1;
    EXPECT(&w, JOIN_BLOCKS, "broker 2", "speaks inter.broker.protocol.version 3.5-IV2");
    join_file(&w, BASE "inter.broker.protocol.version=3.4\n");
    EXPECT(&w, JOIN_WARNING, "broker 2", "the file says 3.4-IV0");
    join_file(&w, BASE "inter.broker.protocol.version=3.5\n");
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(what_running_brokers_are_set_to)
{
    struct join_live live[] = {
        {.id = 1, .authorizer = STR("A")}, {.id = 2, .authorizer = STR("A")}, {.id = 3}};

    join_start(&w);
    live[2].migrates = STR("true");
    w.f.live = live;
    w.f.live_count = 3;
    EXPECT(&w, JOIN_BLOCKS, "broker 1", "has the authorizer A");
    EXPECT(&w, JOIN_WARNING, "broker 2", "has the authorizer A");
    EXPECT(&w, JOIN_BLOCKS, "broker 3", "migration.enable=true");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_conf", a_good_file_is_well, everything_that_a_start_refuses_blocks,
          keys_without_effect_are_told, the_file_is_of_this_cluster_and_this_broker,
          the_dialect_is_that_of_the_others, what_running_brokers_are_set_to)
