#include "tests/support/join_world.h"

static struct join_world w;

START_TEST(a_migration_blocks)
{
    join_start(&w);
    w.f.nodes.has_migration = true;
    w.f.nodes.migration = (struct node_migration){3000, 4};
    EXPECT(&w, JOIN_BLOCKS, "/migration", "KRaft controller 3000, epoch 4");
    join_end(&w);
}
END_TEST

START_TEST(a_finalized_feature_blocks_unless_features_are_disabled)
{
    struct node_finalized one = {STR("metadata.version"), 1, 7};

    join_start(&w);
    w.f.nodes.has_features = true;
    w.f.nodes.features = (struct node_features){.version = 2, .enabled = true};
    EXPECT_WELL(&w);
    w.f.nodes.features.list = &one;
    w.f.nodes.features.count = 1;
    EXPECT(&w, JOIN_BLOCKS, "/feature", "metadata.version is finalized at level 7");
    w.f.nodes.features.enabled = false;
    EXPECT(&w, JOIN_NOTE, "/feature", "metadata.version");
    join_end(&w);
}
END_TEST

START_TEST(producer_ids_end)
{
    join_start(&w);
    w.f.nodes.has_producer_block = true;
    w.f.nodes.producer_block = (struct node_producer_block){1, 0, 999};
    EXPECT_WELL(&w);
    w.f.nodes.producer_block.end = INT64_MAX - 5;
    EXPECT(&w, JOIN_BLOCKS, "/latest_producer_id_block", "used up");
    join_end(&w);
}
END_TEST

START_TEST(acls_block_where_no_file_gives_them_up)
{
    join_start(&w);
    why_texts_add(&w.arena, &w.f.nodes.acls, STR("/kafka-acl/Topic/t"));
    EXPECT(&w, JOIN_BLOCKS, "/kafka-acl/Topic/t", "does not enforce");
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\n");
    EXPECT(&w, JOIN_WARNING, "/kafka-acl/Topic/t", "does not enforce");
    join_file(&w, "broker.id=1\nzookeeper.connect=z:2181/k\nauthorizer.class.name=A\n");
    EXPECT(&w, JOIN_BLOCKS, "/kafka-acl/Topic/t", "does not enforce");
    join_end(&w);
}
END_TEST

START_TEST(what_users_rely_on_is_a_warning)
{
    join_start(&w);
    why_texts_add(&w.arena, &w.f.nodes.tokens, STR("tok"));
    why_texts_add(&w.arena, &w.f.nodes.scram, STR("/config/users/alice"));
    why_texts_add(&w.arena, &w.f.nodes.quotas, STR("/config/clients/a"));
    why_texts_add(&w.arena, &w.f.nodes.quotas, STR("/config/ips/1.2.3.4"));
    EXPECT(&w, JOIN_WARNING, "tok", "delegation token");
    EXPECT(&w, JOIN_WARNING, "/config/users/alice", "SCRAM");
    EXPECT(&w, JOIN_WARNING, "/config/ips/1.2.3.4", "quota");
    ck_assert_uint_eq(join_find(&w, "/config/clients/a", "quota")->places, 2);
    join_end(&w);
}
END_TEST

START_TEST(wishes_that_nobody_fulfils)
{
    struct why_deletion d[] = {{.topic = STR("old")}, {.topic = STR("new")}};

    join_start(&w);
    d[0].since_ms = w.f.zk.now_ms - 3600000;
    d[1].since_ms = w.f.zk.now_ms - 1000;
    w.f.zk.zk.deletions = d;
    w.f.zk.zk.deletions_count = 2;
    w.f.zk.zk.has_legacy = true;
    w.f.zk.zk.legacy_count = 5;
    w.f.nodes.has_preferred = true;
    EXPECT(&w, JOIN_WARNING, "/admin/delete_topics/old", "has been waiting to be deleted");
    EXPECT(&w, JOIN_NOTE, "/admin/delete_topics/new", "is being deleted");
    EXPECT(&w, JOIN_WARNING, "/admin/reassign_partitions", "asked for 5 reassignment(s)");
    EXPECT(&w, JOIN_NOTE, "/admin/preferred_replica_election", "preferred leaders");
    join_end(&w);
}
END_TEST

START_TEST(notifications_that_nobody_takes)
{
    join_start(&w);
    w.f.zk.zk.isr_changes = (struct why_notices){2, w.f.zk.now_ms - 1000};
    w.f.zk.zk.dir_events = (struct why_notices){3, w.f.zk.now_ms - 3600000};
    EXPECT(&w, JOIN_NOTE, "/isr_change_notification", "2 notification(s)");
    EXPECT(&w, JOIN_WARNING, "/log_dir_event_notification", "3 notification(s)");
    join_end(&w);
}
END_TEST

TEST_MAIN("tools/join/join_judge_nodes", a_migration_blocks,
          a_finalized_feature_blocks_unless_features_are_disabled, producer_ids_end,
          acls_block_where_no_file_gives_them_up, what_users_rely_on_is_a_warning,
          wishes_that_nobody_fulfils, notifications_that_nobody_takes)
