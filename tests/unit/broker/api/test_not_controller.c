/*
 * test_not_controller.c - what a broker that is not the controller answers to requests that need
 * it, as tests/oracle/controller_wire.py has seen it of Kafka 3.9; and UpdateFeatures at the
 * controller
 */
#include "broker/api/handlers.h"
#include "broker/config/broker_conf.h"
#include "broker/meta/metadata_waits.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

/* A broker of a cluster whose controller is 1, with what handlers need of it. */
struct rig {
    struct fake_cluster f;
    struct clock_fake clock;
    struct broker b;
    struct api_call call;
    struct broker_conf conf;
};

static void run_controllers(void *ctx)
{
    fake_cluster_run(ctx);
}

static struct rig *rig_new(int id)
{
    struct rig *r = xnew(struct rig);

    fake_cluster_init(&r->f, 3);
    fake_cluster_create(&r->f, "t", "3,2,1;1,2,3");
    fake_cluster_create(&r->f, "u", "1,2");
    clock_fake_init(&r->clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &r->clock.clock, &r->call.reactor), 0);
    r->b.metadata = metadata_new();
    r->b.waits = metadata_waits_new(r->b.metadata);
    r->conf.ibp = IBP_3_9_IV0;
    r->b.conf = &r->conf;
    r->b.controller = r->f.brokers[id].c;
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

static const char wrong[] = "This is not the correct controller for this cluster.";

START_TEST(every_entry_of_create_topics_is_refused)
{
    struct rig *r = rig_new(2);
    struct create_topics_request_topic topics[] = {
        {.name = STR("a")}, {.name = STR("__cluster_metadata")}, {.name = STR("a")}};
    struct create_topics_request body = {.topics = topics, .topics_count = 3};
    struct create_topics_response resp;

    api_call(&r->call, API_CREATE_TOPICS, 7, &body, &resp);
    ck_assert_int_eq(resp.topics_count, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(str_eq(resp.topics[i].name, topics[i].name));
        ck_assert_int_eq(resp.topics[i].error_code, NOT_CONTROLLER);
        ck_assert(!str_is_null(resp.topics[i].error_message));
        ck_assert_int_eq(resp.topics[i].error_message.len, 0);
        ck_assert_int_eq(resp.topics[i].num_partitions, -1);
        ck_assert_int_eq(resp.topics[i].configs_count, 0);
    }
    rig_free(r);
}
END_TEST

START_TEST(every_entry_of_delete_topics_is_refused)
{
    struct rig *r = rig_new(2);
    struct delete_topics_request_topic topics[] = {{.name = STR("t")}, {.name = STR("t")}};
    struct delete_topics_request body = {.topics = topics, .topics_count = 2};
    struct delete_topics_response resp;

    api_call(&r->call, API_DELETE_TOPICS, 6, &body, &resp);
    ck_assert_int_eq(resp.responses_count, 2);
    ck_assert_int_eq(resp.responses[1].error_code, NOT_CONTROLLER);
    ck_assert(str_is_null(resp.responses[1].error_message));
    rig_free(r);
}
END_TEST

START_TEST(each_name_of_create_partitions_is_refused_once)
{
    struct rig *r = rig_new(2);
    struct create_partitions_request_topic topics[] = {{.name = STR("t"), .count = 3},
                                                       {.name = STR("u"), .count = -1},
                                                       {.name = STR("t"), .count = 4}};
    struct create_partitions_request body = {.topics = topics, .topics_count = 3};
    struct create_partitions_response resp;

    api_call(&r->call, API_CREATE_PARTITIONS, 3, &body, &resp);
    ck_assert_int_eq(resp.results_count, 2);
    ck_assert(str_eqz(resp.results[1].name, "u"));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(resp.results[i].error_code, NOT_CONTROLLER);
        ck_assert(str_is_null(resp.results[i].error_message));
    }
    rig_free(r);
}
END_TEST

START_TEST(each_partition_of_elect_leaders_is_refused_once)
{
    struct rig *r = rig_new(2);
    struct elect_leaders_request_topic_partition tp[] = {{STR("t"), (int32_t[]){9, 0, 9}, 3},
                                                         {STR("u"), NULL, 0}};
    struct elect_leaders_request body = {.topic_partitions = tp, .topic_partitions_count = 2};
    struct elect_leaders_response resp;

    api_call(&r->call, API_ELECT_LEADERS, 2, &body, &resp);
    ck_assert_int_eq(resp.error_code, 0);
    ck_assert_int_eq(resp.replica_election_results_count, 1);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result_count, 2);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[1].partition_id, 9);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[1].error_code,
                     NOT_CONTROLLER);
    rig_free(r);
}
END_TEST

