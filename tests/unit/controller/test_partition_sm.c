#include "controller/partition_sm.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"
#include "zk/zk_topics.h"

static struct slice bytes(const char *z)
{
    return slice_of(z, strlen(z));
}

static enum partition_state state_of(struct fake_cluster *f, const char *topic, int id)
{
    return context_partition(&fake_cluster_active(f)->c->x, str_of(topic), id)->state;
}

START_TEST(partition_without_live_replicas_stays_new_until_one_starts)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 2);
    fake_cluster_start(&f, 1);
    fake_cluster_create(&f, "t", "2");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "none");
    ck_assert_int_eq(state_of(&f, "t", 0), PARTITION_NEW);
    fake_cluster_trace(&f);
    fake_cluster_start(&f, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e0 isr 2 v0");
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1\n"
                                             "UMR 2\n"
                                             "LISR 2: t-0 L2 e0 isr 2 rs 2 new\n"
                                             "UMR 1,2: t-0 L2 e0 isr 2 rs 2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(only_live_replicas_are_in_the_first_isr)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 2);
    fake_cluster_create(&f, "t", "3,2,1");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e0 isr 2,1 v0");
    ck_assert_str_eq(fake_cluster_trace(&f), "LISR 1,2: t-0 L2 e0 isr 2,1 rs 3,2,1 new\n"
                                             "UMR 1,2: t-0 L2 e0 isr 2,1 rs 3,2,1 off 3\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(lost_answers_do_not_lose_new_partitions)
{
    for (int nth = 1; nth <= 12; nth++) {
        struct fake_cluster f;

        fake_cluster_init(&f, 2);
        fake_zk_lose_reply(f.brokers[1].zk, nth);
        fake_cluster_create(&f, "t", "1,2;2,1");
        ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2 v0");
        ck_assert_str_eq(fake_cluster_state(&f, "t", 1), "L2 e0 isr 2,1 v0");
        ck_assert_int_eq(state_of(&f, "t", 0), PARTITION_ONLINE);
        ck_assert_int_eq(state_of(&f, "t", 1), PARTITION_ONLINE);
        fake_cluster_deinit(&f);
    }
}
END_TEST

START_TEST(lost_answers_do_not_lose_elections)
{
    for (int nth = 1; nth <= 6; nth++) {
        struct fake_cluster f;

        fake_cluster_init(&f, 3);
        fake_cluster_create(&f, "t", "3,2,1");
        fake_zk_lose_reply(f.brokers[1].zk, nth);
        fake_cluster_kill(&f, 3);
        const struct ctl_partition *p =
            context_partition(&fake_cluster_active(&f)->c->x, STR("t"), 0);
        ck_assert_int_eq(p->state, PARTITION_ONLINE);
        ck_assert_int_eq(p->leader, 2);
        fake_cluster_deinit(&f);
    }
}
END_TEST

/* A leader of an older protocol shrinks the ISR itself, each time just before our write. */
struct rival {
    struct fake_cluster *f;
    int times;
};

static void write_first(const struct zk_op *op, void *ctx)
{
    struct rival *rv = ctx;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_partition_state st = {.topic = STR("t"), .partition = 0};

    if (rv->times == 0 || op->kind != ZK_OP_CHECK)
        return;
    rv->times--;
    ck_assert_int_eq(zk_states_read(rv->f->admin, &a, &st, 1), ZK_OK);
    ck_assert_int_eq(zk_states_update(rv->f->admin, &st, 1, ZK_NO_FENCE), ZK_OK);
}

START_TEST(election_begins_again_when_the_state_changed_meanwhile)
{
    struct fake_cluster f;
    struct rival rv = {&f, 3};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "3,2,1");
    fake_zk_hook(f.brokers[1].zk, write_first, &rv);
    fake_cluster_kill(&f, 3);
    fake_zk_hook(f.brokers[1].zk, NULL, NULL);
    ck_assert_int_eq(rv.times, 0);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2,1 v4");
    fake_cluster_deinit(&f);
}
END_TEST

static void write_isrs(struct fake_cluster *f, const char *first, const char *second)
{
    const char *isrs[] = {first, second};

    for (int i = 0; i < 2; i++) {
        CLEANUP(free_p)
        char *path = xasprintf("/brokers/topics/t/partitions/%d/state", i);
        CLEANUP(free_p)
        char *text = xasprintf("{\"version\":1,\"leader\":%d,\"leader_epoch\":0,"
                               "\"controller_epoch\":1,\"isr\":[%s]}",
                               i ? 3 : 1, isrs[i]);
        ck_assert_int_eq(zk_store_set(f->admin, path, bytes(text), -1, NULL), ZK_OK);
    }
}

/* Leaders of an older protocol wrote the ISR, and the controller has not heard of it yet. */
START_TEST(what_is_known_is_not_trusted_where_leaders_write_the_isr)
{
    struct fake_cluster f;
    struct node_partition_name list[] = {{STR("t"), 0}, {STR("t"), 1}};
    struct node_partition_names names = {list, 2};

    fake_cluster_prepare(&f, 3);
    f.opts.ibp = IBP_2_6_IV0;
    fake_cluster_start_all(&f);
    fake_cluster_create(&f, "t", "1,2,3;3,2,1");
    write_isrs(&f, "1,2", "3");
    ck_assert_int_eq(zk_isr_change_notify(f.admin, &names), ZK_OK);
    fake_cluster_run(&f);
    write_isrs(&f, "1,2,3", "3,2");
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1,2 v3");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 1), "L2 e1 isr 2 v3");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(state_of_a_newer_controller_is_not_touched)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "3,2,1");
    zk_store_set(f.admin, "/brokers/topics/t/partitions/0/state",
                 bytes("{\"version\":1,\"leader\":3,\"leader_epoch\":7,\"controller_epoch\":9,"
                       "\"isr\":[3,2,1]}"),
                 -1, NULL);
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L3 e7 isr 3,2,1 v1");
    ck_assert_int_eq(state_of(&f, "t", 0), PARTITION_OFFLINE);
    fake_cluster_deinit(&f);
}
END_TEST

static void create_first(const struct zk_op *op, void *ctx)
{
    struct rival *rv = ctx;

    if (rv->times == 0 || op->kind != ZK_OP_CHECK)
        return;
    rv->times--;
    zk_store_create_deep(rv->f->admin, "/brokers/topics/t/partitions/0/state",
                         bytes("{\"version\":1,\"leader\":2,\"leader_epoch\":4,"
                               "\"controller_epoch\":0,\"isr\":[2,1]}"));
}

START_TEST(node_made_by_another_controller_is_taken_over)
{
    struct fake_cluster f;
    struct rival rv = {&f, 1};

    fake_cluster_init(&f, 3);
    fake_zk_hook(f.brokers[1].zk, create_first, &rv);
    fake_cluster_create(&f, "t", "3,2,1");
    fake_zk_hook(f.brokers[1].zk, NULL, NULL);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e4 isr 2,1 v0");
    ck_assert_int_eq(state_of(&f, "t", 0), PARTITION_ONLINE);
    ck_assert_str_eq(fake_cluster_trace(&f), "LISR 1,2,3: t-0 L2 e4 isr 2,1 rs 3,2,1\n"
                                             "UMR 1,2,3: t-0 L2 e4 isr 2,1 rs 3,2,1\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(unclean_election_needs_the_topics_permission)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "3,2,1");
    fake_cluster_alter(&f, "t", 0, "3");
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L-1 e1 isr 3 v2");
    fake_cluster_set_config(&f, "t", "unclean.leader.election.enable", "true");
    fake_cluster_trace(&f);
    controller_unclean_enabled(f.brokers[1].c, STR("t"));
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e2 isr 2 v3 recovering");
    ck_assert_str_eq(fake_cluster_trace(&f), "LISR 1,2: t-0 L2 e2 isr 2 rs 3,2,1 recovering\n"
                                             "UMR 1,2: t-0 L2 e2 isr 2 rs 3,2,1 off 3\n");
    struct controller_stats stats;
    controller_stats(f.brokers[1].c, &stats);
    ck_assert_int_eq(stats.unclean_elections, 1);
    ck_assert_int_eq(stats.offline_partitions, 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(brokers_default_allows_unclean_election_unless_the_topic_forbids_it)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    f.brokers[1].unclean = true;
    fake_cluster_create(&f, "t", "3,2,1");
    fake_cluster_create(&f, "u", "3,2,1");
    fake_cluster_set_config(&f, "u", "unclean.leader.election.enable", "false");
    fake_cluster_alter(&f, "t", 0, "3");
    fake_cluster_alter(&f, "u", 0, "3");
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e1 isr 2 v2 recovering");
    ck_assert_str_eq(fake_cluster_state(&f, "u", 0), "L-1 e1 isr 3 v2");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(older_protocol_knows_no_recovery_state)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 2);
    f.opts.ibp = IBP_3_1_IV0;
    fake_cluster_start_all(&f);
    f.brokers[1].unclean = true;
    fake_cluster_create(&f, "t", "2,1");
    fake_cluster_alter(&f, "t", 0, "2");
    fake_cluster_kill(&f, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1 v2");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(last_of_the_isr_returns_as_leader)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "3,2,1");
    fake_cluster_alter(&f, "t", 0, "3,2");
    fake_cluster_kill(&f, 2);
    fake_cluster_kill(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L-1 e2 isr 3 v3");
    fake_cluster_start(&f, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L-1 e2 isr 3 v3");
    fake_cluster_start(&f, 3);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L3 e3 isr 3 v4");
    fake_cluster_deinit(&f);
}
END_TEST

/* A controller that died while it cancelled a reassignment has left 3 in the ISR. */
START_TEST(last_replica_of_the_isr_stays_in_it_whoever_else_is)
{
    struct fake_cluster f;
    struct zk_topic t = {.name = STR("t")};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,3");
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    t.node.partitions[0].replicas.count = 1;
    ck_assert_int_eq(zk_topic_set(f.admin, t.name, &t.node, ZK_NO_FENCE), ZK_OK);
    fake_cluster_kill(&f, 1);
    fake_cluster_kill(&f, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L-1 e1 isr 2,3 v1");
    fake_cluster_start(&f, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L2 e2 isr 2,3 v2");
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/partition_sm", partition_without_live_replicas_stays_new_until_one_starts,
          only_live_replicas_are_in_the_first_isr, lost_answers_do_not_lose_new_partitions,
          lost_answers_do_not_lose_elections,
          election_begins_again_when_the_state_changed_meanwhile,
          what_is_known_is_not_trusted_where_leaders_write_the_isr,
          state_of_a_newer_controller_is_not_touched, node_made_by_another_controller_is_taken_over,
          unclean_election_needs_the_topics_permission,
          brokers_default_allows_unclean_election_unless_the_topic_forbids_it,
          older_protocol_knows_no_recovery_state, last_of_the_isr_returns_as_leader,
          last_replica_of_the_isr_stays_in_it_whoever_else_is)
