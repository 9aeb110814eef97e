/*
 * test_topics.c - CreateTopics and DeleteTopics at the controller: what is told of a topic that is
 * not led in time, or was asked for by name, by id, by both and by neither
 */
#include "broker/api/handlers.h"
#include "broker/config/broker_conf.h"
#include "broker/config/live_conf.h"
#include "broker/meta/metadata_waits.h"
#include "broker/meta/topic_admin.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/fake_cluster.h"
#include "tests/support/test_main.h"

/* Broker 1 of a cluster, which is the controller, and knows topics t and u. */
struct rig {
    struct fake_cluster f;
    struct clock_fake clock;
    struct broker_conf *conf;
    struct live_conf *live;
    struct broker b;
    struct api_call call;
};

static struct broker_conf *default_conf(void)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *conf;
    struct props props = {0};
    int line;

    ck_assert_int_eq(props_parse(&props, STR("broker.id=1\nzookeeper.connect=z:1\n"), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &conf, &why), 0);
    return conf;
}

static struct rig *rig_new(void)
{
    struct rig *r = xnew(struct rig);
    const struct fake_channels *ch = &r->f.brokers[1].channels;

    fake_cluster_init(&r->f, 1);
    fake_cluster_create(&r->f, "t", "1");
    fake_cluster_create(&r->f, "u", "1");
    clock_fake_init(&r->clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &r->clock.clock, &r->call.reactor), 0);
    ck_assert_int_eq(workq_new("test", 1, &r->b.workq), 0);
    r->conf = default_conf();
    r->live = live_conf_new(r->conf);
    r->b.conf = r->conf;
    r->b.live = r->live;
    r->b.clock = &r->clock.clock;
    r->b.metadata = metadata_new();
    r->b.waits = metadata_waits_new(r->b.metadata);
    r->b.controller = r->f.brokers[1].c;
    r->b.topics = topic_admin_new(
        &(struct topic_admin_opts){.zk = r->f.admin, .metadata = r->b.metadata, .live = r->live});
    r->call.b = &r->b;
    for (size_t i = 0; i < ch->count; i++)
        if (ch->sent[i].m->api_key == API_UPDATE_METADATA)
            metadata_update(r->b.metadata, ch->sent[i].m->body);
    return r;
}

static void rig_free(struct rig *r)
{
    api_call_deinit(&r->call);
    r->b.workq = workq_free(r->b.workq);
    topic_admin_free(r->b.topics);
    live_conf_free(r->live);
    broker_conf_free(r->conf);
    metadata_waits_free(r->b.waits);
    metadata_free(r->b.metadata);
    reactor_free(r->call.reactor);
    fake_cluster_deinit(&r->f);
    free(r);
}

static struct uuid id_of(struct rig *r, const char *topic)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(r->b.metadata);
    const struct meta_topic *t = metadata_topic(s, str_of(topic));

    ck_assert_ptr_nonnull(t);
    return t->id;
}

static struct delete_topics_response ask(struct rig *r, struct delete_topics_request_topic *topics,
                                         int32_t count)
{
    struct delete_topics_request body = {.topics = topics, .topics_count = count};
    struct delete_topics_response resp;

    api_call(&r->call, API_DELETE_TOPICS, 6, &body, &resp);
    ck_assert_int_eq(resp.responses_count, count);
    return resp;
}

START_TEST(who_asked_by_name_is_not_told_the_id)
{
    struct rig *r = rig_new();
    struct uuid id = id_of(r, "u");
    struct delete_topics_request_topic topics[] = {
        {.name = STR("t")}, {.name = STR_NULL, .topic_id = id}, {.name = STR("none")}};
    struct delete_topics_response resp = ask(r, topics, 3);

    ck_assert(str_eqz(resp.responses[0].name, "t"));
    ck_assert(uuid_is_zero(resp.responses[0].topic_id));
    ck_assert_int_eq(resp.responses[0].error_code, REQUEST_TIMED_OUT); /* it was not to wait */
    ck_assert(str_eqz(resp.responses[1].name, "u"));
    ck_assert(uuid_eq(resp.responses[1].topic_id, id));
    ck_assert_int_eq(resp.responses[2].error_code, UNKNOWN_TOPIC_OR_PARTITION);
    rig_free(r);
}
END_TEST

START_TEST(an_unknown_id_and_none_have_codes_of_their_own)
{
    struct rig *r = rig_new();
    struct delete_topics_request_topic topics[] = {{.name = STR_NULL, .topic_id = {{77}}},
                                                   {.name = STR_NULL}};
    struct delete_topics_response resp = ask(r, topics, 2);

    ck_assert_int_eq(resp.responses[0].error_code, UNKNOWN_TOPIC_ID);
    ck_assert_int_eq(resp.responses[1].error_code, TOPIC_AUTHORIZATION_FAILED);
    rig_free(r);
}
END_TEST

