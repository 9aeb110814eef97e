#include "broker/config/live_conf.h"

#include "common/base/say.h"
#include "tests/support/test_main.h"

#include <errno.h>

static struct broker_conf *file;
static struct live_conf *live;

static void start(const char *more)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, why = {0};
    struct props props = {0};
    int line;

    say_set_level(SAY_ERROR + 1);
    strbuf_addf(&text, "broker.id=1\nzookeeper.connect=z:1\n%s", more);
    ck_assert_int_eq(props_parse(&props, strbuf_str(&text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &file, &why), 0);
    live = live_conf_new(file);
}

static void end(void)
{
    live_conf_free(live);
    broker_conf_free(file);
}

static void set(const char *own, const char *common)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props o = {0}, c = {0};
    int line;

    ck_assert_int_eq(props_parse(&o, str_of(own), &line), 0);
    ck_assert_int_eq(props_parse(&c, str_of(common), &line), 0);
    ck_assert_int_eq(live_conf_set(live, &o, &c, &why), 0);
}

static void check_refused(const char *text, bool is_own, const char *words)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(props_deinit) struct props p = {0};
    int line;

    ck_assert_int_eq(props_parse(&p, str_of(text), &line), 0);
    ck_assert_int_lt(live_conf_check(live, &p, is_own, &why), 0);
    ck_assert_str_eq(why.s, words);
}

static void check_origins(const struct origin *o, size_t n, const char *expected)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (size_t i = 0; i < n; i++)
        strbuf_addf(&sb, "%s%s=%.*s:%d", i ? " " : "", o[i].name, STR_ARG(o[i].value), o[i].source);
    ck_assert_str_eq(sb.s ? sb.s : "", expected);
}

START_TEST(own_settings_stand_above_common_ones_above_the_file)
{
    start("log.segment.bytes=1000\nlog.retention.ms=1\n");
    set("log.retention.ms=3\n", "log.retention.ms=2\nlog.segment.bytes=2000\n");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_int_eq(now->conf->topic_defaults->retention_ms, 3);
    ck_assert_int_eq(now->conf->topic_defaults->segment_bytes, 2000);
    ck_assert_int_eq(now->file->topic_defaults->segment_bytes, 1000);
    end();
}
END_TEST

START_TEST(a_snapshot_does_not_change)
{
    start("");
    const struct conf_snapshot *before = live_conf_get(live);
    set("log.retention.ms=3\n", "");
    const struct conf_snapshot *after = live_conf_get(live);
    ck_assert_int_eq(before->conf->topic_defaults->retention_ms, 604800000);
    ck_assert_int_eq(after->conf->topic_defaults->retention_ms, 3);
    conf_snapshot_put(before);
    conf_snapshot_put(after);
    end();
}
END_TEST

/* log.retention.ms of ZooKeeper hides log.retention.hours of the file, and the other way round. */
START_TEST(a_setting_goes_by_any_of_its_names)
{
    start("log.retention.hours=1\nlog.roll.ms=5\n");
    set("", "log.retention.ms=7\n");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_int_eq(now->conf->topic_defaults->retention_ms, 7);
    ck_assert_ptr_null(props_get(&now->conf->props, "log.retention.hours"));
    end();
}
END_TEST

START_TEST(origins_are_told_in_order)
{
    struct origin o[ORIGINS_MAX];

    start("log.retention.hours=1\nnum.io.threads=4\n");
    set("num.io.threads=5\n", "num.io.threads=6\nlog.retention.ms=7\n");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    check_origins(o, broker_origins(now, "num.io.threads", o),
                  "num.io.threads=5:2 num.io.threads=6:3 num.io.threads=4:4 num.io.threads=8:5");
    check_origins(o, broker_origins(now, "log.retention.ms", o),
                  "log.retention.ms=7:3 log.retention.hours=1:4 log.retention.hours=168:5");
    check_origins(o, broker_origins(now, "log.roll.ms", o), "");
    check_origins(o, broker_origins(now, "node.id", o), "node.id=1:4 node.id=-1:5");
    end();
}
END_TEST

START_TEST(single_settings_that_cannot_be_used_are_left_out)
{
    start("");
    set("broker.id=7\nnum.io.threads=x\nlog.retention.ms=5\nssl.keystore.location=/x\n",
        "listeners=PLAINTEXT://:1\nmessage.max.bytes=77\n");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_uint_eq(now->own.count, 1);
    ck_assert_uint_eq(now->common.count, 1);
    ck_assert_int_eq(now->conf->broker_id, 1);
    ck_assert_int_eq(now->conf->message_max_bytes, 77);
    end();
}
END_TEST

START_TEST(settings_that_do_not_go_together_change_nothing)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props own = {0}, common = {0};

    start("");
    live_conf_run(live, NULL, NULL);
    props_set(&own, "log.retention.ms", "0");
    ck_assert_int_lt(live_conf_set(live, &own, &common, &why), 0);
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_uint_eq(now->own.count, 0);
    end();
}
END_TEST

