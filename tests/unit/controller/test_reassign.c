/*
 * test_reassign.c - moving partitions: phases, their messages and writes; deaths at every point
 *
 * 1 is the controller, unless it is said otherwise.
 */
#include "controller/reassign.h"

#include "controller/reassign_calls.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"
#include "zk/zk_topics.h"

static void expect(struct fake_cluster *f, const char *trace)
{
    ck_assert_str_eq(fake_cluster_trace(f), trace);
}

static void expect_state(struct fake_cluster *f, const char *assignment, const char *state)
{
    ck_assert_str_eq(fake_cluster_assignment(f, "t", 0), assignment);
    ck_assert_str_eq(fake_cluster_state(f, "t", 0), state);
}

START_TEST(all_replicas_are_replaced)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 6);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "4,5,6"), 0);
    expect_state(&f, "4,5,6,1,2,3 add 4,5,6 remove 1,2,3", "L1 e1 isr 1,2,3 v1");
    expect(&f, "LISR 1,2,3: t-0 L1 e1 isr 1,2,3 rs 4,5,6,1,2,3 + 4,5,6 - 1,2,3\n"
               "LISR 4,5,6: t-0 L1 e1 isr 1,2,3 rs 4,5,6,1,2,3 + 4,5,6 - 1,2,3 new\n"
               "UMR 1,2,3,4,5,6: t-0 L1 e1 isr 1,2,3 rs 4,5,6,1,2,3\n"
               "LISR 4,5,6: t-0 L1 e1 isr 1,2,3 rs 4,5,6,1,2,3 + 4,5,6 - 1,2,3 new\n"
               "UMR 1,2,3,4,5,6: t-0 L1 e1 isr 1,2,3 rs 4,5,6,1,2,3\n");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,3,4,5"), 0);
    expect(&f, "UMR 1,2,3,4,5,6: t-0 L1 e1 isr 1,2,3,4,5 rs 4,5,6,1,2,3\n");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,3,4,5,6"), 0);
    expect(&f, "UMR 1,2,3,4,5,6: t-0 L1 e1 isr 1,2,3,4,5,6 rs 4,5,6,1,2,3\n"
               "LISR 4,5,6: t-0 L4 e2 isr 1,2,3,4,5,6 rs 4,5,6\n"
               "UMR 1,2,3,4,5,6: t-0 L4 e2 isr 1,2,3,4,5,6 rs 4,5,6\n"
               "LISR 4,5,6: t-0 L4 e5 isr 4,5,6 rs 4,5,6\n"
               "UMR 1,2,3,4,5,6: t-0 L4 e5 isr 4,5,6 rs 4,5,6\n"
               "SR 1: t-0 e2\n"
               "SR 2: t-0 e3\n"
               "SR 3: t-0 e4\n"
               "SR 1,2,3: t-0 e5 delete\n"
               "UMR 1,2,3,4,5,6: t-0 L4 e5 isr 4,5,6 rs 4,5,6\n");
    expect_state(&f, "4,5,6", "L4 e5 isr 4,5,6 v7");
    ck_assert_int_eq(fake_cluster_active(&f)->c->x.topics->reassigning, 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(another_order_takes_one_step)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,1,2"), 0);
    expect_state(&f, "3,1,2", "L1 e1 isr 1,2,3 v1");
    expect(&f, "LISR 1,2,3: t-0 L1 e1 isr 1,2,3 rs 3,1,2\n"
               "UMR 1,2,3: t-0 L1 e1 isr 1,2,3 rs 3,1,2\n"
               "UMR 1,2,3: t-0 L1 e1 isr 1,2,3 rs 3,1,2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(fewer_replicas_take_one_step)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2,3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "2"), 0);
    expect_state(&f, "2", "L2 e3 isr 2 v3");
    expect(&f, "LISR 2: t-0 L2 e1 isr 1,2,3 rs 2\n"
               "UMR 1,2,3: t-0 L2 e1 isr 1,2,3 rs 2\n"
               "LISR 2: t-0 L2 e3 isr 2 rs 2\n"
               "UMR 1,2,3: t-0 L2 e3 isr 2 rs 2\n"
               "SR 1: t-0 e1\n"
               "SR 3: t-0 e2\n"
               "SR 1,3: t-0 e3 delete\n"
               "UMR 1,2,3: t-0 L2 e3 isr 2 rs 2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(cancel_removes_what_was_added)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 4);
    fake_cluster_create(&f, "t", "1,2,3");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "4,1"), 0);
    expect_state(&f, "4,1,2,3 add 4 remove 2,3", "L1 e1 isr 1,2,3 v1");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, NULL), 0);
    expect_state(&f, "1,2,3", "L1 e2 isr 1,2,3 v2");
    expect(&f, "LISR 1,2,3: t-0 L1 e1 isr 1,2,3 rs 1,2,3\n"
               "UMR 1,2,3,4: t-0 L1 e1 isr 1,2,3 rs 1,2,3\n"
               "SR 4: t-0 e1\n"
               "SR 4: t-0 e1 delete\n"
               "LISR 1,2,3: t-0 L1 e2 isr 1,2,3 rs 1,2,3\n"
               "UMR 1,2,3,4: t-0 L1 e2 isr 1,2,3 rs 1,2,3\n"
               "UMR 1,2,3,4: t-0 L1 e2 isr 1,2,3 rs 1,2,3\n");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, NULL), NO_REASSIGNMENT_IN_PROGRESS);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(cancel_moves_a_leader_that_is_dropped)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 5);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "4,5"), 0);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,4"), 0);
    clock_fake_advance(&f.clock, 300000); /* the preferred leader is 4 now */
    fake_cluster_run(&f);
    expect_state(&f, "4,5,1,2 add 4,5 remove 1,2", "L4 e2 isr 1,2,4 v3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, NULL), 0);
    expect_state(&f, "1,2", "L1 e5 isr 1,2 v6");
    expect(&f, "LISR 1,2: t-0 L1 e3 isr 1,2,4 rs 1,2\n"
               "UMR 1,2,3,4,5: t-0 L1 e3 isr 1,2,4 rs 1,2\n"
               "LISR 1,2: t-0 L1 e4 isr 1,2 rs 1,2\n"
               "UMR 1,2,3,4,5: t-0 L1 e4 isr 1,2 rs 1,2\n"
               "SR 4: t-0 e3\n"
               "SR 5: t-0 e4\n"
               "SR 4,5: t-0 e4 delete\n"
               "LISR 1,2: t-0 L1 e5 isr 1,2 rs 1,2\n"
               "UMR 1,2,3,4,5: t-0 L1 e5 isr 1,2 rs 1,2\n"
               "UMR 1,2,3,4,5: t-0 L1 e5 isr 1,2 rs 1,2\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(cancel_that_would_lose_records_is_refused)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 4);
    fake_cluster_create(&f, "t", "2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,4"), 0);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "2,3"), 0);
    fake_cluster_kill(&f, 2);
    expect_state(&f, "3,4,2 add 3,4 remove 2", "L3 e2 isr 3 v3");
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, NULL), INVALID_REPLICA_ASSIGNMENT);
    expect(&f, "");
    expect_state(&f, "3,4,2 add 3,4 remove 2", "L3 e2 isr 3 v3");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(later_request_overrides_the_earlier_one)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 5);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,4"), 0);
    fake_cluster_trace(&f);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "4,5"), 0);
    expect_state(&f, "4,5,1,2 add 4,5 remove 1,2", "L1 e2 isr 1,2 v2");
    expect(&f, "LISR 1,2,4,5: t-0 L1 e1 isr 1,2 rs 4,5,1,2 + 4,5 - 1,2\n"
               "UMR 1,2,3,4,5: t-0 L1 e1 isr 1,2 rs 4,5,1,2\n"
               "SR 3: t-0 e1\n"
               "SR 3: t-0 e1 delete\n"
               "LISR 1,2: t-0 L1 e2 isr 1,2 rs 4,5,1,2 + 4,5 - 1,2\n"
               "LISR 4,5: t-0 L1 e2 isr 1,2 rs 4,5,1,2 + 4,5 - 1,2 new\n"
               "UMR 1,2,3,4,5: t-0 L1 e2 isr 1,2 rs 4,5,1,2\n"
               "LISR 5: t-0 L1 e2 isr 1,2 rs 4,5,1,2 + 4,5 - 1,2 new\n"
               "UMR 1,2,3,4,5: t-0 L1 e2 isr 1,2 rs 4,5,1,2\n");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,4,5"), 0);
    expect_state(&f, "4,5", "L4 e5 isr 4,5 v6");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(requests_are_checked_in_kafkas_order)
{
    static const struct {
        const char *topic;
        int partition;
        const char *replicas;
        int error;
    } cases[] = {
        {"t", 0, "", INVALID_REPLICA_ASSIGNMENT},
        {"t", 0, "1,1", INVALID_REPLICA_ASSIGNMENT},
        {"t", 0, "-1,2", INVALID_REPLICA_ASSIGNMENT},
        {"t", 0, "1,3", INVALID_REPLICA_ASSIGNMENT}, /* 3 is dead, and would be added */
        {"t", 1, "1,3", INVALID_REPLICA_ASSIGNMENT},
        {"t", 1, "1,2", UNKNOWN_TOPIC_OR_PARTITION},
        {"nothing", 0, "1", UNKNOWN_TOPIC_OR_PARTITION},
        {"nothing", 0, NULL, NO_REASSIGNMENT_IN_PROGRESS},
        {"t", 0, NULL, NO_REASSIGNMENT_IN_PROGRESS},
        {"old", 0, "3,1", 0}, /* 3 is dead, but has been there before */
        {"dying", 0, "1,2", UNKNOWN_TOPIC_OR_PARTITION},
        {"dying", 0, "", INVALID_REPLICA_ASSIGNMENT},
        {"dying", 0, NULL, NO_REASSIGNMENT_IN_PROGRESS},
    };
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    fake_cluster_create(&f, "old", "1,3");
    fake_cluster_create(&f, "dying", "1,3");
    fake_cluster_kill(&f, 3);
    fake_cluster_delete(&f, "dying");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_msg(fake_cluster_reassign(&f, cases[i].topic, cases[i].partition,
                                            cases[i].replicas) == cases[i].error,
                      "case %zu", i);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(shutting_down_broker_cannot_be_added)
{
    struct fake_cluster f;
    int left;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_shutdown(&f, 3, &left), 0);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "1,3"), INVALID_REPLICA_ASSIGNMENT);
    fake_cluster_deinit(&f);
}
END_TEST