START_TEST(a_name_and_an_id_refuse_the_request_without_a_message)
{
    struct rig *r = rig_new();
    struct delete_topics_request_topic topics[] = {{.name = STR("t")}, {STR("u"), id_of(r, "u")}};
    struct delete_topics_response resp = ask(r, topics, 2);

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(resp.responses[i].error_code, INVALID_REQUEST);
        ck_assert(str_is_null(resp.responses[i].error_message));
    }
    ck_assert(fake_cluster_topic_exists(&r->f, "t"));
    rig_free(r);
}
END_TEST

static struct create_topics_response
create(struct rig *r, struct create_topics_request_topic *topics, int32_t count)
{
    struct create_topics_request body = {.topics = topics, .topics_count = count};
    struct create_topics_response resp;

    api_call(&r->call, API_CREATE_TOPICS, 7, &body, &resp);
    ck_assert_int_eq(resp.topics_count, count);
    return resp;
}

START_TEST(a_name_that_stands_twice_is_refused_each_time)
{
    static const char prohibited[] = "Creation of internal topic __cluster_metadata is prohibited.";
    struct rig *r = rig_new();
    struct create_topics_request_topic topics[] = {
        {.name = STR("new"), .num_partitions = 1, .replication_factor = 1},
        {.name = STR("__cluster_metadata")},
        {.name = STR("other"), .num_partitions = 0, .replication_factor = 1},
        {.name = STR("__cluster_metadata")},
        {.name = STR("new"), .num_partitions = 1, .replication_factor = 1}};
    struct create_topics_response resp = create(r, topics, 5);

    for (int i = 0; i < 5; i++)
        ck_assert(str_eq(resp.topics[i].name, topics[i].name));
    for (int i = 0; i < 5; i += 4) {
        ck_assert_int_eq(resp.topics[i].error_code, INVALID_REQUEST);
        ck_assert(str_eqz(resp.topics[i].error_message, "Found multiple entries for this topic."));
    }
    for (int i = 1; i < 5; i += 2)
        ck_assert(str_eqz(resp.topics[i].error_message, prohibited));
    ck_assert_int_eq(resp.topics[2].error_code, INVALID_PARTITIONS);
    ck_assert(!fake_cluster_topic_exists(&r->f, "new"));
    rig_free(r);
}
END_TEST

START_TEST(the_last_list_of_a_partition_counts)
{
    static int32_t lists[][2] = {{77, 1}, {1}};
    struct rig *r = rig_new();
    struct create_topics_request_assignment as[] = {
        {.broker_ids = lists[0], .broker_ids_count = 2},
        {.broker_ids = lists[1], .broker_ids_count = 1}};
    struct create_topics_request_topic t = {.name = STR("new"),
                                            .num_partitions = -1,
                                            .replication_factor = -1,
                                            .assignments = as,
                                            .assignments_count = 2};
    struct create_topics_response resp = create(r, &t, 1);

    ck_assert_int_eq(resp.topics[0].error_code, REQUEST_TIMED_OUT); /* it was not to wait */
    ck_assert_str_eq(fake_cluster_assignment(&r->f, "new", 0), "1");
    rig_free(r);
}
END_TEST

START_TEST(a_topic_that_nobody_leads_in_time_has_no_message)
{
    static int32_t nobody[] = {-1};
    struct rig *r = rig_new();
    struct create_topics_request_assignment as = {
        .partition_index = 0, .broker_ids = nobody, .broker_ids_count = 1};
    struct create_topics_request_topic t = {.name = STR("new"),
                                            .num_partitions = -1,
                                            .replication_factor = -1,
                                            .assignments = &as,
                                            .assignments_count = 1};
    struct create_topics_response resp = create(r, &t, 1);

    ck_assert_int_eq(resp.topics[0].error_code, REQUEST_TIMED_OUT);
    ck_assert(str_is_null(resp.topics[0].error_message));
    ck_assert_int_eq(resp.topics[0].num_partitions, -1);
    ck_assert(!uuid_is_zero(resp.topics[0].topic_id)); /* it exists */
    rig_free(r);
}
END_TEST

TEST_MAIN("broker/api/topics", a_name_that_stands_twice_is_refused_each_time,
          the_last_list_of_a_partition_counts, a_topic_that_nobody_leads_in_time_has_no_message,
          who_asked_by_name_is_not_told_the_id, an_unknown_id_and_none_have_codes_of_their_own,
          a_name_and_an_id_refuse_the_request_without_a_message)
