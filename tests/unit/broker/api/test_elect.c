/*
 * test_elect.c - requests for the controller through their handlers: ElectLeaders with its wait,
 * and those that are only handed on
 */
#include "broker/api/handlers.h"
#include "broker/meta/metadata_waits.h"
#include "tests/support/api_call.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

/* Broker 1 of a cluster, which is the controller, with what handlers need of it. */
struct rig {
    struct fake_cluster f;
    struct clock_fake clock;
    struct broker b;
    struct api_call call;
    size_t applied; /* messages to broker 1 that its metadata has seen */
};

static void run_controllers(void *ctx)
{
    fake_cluster_run(ctx);
}

static struct rig *rig_new(void)
{
    struct rig *r = xnew(struct rig);

    fake_cluster_init(&r->f, 3);
    fake_cluster_create(&r->f, "t", "3,2,1;1,2,3");
    fake_cluster_create(&r->f, "u", "1,2");
    clock_fake_init(&r->clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &r->clock.clock, &r->call.reactor), 0);
    r->b.metadata = metadata_new();
    r->b.waits = metadata_waits_new(r->b.metadata);
    r->b.controller = r->f.brokers[1].c;
    r->b.clock = &r->clock.clock;
    r->call.b = &r->b;
    r->call.others = run_controllers;
    r->call.ctx = &r->f;
    return r;
}

static void rig_free(struct rig *r)
{
    api_call_deinit(&r->call);
    metadata_waits_free(r->b.waits);
    metadata_free(r->b.metadata);
    reactor_free(r->call.reactor);
    fake_cluster_deinit(&r->f);
    free(r);
}

/* The UpdateMetadata requests that broker 1 has been sent meanwhile reach it. */
static void hear(struct rig *r)
{
    const struct fake_channels *ch = &r->f.brokers[1].channels;

    for (; r->applied < ch->count; r->applied++) {
        const struct fake_sent *s = &ch->sent[r->applied];
        if (s->broker_id == 1 && s->m->api_key == API_UPDATE_METADATA)
            metadata_update(r->b.metadata, s->m->body);
    }
    metadata_waits_look(r->b.waits);
    for (int i = 0; i < 5; i++)
        reactor_turn(r->call.reactor, 0);
}

static void with_imbalance(struct rig *r)
{
    fake_cluster_kill(&r->f, 3);
    fake_cluster_start(&r->f, 3);
    fake_cluster_alter(&r->f, "t", 0, "2,1,3");
    hear(r);
}

START_TEST(answer_waits_until_this_broker_knows_the_leader)
{
    struct rig *r = rig_new();
    int32_t ids[] = {1, 0, 1};
    struct elect_leaders_request_topic_partition tp[] = {{STR("t"), ids, 3}, {STR("nope"), ids, 1}};
    struct elect_leaders_request body = {
        .topic_partitions = tp, .topic_partitions_count = 2, .timeout_ms = 60000};
    struct elect_leaders_response resp;

    with_imbalance(r);
    api_call_start(&r->call, API_ELECT_LEADERS, 2, &body);
    ck_assert(!r->call.is_answered);
    hear(r);
    api_call_end(&r->call, &resp);
    ck_assert_int_eq(resp.error_code, 0);
    ck_assert_int_eq(resp.replica_election_results_count, 2);
    ck_assert(str_eqz(resp.replica_election_results[1].topic, "t"));
    ck_assert_int_eq(resp.replica_election_results[1].partition_result_count, 2);
    ck_assert_int_eq(resp.replica_election_results[1].partition_result[0].error_code, 0);
    ck_assert(str_is_null(resp.replica_election_results[1].partition_result[0].error_message));
    ck_assert_int_eq(resp.replica_election_results[1].partition_result[1].error_code,
                     ELECTION_NOT_NEEDED);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[0].error_code,
                     UNKNOWN_TOPIC_OR_PARTITION);
    rig_free(r);
}
END_TEST