/* ISR changes of the old way, so that an ISR may shrink behind the controller's back. */
static void write_isr(struct fake_cluster *f, int32_t leader, int32_t epoch, const char *isr)
{
    struct zk_partition_state st = {.topic = STR("t")};
    int32_t ids[8];
    struct node_ids list = {ids, 0};
    char *end;

    ck_assert_int_eq(zk_states_read(f->admin, &f->arena, &st, 1), ZK_OK);
    for (const char *at = isr; *at; at = *end ? end + 1 : end)
        list.list[list.count++] = (int32_t)strtol(at, &end, 10);
    st.state.leader = leader;
    st.state.leader_epoch = epoch;
    st.state.isr = list;
    ck_assert_int_eq(zk_states_update(f->admin, &st, 1, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(st.result, ZK_OK);
}

START_TEST(brokers_that_write_the_isr_are_watched)
{
    struct fake_cluster f;

    fake_cluster_prepare(&f, 4);
    f.opts.ibp = IBP_2_4_IV1;
    fake_cluster_start_all(&f);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,4"), 0);
    write_isr(&f, 1, 1, "1,2,3");
    fake_cluster_run(&f);
    expect_state(&f, "3,4,1,2 add 3,4 remove 1,2", "L1 e1 isr 1,2,3 v2");
    write_isr(&f, 1, 1, "1,2,3,4");
    fake_cluster_run(&f);
    expect_state(&f, "3,4", "L3 e4 isr 3,4 v6");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(isr_notification_completes_a_move)
{
    struct fake_cluster f;
    struct node_partition_name name = {STR("t"), 0};
    struct node_partition_names names = {&name, 1};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "2"), 0);
    write_isr(&f, 1, 1, "1,2");
    fake_cluster_run(&f);
    expect_state(&f, "2,1 add 2 remove 1", "L1 e1 isr 1,2 v2");
    ck_assert_int_eq(zk_isr_change_notify(f.admin, &names), ZK_OK);
    fake_cluster_run(&f);
    expect_state(&f, "2", "L2 e3 isr 2 v4");
    fake_cluster_deinit(&f);
}
END_TEST

/* The ISR loses the target between the test and the election: the only copy must not go. */
struct shrinker {
    struct fake_cluster *f;
    int writes;
};

static void shrink_before_second_write(const struct zk_op *op, void *ctx)
{
    struct shrinker *s = ctx;

    if (op->kind == ZK_OP_CHECK && ++s->writes == 2)
        write_isr(s->f, 1, 1, "1");
}

START_TEST(nothing_is_removed_while_no_target_leads)
{
    struct fake_cluster f;
    struct shrinker s = {.f = &f};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "2"), 0);
    fake_cluster_trace(&f);
    fake_zk_hook(f.brokers[1].zk, shrink_before_second_write, &s);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
    fake_zk_hook(f.brokers[1].zk, NULL, NULL);
    expect_state(&f, "2,1 add 2 remove 1", "L1 e1 isr 1 v3");
    const struct ctl_partition *p = f.brokers[1].c->x.topics->partitions[0];
    ck_assert_int_eq(p->removing_count, 1);
    ck_assert_int_eq(replica_state(p, 1), REPLICA_ONLINE);
    ck_assert_int_eq(replica_state(p, 2), REPLICA_ONLINE);
    ck_assert_ptr_null(strstr(fake_cluster_trace(&f), "SR"));

    fake_cluster_kill(&f, 2); /* its return goes on with the move */
    fake_cluster_start(&f, 2);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "2");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(dead_target_is_waited_for)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 4);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,4"), 0);
    fake_cluster_kill(&f, 4);
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,3"), 0);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "3,4,1,2 add 3,4 remove 1,2");
    fake_cluster_trace(&f);
    fake_cluster_start(&f, 4);
    /* The leader epoch rises, so that 4 takes the new assignment. */
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e2 isr 1,2,3 v3");
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,3,4"), 0);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "3,4");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(partitions_added_behind_our_back_survive)
{
    struct fake_cluster f;
    struct zk_topic t = {.name = STR("t")};

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(zk_topics_read(f.admin, &f.arena, &t, 1), ZK_OK);
    struct node_partition two[] = {t.node.partitions[0], t.node.partitions[0]};
    two[1].id = 1;
    struct node_topic more = {t.node.id, two, 2};
    fake_zk_hold_events(f.server, true);
    ck_assert_int_eq(zk_topic_set(f.admin, STR("t"), &more, ZK_NO_FENCE), ZK_OK);
    struct alter_partition_reassignments_request_partition rp = {.replicas = (int32_t[]){2, 3},
                                                                 .replicas_count = 2};
    struct alter_partition_reassignments_request_topic rt = {STR("t"), &rp, 1};
    struct alter_partition_reassignments_request req = {.topics = &rt, .topics_count = 1};
    struct controller_call call = {.arena = &f.arena, .request = &req, .ctx = &f};
    ck_assert_int_eq(reassign_alter(f.brokers[1].c, &call), ZK_OK);
    fake_zk_hold_events(f.server, false);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "2,3,1 add 3 remove 1");
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 1), "1,2");
    ck_assert_str_eq(fake_cluster_state(&f, "t", 1), "L1 e0 isr 1,2 v0");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(deletion_waits_for_the_end_of_a_move)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3,2"), 0);
    fake_cluster_delete(&f, "t");
    ck_assert(fake_cluster_topic_exists(&f, "t"));
    ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2,3"), 0);
    ck_assert(!fake_cluster_topic_exists(&f, "t"));
    fake_cluster_deinit(&f);
}
END_TEST