/* Words of a 3.9 broker. */
START_TEST(refusals_use_the_words_of_kafka)
{
    static const char wrap[] = "Invalid value org.apache.kafka.common.config.ConfigException: ";
    CLEANUP(strbuf_deinit) struct strbuf words = {0};

    start("");
    check_refused("broker.id=2\n", true, "Cannot update these configs dynamically: Set(broker.id)");
    check_refused("listener.name.x.ssl.key.password=p\n", false,
                  "Cannot update these configs at default cluster level, broker id must be "
                  "specified: Set(listener.name.x.ssl.key.password)");
    check_refused("ssl.keystore.type=PEM\n", true,
                  "These security configs can be dynamically updated only per-listener using the "
                  "listener prefix: HashSet(ssl.keystore.type)");
    check_refused("principal.builder.class=x.Y\n", true,
                  "Invalid value x.Y for configuration principal.builder.class: Class x.Y could "
                  "not be found.");
    check_refused("leader.replication.throttled.rate=-1\n", true,
                  "Invalid value -1 for configuration leader.replication.throttled.rate: Value "
                  "must be at least 0");
    strbuf_addf(&words,
                "%sDynamic thread count update validation failed for num.io.threads=17, value "
                "should not be greater than double the current value 8 for configuration Invalid "
                "dynamic configuration",
                wrap);
    check_refused("num.io.threads=17\n", false, words.s);
    check_refused("max.connections.per.ip.overrides=localhost:x\n", true,
                  "For input string: \"x\"");
    strbuf_deinit(&words);
    strbuf_addf(&words,
                "%sValidation of dynamic config update of Set(metric.reporters) failed with class "
                "class kafka.server.DynamicMetricsReporters for configuration Invalid dynamic "
                "configuration",
                wrap);
    check_refused("metric.reporters=org.apache.kafka.common.metrics.JmxReporter,a.b.C\n", true,
                  words.s);
    set("metric.reporters=org.apache.kafka.common.metrics.JmxReporter\n", "");
    check_refused("log.cleaner.dedupe.buffer.size=5\n", true,
                  "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per "
                  "cleaner thread.");
    end();
}
END_TEST

/* Of a broker that was down meanwhile. */
START_TEST(what_is_found_at_start_is_no_step)
{
    start("num.io.threads=2\n");
    set("num.io.threads=64\n", "");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_int_eq(now->conf->num_io_threads, 64);
    end();
}
END_TEST

/* Notifications that come late find the last of several steps, each of which was allowed. */
START_TEST(what_others_have_taken_step_by_step_is_taken_at_once)
{
    start("num.io.threads=32\nlog.cleaner.threads=4\n");
    live_conf_run(live, NULL, NULL);
    set("", "num.io.threads=8\nlog.cleaner.threads=1\n");
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(live);
    ck_assert_int_eq(now->conf->num_io_threads, 8);
    end();
}
END_TEST

START_TEST(what_cannot_be_used_at_start_does_not_take_the_rest_with_it)
{
    start("");
    set("log.retention.ms=0\n", "message.max.bytes=77\n");
    const struct conf_snapshot *one = live_conf_get(live);
    ck_assert_uint_eq(one->own.count, 0);
    ck_assert_int_eq(one->conf->message_max_bytes, 77);
    conf_snapshot_put(one);
    set("message.max.bytes=78\n", "log.retention.ms=0\n");
    const struct conf_snapshot *two = live_conf_get(live);
    ck_assert_uint_eq(two->common.count, 0);
    ck_assert_int_eq(two->conf->message_max_bytes, 78);
    conf_snapshot_put(two);
    set("log.retention.ms=0\n", "log.retention.ms=0\nnum.io.threads=5\n");
    const struct conf_snapshot *none = live_conf_get(live);
    ck_assert_uint_eq(none->own.count + none->common.count, 0);
    conf_snapshot_put(none);
    end();
}
END_TEST

static int cannot_read_again(void *ctx UNUSED, const struct conf_step *step, struct strbuf *why)
{
    if (!step->is_reload)
        return 0;
    strbuf_addz(why, "no");
    return -EINVAL;
}

static int cannot(void *ctx UNUSED, const struct conf_step *step, struct strbuf *why)
{
    if (step->is_reload)
        return 0;
    strbuf_addz(why, "no");
    return -EINVAL;
}

START_TEST(parts_are_asked_about_files)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(props_deinit) struct props p = {0};

    start("");
    live_conf_run(live, cannot, NULL);
    check_refused("num.io.threads=9\n", true,
                  "Invalid value org.apache.kafka.common.config.ConfigException: no for "
                  "configuration Invalid dynamic configuration");
    live_conf_run(live, cannot_read_again, NULL);
    props_set(&p, "num.io.threads", "9");
    ck_assert_int_eq(live_conf_check(live, &p, true, &why), 0);
    ck_assert_int_eq(live_conf_check_files(live, &p, &why), -EINVAL);
    ck_assert_str_eq(why.s, "no");
    set("num.io.threads=9\n", "");
    end();
}
END_TEST

