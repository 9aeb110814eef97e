#include "zk/node_broker.h"

#include "tests/unit/zk/node_test.h"

static struct arena a;
static struct node_why why;

#define V5                                                                                         \
    "{\"version\":5,\"host\":\"h1\",\"port\":9092,"                                                \
    "\"endpoints\":[\"PLAINTEXT://h1:9092\",\"SSL://h1:9093\"],\"jmx_port\":-1,"                   \
    "\"timestamp\":\"1700000000000\",\"rack\":\"r1\","                                             \
    "\"listener_security_protocol_map\":{\"PLAINTEXT\":\"PLAINTEXT\",\"SSL\":\"SSL\"},"            \
    "\"features\":{}}"

static struct node_broker decode(const char *text)
{
    struct node_broker b;

    ck_assert_msg(node_broker_decode(bytes(text), &a, &why, &b) == 0, "%s", why.text);
    return b;
}

START_TEST(version_5_reads_and_writes_the_same_text)
{
    struct node_broker b = decode(V5);

    ck_assert_int_eq(b.endpoint_count, 2);
    ck_assert(str_eqz(b.endpoints[1].listener, "SSL"));
    ck_assert_int_eq(b.endpoints[1].protocol, NODE_SSL);
    ck_assert_int_eq(b.endpoints[1].port, 9093);
    ck_assert(str_eqz(b.rack, "r1"));
    ck_text(node_broker_encode(&a, &b), V5);
}
END_TEST

START_TEST(older_versions_are_written_as_they_were)
{
    struct node_broker b = decode(V5);

    b.version = 4;
    ck_text(node_broker_encode(&a, &b),
            "{\"version\":4,\"host\":\"h1\",\"port\":9092,"
            "\"endpoints\":[\"PLAINTEXT://h1:9092\",\"SSL://h1:9093\"],\"jmx_port\":-1,"
            "\"timestamp\":\"1700000000000\",\"rack\":\"r1\","
            "\"listener_security_protocol_map\":{\"PLAINTEXT\":\"PLAINTEXT\",\"SSL\":\"SSL\"}}");
    b.version = 2;
    ck_text(node_broker_encode(&a, &b),
            "{\"version\":2,\"host\":\"h1\",\"port\":9092,"
            "\"endpoints\":[\"PLAINTEXT://h1:9092\",\"SSL://h1:9093\"],\"jmx_port\":-1,"
            "\"timestamp\":\"1700000000000\"}");
}
END_TEST

START_TEST(version_1_is_one_plaintext_endpoint)
{
    struct node_broker b =
        decode("{\"version\":1,\"host\":\"h\",\"port\":9,\"jmx_port\":1,\"timestamp\":\"0\"}");

    ck_assert_int_eq(b.endpoint_count, 1);
    ck_assert(str_eqz(b.endpoints[0].listener, "PLAINTEXT"));
    ck_assert(str_eqz(b.endpoints[0].host, "h"));
    ck_assert(str_is_null(b.rack));
}
END_TEST

START_TEST(without_a_map_the_listener_names_the_protocol)
{
    struct node_broker b = decode("{\"version\":2,\"host\":\"h\",\"port\":9,\"jmx_port\":1,"
                                  "\"endpoints\":[\"sasl_ssl://h:9\"],\"rack\":null}");

    ck_assert(str_eqz(b.endpoints[0].listener, "SASL_SSL"));
    ck_assert_int_eq(b.endpoints[0].protocol, NODE_SASL_SSL);
}
END_TEST

START_TEST(later_versions_read_as_5)
{
    struct node_broker b = decode("{\"version\":9,\"jmx_port\":-1,\"endpoints\":[\"IN://h:9\"],"
                                  "\"listener_security_protocol_map\":{\"IN\":\"SSL\"},"
                                  "\"features\":{\"f\":{\"min_version\":1,\"max_version\":3,"
                                  "\"first_active_version\":1}}}");

    ck_assert_int_eq(b.feature_count, 1);
    ck_assert_int_eq(b.features[0].max_version, 3);
}
END_TEST

START_TEST(ipv6_host_is_bracketed_in_text_only)
{
    struct node_broker b = decode("{\"version\":4,\"jmx_port\":-1,\"endpoints\":[\"IN://[::1]:9\"],"
                                  "\"listener_security_protocol_map\":{\"IN\":\"SSL\"}}");

    ck_assert(str_eqz(b.endpoints[0].host, "::1"));
    struct slice text = node_broker_encode(&a, &b);
    ck_assert(memmem(text.p, text.len, "IN://[::1]:9", 12));
    ck_assert(memmem(text.p, text.len, "\"host\":null,\"port\":-1", 21));
}
END_TEST

static const char *const malformed[][2] = {
    {"{\"version\":\"5\",\"jmx_port\":-1,\"endpoints\":[]}", "version"},
    {"{\"version\":0,\"jmx_port\":-1,\"endpoints\":[]}", "below 1"},
    {"{\"version\":5,\"endpoints\":[]}", "jmx_port"},
    {"{\"version\":5,\"jmx_port\":-1}", "endpoints"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[7]}", "no text"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"SSL:h:9\"]}", "LISTENER"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"\"]}", "LISTENER"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"SSL://h:99999\"]}", "LISTENER"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"SSL://h:\"]}", "LISTENER"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"SSL://a b:9\"]}", "strange"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"IN://h:9\"]}", "protocol"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"IN://h:9\"],"
     "\"listener_security_protocol_map\":{\"in\":\"SSL\"}}",
     "protocol"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[\"SSL://h:9\",\"SSL://h:8\"]}", "twice"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[],\"rack\":7}", "rack"},
    {"{\"version\":5,\"jmx_port\":-1,\"endpoints\":[],\"features\":{\"f\":1}}", "min_version"},
    {"{\"version\":1,\"jmx_port\":-1,\"host\":null,\"port\":9}", "host"},
};

START_TEST(malformed_registration_is_refused_with_the_reason)
{
    struct node_broker b;

    for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
        ck_assert_int_eq(node_broker_decode(bytes(malformed[i][0]), &a, &why, &b), -EBADMSG);
        ck_assert_msg(strstr(why.text, malformed[i][1]), "%zu: %s", i, why.text);
    }
}
END_TEST

START_TEST(rack_alone_makes_no_difference)
{
    struct node_broker b = decode(V5), c = node_broker_copy(&a, &b);

    c.rack = STR("other");
    ck_assert(node_broker_same(&b, &c));
    c.endpoints[0].port++;
    ck_assert(!node_broker_same(&b, &c));
}
END_TEST

START_TEST(shared_address_is_found)
{
    struct node_broker b = decode(V5), c = node_broker_copy(&a, &b);
    const struct node_endpoint *e;

    c.endpoints[0].port = 1;
    ck_assert(node_broker_collides(&b, &c, &e));
    ck_assert_int_eq(e->port, 9093);
    c.endpoints[1].host = STR("h2");
    ck_assert(!node_broker_collides(&b, &c, NULL));
}
END_TEST

TEST_MAIN("zk/node_broker", version_5_reads_and_writes_the_same_text,
          older_versions_are_written_as_they_were, version_1_is_one_plaintext_endpoint,
          without_a_map_the_listener_names_the_protocol, later_versions_read_as_5,
          ipv6_host_is_bracketed_in_text_only, malformed_registration_is_refused_with_the_reason,
          rack_alone_makes_no_difference, shared_address_is_found)
