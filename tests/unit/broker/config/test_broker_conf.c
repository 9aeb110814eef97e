#include "broker/config/broker_conf.h"

#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

#include <errno.h>

#define BASE "broker.id=1\nzookeeper.connect=127.0.0.1:2181/k\n"

static struct broker_conf *load(const char *text, struct strbuf *why)
{
    struct props props = {0};
    struct broker_conf *c = NULL;
    int line;

    ck_assert_int_eq(props_parse(&props, str_of(text), &line), 0);
    if (broker_conf_from_props(&props, &c, why) < 0)
        ck_assert_ptr_null(c);
    return c;
}

static struct broker_conf *loaded(const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *c = load(text, &why);

    ck_assert_msg(c != NULL, "%s", why.s);
    return c;
}

static void check_refused(const char *text, const char *part)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    ck_assert_ptr_null(load(text, &why));
    ck_assert_msg(strstr(why.s, part) != NULL, "\"%s\" is not in \"%s\"", part, why.s);
}

START_TEST(defaults_are_those_of_kafka)
{
    struct broker_conf *c = loaded(BASE);

    ck_assert_int_eq(c->num_io_threads, 8);
    ck_assert_int_eq(c->replica_lag_time_max_ms, 30000);
    ck_assert_int_eq(c->ibp, IBP_3_9_IV0);
    ck_assert_int_eq(c->dir_count, 1);
    ck_assert_str_eq(c->dirs[0], "/tmp/kafka-logs");
    ck_assert_int_eq(c->listener.count, 1);
    ck_assert_int_eq(c->listener.v[0].port, 9092);
    ck_assert_int_eq(c->connect_timeout_ms, 18000);
    ck_assert_int_eq(c->topic_defaults->retention_ms, 604800000);
    broker_conf_free(c);
}
END_TEST

START_TEST(the_file_that_kafka_ships_is_taken)
{
    struct broker_conf *c =
        loaded(BASE "num.network.threads=3\nlisteners=PLAINTEXT://127.0.0.1:9092\nlog.dirs=/a, /b\n"
                    "log.retention.hours=168\nlog.segment.bytes=1000000\nsome.plugin.key=x\n");

    ck_assert_int_eq(c->dir_count, 2);
    ck_assert_str_eq(c->dirs[1], "/b");
    ck_assert_int_eq(c->topic_defaults->segment_bytes, 1000000);
    broker_conf_free(c);
}
END_TEST

START_TEST(node_id_is_a_synonym)
{
    struct broker_conf *c = loaded("node.id=7\nzookeeper.connect=z:1\n");

    ck_assert_int_eq(c->broker_id, 7);
    broker_conf_free(c);
    check_refused("node.id=7\nbroker.id=8\nzookeeper.connect=z:1\n", "must be equal");
}
END_TEST

START_TEST(coarser_retention_keys_count_where_the_finer_is_absent)
{
    struct broker_conf *c =
        loaded(BASE "log.retention.minutes=2\nlog.retention.hours=5\nlog.roll.hours=1\n");

    ck_assert_int_eq(c->topic_defaults->retention_ms, 120000);
    ck_assert_int_eq(c->topic_defaults->segment_ms, 3600000);
    broker_conf_free(c);
    c = loaded(BASE "log.retention.ms=-5\n");
    ck_assert_int_eq(c->topic_defaults->retention_ms, -1);
    broker_conf_free(c);
}
END_TEST

START_TEST(what_kafka_refuses_is_refused_with_a_reason)
{
    check_refused("broker.id=1\n", "Missing required configuration `zookeeper.connect`");
    check_refused(BASE "num.io.threads=0\n", "Value must be at least 1 (line 3)");
    check_refused(BASE "log.retention.ms=0\n", "must be unlimited (-1)");
    check_refused(BASE "inter.broker.protocol.version=9.9\n",
                  "Invalid value 9.9 for configuration inter.broker.protocol.version: Version 9.9 "
                  "is not a valid version");
    check_refused(BASE "log.message.format.version=x \n",
                  "Invalid value x for configuration log.message.format.version: Version x is not "
                  "a valid version");
    check_refused(BASE "inter.broker.protocol.version=0.10.2\n",
                  "log.message.format.version 3.0-IV1 can only be used when "
                  "inter.broker.protocol.version is set to version 0.11.0 or higher");
    check_refused(BASE "inter.broker.protocol.version=0.9.0\nlog.message.format.version=0.10.2\n",
                  "is set to version 0.10.0 or higher");
    check_refused("broker.id=1001\nzookeeper.connect=z:1\n", "reserved.broker.max.id");
    check_refused(BASE "log.dirs=\n", "At least one log directory");
    check_refused(BASE "replica.fetch.wait.max.ms=40000\n", "replica.socket.timeout.ms");
}
END_TEST

START_TEST(kraft_and_what_would_be_less_safe_is_refused_with_a_reason)
{
    check_refused(BASE "process.roles=broker\n", "KRaft");
    check_refused(BASE "authorizer.class.name=kafka.security.authorizer.AclAuthorizer\n",
                  "open the cluster to everyone");
    check_refused(
        BASE "listeners=SASL_PLAINTEXT://:9092\nsecurity.inter.broker.protocol=SASL_PLAINTEXT\n",
        "SASL is not served");
    check_refused(BASE "zookeeper.set.acl=true\n", "zookeeper.set.acl");
}
END_TEST