static bool legacy_is_there(struct fake_cluster *f)
{
    return zk_store_exists(f->admin, ZK_PATH_REASSIGN, NULL) == ZK_OK;
}

static void legacy_ask(struct fake_cluster *f, const char *json)
{
    ck_assert_int_eq(zk_store_create(f->admin, ZK_PATH_REASSIGN, slice_of(json, strlen(json)), 0),
                     ZK_OK);
    fake_cluster_run(f);
}

START_TEST(old_node_is_taken_up_and_emptied)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1;1");
    for (int round = 0; round < 2; round++) { /* the watch is armed again */
        const char *to = round ? "1" : "2";
        char json[300];
        snprintf(json, sizeof json,
                 "{\"version\":1,\"partitions\":["
                 "{\"topic\":\"t\",\"partition\":0,\"replicas\":[%s]},"
                 "{\"topic\":\"t\",\"partition\":1,\"replicas\":[%s]},"
                 "{\"topic\":\"t\",\"partition\":7,\"replicas\":[1]},"
                 "{\"topic\":\"t\",\"partition\":1,\"replicas\":[]}]}",
                 to, to);
        legacy_ask(&f, json);
        ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0),
                         round ? "1,2 add 1 remove 2" : "2,1 add 2 remove 1");
        ck_assert(legacy_is_there(&f));
        ck_assert_int_eq(fake_cluster_alter(&f, "t", 0, "1,2"), 0);
        ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), to);
        ck_assert_str_eq(fake_cluster_assignment(&f, "t", 1), "1");
        ck_assert(!legacy_is_there(&f));
    }
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(request_takes_its_partition_out_of_the_old_node)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1;1");
    legacy_ask(&f, "{\"version\":1,\"partitions\":["
                   "{\"topic\":\"t\",\"partition\":0,\"replicas\":[2]},"
                   "{\"topic\":\"t\",\"partition\":1,\"replicas\":[2]}]}");
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "3"), 0);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "3,1 add 3 remove 1");
    ck_assert(legacy_is_there(&f));
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 1, NULL), 0);
    ck_assert(!legacy_is_there(&f));
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(next_controller_takes_up_the_old_node)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2");
    fake_zk_hold_events(f.server, true);
    legacy_ask(&f, "{\"version\":1,\"partitions\":["
                   "{\"topic\":\"t\",\"partition\":0,\"replicas\":[3]}]}");
    fake_zk_hold_events(f.server, false);
    fake_zk_deliver(f.server);
    fake_cluster_kill(&f, 1);
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "3,2 add 3 remove 2");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(old_node_that_is_not_understood_stays)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 1);
    fake_cluster_create(&f, "t", "1");
    legacy_ask(&f, "{\"version\":1,\"partitions\":[{\"topic\":\"t\"}]}");
    ck_assert(legacy_is_there(&f));
    fake_cluster_deinit(&f);
}
END_TEST