/* Before it is asked who the controller is, and as often as it was named. */
START_TEST(an_unknown_kind_of_election_is_refused_as_it_was_asked)
{
    struct rig *r = rig_new(2);
    struct elect_leaders_request_topic_partition tp[] = {{STR("t"), (int32_t[]){0, 0}, 2},
                                                         {STR("u"), NULL, 0}};
    struct elect_leaders_request body = {
        .election_type = 2, .topic_partitions = tp, .topic_partitions_count = 2};
    struct elect_leaders_request all = {.election_type = 2, .topic_partitions_count = -1};
    struct elect_leaders_response resp;

    api_call(&r->call, API_ELECT_LEADERS, 1, &body, &resp);
    ck_assert_int_eq(resp.error_code, -1);
    ck_assert_int_eq(resp.replica_election_results_count, 2);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result_count, 2);
    ck_assert_int_eq(resp.replica_election_results[0].partition_result[1].error_code, -1);
    ck_assert_int_eq(resp.replica_election_results[1].partition_result_count, 0);
    api_call(&r->call, API_ELECT_LEADERS, 1, &all, &resp);
    ck_assert_int_eq(resp.replica_election_results_count, 0);
    rig_free(r);
}
END_TEST

START_TEST(the_rest_is_refused_at_the_top)
{
    struct rig *r = rig_new(2);
    struct alter_partition_reassignments_request alter = {.topics_count = 0};
    struct alter_partition_reassignments_response altered;
    struct list_partition_reassignments_request list = {.topics_count = -1};
    struct list_partition_reassignments_response listed;
    struct alter_partition_request isr = {.broker_id = 1};
    struct alter_partition_response isr_answer;
    struct controlled_shutdown_request leave = {.broker_id = 77};
    struct controlled_shutdown_response left;
    struct allocate_producer_ids_request ids = {.broker_id = 1};
    struct allocate_producer_ids_response given;
    struct update_features_request_feature_update update = {.feature = STR("")};
    struct update_features_request features = {.feature_updates = &update,
                                               .feature_updates_count = 1};
    struct update_features_response updated;

    api_call(&r->call, API_ALTER_PARTITION_REASSIGNMENTS, 0, &alter, &altered);
    ck_assert_int_eq(altered.error_code, NOT_CONTROLLER);
    ck_assert(str_eqz(altered.error_message, wrong));
    api_call(&r->call, API_LIST_PARTITION_REASSIGNMENTS, 0, &list, &listed);
    ck_assert_int_eq(listed.error_code, NOT_CONTROLLER);
    ck_assert(str_eqz(listed.error_message, wrong));
    api_call(&r->call, API_ALTER_PARTITION, 3, &isr, &isr_answer);
    ck_assert_int_eq(isr_answer.error_code, NOT_CONTROLLER);
    ck_assert_int_eq(isr_answer.topics_count, 0);
    api_call(&r->call, API_CONTROLLED_SHUTDOWN, 3, &leave, &left);
    ck_assert_int_eq(left.error_code, STALE_CONTROLLER_EPOCH);
    api_call(&r->call, API_ALLOCATE_PRODUCER_IDS, 0, &ids, &given);
    ck_assert_int_eq(given.error_code, NOT_CONTROLLER);
    api_call(&r->call, API_UPDATE_FEATURES, 1, &features, &updated);
    ck_assert_int_eq(updated.error_code, NOT_CONTROLLER);
    ck_assert(str_eqz(updated.error_message, wrong));
    ck_assert_int_eq(updated.results_count, 0);
    rig_free(r);
}
END_TEST

static struct update_features_response update(struct rig *r, int16_t version, const char *feature,
                                              int16_t level, int8_t kind)
{
    struct update_features_request_feature_update u = {.feature = str_of(feature),
                                                       .max_version_level = level,
                                                       .allow_downgrade = version == 0 && kind > 1,
                                                       .upgrade_type = kind};
    struct update_features_request body = {.feature_updates = &u, .feature_updates_count = 1};
    struct update_features_response resp;

    api_call(&r->call, API_UPDATE_FEATURES, version, &body, &resp);
    ck_assert_int_eq(resp.error_code, 0);
    ck_assert_int_eq(resp.results_count, 1);
    return resp;
}

