#include "controller/isr.h"

#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"

/* One partition as a leader would ask for it; zero broker_id: broker 1, controller and leader. */
struct ask {
    int16_t version;
    int32_t broker_id;
    int64_t epoch_offset; /* added to the broker's epoch */
    int32_t partition;
    int32_t leader_epoch;
    int32_t partition_epoch;
    int32_t isr[4];
    int32_t isr_count;
    int8_t recovery;
    bool unknown_id;
};

static struct alter_partition_response *last;

static void note_done(struct controller_call *call)
{
    last = call->response;
}

/* The partition's error, or the top level one. */
static int ask(struct fake_cluster *f, struct ask q)
{
    struct ctl_topic *t = context_topic(&f->brokers[1].c->x, STR("t"));
    struct alter_partition_request_new_isr_with_epoch members[4] = {0};
    int32_t id = q.broker_id ? q.broker_id : 1;

    for (int32_t i = 0; i < q.isr_count; i++)
        members[i].broker_id = q.isr[i];
    struct alter_partition_request_partition rp = {.partition_index = q.partition,
                                                   .leader_epoch = q.leader_epoch,
                                                   .new_isr = q.isr,
                                                   .new_isr_count = q.isr_count,
                                                   .new_isr_with_epochs = members,
                                                   .new_isr_with_epochs_count = q.isr_count,
                                                   .leader_recovery_state = q.recovery,
                                                   .partition_epoch = q.partition_epoch};
    struct alter_partition_request_topic rt = {
        .topic_name = STR("t"),
        .topic_id = q.unknown_id ? uuid_random() : t->id,
        .partitions = &rp,
        .partitions_count = 1,
    };
    struct alter_partition_request req = {
        .broker_id = id,
        .broker_epoch = id < FAKE_BROKERS_MAX ? f->brokers[id].reg.epoch + q.epoch_offset : 1,
        .topics = &rt,
        .topics_count = 1,
    };
    struct controller_call call = {.arena = &f->arena,
                                   .request = &req,
                                   .version = q.version ? q.version : 3,
                                   .done = note_done};
    last = NULL;
    controller_alter_partition(f->brokers[1].c, &call);
    fake_cluster_run(f);
    ck_assert_ptr_nonnull(last);
    return last->error_code ? last->error_code : last->topics[0].partitions[0].error_code;
}

static void with_topic(struct fake_cluster *f)
{
    fake_cluster_init(f, 3);
    fake_cluster_create(f, "t", "1,2,3");
    ck_assert_int_eq(fake_cluster_alter(f, "t", 0, "1,2"), 0); /* partition epoch 1 */
    fake_cluster_trace(f);
}

