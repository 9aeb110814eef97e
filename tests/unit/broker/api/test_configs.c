#include "broker/api/handlers.h"
#include "broker/config/live_conf.h"
#include "common/base/err.h"
#include "tests/support/api_call.h"
#include "tests/support/test_main.h"

enum { BROKER = 4 };

static struct broker_conf *conf_of(const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props props = {0};
    struct broker_conf *c = NULL;
    int line;

    ck_assert_int_eq(props_parse(&props, str_of(text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &c, &why), 0);
    return c;
}

/* Where the one setting of broker 1 comes from. */
static struct describe_configs_response_config ask(struct api_call *call, int16_t version,
                                                   const char *key)
{
    struct str keys[] = {str_of(key)};
    struct describe_configs_request_resource resource = {.resource_type = BROKER,
                                                         .resource_name = STR("1"),
                                                         .configuration_keys = keys,
                                                         .configuration_keys_count = 1};
    struct describe_configs_request body = {.resources = &resource, .resources_count = 1};
    struct describe_configs_response resp;

    api_call(call, API_DESCRIBE_CONFIGS, version, &body, &resp);
    ck_assert_int_eq(resp.results[0].error_code, 0);
    ck_assert_int_eq(resp.results[0].configs_count, 1);
    return resp.results[0].configs[0];
}

START_TEST(version_0_calls_nothing_a_default_and_later_ones_tell_the_source)
{
    struct broker_conf *conf =
        conf_of("broker.id=1\nzookeeper.connect=z:1\nbackground.threads=3\n");
    struct broker b = {.broker_id = 1, .conf = conf, .live = live_conf_new(conf)};
    struct api_call call = {.b = &b};
    struct clock_fake clock;

    clock_fake_init(&clock, 1700000000000);
    ck_assert_int_eq(reactor_new("test", &clock.clock, &call.reactor), 0);
    ck_assert_int_eq(workq_new("test", 1, &b.workq), 0);
    ck_assert(!ask(&call, 0, "num.io.threads").is_default);
    ck_assert(!ask(&call, 0, "background.threads").is_default);
    ck_assert_int_eq(ask(&call, 1, "num.io.threads").config_source, SOURCE_DEFAULT);
    ck_assert_int_eq(ask(&call, 1, "background.threads").config_source, SOURCE_STATIC_BROKER);
    api_call_deinit(&call);
    b.workq = workq_free(b.workq);
    reactor_free(call.reactor);
    live_conf_free(b.live);
    broker_conf_free(conf);
}
END_TEST

TEST_MAIN("broker/api/configs", version_0_calls_nothing_a_default_and_later_ones_tell_the_source)