static struct list_partition_reassignments_response *list(struct fake_cluster *f, const char *topic)
{
    struct list_partition_reassignments_request_topic rt = {.name = str_of(topic ? topic : ""),
                                                            .partition_indexes =
                                                                (int32_t[]){0, 1, 0, 9},
                                                            .partition_indexes_count = 4};
    struct list_partition_reassignments_request_topic topics[] = {rt, rt};
    struct list_partition_reassignments_request req = {.topics = topic ? topics : NULL,
                                                       .topics_count = topic ? 2 : -1};
    struct controller_call call = {.arena = &f->arena, .request = &req};

    ck_assert_int_eq(reassign_list(fake_cluster_active(f)->c, &call), ZK_OK);
    return call.response;
}

START_TEST(moves_are_listed)
{
    struct fake_cluster f;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2;1,2");
    fake_cluster_create(&f, "u", "1,2");
    ck_assert_int_eq(list(&f, NULL)->topics_count, 0);
    ck_assert_int_eq(fake_cluster_reassign(&f, "t", 1, "2,3"), 0);
    ck_assert_int_eq(fake_cluster_reassign(&f, "u", 0, "1,3"), 0);
    ck_assert_int_eq(list(&f, NULL)->topics_count, 2);
    ck_assert_int_eq(list(&f, "v")->topics_count, 0);
    const struct list_partition_reassignments_response *resp = list(&f, "t");
    ck_assert(str_eqz(resp->error_message, "") && !str_is_null(resp->error_message));
    ck_assert_int_eq(resp->topics_count, 1);
    ck_assert_int_eq(resp->topics[0].partitions_count, 1);
    const struct list_partition_reassignments_response_partition *p =
        &resp->topics[0].partitions[0];
    ck_assert_int_eq(p->partition_index, 1);
    ck_assert_mem_eq(p->replicas, ((int32_t[]){2, 3, 1}), 12);
    ck_assert_int_eq(p->adding_replicas_count, 1);
    ck_assert_int_eq(p->adding_replicas[0], 3);
    ck_assert_int_eq(p->removing_replicas_count, 1);
    ck_assert_int_eq(p->removing_replicas[0], 1);
    fake_cluster_deinit(&f);
}
END_TEST