START_TEST(each_reason_to_refuse_has_its_code)
{
    struct fake_cluster f;

    with_topic(&f);
    ck_assert_int_eq(ask(&f, (struct ask){.broker_id = 7}), STALE_BROKER_EPOCH);
    ck_assert_int_eq(ask(&f, (struct ask){.epoch_offset = 1}), STALE_BROKER_EPOCH);
    ck_assert_int_eq(ask(&f, (struct ask){.epoch_offset = -1}), STALE_BROKER_EPOCH);
    ck_assert_int_eq(
        ask(&f, (struct ask){.partition_epoch = 1, .isr = {1}, .isr_count = 1, .recovery = -128}),
        UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(ask(&f, (struct ask){.unknown_id = true}), UNKNOWN_TOPIC_ID);
    ck_assert_int_eq(ask(&f, (struct ask){.partition = 5}), UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 2}), NOT_CONTROLLER);
    ck_assert_int_eq(ask(&f, (struct ask){.leader_epoch = 1}), NOT_CONTROLLER);
    ck_assert_int_eq(ask(&f, (struct ask){.leader_epoch = -1}), FENCED_LEADER_EPOCH);
    ck_assert_int_eq(ask(&f, (struct ask){.isr = {1}, .isr_count = 1}), INVALID_UPDATE_VERSION);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1}), INVALID_REQUEST);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1,
                                          .isr = {1, 2, 3},
                                          .isr_count = 3,
                                          .recovery = NODE_RECOVERING}),
                     INVALID_REQUEST);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1,
                                          .isr = {1},
                                          .isr_count = 1,
                                          .recovery = NODE_RECOVERING}),
                     INVALID_REQUEST);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1, .isr = {1, 7}, .isr_count = 2}),
                     INELIGIBLE_REPLICA);
    ck_assert_int_eq(
        ask(&f, (struct ask){.version = 1, .partition_epoch = 1, .isr = {1, 7}, .isr_count = 2}),
        OPERATION_NOT_ATTEMPTED);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(what_is_so_already_is_success_and_written_no_more)
{
    struct fake_cluster f;

    with_topic(&f);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 0, .isr = {1, 2}, .isr_count = 2}), 0);
    ck_assert_int_eq(last->topics[0].partitions[0].partition_epoch, 1);
    ck_assert_int_eq(last->topics[0].partitions[0].isr_count, 2);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2 v1");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(accepted_change_is_written_answered_and_told)
{
    struct fake_cluster f;

    with_topic(&f);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1, .isr = {1, 2, 3}, .isr_count = 3}),
                     0);
    ck_assert_int_eq(last->topics[0].partitions[0].partition_epoch, 2);
    ck_assert_int_eq(last->topics[0].partitions[0].leader_id, 1);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e0 isr 1,2,3 v2");
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2,3: t-0 L1 e0 isr 1,2,3 rs 1,2,3\n");
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(broker_that_shuts_down_is_not_taken_into_an_isr)
{
    struct fake_cluster f;
    int left;

    with_topic(&f);
    ck_assert_int_eq(fake_cluster_shutdown(&f, 3, &left), 0);
    const struct ctl_partition *p = context_partition(&f.brokers[1].c->x, STR("t"), 0);
    ck_assert_int_eq(ask(&f, (struct ask){.leader_epoch = p->leader_epoch,
                                          .partition_epoch = p->partition_epoch,
                                          .isr = {1, 2, 3},
                                          .isr_count = 3}),
                     INELIGIBLE_REPLICA);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(change_of_another_writer_gives_a_version_conflict)
{
    struct fake_cluster f;
    struct zk_partition_state st = {.topic = STR("t"), .partition = 0};

    with_topic(&f);
    ck_assert_int_eq(zk_states_read(f.admin, &f.arena, &st, 1), ZK_OK);
    ck_assert_int_eq(zk_states_update(f.admin, &st, 1, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(ask(&f, (struct ask){.partition_epoch = 1, .isr = {1, 2, 3}, .isr_count = 3}),
                     INVALID_UPDATE_VERSION);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(older_leaders_notifications_are_read_told_and_deleted)
{
    struct fake_cluster f;
    struct zk_partition_state st = {.topic = STR("t"), .partition = 0};
    struct node_partition_name names[] = {{STR("t"), 0}, {STR("gone"), 1}};
    struct node_partition_names changed = {names, 2};
    struct zk_names left;

    with_topic(&f);
    ck_assert_int_eq(zk_states_read(f.admin, &f.arena, &st, 1), ZK_OK);
    st.state.isr.count = 1;
    ck_assert_int_eq(zk_states_update(f.admin, &st, 1, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_isr_change_notify(f.admin, &changed), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_trace(&f), "UMR 1,2,3: t-0 L1 e0 isr 1 rs 1,2,3\n");
    ck_assert_int_eq(zk_notifications_list(f.admin, ZK_PATH_ISR_CHANGES, false, &f.arena, &left),
                     ZK_OK);
    ck_assert_int_eq((int)left.count, 0);
    fake_cluster_deinit(&f);
}
END_TEST

START_TEST(failed_log_directory_costs_leadership_and_isr)
{
    struct fake_cluster f;
    struct zk_names left;

    fake_cluster_init(&f, 3);
    fake_cluster_create(&f, "t", "2,1");
    fake_cluster_create(&f, "u", "2,3");
    fake_channels_refuse(&f.brokers[1].channels,
                         (struct fake_refusal){2, API_LEADER_AND_ISR, "t", 0, KAFKA_STORAGE_ERROR});
    fake_cluster_trace(&f);
    ck_assert_int_eq(zk_log_dir_event_notify(f.admin, 2), ZK_OK);
    fake_cluster_run(&f);
    ck_assert_str_eq(fake_cluster_state(&f, "t", 0), "L1 e1 isr 1 v1");
    ck_assert_str_eq(fake_cluster_state(&f, "u", 0), "L2 e0 isr 2,3 v0");
    ck_assert_str_eq(fake_cluster_trace(&f),
                     "LISR 2: t-0 L2 e0 isr 2,1 rs 2,1; u-0 L2 e0 isr 2,3 rs 2,3\n"
                     "UMR 1,2,3: t-0 L2 e0 isr 2,1 rs 2,1; u-0 L2 e0 isr 2,3 rs 2,3\n"
                     "LISR 1: t-0 L1 e1 isr 1 rs 2,1\n"
                     "UMR 1,2,3: t-0 L1 e1 isr 1 rs 2,1 off 2\n"
                     "LISR 1: t-0 L1 e1 isr 1 rs 2,1\n"
                     "UMR 1,2,3: t-0 L1 e1 isr 1 rs 2,1 off 2\n"
                     "SR 2: t-0 e1\n");
    ck_assert_int_eq(zk_notifications_list(f.admin, ZK_PATH_LOG_DIR_EVENTS, false, &f.arena, &left),
                     ZK_OK);
    ck_assert_int_eq((int)left.count, 0);
    f.brokers[1].channels.refusal_count = 0;
    fake_cluster_kill(&f, 2);
    fake_cluster_start(&f, 2);
    const struct ctl_partition *p = context_partition(&f.brokers[1].c->x, STR("t"), 0);
    ck_assert(replica_is_online(&f.brokers[1].c->x, p, 2));
    fake_cluster_deinit(&f);
}
END_TEST

TEST_MAIN("controller/isr", each_reason_to_refuse_has_its_code,
          what_is_so_already_is_success_and_written_no_more,
          accepted_change_is_written_answered_and_told,
          broker_that_shuts_down_is_not_taken_into_an_isr,
          change_of_another_writer_gives_a_version_conflict,
          older_leaders_notifications_are_read_told_and_deleted,
          failed_log_directory_costs_leadership_and_isr)
