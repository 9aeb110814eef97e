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

START_TEST(an_answer_has_a_list_and_a_refusal_has_a_message)
{
    struct clock_fake clock;
    struct broker b = {0};
    struct api_call call = {.b = &b};

    clock_fake_init(&clock, 1700000000000);
    struct fake_zk_server *server = fake_zk_server_new(&clock.clock);
    struct fake_zk *zk = fake_zk_new(server);
    b.zk = fake_zk_store(zk);
    ck_assert_int_eq(zk_cluster_prepare(b.zk), ZK_OK);
    ck_assert_int_eq(reactor_new("test", &clock.clock, &call.reactor), 0);
    ck_assert_int_eq(workq_new("test", 1, &b.workq), 0);

    struct describe_client_quotas_response resp = describe(&call, "user");
    ck_assert_int_eq(resp.error_code, 0);
    ck_assert(!str_is_null(resp.error_message));
    ck_assert_int_eq(resp.error_message.len, 0);
    ck_assert_int_eq(resp.entries_count, 0);
    resp = describe(&call, "foo");
    ck_assert_int_eq(resp.error_code, UNSUPPORTED_VERSION);
    ck_assert(str_eqz(resp.error_message, "Custom entity type 'foo' not supported"));
    ck_assert_int_eq(resp.entries_count, -1);

    api_call_deinit(&call);
    b.workq = workq_free(b.workq);
    reactor_free(call.reactor);
    fake_zk_free(zk);
    fake_zk_server_free(server);
}
END_TEST

TEST_MAIN("broker/api/quotas", an_answer_has_a_list_and_a_refusal_has_a_message)
