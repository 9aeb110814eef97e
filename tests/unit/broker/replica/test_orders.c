#include "broker/replica/orders.h"

#include "broker/replica/partition_role.h"
#include "common/base/err.h"
#include "tests/support/replica_node.h"
#include "tests/support/test_main.h"

static struct node_world world;
static struct node node;
static const int32_t all[] = {1, 2, 3};

static void ignore(struct node *n UNUSED, struct fake_call *fc)
{
    struct fetch_response resp;

    msg_init(&fetch_response_desc, &resp);
    fake_call_reply(fc, &resp);
}

static struct node_state_of state(int32_t leader, int32_t epoch)
{
    return (struct node_state_of){.topic = "t",
                                  .leader = leader,
                                  .leader_epoch = epoch,
                                  .partition_epoch = epoch,
                                  .isr = all,
                                  .isr_count = 3,
                                  .replicas = all,
                                  .replica_count = 3,
                                  .is_new = true};
}

static void begin(void)
{
    world_init(&world);
    node.serve_other = ignore;
    node_open(&node, &world, 1);
    node_tell(&node, 1, all, 3, NULL);
}

static void end(void)
{
    node_close(&node);
    world_deinit(&world);
}

static int order(int32_t leader, int32_t epoch)
{
    struct node_state_of st = state(leader, epoch);

    return node_order(&node, 1, &st);
}

static enum partition_role role(void)
{
    return node_partition(&node, "t", 0)->role;
}

START_TEST(only_a_greater_leader_epoch_is_obeyed)
{
    begin();
    ck_assert_int_eq(order(1, 5), 0);
    ck_assert_int_eq(role(), ROLE_LEADER);
    ck_assert_int_eq(order(2, 5), STALE_CONTROLLER_EPOCH);
    ck_assert_int_eq(order(2, 4), STALE_CONTROLLER_EPOCH);
    ck_assert_int_eq(role(), ROLE_LEADER);
    ck_assert_int_eq(order(2, 6), 0);
    ck_assert_int_eq(role(), ROLE_FOLLOWER);
    end();
}
END_TEST

START_TEST(older_controller_is_refused_as_a_whole)
{
    begin();
    struct node_state_of st = state(1, 0);
    ck_assert_int_eq(node_order(&node, 7, &st), 0);
    st.leader_epoch = 1;
    ck_assert_int_eq(node_order(&node, 6, &st), STALE_CONTROLLER_EPOCH);
    world.controller_epoch = 6;
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -1, false), STALE_CONTROLLER_EPOCH);
    end();
    world.controller_epoch = 0;
}
END_TEST

START_TEST(older_epoch_is_refused_on_every_partition)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct leader_and_isr_request req;
    struct leader_and_isr_response resp;
    leader_and_isr_state p = {.leader = 1, .replicas = (int32_t[]){1}, .replicas_count = 1};
    struct leader_and_isr_request_topic_state t = {
        .topic_name = STR("t"), .partition_states = &p, .partition_states_count = 1};

    begin();
    node.broker_epoch = 100;
    msg_init(&leader_and_isr_request_desc, &req);
    req.controller_epoch = 1;
    req.broker_epoch = 99;
    req.topic_states = &t;
    req.topic_states_count = 1;
    orders_leader_and_isr(node.m, &req, 7, &a, &resp);
    ck_assert_int_eq(resp.error_code, STALE_BROKER_EPOCH);
    ck_assert_int_eq(resp.topics[0].partition_errors[0].error_code, STALE_BROKER_EPOCH);
    /* One of the future is taken: we may be registering anew. */
    req.broker_epoch = 101;
    orders_leader_and_isr(node.m, &req, 7, &a, &resp);
    ck_assert_int_eq(resp.error_code, 0);
    req.controller_epoch = 0;
    orders_leader_and_isr(node.m, &req, 7, &a, &resp);
    ck_assert_int_eq(resp.error_code, STALE_CONTROLLER_EPOCH);
    ck_assert_int_eq(resp.topics_count, 1);
    ck_assert_int_eq(resp.topics[0].partition_errors[0].error_code, STALE_CONTROLLER_EPOCH);
    node.broker_epoch = 1;
    end();
}
END_TEST

