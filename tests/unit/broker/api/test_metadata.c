#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "broker/meta/metadata.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/test_main.h"

enum { ALL_TOPIC_OPERATIONS = 0xdf8 };

static const struct uuid id_of_t = {{7}}, other_id = {{9}}, no_id;
static struct clock_fake fake;
static struct reactor *reactor;
static struct broker_conf conf;
static char cluster_id[] = "c";
static struct broker b;
static struct api_call call;

/* Broker 1 alone, with topic t. */
static void begin(void)
{
    static int32_t ids[] = {1};
    struct update_metadata_request_partition_state p = {
        .leader = 1, .isr = ids, .isr_count = 1, .replicas = ids, .replicas_count = 1};
    struct update_metadata_request_topic_state t = {.topic_name = STR("t"),
                                                    .topic_id = id_of_t,
                                                    .partition_states = &p,
                                                    .partition_states_count = 1};
    struct update_metadata_request_endpoint e = {
        .port = 9001, .host = STR("h"), .listener = STR("INT")};
    struct update_metadata_request_live_broker lb = {
        .id = 1, .endpoints = &e, .endpoints_count = 1};
    struct update_metadata_request update = {.controller_id = 1,
                                             .topic_states = &t,
                                             .topic_states_count = 1,
                                             .live_brokers = &lb,
                                             .live_brokers_count = 1};

    clock_fake_init(&fake, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &fake.clock, &reactor), 0);
    b = (struct broker){
        .clock = &fake.clock, .conf = &conf, .metadata = metadata_new(), .cluster_id = cluster_id};
    metadata_update(b.metadata, &update);
    call = (struct api_call){.b = &b, .reactor = reactor};
}

static void end(void)
{
    api_call_deinit(&call);
    metadata_free(b.metadata);
    reactor_free(reactor);
}

static struct metadata_response ask(int16_t version, struct metadata_request_topic *topics,
                                    int32_t count)
{
    struct metadata_request body = {.topics = topics,
                                    .topics_count = count,
                                    .include_topic_authorized_operations = version >= 8};
    struct metadata_response resp;

    api_call(&call, API_METADATA, version, &body, &resp);
    return resp;
}

START_TEST(before_version_12_an_id_refuses_the_request)
{
    struct metadata_request_topic topics[] = {{id_of_t, STR("__consumer_offsets")},
                                              {no_id, STR("t")}};

    begin();
    struct metadata_response resp = ask(11, topics, 2);
    ck_assert_int_eq(resp.brokers_count, 0);
    ck_assert_int_eq(resp.topics_count, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(resp.topics[i].error_code, INVALID_REQUEST);
        ck_assert(!resp.topics[i].is_internal);
        ck_assert_int_eq(resp.topics[i].partitions_count, 0);
    }
    end();
}
END_TEST

START_TEST(unknown_topics_have_their_allowed_operations)
{
    struct metadata_request_topic topics[] = {{no_id, STR("none")}, {no_id, STR("no/name")}};

    begin();
    struct metadata_response resp = ask(9, topics, 2);
    ck_assert_int_eq(resp.topics_count, 2);
    ck_assert_int_eq(resp.topics[0].error_code, UNKNOWN_TOPIC_OR_PARTITION);
    ck_assert_int_eq(resp.topics[1].error_code, INVALID_TOPIC_EXCEPTION);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(resp.topics[i].topic_authorized_operations, ALL_TOPIC_OPERATIONS);
    end();
}
END_TEST

START_TEST(each_id_is_answered_once_and_none_is_nobody)
{
    struct metadata_request_topic topics[] = {{other_id, STR_NULL},
                                              {id_of_t, STR_NULL},
                                              {no_id, STR("t")},
                                              {id_of_t, STR_NULL},
                                              {other_id, STR_NULL}};

    begin();
    struct metadata_response resp = ask(12, topics, 5);
    ck_assert_int_eq(resp.topics_count, 2);
    ck_assert_int_eq(resp.topics[0].error_code, UNKNOWN_TOPIC_ID);
    ck_assert(str_is_null(resp.topics[0].name));
    ck_assert(str_eqz(resp.topics[1].name, "t"));
    ck_assert_int_eq(resp.topics[1].error_code, 0);
    end();
}
END_TEST

START_TEST(only_endpoints_of_brokers_are_described)
{
    static const struct {
        int16_t version;
        int8_t type;
        int16_t error;
        const char *message;
    } cases[] = {
        {1, 1, 0, NULL},
        {1, 2, MISMATCHED_ENDPOINT_TYPE,
         "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
         "CONTROLLER"},
        {1, 7, UNSUPPORTED_ENDPOINT_TYPE, "Unsupported endpoint type 7"},
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct describe_cluster_request body = {.endpoint_type = cases[i].type};
        struct describe_cluster_response resp;

        api_call(&call, API_DESCRIBE_CLUSTER, cases[i].version, &body, &resp);
        ck_assert_int_eq(resp.error_code, cases[i].error);
        ck_assert_int_eq(resp.brokers_count, cases[i].error ? 0 : 1);
        if (cases[i].message)
            ck_assert(str_eqz(resp.error_message, cases[i].message));
        else
            ck_assert(str_is_null(resp.error_message));
    }
    end();
}
END_TEST

TEST_MAIN("broker/api/metadata", before_version_12_an_id_refuses_the_request,
          unknown_topics_have_their_allowed_operations, each_id_is_answered_once_and_none_is_nobody,
          only_endpoints_of_brokers_are_described)
