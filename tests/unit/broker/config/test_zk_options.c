#include "broker/config/zk_options.h"

#include "tests/support/test_main.h"

START_TEST(the_keys_become_a_session)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props props = {0};
    struct broker_conf *c = NULL;

    props_set(&props, "broker.id", "1");
    props_set(&props, "zookeeper.connect", "a:1,b:2/k");
    props_set(&props, "zookeeper.session.timeout.ms", "7000");
    props_set(&props, "zookeeper.digest.auth", "u:p");
    props_set(&props, "zookeeper.ssl.client.enable", "true");
    props_set(&props, "zookeeper.ssl.truststore.location", "/t.pem");
    ck_assert_msg(broker_conf_from_props(&props, &c, &why) == 0, "%s", why.s);
    const struct zk_conf z = zk_conf_of_broker(c);
    ck_assert_str_eq(z.connect, "a:1,b:2/k");
    ck_assert_int_eq(z.session_timeout_ms, 7000);
    ck_assert_int_eq(z.connection_timeout_ms, 7000);
    ck_assert_int_eq(z.max_in_flight, 10);
    ck_assert_str_eq(z.digest_auth, "u:p");
    ck_assert(z.ssl && !z.set_acl && !z.only_reads);
    ck_assert_str_eq(z.ssl_truststore, "/t.pem");
    ck_assert_ptr_null(z.ssl_keystore);
    broker_conf_free(c);
}
END_TEST

TEST_MAIN("broker/config/zk_options", the_keys_become_a_session)
