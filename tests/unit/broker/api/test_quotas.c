#include "broker/api/handlers.h"
#include "broker/meta/quota_admin.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"

static struct describe_client_quotas_response describe(struct api_call *call, const char *type)
{
    struct describe_client_quotas_request_component c = {
        .entity_type = str_of(type), .match_type = QUOTA_ANY, .match = STR_NULL};
    struct describe_client_quotas_request body = {.components = &c, .components_count = 1};
    struct describe_client_quotas_response resp;

    api_call(call, API_DESCRIBE_CLIENT_QUOTAS, 1, &body, &resp);
    return resp;
}

struct rig {
    struct clock_fake clock;
    struct fake_zk_server *server;
    struct fake_zk *zk;
    struct broker b;
    struct api_call call;
};

static struct rig *rig_new(void)
{
    struct rig *r = xnew(struct rig);

    clock_fake_init(&r->clock, 1700000000000);
    r->server = fake_zk_server_new(&r->clock.clock);
    r->zk = fake_zk_new(r->server);
    r->b.zk = fake_zk_store(r->zk);
    r->call.b = &r->b;
    ck_assert_int_eq(zk_cluster_prepare(r->b.zk), ZK_OK);
    ck_assert_int_eq(reactor_new("test", &r->clock.clock, &r->call.reactor), 0);
    ck_assert_int_eq(workq_new("test", 1, &r->b.workq), 0);
    return r;
}

static void rig_free(struct rig *r)
{
    api_call_deinit(&r->call);
    r->b.workq = workq_free(r->b.workq);
    reactor_free(r->call.reactor);
    fake_zk_free(r->zk);
    fake_zk_server_free(r->server);
    free(r);
}

START_TEST(an_answer_has_a_list_and_a_refusal_has_a_message)
{
    struct rig *r = rig_new();
    struct describe_client_quotas_response resp = describe(&r->call, "user");

    ck_assert_int_eq(resp.error_code, 0);
    ck_assert(!str_is_null(resp.error_message));
    ck_assert_int_eq(resp.error_message.len, 0);
    ck_assert_int_eq(resp.entries_count, 0);
    resp = describe(&r->call, "foo");
    ck_assert_int_eq(resp.error_code, UNSUPPORTED_VERSION);
    ck_assert(str_eqz(resp.error_message, "Custom entity type 'foo' not supported"));
    ck_assert_int_eq(resp.entries_count, -1);
    rig_free(r);
}
END_TEST

START_TEST(an_entity_that_stands_twice_is_answered_for_the_last_time)
{
    struct rig *r = rig_new();
    struct alter_client_quotas_request_entity pair[] = {{STR("user"), STR("u")},
                                                        {STR("client-id"), STR("c")}};
    struct alter_client_quotas_request_entity again[] = {pair[1], pair[0]};
    struct alter_client_quotas_request_entity common[] = {{STR("user"), STR_NULL},
                                                          {STR("user"), STR("")}};
    struct alter_client_quotas_request_op wrong = {STR("zzz"), 1, false};
    struct alter_client_quotas_request_op right = {STR("producer_byte_rate"), 1000, false};
    struct alter_client_quotas_request_entry entries[] = {
        {pair, 2, &wrong, 1},   {pair, 1, &right, 1},       {again, 2, &right, 1},
        {common, 1, &right, 1}, {common + 1, 1, &right, 1},
    };
    struct alter_client_quotas_request body = {.entries = entries, .entries_count = 5};
    struct alter_client_quotas_response resp;

    /* Without a controller nothing can be written; what is wrong is told all the same. */
    body.validate_only = true;
    api_call(&r->call, API_ALTER_CLIENT_QUOTAS, 1, &body, &resp);
    ck_assert_int_eq(resp.entries_count, 4);
    ck_assert_int_eq(resp.entries[0].entity_count, 2);
    ck_assert_int_eq(resp.entries[0].error_code, 0);
    ck_assert_int_eq(resp.entries[1].entity_count, 1);
    ck_assert(str_is_null(resp.entries[2].entity[0].entity_name));
    ck_assert_int_eq(resp.entries[3].error_code, INVALID_REQUEST); /* "" is nobody's name */
    rig_free(r);
}
END_TEST

TEST_MAIN("broker/api/quotas", an_answer_has_a_list_and_a_refusal_has_a_message,
          an_entity_that_stands_twice_is_answered_for_the_last_time)
