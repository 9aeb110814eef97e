#include "tests/support/join_world.h"

#define FILE_OF_1 "broker.id=1\nzookeeper.connect=z:2181/k\nlisteners=PLAINTEXT://h1:9092\n"

static struct join_world w;

static struct node_broker *node(int32_t id)
{
    return (struct node_broker *)(uintptr_t)why_find_broker(&w.f.zk, id)->node;
}

START_TEST(the_id_is_free_taken_or_stuck)
{
    join_start(&w);
    EXPECT(&w, JOIN_NOTE, "/brokers/ids/1", "the broker runs");
    why_find_broker(&w.f.zk, 1)->session = 0;
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/1", "persistent");
    w.f.broker = 7;
    EXPECT(&w, JOIN_NOTE, "/brokers/ids/7", "free");
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/1", "no broker can be behind it");
    why_find_broker(&w.f.zk, 1)->node = NULL; /* not decodable */
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/1", "no broker can be behind it");
    join_end(&w);
}
END_TEST

START_TEST(sasl_blocks_where_there_is_nothing_else)
{
    struct node_endpoint two[] = {{STR("PLAINTEXT"), STR("h2"), 9092, NODE_PLAINTEXT},
                                  {STR("OUT"), STR("h2"), 9093, NODE_SASL_SSL}};

    join_start(&w);
    node(3)->endpoints[0].protocol = NODE_SASL_PLAINTEXT;
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/3", "all its listeners speak SASL");
    node(2)->endpoints = two;
    node(2)->endpoint_count = 2;
    EXPECT(&w, JOIN_WARNING, "/brokers/ids/2", "a listener that speaks SASL");
    join_end(&w);
}
END_TEST

START_TEST(others_need_the_listener_between_brokers)
{
    join_start(&w);
    join_file(&w, FILE_OF_1);
    EXPECT_WELL(&w);
    node(2)->endpoints[0].listener = STR("INSIDE");
    node(3)->endpoints[0].protocol = NODE_SSL;
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/2", "has no listener PLAINTEXT");
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/3", "speaks SSL, that of the file PLAINTEXT");
    join_end(&w);
}
END_TEST

START_TEST(others_need_the_control_plane_too)
{
    join_start(&w);
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\n"
                  "listeners=PLAINTEXT://h1:9092,CTL://h1:9093\ncontrol.plane.listener.name=CTL\n"
                  "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CTL:PLAINTEXT\n");
    ck_assert_uint_eq(w.f.refused.count, 0);
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/2", "has no listener CTL");
    join_end(&w);
}
END_TEST

START_TEST(nobody_else_advertises_the_same)
{
    join_start(&w);
    join_file(&w, FILE_OF_1);
    node(2)->endpoints[0].host = STR("h1");
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids/2", "advertises h1:9092, which the file advertises too");
    join_end(&w);
}
END_TEST

START_TEST(the_file_is_of_another_broker)
{
    join_start(&w);
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\nlisteners=PLAINTEXT://x:9\n"
                  "broker.rack=b\n");
    node(1)->rack = STR("a");
    EXPECT(&w, JOIN_WARNING, "/brokers/ids/1", "PLAINTEXT://h1:9092, and the file does not");
    EXPECT(&w, JOIN_WARNING, "/brokers/ids/1", "it is in rack \"a\", the file says \"b\"");
    join_end(&w);
}
END_TEST

START_TEST(who_watches_through_jmx_sees_nothing)
{
    join_start(&w);
    node(1)->jmx_port = 9999;
    EXPECT(&w, JOIN_WARNING, "/brokers/ids/1", "JMX (port 9999)");
    node(1)->jmx_port = -1;
    EXPECT_WELL(&w);
    join_end(&w);
}
END_TEST

START_TEST(features_of_a_broker_are_strange)
{
    struct node_feature one = {STR("f"), 1, 2};

    join_start(&w);
    node(2)->features = &one;
    node(2)->feature_count = 1;
    EXPECT(&w, JOIN_WARNING, "/brokers/ids/2", "features of its own");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_brokers", the_id_is_free_taken_or_stuck,
          sasl_blocks_where_there_is_nothing_else, others_need_the_listener_between_brokers,
          others_need_the_control_plane_too, nobody_else_advertises_the_same,
          the_file_is_of_another_broker, who_watches_through_jmx_sees_nothing,
          features_of_a_broker_are_strange)
