#include "tests/support/test_main.h"
#include "tools/client/consumer.h"
#include "tools/client/producer.h"

#include <errno.h>

static struct strbuf why;
static struct props props;

static void set(const char *pair)
{
    rd_add_pair(&props, pair);
}

/* The reason is in why. */
static int apply(struct rd *rd, rd_kafka_type_t type)
{
    strbuf_reset(&why);
    rd_init(rd);
    return rd_set_java(rd, &props, type, &why);
}

static void expect_set(const struct rd *rd, const char *key, const char *value)
{
    char text[256];
    size_t size = sizeof text;

    ck_assert_int_eq(rd_kafka_conf_get(rd->conf, key, text, &size), RD_KAFKA_CONF_OK);
    ck_assert_str_eq(text, value);
}

static void end(struct rd *rd)
{
    rd_deinit(rd);
    props_deinit(&props);
    props = (struct props){0};
}

START_TEST(names_and_units_are_translated)
{
    struct rd rd;

    set("max.request.size=2000000");
    set("buffer.memory=33554432");
    set("send.buffer.bytes=-1");
    set("linger.ms=7");
    set("max.block.ms=5"); /* ours to keep, not librdkafka's */
    set("key.serializer=org.apache.kafka.common.serialization.StringSerializer");
    set("group.id=of a consumer");
    ck_assert_int_eq(apply(&rd, RD_KAFKA_PRODUCER), 0);
    expect_set(&rd, "message.max.bytes", "2000000");
    expect_set(&rd, "queue.buffering.max.kbytes", "32768");
    expect_set(&rd, "socket.send.buffer.bytes", "0");
    expect_set(&rd, "queue.buffering.max.ms", "7");
    end(&rd);
    set("fetch.max.wait.ms=77");
    set("request.timeout.ms=12345");
    set("auto.offset.reset=none");
    set("partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor, "
        "org.apache.kafka.clients.consumer.RoundRobinAssignor");
    ck_assert_int_eq(apply(&rd, RD_KAFKA_CONSUMER), 0);
    expect_set(&rd, "fetch.wait.max.ms", "77");
    expect_set(&rd, "socket.timeout.ms", "12345");
    expect_set(&rd, "auto.offset.reset", "error");
    expect_set(&rd, "partition.assignment.strategy", "range,roundrobin");
    end(&rd);
}
END_TEST

static void expect_refused(const char *pair, rd_kafka_type_t type, const char *reason)
{
    struct rd rd;

    set(pair);
    ck_assert_int_eq(apply(&rd, type), -EINVAL);
    ck_assert_msg(strstr(why.s, reason) != NULL, "%s", why.s);
    end(&rd);
}

START_TEST(what_would_change_the_outcome_is_refused)
{
    expect_refused("acks=9", RD_KAFKA_PRODUCER,
                   "Invalid value 9 for configuration acks: String must be one of: all, -1, 0, 1");
    expect_refused("linger.ms=x", RD_KAFKA_PRODUCER, "Invalid value x for configuration linger.ms");
    expect_refused("isolation.level=x", RD_KAFKA_CONSUMER, "read_committed, read_uncommitted");
    expect_refused("partitioner.class=my.Own", RD_KAFKA_PRODUCER, "no counterpart");
    expect_refused("interceptor.classes=my.Own", RD_KAFKA_CONSUMER, "no counterpart");
    expect_refused("group.protocol=CONSUMER", RD_KAFKA_CONSUMER, "no counterpart");
    expect_refused("partition.assignment.strategy=my.Own", RD_KAFKA_CONSUMER,
                   "my.Own is not there");
    expect_refused("ssl.truststore.location=/x", RD_KAFKA_PRODUCER, "PEM");
}
END_TEST

static void expect_idempotence(const char *pair, const char *expected)
{
    struct producer p = {0};

    producer_init(&p);
    if (pair)
        set(pair);
    ck_assert_int_eq(producer_set_java(&p, &props, &why), 0);
    expect_set(&p.rd, "enable.idempotence", expected);
    producer_deinit(&p);
    props_deinit(&props);
    props = (struct props){0};
}

START_TEST(producers_are_idempotent_when_java_is)
{
    expect_idempotence(NULL, "true");
    expect_idempotence("acks=all", "true");
    expect_idempotence("acks=1", "false");
    expect_idempotence("retries=0", "false");
    expect_idempotence("max.in.flight.requests.per.connection=6", "false");
    expect_idempotence("enable.idempotence=false", "false");
}
END_TEST

START_TEST(addresses)
{
    ck_assert(str_is_null(rd_bad_address("a:1,[::1]:9092, b:2")));
    ck_assert(str_eqz(rd_bad_address("a:1,b"), "b"));
    ck_assert(str_eqz(rd_bad_address(""), ""));
    ck_assert(str_eqz(rd_bad_address(":9092"), ":9092"));
    ck_assert(str_eqz(rd_bad_address("a:"), "a:"));
}
END_TEST

START_TEST(pairs_and_defaults)
{
    set("a=b=c");
    set("d");
    ck_assert_str_eq(props_get(&props, "a"), "b=c");
    ck_assert_str_eq(props_get(&props, "d"), "");
    rd_default(&props, "a", "x");
    rd_default(&props, "e", "y");
    ck_assert_str_eq(props_get(&props, "a"), "b=c");
    ck_assert_str_eq(props_get(&props, "e"), "y");
    strbuf_reset(&why);
    ck_assert_int_eq(rd_load_props(&props, "/no/such/file", &why), -ENOENT);
    ck_assert_str_eq(why.s, "/no/such/file");
    props_deinit(&props);
    props = (struct props){0};
}
END_TEST

TEST_MAIN("tools/client/rd_java", names_and_units_are_translated,
          what_would_change_the_outcome_is_refused, producers_are_idempotent_when_java_is,
          addresses, pairs_and_defaults)