START_TEST(leader_not_heard_of_in_time_is_a_timeout)
{
    struct rig *r = rig_new();
    int32_t ids[] = {0};
    struct elect_leaders_request_topic_partition tp = {STR("t"), ids, 1};
    struct elect_leaders_request body = {
        .topic_partitions = &tp, .topic_partitions_count = 1, .timeout_ms = 1000};
    struct elect_leaders_response resp;

    with_imbalance(r);
    api_call_start(&r->call, API_ELECT_LEADERS, 1, &body);
    clock_fake_advance(&r->clock, 2000);
    for (int i = 0; i < 5; i++)
        reactor_turn(r->call.reactor, 0);
    api_call_end(&r->call, &resp);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[0].error_code,
                     REQUEST_TIMED_OUT);
    ck_assert_str_eq(fake_cluster_state(&r->f, "t", 0), "L3 e2 isr 2,1,3 v3");
    rig_free(r);
}
END_TEST

START_TEST(everything_asked_for_tells_only_what_was_elected)
{
    struct rig *r = rig_new();
    struct elect_leaders_request body = {.topic_partitions_count = -1, .timeout_ms = 60000};
    struct elect_leaders_response resp;

    with_imbalance(r);
    api_call_start(&r->call, API_ELECT_LEADERS, 2, &body);
    hear(r);
    api_call_end(&r->call, &resp);
    ck_assert_int_eq(resp.replica_election_results_count, 1);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result_count, 1);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[0].partition_id, 0);
    rig_free(r);
}
END_TEST

START_TEST(unknown_election_type_elects_nobody)
{
    struct rig *r = rig_new();
    int32_t ids[] = {0};
    struct elect_leaders_request_topic_partition tp = {STR("t"), ids, 1};
    struct elect_leaders_request body = {
        .election_type = 2, .topic_partitions = &tp, .topic_partitions_count = 1};
    struct elect_leaders_response resp;

    with_imbalance(r);
    api_call(&r->call, API_ELECT_LEADERS, 2, &body, &resp);
    ck_assert_int_eq(resp.error_code, -1);
    ck_assert_str_eq(fake_cluster_state(&r->f, "t", 0), "L2 e1 isr 2,1,3 v2");
    rig_free(r);
}
END_TEST

START_TEST(requests_of_brokers_are_handed_on_and_answered)
{
    struct rig *r = rig_new();
    struct alter_partition_request alter = {.broker_id = 2};
    struct alter_partition_response altered;
    struct controlled_shutdown_request stop = {.broker_id = 2, .broker_epoch = -1};
    struct controlled_shutdown_response stopped;
    struct allocate_producer_ids_request ids = {.broker_id = 2,
                                                .broker_epoch = r->f.brokers[2].reg.epoch};
    struct allocate_producer_ids_response block;

    api_call(&r->call, API_ALTER_PARTITION, 3, &alter, &altered);
    ck_assert_int_eq(altered.error_code, STALE_BROKER_EPOCH);
    api_call(&r->call, API_CONTROLLED_SHUTDOWN, 0, &stop, &stopped);
    ck_assert_int_eq(stopped.error_code, 0);
    for (int i = 0; i < 2; i++) {
        api_call(&r->call, API_ALLOCATE_PRODUCER_IDS, 0, &ids, &block);
        ck_assert_int_eq(block.error_code, 0);
        ck_assert_int_eq(block.producer_id_start, 1000 * i);
        ck_assert_int_eq(block.producer_id_len, 1000);
    }
    rig_free(r);
}
END_TEST

TEST_MAIN("broker/api/elect", answer_waits_until_this_broker_knows_the_leader,
          leader_not_heard_of_in_time_is_a_timeout,
          everything_asked_for_tells_only_what_was_elected, unknown_election_type_elects_nobody,
          requests_of_brokers_are_handed_on_and_answered)
