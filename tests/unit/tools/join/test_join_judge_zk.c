#include "tests/support/join_world.h"

static struct join_world w;

START_TEST(a_healthy_cluster_is_well)
{
    join_start(&w);
    join_topic(&w, "t", "1,2,3", "1,2,3");
    EXPECT_WELL(&w);
    EXPECT(&w, JOIN_NOTE, "/brokers/ids/1", "the broker runs");
    join_end(&w);
}
END_TEST

START_TEST(an_ensemble_that_cannot_be_used_blocks)
{
    join_start(&w);
    w.f.zk.zk =
        (struct why_zk_facts){.answers = WHY_NO, .silence = STR("nobody there"), .controller = -1};
    EXPECT(&w, JOIN_BLOCKS, "z:2181/k", "cannot be read: nobody there");
    w.f.zk.zk = (struct why_zk_facts){.answers = WHY_NO, .has_no_chroot = true, .controller = -1};
    EXPECT(&w, JOIN_BLOCKS, "z:2181/k", "no such chroot");
    join_end(&w);
    join_start(&w);
    w.f.zk.zk.is_read_only = true;
    EXPECT(&w, JOIN_BLOCKS, "z:2181/k", "no quorum");
    join_end(&w);
}
END_TEST

START_TEST(a_server_that_is_down_is_a_warning)
{
    struct join_server v[] = {{.name = STR("a:1/k"), .answers = true},
                              {.name = STR("b:1/k"), .silence = STR("refused")},
                              {.name = STR("c:1/k"), .answers = true, .is_read_only = true}};

    join_start(&w);
    w.f.nodes.servers = v;
    w.f.nodes.servers_count = ARRAY_LEN(v);
    EXPECT(&w, JOIN_WARNING, "b:1/k", "does not answer: refused");
    EXPECT(&w, JOIN_WARNING, "c:1/k", "no quorum");
    EXPECT_NOT(&w, "a:1/k", NULL);
    join_end(&w);
}
END_TEST

START_TEST(nodes_that_are_guarded_block)
{
    join_start(&w);
    why_texts_add(&w.arena, &w.f.nodes.guarded, STR("/brokers/ids: sasl:kafka:rwcda"));
    why_texts_add(&w.arena, &w.f.nodes.forbidden, STR("/config/users"));
    EXPECT(&w, JOIN_BLOCKS, "/brokers/ids", "not everybody may change it: sasl:kafka:rwcda");
    EXPECT(&w, JOIN_BLOCKS, "/config/users", "may not be read");
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\nzookeeper.digest.auth=u:p\n");
    EXPECT(&w, JOIN_WARNING, "/brokers/ids", "not everybody may change it");
    join_end(&w);
}
END_TEST

START_TEST(nodes_that_nobody_can_read_block_and_settings_warn)
{
    join_start(&w);
    why_add_bad(&w.f.zk, STR("/brokers/topics/t"), "no JSON: x");
    why_add_bad(&w.f.zk, STR("/config/topics/t"), "no texts");
    EXPECT(&w, JOIN_BLOCKS, "/brokers/topics/t", "cannot be understood: no JSON: x");
    EXPECT(&w, JOIN_WARNING, "/config/topics/t", "cannot be understood: no texts");
    join_end(&w);
}
END_TEST

START_TEST(there_has_to_be_a_controller)
{
    join_start(&w);
    w.f.zk.zk.controller = -1;
    EXPECT(&w, JOIN_BLOCKS, "/controller", "there is no controller");
    w.f.zk.zk.controller = 9;
    EXPECT(&w, JOIN_BLOCKS, "/controller", "names broker 9, which is not registered");
    w.f.zk.zk.is_kraft = true;
    EXPECT(&w, JOIN_BLOCKS, "/controller", "a KRaft controller (9)");
    w.f.zk.zk.is_kraft = false;
    w.f.zk.zk.controller = 2;
    w.f.zk.zk.controller_session = 0;
    EXPECT(&w, JOIN_BLOCKS, "/controller", "persistent");
    w.f.zk.zk.controller_session = 102;
    w.f.zk.zk.controller_epoch = -1;
    EXPECT(&w, JOIN_BLOCKS, "/controller_epoch", "missing");
    join_end(&w);
}
END_TEST

START_TEST(a_cluster_that_is_down_or_none)
{
    join_start(&w);
    w.f.zk.brokers_count = 0;
    w.f.zk.zk.controller = -1;
    EXPECT(&w, JOIN_WARNING, "/brokers/ids", "no broker is registered");
    EXPECT_NOT(&w, "/controller", NULL);
    w.f.zk.zk.cluster_id = STR_NULL;
    EXPECT(&w, JOIN_BLOCKS, "/cluster/id", "no cluster id");
    why_add_bad(&w.f.zk, STR("/cluster/id"), "no JSON");
    EXPECT(&w, JOIN_BLOCKS, "/cluster/id", "cannot be understood");
    EXPECT_NOT(&w, "/cluster/id", "no cluster id");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_zk", a_healthy_cluster_is_well,
          an_ensemble_that_cannot_be_used_blocks, a_server_that_is_down_is_a_warning,
          nodes_that_are_guarded_block, nodes_that_nobody_can_read_block_and_settings_warn,
          there_has_to_be_a_controller, a_cluster_that_is_down_or_none)
