#include "broker/config/topic_conf.h"

#include "broker/config/live_conf.h"

#include "tests/support/test_main.h"

static struct broker_conf *broker(const char *more)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props props = {0};
    struct broker_conf *c = NULL;
    int line;

    strbuf_addf(&text, "broker.id=1\nzookeeper.connect=z:1\n%s", more);
    ck_assert_int_eq(props_parse(&props, strbuf_str(&text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &c, &why), 0);
    return c;
}

START_TEST(overrides_stand_above_the_brokers_defaults)
{
    struct broker_conf *b = broker("log.retention.ms=5\nmin.insync.replicas=2\n");
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct topic_override o[] = {{STR("retention.ms"), STR("7")},
                                       {STR("cleanup.policy"), STR("compact,delete")}};
    struct topic_conf *c = NULL;

    ck_assert_int_eq(topic_conf_build(b, o, ARRAY_LEN(o), &c, &why), 0);
    ck_assert_int_eq(c->retention_ms, 7);
    ck_assert_int_eq(c->min_insync_replicas, 2);
    ck_assert_uint_eq(c->cleanup_policy, CLEANUP_DELETE | CLEANUP_COMPACT);
    topic_conf_unref(c);
    broker_conf_free(b);
}
END_TEST

START_TEST(settings_tell_where_they_come_from)
{
    struct broker_conf *b = broker("log.segment.bytes=1000\nlog.roll.hours=2\n");
    const struct topic_override o[] = {{STR("retention.ms"), STR("7")}};
    struct live_conf *live = live_conf_new(b);
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    struct topic_setting s[64];
    int seen = 0;

    topic_conf_settings(now, o, 1, s);
    for (size_t i = 0; i < topic_option_count; i++) {
        if (strcmp(s[i].option->key, "retention.ms") == 0)
            seen += s[i].source == SOURCE_TOPIC && str_eqz(s[i].value, "7");
        if (strcmp(s[i].option->key, "segment.bytes") == 0)
            seen += s[i].source == SOURCE_STATIC_BROKER && str_eqz(s[i].value, "1000");
        if (strcmp(s[i].option->key, "segment.ms") == 0)
            seen += s[i].source == SOURCE_DEFAULT && str_eqz(s[i].value, "7200000");
    }
    ck_assert_int_eq(seen, 3);
    live_conf_free(live);
    broker_conf_free(b);
}
END_TEST

static void check_refused(struct topic_override o, const char *words)
{
    struct broker_conf *b = broker("");
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct topic_conf *c = NULL;

    ck_assert_int_lt(topic_conf_build(b, &o, 1, &c, &why), 0);
    ck_assert_msg(strstr(why.s, words) != NULL, "\"%s\" is not in \"%s\"", words, why.s);
    broker_conf_free(b);
}

START_TEST(refusals_use_the_words_of_kafka)
{
    check_refused((struct topic_override){STR("nope"), STR("1")},
                  "Unknown topic config name: nope");
    check_refused((struct topic_override){STR("retention.ms"), STR("x")},
                  "Invalid value x for configuration retention.ms: Not a number of type LONG");
    check_refused((struct topic_override){STR("message.format.version"), STR(" 5 ")},
                  "Invalid value 5 for configuration message.format.version: Version 5 is not a "
                  "valid version");
    check_refused((struct topic_override){STR("leader.replication.throttled.replicas"), STR("1-2")},
                  "partitionId");
    check_refused((struct topic_override){STR("retention.ms"), STR_NULL}, "Null value");
}
END_TEST

START_TEST(levels_of_gzip_are_1_to_9_or_the_default)
{
    static const char *const good[] = {"-1", "1", "9"};
    static const char *const bad[] = {"-2", "0", "10"};

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        const struct topic_override o = {STR("compression.gzip.level"), str_of(good[i])};
        struct broker_conf *b = broker("");
        CLEANUP(strbuf_deinit) struct strbuf why = {0};

        ck_assert_int_eq(topic_conf_check(b, &o, 1, &why), 0);
        broker_conf_free(b);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_refused((struct topic_override){STR("compression.gzip.level"), str_of(bad[i])},
                      "for configuration compression.gzip.level: Value must be between 1 and 9 or "
                      "equal to -1");
}
END_TEST

/* topics NULL: the topic has no setting of its own. */
static int record_version(const char *more, const char *topics)
{
    struct broker_conf *b = broker(more);
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct topic_override o = {STR("message.format.version"), str_of(topics)};
    struct topic_conf *c = NULL;

    ck_assert_int_eq(topic_conf_build(b, &o, topics ? 1 : 0, &c, &why), 0);
    int version = c->record_version;
    topic_conf_unref(c);
    broker_conf_free(b);
    return version;
}

START_TEST(zstd_is_for_protocols_that_know_it)
{
    struct broker_conf *before = broker("inter.broker.protocol.version=2.0\n");
    struct broker_conf *since = broker("inter.broker.protocol.version=2.1-IV0\n");

    ck_assert(!before->topic_defaults->allows_zstd);
    ck_assert(since->topic_defaults->allows_zstd);
    broker_conf_free(before);
    broker_conf_free(since);
}
END_TEST

START_TEST(the_record_format_is_the_topics_below_protocol_3_0)
{
    static const char old[] = "inter.broker.protocol.version=2.8\n";
    static const char by_broker[] =
        "inter.broker.protocol.version=2.8\nlog.message.format.version=0.9.0\n";
    static const char oldest[] =
        "inter.broker.protocol.version=0.10.0\nlog.message.format.version=0.9.0\n";

    ck_assert_int_eq(record_version("", "0.9.0"), 2);
    ck_assert_int_eq(record_version("log.message.format.version=0.9.0\n", NULL), 2);
    ck_assert_int_eq(record_version("inter.broker.protocol.version=3.0-IV0\n", "0.9.0"), 0);
    ck_assert_int_eq(record_version(old, NULL), 2);
    ck_assert_int_eq(record_version(old, "0.9.0"), 0);
    ck_assert_int_eq(record_version(old, "0.10.2"), 1);
    ck_assert_int_eq(record_version(old, "0.11.0"), 2);
    ck_assert_int_eq(record_version(by_broker, NULL), 0);
    ck_assert_int_eq(record_version(by_broker, "0.10.0"), 1);
    /* Above the protocol: the broker's own counts. */
    ck_assert_int_eq(record_version(oldest, "2.0"), 0);
    ck_assert_int_eq(record_version(oldest, "0.10.0-IV0"), 1);
}
END_TEST

TEST_MAIN("broker/config/topic_conf", overrides_stand_above_the_brokers_defaults,
          the_record_format_is_the_topics_below_protocol_3_0, zstd_is_for_protocols_that_know_it,
          settings_tell_where_they_come_from, refusals_use_the_words_of_kafka,
          levels_of_gzip_are_1_to_9_or_the_default)