static struct controller_call *answered;

static void note(struct controller_call *call)
{
    answered = call;
}

START_TEST(only_the_active_controller_answers)
{
    struct fake_cluster f;
    struct alter_partition_reassignments_request alter = {0};
    struct list_partition_reassignments_request ask = {0};
    struct controller_call call = {.arena = &f.arena, .request = &alter, .done = note};

    fake_cluster_init(&f, 2);
    controller_alter_reassignments(f.brokers[2].c, &call);
    fake_cluster_run(&f);
    ck_assert_ptr_eq(answered, &call);
    const struct alter_partition_reassignments_response *resp = call.response;
    ck_assert_int_eq(resp->error_code, NOT_CONTROLLER);
    ck_assert(str_eqz(resp->error_message, "This is not the correct controller for this cluster."));
    call.request = &ask;
    controller_list_reassignments(f.brokers[2].c, &call);
    fake_cluster_run(&f);
    const struct list_partition_reassignments_response *listed = call.response;
    ck_assert_int_eq(listed->error_code, NOT_CONTROLLER);
    fake_cluster_deinit(&f);
}
END_TEST

/* The leader of t-0 lets its followers in, as a broker would, as long as something moves. */
static void let_all_in(struct fake_cluster *f)
{
    const struct ctl_partition *p = context_partition(&fake_cluster_active(f)->c->x, STR("t"), 0);
    char isr[64] = "";
    size_t at = 0;

    if (!partition_is_reassigning(p))
        return;
    struct node_ids now = partition_isr(p), rs = partition_replicas(p);
    for (int32_t i = 0; i < now.count; i++)
        at += (size_t)snprintf(isr + at, sizeof isr - at, "%s%d", at ? "," : "", now.list[i]);
    for (int32_t i = 0; i < rs.count; i++) {
        if (!node_ids_has(&now, rs.list[i]) && f->brokers[rs.list[i]].is_up)
            at += (size_t)snprintf(isr + at, sizeof isr - at, ",%d", rs.list[i]);
    }
    fake_cluster_alter(f, "t", 0, isr);
}

