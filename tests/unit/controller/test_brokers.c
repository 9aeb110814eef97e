#include "controller/brokers.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_topics.h"

START_TEST(bounced_broker_is_seen_as_gone_and_back)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,1,3");
    fake_cluster_trace(&f);
    /* Dies and registers again before the controller looks. */
    fake_zk_hold_events(f.server, true);
    fake_zk_expire(f.brokers[2].zk);
    fake_zk_renew(f.brokers[2].zk);
    ck_assert_int_eq(zk_register_again(&f.brokers[2].reg, &f.brokers[2].node), ZK_OK);
    fake_zk_hold_events(f.server, false);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_trace(&f), "LISR 1,3: t-0 L1 e1 isr 1,3 rs 2,1,3\n"
                                             "UMR 1,3: t-0 L1 e1 isr 1,3 rs 2,1,3 off 2\n"
                                             "LISR 1,3: t-0 L1 e1 isr 1,3 rs 2,1,3\n"
                                             "UMR 1,3: t-0 L1 e1 isr 1,3 rs 2,1,3 off 2\n"
                                             "UMR 1,3\n"
                                             "UMR 2: t-0 L1 e1 isr 1,3 rs 2,1,3\n"
                                             "LISR 2: t-0 L1 e1 isr 1,3 rs 2,1,3\n"
                                             "UMR 1,2,3: t-0 L1 e1 isr 1,3 rs 2,1,3\n");
    ck_assert_int_eq(context_broker(&f.brokers[1].c->x, 2)->epoch, f.brokers[2].reg.epoch);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(new_address_is_told_but_the_same_data_is_not)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    ck_assert_int_eq(zk_register_update(&f.brokers[2].reg, &f.brokers[2].node, &why), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_trace(&f), "");
    f.brokers[2].endpoint.port = 7777;
    ck_assert_int_eq(zk_register_update(&f.brokers[2].reg, &f.brokers[2].node, &why), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2\n");
    ck_assert_int_eq(context_broker(&f.brokers[1].c->x, 2)->node.endpoints[0].port, 7777);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(idle_broker_that_dies_is_told_all_the_same)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    fake_cluster_trace(&f);
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(broker_that_shuts_down_is_forgotten_with_its_registration)
{
    struct fake_cluster f;
    int left;

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "2,1");
    ck_assert_int_eq(fake_cluster_shutdown(&f, 2, &left), 0);
    ck_assert_int_eq(left, 0);
    fake_cluster_kill(&f, 2);
    fake_cluster_start(&f, 2);
    ck_assert(context_is_live(&f.brokers[1].c->x, 2));
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(last_replica_in_sync_cannot_leave)
{
    struct fake_cluster f;
    int left;

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "2,1");
    fake_cluster_alter(&f, "t", 0, "2");
    ck_assert_int_eq(fake_cluster_shutdown(&f, 2, &left), 0);
    ck_assert_int_eq(left, 1);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e0 isr 2 v1");
    fake_cluster_deinit(&f);
}
END_TEST

static void note_done(struct controller_call *call)
{
    *(bool *)call->ctx = true;
}

static int set_partitions(struct fake_cluster *f, const char *topic, struct node_topic node,
                          int32_t version)
{
    bool done = false;
    struct controller_set_partitions call = {
        .call = {.arena = &f->arena, .done = note_done, .ctx = &done},
        .topic = str_of(topic),
        .node = node,
        .node_version = version,
    };

    controller_set_topic_partitions(f->brokers[1].c, &call);
    fake_cluster_run(f);
    ck_assert(done);
    return call.error;
}

START_TEST(partitions_are_added_only_to_what_was_read)
{
    struct fake_cluster f;
    struct zk_topic t = {.name = STR("t")};
    struct node_partition two[2];

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "2,1");
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    two[0] = t.node.partitions[0];
    two[1] = two[0];
    two[1].id = 1;
    t.node.partitions = two;
    t.node.count = 2;
    fake_cluster_trace(&f);
    ck_assert_int_eq(set_partitions(&f, "t", t.node, t.version), 0);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 1), "L2 e0 isr 2,1 v0");
    ck_assert_str_eq(fake_cluster_trace(&f), "LISR 1,2: t-1 L2 e0 isr 2,1 rs 2,1 new\n"
                                             "UMR 1,2: t-1 L2 e0 isr 2,1 rs 2,1\n");
    ck_assert_int_eq(set_partitions(&f, "t", t.node, t.version), -EAGAIN);
    ck_assert_int_eq(set_partitions(&f, "nope", t.node, 0), UNKNOWN_TOPIC_OR_PARTITION);
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/brokers", bounced_broker_is_seen_as_gone_and_back,
          new_address_is_told_but_the_same_data_is_not, idle_broker_that_dies_is_told_all_the_same,
          broker_that_shuts_down_is_forgotten_with_its_registration,
          last_replica_in_sync_cannot_leave, partitions_are_added_only_to_what_was_read)
