/*
 * test_elect.c - requests for the controller through their handlers: ElectLeaders with its wait,
 * and those that are only handed on
 */
#include "broker/api/handlers.h"
#include "broker/meta/metadata_waits.h"
#include "common/wire/header.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

/* Broker 1 of a cluster, which is the controller, with what handlers need of it. */
struct rig {
    struct fake_cluster f;
    struct clock_fake clock;
    struct reactor *reactor;
    struct broker b;
    struct request req;
    bool is_answered;
    size_t applied; /* messages to broker 1 that its metadata has seen */
};

static struct rig *rig; /* the one of the running test */

static void on_answer(struct message *m UNUSED)
{
    rig->is_answered = true;
}

static struct rig *rig_new(void)
{
    rig = xnew(struct rig);
    fake_cluster_init(&rig->f, 3);
    fake_cluster_create(&rig->f, "t", "3,2,1;1,2,3");
    fake_cluster_create(&rig->f, "u", "1,2");
    clock_fake_init(&rig->clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &rig->clock.clock, &rig->reactor), 0);
    rig->b.metadata = metadata_new();
    rig->b.waits = metadata_waits_new(rig->b.metadata);
    rig->b.controller = rig->f.brokers[1].c;
    rig->b.clock = &rig->clock.clock;
    return rig;
}

static void rig_free(struct rig *r)
{
    arena_deinit(&r->req.arena);
    metadata_waits_free(r->b.waits);
    metadata_free(r->b.metadata);
    reactor_free(r->reactor);
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
        reactor_turn(r->reactor, 0);
}

static void ask(struct rig *r, int16_t key, int16_t version, const void *body, api_handler handler)
{
    arena_reset(&r->req.arena);
    r->is_answered = false;
    r->req = (struct request){.arena = r->req.arena,
                              .api_key = key,
                              .version = version,
                              .body = body,
                              .reactor = r->reactor,
                              .received_us = clock_mono_us(r->b.clock),
                              .message = {.run = on_answer}};
    handler(&r->b, &r->req);
    fake_cluster_run(&r->f);
    for (int i = 0; i < 5; i++)
        reactor_turn(r->reactor, 0);
}

/* Reads the answer back from its bytes. */
static void answer(struct rig *r, void *ret)
{
    struct request_header h = {.request_api_key = r->req.api_key,
                               .request_api_version = r->req.version};
    struct slice frame = writer_flat(r->req.answer), body;
    int32_t correlation_id;

    ck_assert(r->is_answered);
    ck_assert_int_eq(response_header_decode(&h, slice_from(frame, 4), &correlation_id, &body), 0);
    ck_assert_int_eq(codec_decode(api_messages_find(r->req.api_key)->response, r->req.version, body,
                                  &r->req.arena, ret),
                     0);
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
    ask(r, API_ELECT_LEADERS, 2, &body, handle_elect_leaders);
    ck_assert(!r->is_answered);
    hear(r);
    answer(r, &resp);
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
    ask(r, API_ELECT_LEADERS, 1, &body, handle_elect_leaders);
    clock_fake_advance(&r->clock, 2000);
    for (int i = 0; i < 5; i++)
        reactor_turn(r->reactor, 0);
    answer(r, &resp);
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
    ask(r, API_ELECT_LEADERS, 2, &body, handle_elect_leaders);
    hear(r);
    answer(r, &resp);
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
    ask(r, API_ELECT_LEADERS, 2, &body, handle_elect_leaders);
    answer(r, &resp);
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

    ask(r, API_ALTER_PARTITION, 3, &alter, handle_alter_partition);
    answer(r, &altered);
    ck_assert_int_eq(altered.error_code, STALE_BROKER_EPOCH);
    ask(r, API_CONTROLLED_SHUTDOWN, 0, &stop, handle_controlled_shutdown);
    answer(r, &stopped);
    ck_assert_int_eq(stopped.error_code, 0);
    for (int i = 0; i < 2; i++) {
        ask(r, API_ALLOCATE_PRODUCER_IDS, 0, &ids, handle_allocate_producer_ids);
        answer(r, &block);
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
