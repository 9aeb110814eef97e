#include "broker/server/registration.h"

#include "common/base/mem.h"
#include "common/base/say.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_brokers.h"
#include "zk/zk_cluster.h"

static const struct api_table no_apis;

static struct bench {
    struct clock_fake clock;
    struct arena arena;
    struct fake_zk_server *server;
    struct fake_zk *one;
    struct zk_store *zk;
    struct broker broker;
    struct reactor *reactor;
    struct reactor_pool pool;
    struct gate *gate;
    struct broker_conf *conf;
    struct registration *r;
    const char *ibp; /* NULL: the newest */
} b;

static struct broker_conf *load(const char *advertised)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, why = {0};
    struct props props = {0};
    struct broker_conf *c = NULL;
    int line;

    strbuf_addf(&text,
                "broker.id=1\nzookeeper.connect=z:1\nlisteners=PLAINTEXT://127.0.0.1:0\n"
                "advertised.listeners=%s\n",
                advertised);
    if (b.ibp)
        strbuf_addf(&text, "inter.broker.protocol.version=%s\nlog.message.format.version=%s\n",
                    b.ibp, b.ibp);
    ck_assert_int_eq(props_parse(&props, strbuf_str(&text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &c, &why), 0);
    return c;
}

static void start(void)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    say_set_level(SAY_FATAL);
    clock_fake_init(&b.clock, 1000);
    b.server = fake_zk_server_new(&b.clock.clock);
    b.one = fake_zk_new(b.server);
    b.zk = fake_zk_store(b.one);
    ck_assert_int_eq(zk_cluster_prepare(b.zk), ZK_OK);
    ck_assert_int_eq(reactor_new("net", &clock_system, &b.reactor), 0);
    ck_assert_int_eq(reactor_start(b.reactor), 0);
    b.pool = (struct reactor_pool){.v = &b.reactor, .count = 1};
    b.conf = load("PLAINTEXT://here:0");
    ck_assert_int_eq(gate_open(&(struct gate_opts){.conf = b.conf,
                                                   .broker = &b.broker,
                                                   .apis = &no_apis,
                                                   .reactors = &b.pool},
                               &b.gate, &why),
                     0);
    b.r = registration_new(&(struct registration_opts){b.zk, b.gate, b.conf, 1});
    ck_assert_int_eq(registration_start(b.r, &why), ZK_OK);
}

static void end(void)
{
    registration_free(b.r);
    gate_shut(b.gate);
    gate_close_all(b.gate);
    reactor_stop(b.reactor);
    gate_free(b.gate);
    reactor_free(b.reactor);
    broker_conf_free(b.conf);
    fake_zk_free(b.one);
    fake_zk_server_free(b.server);
    arena_deinit(&b.arena);
}

static enum zk_result update(const char *advertised)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *c = load(advertised);
    enum zk_result r = registration_update(b.r, c, &why);

    ck_assert(r != ZK_REFUSED || strstr(why.s, "is advertised by broker 2"));
    broker_conf_free(c);
    return r;
}

static struct zk_broker told(void)
{
    struct zk_broker now;

    ck_assert_int_eq(zk_broker_read(b.zk, 1, &b.arena, &now), ZK_OK);
    ck_assert_int_eq(now.node.endpoint_count, 1);
    return now;
}

static void check_told(const char *host, int port)
{
    const struct zk_broker now = told();

    ck_assert(str_eqz(now.node.endpoints[0].host, host));
    ck_assert_int_eq(now.node.endpoints[0].port, port);
}

START_TEST(endpoints_are_told_with_the_ports_that_are_bound)
{
    start();
    check_told("here", gate_port(b.gate, "PLAINTEXT"));
    end();
}
END_TEST

/* What stands in ZooKeeper, in the cluster's dialect; an update keeps it. */
static void check_dialect(const char *ibp, const char *version, bool has_map, bool has_features)
{
    b.ibp = ibp;
    start();
    ck_assert_int_eq(update("PLAINTEXT://there:9"), ZK_OK);
    struct slice data;
    ck_assert_int_eq(zk_store_get(b.zk, "/brokers/ids/1", &b.arena, &data, NULL), ZK_OK);
    ck_assert_msg(memmem(data.p, data.len, version, strlen(version)), "%s: %.*s", ibp,
                  (int)data.len, (const char *)data.p);
    ck_assert(!!memmem(data.p, data.len, "_protocol_map", 13) == has_map);
    ck_assert(!!memmem(data.p, data.len, "features", 8) == has_features);
    end();
    b.ibp = NULL;
}

START_TEST(the_node_is_of_the_version_of_the_clusters_dialect)
{
    check_dialect(NULL, "\"version\":5,", true, true);
    check_dialect("2.7-IV0", "\"version\":5,", true, true);
    check_dialect("2.6", "\"version\":4,", true, false);
    check_dialect("0.10.0-IV1", "\"version\":4,", true, false);
    check_dialect("0.10.0-IV0", "\"version\":2,", false, false);
}
END_TEST

START_TEST(other_endpoints_are_told_in_place_and_the_same_are_not)
{
    start();
    const struct zk_broker before = told();
    ck_assert_int_eq(update("PLAINTEXT://here:0"), ZK_OK);
    ck_assert_int_eq(told().version, before.version);
    ck_assert_int_eq(update("PLAINTEXT://there:9"), ZK_OK);
    check_told("there", 9);
    ck_assert_int_eq(told().epoch, registration_epoch(b.r));
    end();
}
END_TEST

START_TEST(an_endpoint_of_another_broker_is_not_taken)
{
    static const char text[] =
        "{\"version\":5,\"host\":\"x\",\"port\":7,\"jmx_port\":-1,\"timestamp\":\"1\","
        "\"endpoints\":"
        "[\"PLAINTEXT://x:7\"],\"listener_security_protocol_map\":{\"PLAINTEXT\":\"PLAINTEXT\"}}";

    start();
    ck_assert_int_eq(zk_store_create_deep(b.zk, "/brokers/ids/2", slice_of_str(str_of(text))),
                     ZK_OK);
    ck_assert_int_eq(update("PLAINTEXT://x:7"), ZK_REFUSED);
    check_told("here", gate_port(b.gate, "PLAINTEXT"));
    fake_zk_expire(b.one);
    fake_zk_renew(b.one);
    ck_assert_int_eq(registration_again(b.r), ZK_OK);
    check_told("here", gate_port(b.gate, "PLAINTEXT"));
    end();
}
END_TEST

START_TEST(what_changed_without_a_session_is_told_in_the_next)
{
    start();
    fake_zk_expire(b.one);
    ck_assert_int_eq(update("PLAINTEXT://there:9"), ZK_OK);
    fake_zk_renew(b.one);
    ck_assert_int_eq(registration_again(b.r), ZK_OK);
    check_told("there", 9);
    end();
}
END_TEST

TEST_MAIN("broker/server/registration", endpoints_are_told_with_the_ports_that_are_bound,
          other_endpoints_are_told_in_place_and_the_same_are_not,
          the_node_is_of_the_version_of_the_clusters_dialect,
          an_endpoint_of_another_broker_is_not_taken,
          what_changed_without_a_session_is_told_in_the_next)
