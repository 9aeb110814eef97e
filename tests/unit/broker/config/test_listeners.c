#include "broker/config/listeners.h"

#include "tests/support/test_main.h"

#define MAP "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROL:PLAINTEXT,external:SSL"

static int parse(const char *listeners, const char *advertised, const char *inter,
                 struct listeners *ret, struct strbuf *why)
{
    const struct listeners_text text = {
        .listeners = listeners,
        .advertised_listeners = advertised,
        .listener_security_protocol_map = MAP,
        .inter_broker_listener_name = inter,
        .security_inter_broker_protocol = "PLAINTEXT",
        .control_plane_listener_name = listeners && strstr(listeners, "CONTROL") ? "control" : NULL,
    };

    return listeners_parse(&text, ret, why);
}

START_TEST(several_named_listeners)
{
    CLEANUP(listeners_deinit) struct listeners l = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    ck_assert_int_eq(parse("PLAINTEXT://:9092, external://[::1]:9093,CONTROL://127.0.0.1:9094",
                           "PLAINTEXT://a.example:19092,EXTERNAL://b:19093,CONTROL://c:1", NULL, &l,
                           &why),
                     0);
    ck_assert_int_eq(l.count, 3);
    ck_assert_str_eq(l.v[1].name, "EXTERNAL");
    ck_assert_str_eq(l.v[1].host, "::1");
    ck_assert_int_eq(l.v[1].protocol, PROTO_SSL);
    ck_assert_str_eq(l.v[0].advertised_host, "a.example");
    ck_assert_int_eq(l.v[0].advertised_port, 19092);
    ck_assert_str_eq(listeners_inter_broker(&l)->name, "PLAINTEXT");
    ck_assert_str_eq(listeners_control_plane(&l)->name, "CONTROL");
}
END_TEST

START_TEST(without_advertised_listeners_they_are_told_as_they_stand)
{
    CLEANUP(listeners_deinit) struct listeners l = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    ck_assert_int_eq(parse("PLAINTEXT://10.0.0.1:9092", NULL, NULL, &l, &why), 0);
    ck_assert_str_eq(l.v[0].advertised_host, "10.0.0.1");
    ck_assert(l.v[0].is_advertised);
}
END_TEST

static void check_refused(const char *listeners, const char *advertised, const char *inter,
                          const char *part)
{
    CLEANUP(listeners_deinit) struct listeners l = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    ck_assert_int_lt(parse(listeners, advertised, inter, &l, &why), 0);
    ck_assert_msg(strstr(why.s, part) != NULL, "\"%s\" is not in \"%s\"", part, why.s);
}

START_TEST(malformed_and_contradicting_listeners_are_refused)
{
    check_refused("", NULL, NULL, "Unable to parse");
    check_refused("PLAINTEXT:9092", NULL, NULL, "Unable to parse");
    check_refused("PLAINTEXT://h:99999", NULL, NULL, "Unable to parse");
    check_refused("PLAINTEXT://h;x:1", NULL, NULL, "Unable to parse");
    check_refused("OTHER://h:1", NULL, NULL, "No security protocol defined for listener OTHER");
    check_refused("PLAINTEXT://h:1,PLAINTEXT://h:2", NULL, NULL, "different name");
    check_refused("PLAINTEXT://h:1,SSL://h:1", NULL, NULL, "different port");
    check_refused("PLAINTEXT://h:1", "SSL://h:1", NULL, "inter.broker.listener.name");
    check_refused("PLAINTEXT://h:1", "OTHER://h:1", NULL, "No security protocol defined");
    check_refused("PLAINTEXT://h:1", "SSL://h:2,plaintext://h:1", NULL,
                  "subset of the ones defined in listeners. Found SSL,PLAINTEXT. The valid options "
                  "based on the current configuration are PLAINTEXT");
    check_refused("SSL://h:1", "PLAINTEXT://h:1", NULL, "subset");
    check_refused("PLAINTEXT://0.0.0.0:1", NULL, NULL, "0.0.0.0");
    check_refused("PLAINTEXT://h:1", "PLAINTEXT://0.0.0.0:1", NULL, "nonroutable");
    check_refused("SSL://h:1", NULL, NULL, "inter.broker.listener.name");
    check_refused("PLAINTEXT://h:1", NULL, "SSL", "inter.broker.listener.name");
}
END_TEST

TEST_MAIN("broker/config/listeners", several_named_listeners,
          without_advertised_listeners_they_are_told_as_they_stand,
          malformed_and_contradicting_listeners_are_refused)