/* As a Kafka broker that takes no part in a migration. */
START_TEST(nothing_that_is_said_to_be_of_kraft_is_obeyed)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    leader_and_isr_state p = {
        .leader = 2, .leader_epoch = 9, .replicas = (int32_t[]){1, 2}, .replicas_count = 2};
    struct leader_and_isr_request_topic_state t[] = {
        {.topic_name = STR("none")},
        {.topic_name = STR("t"), .partition_states = &p, .partition_states_count = 1}};
    struct leader_and_isr_request lead = {.is_k_raft_controller = true,
                                          .controller_epoch = 1,
                                          .broker_epoch = 1,
                                          .topic_states = t,
                                          .topic_states_count = 2};
    struct leader_and_isr_response led;
    struct stop_replica_request_partition_state ps = {.leader_epoch = 9, .delete_partition = true};
    struct stop_replica_request_topic_state ts = {
        .topic_name = STR("t"), .partition_states = &ps, .partition_states_count = 1};
    struct stop_replica_request stop = {.is_k_raft_controller = true,
                                        .controller_epoch = 1,
                                        .broker_epoch = 1,
                                        .topic_states = &ts,
                                        .topic_states_count = 1};
    struct stop_replica_response stopped;
    struct update_metadata_request tell = {
        .is_k_raft_controller = true, .controller_epoch = 1, .broker_epoch = 1};
    struct update_metadata_response told;

    begin();
    ck_assert_int_eq(order(1, 5), 0);
    orders_leader_and_isr(node.m, &lead, 7, &a, &led);
    ck_assert_int_eq(led.error_code, UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(led.topics_count, 2); /* a refusal tells both */
    ck_assert_int_eq(led.topics[1].partition_errors[0].error_code, UNKNOWN_SERVER_ERROR);
    orders_stop_replica(node.m, &stop, &a, &stopped);
    ck_assert_int_eq(stopped.error_code, UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(stopped.partition_errors_count, 1);
    ck_assert_int_eq(stopped.partition_errors[0].error_code, UNKNOWN_SERVER_ERROR);
    orders_update_metadata(node.m, &tell, &told);
    ck_assert_int_eq(told.error_code, UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(role(), ROLE_LEADER);
    end();
}
END_TEST

START_TEST(replica_that_is_not_assigned_is_unknown)
{
    static const int32_t others[] = {2, 3};

    begin();
    struct node_state_of st = state(2, 1);
    st.replicas = others;
    st.replica_count = 2;
    ck_assert_int_eq(node_order(&node, 1, &st), UNKNOWN_TOPIC_OR_PARTITION);
    end();
}
END_TEST

START_TEST(dead_leader_is_not_followed_but_the_log_is_made)
{
    static const int32_t alive[] = {1, 3};

    begin();
    node_tell(&node, 1, alive, 2, NULL);
    ck_assert_int_eq(order(2, 4), 0);
    ck_assert_int_eq(role(), ROLE_NONE);
    ck_assert_int_eq(node_partition(&node, "t", 0)->leader_epoch, -1);
    ck_assert_ptr_nonnull(node_partition(&node, "t", 0)->log);
    node_tell(&node, 1, all, 3, NULL);
    ck_assert_int_eq(order(2, 4), 0);
    ck_assert_int_eq(role(), ROLE_FOLLOWER);
    end();
}
END_TEST

START_TEST(other_topic_of_the_same_name_is_kept_out)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct leader_and_isr_request req;
    struct leader_and_isr_response resp;
    leader_and_isr_state p = {
        .leader = 1, .leader_epoch = 9, .replicas = (int32_t[]){1}, .replicas_count = 1};
    struct leader_and_isr_request_topic_state t = {.topic_name = STR("t"),
                                                   .topic_id = node_topic_id("else"),
                                                   .partition_states = &p,
                                                   .partition_states_count = 1};

    begin();
    ck_assert_int_eq(order(1, 0), 0);
    msg_init(&leader_and_isr_request_desc, &req);
    req.controller_epoch = 1;
    req.topic_states = &t;
    req.topic_states_count = 1;
    orders_leader_and_isr(node.m, &req, 7, &a, &resp);
    ck_assert_int_eq(resp.topics[0].partition_errors[0].error_code, INCONSISTENT_TOPIC_ID);
    ck_assert_int_eq(node_partition(&node, "t", 0)->leader_epoch, 0);
    end();
}
END_TEST

START_TEST(topic_id_is_added_at_the_same_epoch)
{
    struct arena CLEANUP(arena_deinit) a = {0};
    struct leader_and_isr_request req;
    struct leader_and_isr_response resp;
    leader_and_isr_state p = {.topic_name = STR("t"),
                              .leader = 1,
                              .isr = (int32_t[]){1},
                              .isr_count = 1,
                              .replicas = (int32_t[]){1},
                              .replicas_count = 1};

    begin();
    msg_init(&leader_and_isr_request_desc, &req);
    req.controller_epoch = 1;
    req.ungrouped_partition_states = &p;
    req.ungrouped_partition_states_count = 1;
    orders_leader_and_isr(node.m, &req, 1, &a, &resp);
    ck_assert_int_eq(resp.partition_errors[0].error_code, 0);
    ck_assert(uuid_is_zero(log_topic_id(node_partition(&node, "t", 0)->log)));
    ck_assert_int_eq(order(1, 0), 0);
    ck_assert(uuid_eq(log_topic_id(node_partition(&node, "t", 0)->log), node_topic_id("t")));
    ck_assert_int_eq(order(1, 0), STALE_CONTROLLER_EPOCH);
    end();
}
END_TEST

START_TEST(stop_replica_checks_the_epoch_but_for_the_sentinels)
{
    begin();
    ck_assert_int_eq(order(2, 5), 0);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, 4, false), FENCED_LEADER_EPOCH);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, 5, false), 0);
    ck_assert_int_eq(role(), ROLE_FOLLOWER);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -1, false), 0);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -2, true), 0);
    ck_assert_ptr_null(node_partition(&node, "t", 0));
    ck_assert_ptr_null(log_manager_get(node.logs, STR("t"), 0));
    /* Again: nothing is here, and that is fine. */
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -2, true), 0);
    end();
}
END_TEST