enum act { ACT_MOVE, ACT_COMPLETE, ACT_CANCEL, ACT_OVERRIDE };

static void act(struct fake_cluster *f, enum act what)
{
    fake_cluster_reassign(f, "t", 0, "4,5");
    if (what == ACT_MOVE)
        return;
    if (what == ACT_COMPLETE)
        let_all_in(f);
    else
        fake_cluster_reassign(f, "t", 0, what == ACT_CANCEL ? NULL : "5,3");
}

/* Broker 1 leads nothing: it is the controller only, and dies with the nth request of the act. */
static bool run_until_death(enum act what, int nth)
{
    struct fake_cluster f;
    const char *assignment;

    fake_cluster_init(&f, 6);
    fake_cluster_create(&f, "t", "2,3;3,2");
    fake_zk_fail(f.brokers[1].zk, nth, ZK_SESSION_EXPIRED);
    act(&f, what);
    bool has_died = zk_store_exists(fake_zk_store(f.brokers[1].zk), "/x", NULL) != ZK_NO_NODE;
    fake_zk_fail(f.brokers[1].zk, 1, ZK_OK);
    fake_cluster_kill(&f, 1);
    let_all_in(&f);
    assignment = fake_cluster_assignment(&f, "t", 0);
    bool is_old = strcmp(assignment, "2,3") == 0 || strcmp(assignment, "3,2") == 0;
    bool is_moved = strcmp(assignment, "4,5") == 0;
    bool is_overridden = strcmp(assignment, "5,3") == 0;
    ck_assert_msg(is_old || is_moved || (what == ACT_OVERRIDE && is_overridden), "%d %s", nth,
                  assignment);
    if (!has_died)
        ck_assert_msg(what == ACT_CANCEL     ? is_old
                      : what == ACT_OVERRIDE ? is_overridden
                                             : is_moved,
                      "%d %s", nth, assignment);
    const struct ctl_partition *p = context_partition(&f.brokers[2].c->x, STR("t"), 0);
    struct node_ids rs = partition_replicas(p), isr = partition_isr(p);
    ck_assert_int_eq(f.brokers[2].c->x.topics->reassigning, 0);
    ck_assert(node_ids_has(&rs, p->leader));
    for (int32_t i = 0; i < isr.count; i++)
        ck_assert(node_ids_has(&rs, isr.list[i]));
    ck_assert_str_eq(fake_cluster_assignment(&f, "t", 1), "3,2");
    fake_cluster_deinit(&f);
    return has_died;
}