/* Words of a 3.9 broker. */
START_TEST(a_listener_keeps_a_key_store_and_gets_no_trust_store)
{
    start("listeners=PLAINTEXT://h:1,SSL://h:2\nssl.keystore.location=/x\n");
    set("listener.name.ssl.ssl.keystore.location=/y\n", "");
    check_refused("listener.name.ssl.ssl.truststore.location=/z\n", true,
                  "Invalid value org.apache.kafka.common.config.ConfigException: Validation of "
                  "dynamic config update of SSLFactory failed: "
                  "org.apache.kafka.common.config.ConfigException: Cannot add SSL truststore to an "
                  "existing listener for which no truststore was configured. for configuration "
                  "Invalid dynamic configuration");
    end();
    start("listeners=PLAINTEXT://h:1,SSL://h:2\n");
    set("listener.name.ssl.ssl.keystore.location=/y\n", "");
    check_refused("num.io.threads=9\n", true,
                  "Invalid value org.apache.kafka.common.config.ConfigException: Validation of "
                  "dynamic config update of SSLFactory failed: "
                  "org.apache.kafka.common.config.ConfigException: Cannot remove the SSL keystore "
                  "from an existing listener for which a keystore was configured. for "
                  "configuration Invalid dynamic configuration");
    end();
}
END_TEST

START_TEST(throttles_come_from_zookeeper_only)
{
    start("leader.replication.throttled.rate=1\n");
    struct throttle_rates r = live_conf_throttle_rates(live);
    ck_assert_int_eq(r.leader, INT64_MAX);
    ck_assert_int_eq(r.alter_log_dirs, INT64_MAX);
    set("leader.replication.throttled.rate=5\n",
        "leader.replication.throttled.rate=6\nfollower.replication.throttled.rate=7\n"
        "replica.alter.log.dirs.io.max.bytes.per.second=8\n");
    r = live_conf_throttle_rates(live);
    ck_assert_int_eq(r.leader, 5);
    ck_assert_int_eq(r.follower, 7);
    ck_assert_int_eq(r.alter_log_dirs, 8);
    end();
}
END_TEST

/* Words of a 3.9 broker. */
START_TEST(listeners_come_and_go_but_keep_their_protocol)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(props_deinit) struct props p = {0};

    start("listeners=PLAINTEXT://h:1\nlistener.name.plaintext.ssl.protocol=x\n");
    props_set(&p, "listeners", "PLAINTEXT://h:1,EXTRA://h:2");
    props_set(&p, "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT");
    ck_assert_int_eq(live_conf_check(live, &p, true, &why), 0);
    check_refused("listener.security.protocol.map=PLAINTEXT:SSL\n", true,
                  "Invalid value org.apache.kafka.common.config.ConfigException: Security protocol "
                  "cannot be updated for existing listener ListenerName(PLAINTEXT) for "
                  "configuration Invalid dynamic configuration");
    check_refused("listeners=PLAINTEXT://h:3\nlistener.name.plaintext.ssl.protocol=y\n", true,
                  "Invalid value org.apache.kafka.common.config.ConfigException: Configs cannot be "
                  "updated dynamically for existing listener ListenerName(PLAINTEXT), restart "
                  "broker or create a new listener for update for configuration Invalid dynamic "
                  "configuration");
    end();
}
END_TEST

START_TEST(pools_grow_and_shrink_by_a_factor_of_two)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(props_deinit) struct props p = {0};

    start("");
    props_set(&p, "num.io.threads", "16");
    ck_assert_int_eq(live_conf_check(live, &p, true, &why), 0);
    set("num.io.threads=16\n", "");
    props_set(&p, "num.io.threads", "32");
    ck_assert_int_eq(live_conf_check(live, &p, true, &why), 0);
    end();
}
END_TEST

TEST_MAIN("broker/config/live_conf", own_settings_stand_above_common_ones_above_the_file,
          a_snapshot_does_not_change, a_setting_goes_by_any_of_its_names, origins_are_told_in_order,
          single_settings_that_cannot_be_used_are_left_out,
          settings_that_do_not_go_together_change_nothing, refusals_use_the_words_of_kafka,
          pools_grow_and_shrink_by_a_factor_of_two, what_is_found_at_start_is_no_step,
          what_others_have_taken_step_by_step_is_taken_at_once,
          what_cannot_be_used_at_start_does_not_take_the_rest_with_it, parts_are_asked_about_files,
          a_listener_keeps_a_key_store_and_gets_no_trust_store, throttles_come_from_zookeeper_only,
          listeners_come_and_go_but_keep_their_protocol)