START_TEST(the_controller_judges_each_feature)
{
    static const struct {
        int16_t version;
        const char *feature;
        int16_t level;
        int8_t kind;
        const char *why;
    } cases[] = {
        {1, "", 1, 0, "Feature name can not be empty."},
        {1, "f", 1, 0, "Received unknown upgrade type."},
        {1, "f", 1, 4, "Received unknown upgrade type."},
        {1, "f", 0, 2, "Can not delete non-existing finalized feature."},
        {0, "f", 0, 2, "Can not delete non-existing finalized feature."},
        {1, "f", 0, 1,
         "Can not provide versionLevel: 0 less than 1 without setting the SAFE downgradeType in "
         "the request."},
        {1, "f", 5, 3,
         "Could not apply finalized feature update because the provided feature is not "
         "supported."},
    };
    struct rig *r = rig_new(1);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct update_features_response resp =
            update(r, cases[i].version, cases[i].feature, cases[i].level, cases[i].kind);
        ck_assert_int_eq(resp.results[0].error_code, INVALID_REQUEST);
        ck_assert(str_eqz(resp.results[0].error_message, cases[i].why));
    }
    rig_free(r);
}
END_TEST

START_TEST(the_first_update_of_a_feature_counts)
{
    struct rig *r = rig_new(1);
    struct update_features_request_feature_update u[] = {
        {.feature = STR("f"), .max_version_level = 0, .upgrade_type = 2},
        {.feature = STR("f"), .max_version_level = 5, .upgrade_type = 1}};
    struct update_features_request body = {.feature_updates = u, .feature_updates_count = 2};
    struct update_features_response resp;

    api_call(&r->call, API_UPDATE_FEATURES, 1, &body, &resp);
    ck_assert_int_eq(resp.results_count, 1);
    ck_assert(
        str_eqz(resp.results[0].error_message, "Can not delete non-existing finalized feature."));
    rig_free(r);
}
END_TEST

/* Which somebody else put into /feature before this controller came. */
START_TEST(a_finalized_feature_can_only_go)
{
    struct rig *r = rig_new(1);
    struct controller *c = r->f.brokers[1].c;
    struct node_finalized old[] = {{STR("f"), 1, 3}, {STR("g"), 1, 1}};

    c->finalized = (struct node_features){2, true, old, 2};
    ck_assert(str_eqz(update(r, 1, "f", 3, 1).results[0].error_message,
                      "Can not upgrade a finalized feature from existing versionLevel:3 to the "
                      "same value."));
    ck_assert(str_eqz(update(r, 1, "f", 2, 1).results[0].error_message,
                      "Can not downgrade finalized feature from existing versionLevel:3 to "
                      "provided versionLevel:2 without setting the downgradeType in the request."));
    ck_assert(str_eqz(update(r, 1, "f", 4, 2).results[0].error_message,
                      "When the downgradeType is set in the request, provided versionLevel:4 can "
                      "not be greater than existing versionLevel:3."));
    ck_assert_int_eq(update(r, 1, "f", 0, 2).results[0].error_code, 0);
    ck_assert_int_eq(c->finalized.count, 1);
    ck_assert(str_eqz(c->finalized.list[0].name, "g"));
    rig_free(r);
}
END_TEST

START_TEST(features_need_their_protocol_version)
{
    struct rig *r = rig_new(1);
    struct update_features_request body = {.feature_updates_count = 0};
    struct update_features_response resp;

    r->conf.ibp = IBP_2_6_IV0;
    api_call(&r->call, API_UPDATE_FEATURES, 0, &body, &resp);
    ck_assert_int_eq(resp.error_code, INVALID_REQUEST);
    ck_assert(str_eqz(resp.error_message, "Feature versioning system is disabled."));
    rig_free(r);
}
END_TEST

TEST_MAIN("broker/api/not_controller", every_entry_of_create_topics_is_refused,
          every_entry_of_delete_topics_is_refused, each_name_of_create_partitions_is_refused_once,
          each_partition_of_elect_leaders_is_refused_once,
          an_unknown_kind_of_election_is_refused_as_it_was_asked, the_rest_is_refused_at_the_top,
          the_controller_judges_each_feature, the_first_update_of_a_feature_counts,
          a_finalized_feature_can_only_go, features_need_their_protocol_version)
