#include "common/client/seed.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/fake_broker.h"
#include "tests/support/test_main.h"

enum { SECOND = 1000000, CONTROLLER = 5 };

static struct fake_broker *first, *second;

static enum fake_action metadata(void *ctx UNUSED, const struct fake_request *q,
                                 void **ret_response)
{
    const struct metadata_request *in = q->body;
    struct metadata_response *out = arena_new(q->arena, struct metadata_response);

    ck_assert_int_eq(q->header.request_api_key, API_METADATA);
    msg_init(&metadata_response_desc, out);
    out->controller_id = CONTROLLER;
    out->brokers_count = 2;
    out->brokers = arena_new_array(q->arena, struct metadata_response_broker, 2);
    for (int i = 0; i < 2; i++) {
        struct_init(&metadata_response_broker_desc, &out->brokers[i]);
        out->brokers[i].node_id = i ? 3 : CONTROLLER;
        out->brokers[i].host = STR("127.0.0.1");
        out->brokers[i].port = fake_broker_port(i ? first : second);
    }
    out->topics_count = MAX(in->topics_count, 0);
    out->topics = arena_new_array(q->arena, struct metadata_response_topic, 1);
    if (out->topics_count) {
        struct_init(&metadata_response_topic_desc, out->topics);
        out->topics[0].name = in->topics[0].name;
    }
    *ret_response = out;
    return FAKE_ANSWER;
}

static enum fake_action heartbeat(void *ctx, const struct fake_request *q, void **ret_response)
{
    struct heartbeat_response *out = arena_new(q->arena, struct heartbeat_response);

    ++*(int *)ctx;
    msg_init(&heartbeat_response_desc, out);
    *ret_response = out;
    return FAKE_ANSWER;
}

START_TEST(a_cluster_is_found_from_one_broker_of_the_list)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(arena_deinit) struct arena a2 = {0};
    CLEANUP(free_p) char *list = NULL;
    struct seed *s = NULL;
    int32_t count = 0;
    int beats = 0;

    first = fake_broker_start(metadata, NULL);
    second = fake_broker_start(heartbeat, &beats);
    list = xasprintf("127.0.0.1:1, localhost:%d", fake_broker_port(first));
    const struct seed_opts opts = {.bootstrap = list, .client_id = "t", .timeout_us = 10 * SECOND};
    ck_assert_int_eq(seed_open(&opts, &why, &s), 0);
    const int32_t *ids = seed_brokers(s, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(ids[0], 3);
    ck_assert_int_eq(ids[1], CONTROLLER);
    ck_assert_int_eq(seed_controller(s), CONTROLLER);

    const struct metadata_response *m = NULL;
    struct str topic = STR("t");
    ck_assert_int_eq(seed_metadata(s, &topic, 1, &a, &m), 0);
    ck_assert_int_eq(m->topics_count, 1);
    ck_assert(str_eqz(m->topics[0].name, "t"));

    struct heartbeat_request h;
    msg_init(&heartbeat_request_desc, &h);
    struct rpc_request q = {.api_key = API_HEARTBEAT, .version = 4, .message = &h};
    const void *response = NULL;
    ck_assert_int_eq(seed_call(s, SEED_CONTROLLER, &q, &a2, &response), 0);
    ck_assert_int_eq(beats, 1);
    ck_assert_int_eq(seed_call(s, 77, &q, &a2, &response), -EHOSTUNREACH);
    seed_close(s);
    fake_broker_stop(first);
    fake_broker_stop(second);
}
END_TEST

START_TEST(what_is_wrong_with_the_list_is_said)
{
    static const char *const bad[] = {"", "host", "host:", ":9092", "h:0", "h:99999", "h:1,x"};
    struct seed *s = NULL;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(strbuf_deinit) struct strbuf why = {0};
        const struct seed_opts opts = {.bootstrap = bad[i], .timeout_us = SECOND};

        ck_assert_int_eq(seed_open(&opts, &why, &s), -EINVAL);
        ck_assert_uint_gt(why.len, 0);
    }
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct seed_opts nobody = {.bootstrap = "127.0.0.1:1", .timeout_us = SECOND};
    ck_assert_int_eq(seed_open(&nobody, &why, &s), -ECONNREFUSED);
}
END_TEST

TEST_MAIN("common/client/seed", a_cluster_is_found_from_one_broker_of_the_list,
          what_is_wrong_with_the_list_is_said)