START_TEST(deleted_topic_can_come_back)
{
    begin();
    ck_assert_int_eq(order(1, 5), 0);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -2, true), 0);
    ck_assert_int_eq(order(1, 0), 0);
    ck_assert_int_eq(role(), ROLE_LEADER);
    ck_assert_int_eq(log_end_offset(node_partition(&node, "t", 0)->log), 0);
    end();
}
END_TEST

START_TEST(leftover_log_is_deleted_without_a_partition)
{
    begin();
    ck_assert_int_eq(order(1, 5), 0);
    end();
    world.keeps_dirs = true;
    begin();
    ck_assert_ptr_null(node_partition(&node, "t", 0));
    struct log *log = log_manager_get(node.logs, STR("t"), 0);
    ck_assert_ptr_nonnull(log);
    log_put(log);
    ck_assert_int_eq(node_stop_replica(&node, "t", 0, -2, true), 0);
    ck_assert_ptr_null(log_manager_get(node.logs, STR("t"), 0));
    end();
}
END_TEST

START_TEST(restarted_replica_finds_its_log_and_watermark)
{
    begin();
    struct node_state_of st = state(1, 5);
    st.isr_count = 1;
    node_tell(&node, 1, all, 3, &st);
    ck_assert_int_eq(node_order(&node, 1, &st), 0);
    struct node_produce *p = node_produce(&node, "t", 1, 100, "v");
    ck_assert_int_eq(p->error, 0);
    node_produce_free(p);
    ck_assert_int_eq(log_high_watermark(node_partition(&node, "t", 0)->log), 1);
    end();
    world.keeps_dirs = true;
    begin();
    ck_assert_int_eq(order(2, 6), 0);
    ck_assert_int_eq(log_end_offset(node_partition(&node, "t", 0)->log), 1);
    ck_assert_int_eq(log_high_watermark(node_partition(&node, "t", 0)->log), 1);
    end();
}
END_TEST

TEST_MAIN("broker/replica/orders", only_a_greater_leader_epoch_is_obeyed,
          older_controller_is_refused_as_a_whole, older_epoch_is_refused_on_every_partition,
          nothing_that_is_said_to_be_of_kraft_is_obeyed, replica_that_is_not_assigned_is_unknown,
          dead_leader_is_not_followed_but_the_log_is_made, other_topic_of_the_same_name_is_kept_out,
          topic_id_is_added_at_the_same_epoch, stop_replica_checks_the_epoch_but_for_the_sentinels,
          deleted_topic_can_come_back, leftover_log_is_deleted_without_a_partition,
          restarted_replica_finds_its_log_and_watermark)