START_TEST(a_listener_prefix_overrides_its_key)
{
    struct broker_conf *c = loaded(
        BASE "ssl.keystore.location=/all\nlistener.name.external.ssl.keystore.location=/ext\n");

    ck_assert_str_eq(broker_conf_text(c, "ssl.keystore.location", "EXTERNAL"), "/ext");
    ck_assert_str_eq(broker_conf_text(c, "ssl.keystore.location", "PLAINTEXT"), "/all");
    ck_assert_str_eq(broker_conf_text(c, "ssl.client.auth", "EXTERNAL"), "none");
    ck_assert_ptr_null(broker_conf_text(c, "ssl.key.password", "EXTERNAL"));
    broker_conf_free(c);
}
END_TEST

static void note_refusal(void *ctx, const char *why)
{
    strbuf_addf(ctx, "%s\n", why);
}

/* The file as a look at it finds it; NULL where nothing can be made of it. */
static struct broker_conf *probed(const char *text, struct strbuf *told)
{
    CLEANUP(free_p) char *path = xasprintf("%s/server.properties", test_tmpdir());

    ck_assert_int_eq(fs_replace_file(path, str_of(text)), 0);
    strbuf_reset(told);
    return broker_conf_probe(path, note_refusal, told);
}

START_TEST(a_look_at_a_file_tells_every_refusal_and_goes_on)
{
    CLEANUP(strbuf_deinit) struct strbuf told = {0};
    struct broker_conf *c = probed(BASE "process.roles=broker\n"
                                        "authorizer.class.name=kafka.security.authorizer.Acl\n"
                                        "zookeeper.set.acl=true\nconfig.providers=file\n"
                                        "ssl.key.password=${file:/x:y}\n"
                                        "listeners=SASL_PLAINTEXT://h:1\n"
                                        "security.inter.broker.protocol=SASL_PLAINTEXT\n",
                                   &told);

    ck_assert_ptr_nonnull(c);
    ck_assert_int_eq(c->broker_id, 1);
    ck_assert_int_eq(c->topic_defaults->min_insync_replicas, 1);
    ck_assert_ptr_nonnull(strstr(told.s, "process.roles=broker"));
    ck_assert_ptr_nonnull(strstr(told.s, "authorizer.class.name="));
    ck_assert_ptr_nonnull(strstr(told.s, "listener SASL_PLAINTEXT uses"));
    ck_assert_ptr_nonnull(strstr(told.s, "zookeeper.set.acl"));
    ck_assert_ptr_nonnull(strstr(told.s, "config provider"));
    broker_conf_free(c);
    c = probed(BASE, &told);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(told.len, 0);
    broker_conf_free(c);
}
END_TEST

START_TEST(a_look_ends_where_nothing_can_be_made_of_the_file)
{
    CLEANUP(strbuf_deinit) struct strbuf told = {0};

    ck_assert_ptr_null(probed(BASE "num.io.threads=x\n", &told));
    ck_assert_ptr_nonnull(strstr(told.s, "num.io.threads"));
    ck_assert_ptr_null(probed(BASE "log.dirs=\n", &told));
    ck_assert_ptr_nonnull(strstr(told.s, "At least one log directory"));
    ck_assert_ptr_null(probed(BASE "log.retention.ms=0\n", &told));
    ck_assert_ptr_nonnull(strstr(told.s, "must be unlimited"));
    strbuf_reset(&told);
    ck_assert_ptr_null(broker_conf_probe("/nonexistent/x", note_refusal, &told));
    ck_assert_ptr_nonnull(strstr(told.s, "cannot be read"));
}
END_TEST

START_TEST(keys_are_used_unused_or_unknown)
{
    ck_assert_int_eq(broker_key_use("num.io.threads"), KEY_USED);
    ck_assert_int_eq(broker_key_use("listener.name.x.ssl.key.password"), KEY_USED);
    ck_assert_int_eq(broker_key_use("remote.log.storage.system.enable"), KEY_UNUSED);
    ck_assert_int_eq(broker_key_use("some.plugin.key"), KEY_UNKNOWN);
    /* Read by name, or only here. */
    ck_assert_int_eq(broker_key_use("password.encoder.secret"), KEY_USED);
    ck_assert_int_eq(broker_key_use("zookeeper.ssl.truststore.location"), KEY_USED);
    ck_assert_int_eq(broker_key_use("zookeeper.digest.auth"), KEY_USED);
}
END_TEST

TEST_MAIN("broker/config/broker_conf", defaults_are_those_of_kafka,
          the_file_that_kafka_ships_is_taken, node_id_is_a_synonym,
          coarser_retention_keys_count_where_the_finer_is_absent,
          what_kafka_refuses_is_refused_with_a_reason,
          kraft_and_what_would_be_less_safe_is_refused_with_a_reason,
          a_listener_prefix_overrides_its_key, a_look_at_a_file_tells_every_refusal_and_goes_on,
          a_look_ends_where_nothing_can_be_made_of_the_file, keys_are_used_unused_or_unknown)