START_TEST(next_controller_goes_on_wherever_the_first_one_died)
{
    say_set_level(SAY_ERROR + 1);
    for (enum act what = ACT_MOVE; what <= ACT_OVERRIDE; what++) {
        int nth = 1;
        while (run_until_death(what, nth))
            nth++;
        ck_assert_int_gt(nth, 4);
        ck_assert_int_lt(nth, 100);
    }
}
END_TEST

/* The same with writes that happened although their answer was lost. The first write of the second
 * half is AlterPartition's own. */
START_TEST(lost_answers_do_no_harm)
{
    enum { NEVER = 1000000 };

    say_set_level(SAY_ERROR + 1);
    for (int nth = 1; nth <= 24; nth++) {
        bool is_first_half = nth <= 8;
        struct fake_cluster f;
        fake_cluster_init(&f, 5);
        fake_cluster_create(&f, "t", "2,3");
        fake_zk_lose_reply(f.brokers[1].zk, is_first_half ? nth : NEVER);
        ck_assert_int_eq(fake_cluster_reassign(&f, "t", 0, "4,5"), 0);
        fake_zk_lose_reply(f.brokers[1].zk, is_first_half ? NEVER : nth - 7);
        let_all_in(&f);
        ck_assert_str_eq(fake_cluster_assignment(&f, "t", 0), "4,5");
        fake_cluster_deinit(&f);
    }
}
END_TEST

START_TEST(many_partitions_take_the_round_trips_of_one)
{
    struct fake_cluster f;
    char partitions[1000] = "";
    uint64_t rounds[2];
    int32_t target[] = {3};
    size_t at = 0;

    for (int i = 0; i < 50; i++)
        at += (size_t)snprintf(partitions + at, sizeof partitions - at, i ? ";1,2" : "1,2");
    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "1,2");
    fake_cluster_create(&f, "u", partitions);
    for (int k = 0; k < 2; k++) {
        struct alter_partition_reassignments_request_partition rp[50] = {0};
        struct alter_partition_reassignments_request_topic rt = {k ? STR("u") : STR("t"), rp,
                                                                 k ? 50 : 1};
        struct alter_partition_reassignments_request req = {.topics = &rt, .topics_count = 1};
        struct controller_call call = {.arena = &f.arena, .request = &req, .ctx = &f};
        for (int i = 0; i < 50; i++) {
            rp[i].partition_index = i;
            rp[i].replicas = target;
            rp[i].replicas_count = 1;
        }
        uint64_t before = fake_zk_rounds(f.brokers[1].zk);
        ck_assert_int_eq(reassign_alter(f.brokers[1].c, &call), ZK_OK);
        rounds[k] = fake_zk_rounds(f.brokers[1].zk) - before;
    }
    ck_assert_int_eq((int)rounds[1], (int)rounds[0]);
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/reassign", all_replicas_are_replaced, another_order_takes_one_step,
          fewer_replicas_take_one_step, cancel_removes_what_was_added,
          cancel_moves_a_leader_that_is_dropped, cancel_that_would_lose_records_is_refused,
          later_request_overrides_the_earlier_one, requests_are_checked_in_kafkas_order,
          shutting_down_broker_cannot_be_added, brokers_that_write_the_isr_are_watched,
          isr_notification_completes_a_move, nothing_is_removed_while_no_target_leads,
          dead_target_is_waited_for, partitions_added_behind_our_back_survive,
          deletion_waits_for_the_end_of_a_move, old_node_is_taken_up_and_emptied,
          request_takes_its_partition_out_of_the_old_node, next_controller_takes_up_the_old_node,
          old_node_that_is_not_understood_stays, moves_are_listed,
          only_the_active_controller_answers, next_controller_goes_on_wherever_the_first_one_died,
          lost_answers_do_no_harm, many_partitions_take_the_round_trips_of_one)
