#include "broker/meta/config_admin.h"

#include "common/base/err.h"
#include "common/base/say.h"
#include "common/wire/messages.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"
#include "zk/zk_configs.h"

static struct arena arena;
static struct fake_zk_server *server;
static struct fake_zk *one;
static struct zk_store *zk;
static struct config_admin *admin;
static struct metadata *metadata;

static void add_topic(const char *name)
{
    struct update_metadata_request req;

    msg_init(&update_metadata_request_desc, &req);
    req.topic_states = arena_new_array(&arena, struct update_metadata_request_topic_state, 1);
    req.topic_states_count = 1;
    struct_init(&update_metadata_request_topic_state_desc, req.topic_states);
    req.topic_states->topic_name = str_of(name);
    req.topic_states->partition_states =
        arena_new_array(&arena, struct update_metadata_request_partition_state, 1);
    req.topic_states->partition_states_count = 1;
    struct_init(&update_metadata_request_partition_state_desc, req.topic_states->partition_states);
    metadata_update(metadata, &req);
}

static void start(bool with_controller)
{
    static struct clock_fake clock;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *conf;
    struct props props = {0};
    int line;

    say_set_level(SAY_ERROR + 1);
    clock_fake_init(&clock, 1000);
    server = fake_zk_server_new(&clock.clock);
    one = fake_zk_new(server);
    zk = fake_zk_store(one);
    ck_assert_int_eq(zk_cluster_prepare(zk), ZK_OK);
    if (with_controller)
        ck_assert_int_eq(zk_store_create_deep(zk, "/controller",
                                              slice_of_str(STR("{\"version\":1,\"brokerid\":1,"
                                                               "\"timestamp\":\"1\"}"))),
                         ZK_OK);
    ck_assert_int_eq(zk_store_create_deep(zk, "/brokers/topics/t", slice_of_str(STR("{}"))), ZK_OK);
    ck_assert_int_eq(props_parse(&props, STR("broker.id=1\nzookeeper.connect=z:1\n"), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &conf, &why), 0);
    metadata = metadata_new();
    add_topic("t");
    admin = config_admin_new(&(struct config_admin_opts){
        .zk = zk, .metadata = metadata, .live = live_conf_new(conf), .broker_id = 1});
}

struct step {
    int8_t type;
    const char *name;
    int8_t op;
    const char *key;
    const char *value;
    bool is_dry_run;
};

static struct config_alteration run(struct step s, bool is_incremental)
{
    struct config_edit edit = {.key = str_of(s.key), .value = str_of(s.value), .op = s.op};
    struct config_alteration c = {
        .type = s.type, .name = str_of(s.name), .edits = &edit, .edit_count = s.key ? 1 : 0};

    config_admin_alter(
        admin, &arena,
        &(struct config_request){
            .list = &c, .count = 1, .is_incremental = is_incremental, .is_dry_run = s.is_dry_run});
    return c;
}

static void check(struct step s, int16_t error, const char *message)
{
    struct config_alteration c = run(s, true);

    ck_assert_int_eq(c.error, error);
    ck_assert_msg(str_eqz(c.message, message), "%.*s", STR_ARG(c.message));
}

static const char *node(const char *path)
{
    struct slice data;

    return zk_store_get(zk, path, &arena, &data, NULL) == ZK_OK
               ? arena_strz(&arena, str_of_slice(data))
               : NULL;
}

static size_t notifications(void)
{
    struct zk_names names;

    ck_assert_int_eq(zk_store_children(zk, "/config/changes", false, &arena, &names), ZK_OK);
    return names.count;
}

START_TEST(a_topics_settings_are_written_and_told)
{
    start(true);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "5", false}, NONE,
          NULL);
    ck_assert_str_eq(node("/config/topics/t"),
                     "{\"version\":1,\"config\":{\"retention.ms\":\"5\"}}");
    ck_assert_str_eq(node("/config/changes/config_change_0000000000"),
                     "{\"version\":2,\"entity_path\":\"topics/t\"}");
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_DELETE, "retention.ms", NULL, false}, NONE,
          NULL);
    ck_assert_str_eq(node("/config/topics/t"), "{\"version\":1,\"config\":{}}");
}
END_TEST

struct rival {
    struct zk_store *zk;
    int writes;
};

/* Writes what is to be changed just before that is written, as often as it is told. */
static void be_faster(const struct zk_op *op, void *ctx)
{
    struct rival *rival = ctx;
    struct node_config_entry e = {STR("flush.ms"), arena_printf(&arena, "%d", rival->writes)};

    if (op->kind != ZK_OP_CHECK && op->kind != ZK_OP_CREATE)
        return;
    if (rival->writes > 0 && rival->writes--)
        ck_assert_int_eq(zk_config_set(rival->zk, "topics", STR("t"), &(struct node_config){&e, 1}),
                         ZK_OK);
}

START_TEST(what_others_change_meanwhile_stays)
{
    const struct step change = {RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "5", false};
    struct rival rival = {.writes = 3};

    start(true);
    rival.zk = fake_zk_store(fake_zk_new(server));
    fake_zk_hook(one, be_faster, &rival);
    check(change, NONE, NULL);
    ck_assert_str_eq(node("/config/topics/t"), "{\"version\":1,\"config\":{\"flush.ms\":\"1\","
                                               "\"retention.ms\":\"5\"}}");
    rival.writes = INT32_MAX;
    check(change, UNKNOWN_SERVER_ERROR,
          "Others change these settings all the time; nothing was changed, try again.");
}
END_TEST

START_TEST(what_is_not_incremental_replaces_everything)
{
    start(true);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "5", false}, NONE,
          NULL);
    struct config_alteration c = run(
        (struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "segment.bytes", "1000", false}, false);
    ck_assert_int_eq(c.error, NONE);
    ck_assert_str_eq(node("/config/topics/t"),
                     "{\"version\":1,\"config\":{\"segment.bytes\":\"1000\"}}");
}
END_TEST

START_TEST(a_dry_run_checks_and_writes_nothing)
{
    start(true);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "5", true}, NONE, NULL);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "foo", "5", true}, INVALID_CONFIG,
          "Unknown topic config name: foo");
    check((struct step){RESOURCE_BROKER, "", CONFIG_OP_SET, "num.io.threads", "9", true}, NONE,
          NULL);
    ck_assert_ptr_null(node("/config/topics/t"));
    ck_assert_ptr_null(node("/config/brokers/<default>"));
    ck_assert_uint_eq(notifications(), 0);
}
END_TEST

/* Words and codes of a 3.9 broker. */
START_TEST(topics_are_refused_as_kafka_does)
{
    start(true);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "x", false},
          INVALID_CONFIG,
          "Invalid config value for resource ConfigResource(type=TOPIC, name='t'): Invalid value x "
          "for configuration retention.ms: Not a number of type LONG");
    check((struct step){RESOURCE_TOPIC, "", CONFIG_OP_SET, "retention.ms", "5", false},
          INVALID_REQUEST, "Default topic resources are not allowed.");
    check((struct step){RESOURCE_TOPIC, "no", CONFIG_OP_SET, "foo", "5", false},
          UNKNOWN_TOPIC_OR_PARTITION, "The topic 'no' does not exist.");
    check((struct step){RESOURCE_TOPIC, "..", CONFIG_OP_SET, "foo", "5", false}, INVALID_CONFIG,
          "Invalid config value for resource ConfigResource(type=TOPIC, name='..'): Invalid path "
          "string \"/config/topics/..\" caused by relative paths not allowed @16");
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", NULL, false},
          INVALID_REQUEST, "Null value not supported for : retention.ms");
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "", NULL, false}, INVALID_REQUEST,
          "Null value not supported for : ");
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_APPEND, "retention.ms", "5", false},
          INVALID_CONFIG, "Config value append is not allowed for config key: retention.ms");
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_APPEND, "foo", "5", false},
          UNKNOWN_SERVER_ERROR, NULL);
    check((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "remote.storage.enable", "true", false},
          INVALID_CONFIG,
          "Invalid config value for resource ConfigResource(type=TOPIC, name='t'): Tiered Storage "
          "functionality is disabled in the broker. Topic cannot be configured with remote log "
          "storage.");
    check((struct step){1, "t", CONFIG_OP_SET, "retention.ms", "5", false}, INVALID_REQUEST,
          "Unknown resource type 1");
    ck_assert_uint_eq(notifications(), 0);
}
END_TEST

START_TEST(brokers_write_their_own_settings_and_the_common_ones)
{
    start(true);
    check((struct step){RESOURCE_BROKER, "1", CONFIG_OP_SET, "num.io.threads", "9", false}, NONE,
          NULL);
    check((struct step){RESOURCE_BROKER, "", CONFIG_OP_SET, "any.key", "x", false}, NONE, NULL);
    ck_assert_str_eq(node("/config/brokers/1"),
                     "{\"version\":1,\"config\":{\"num.io.threads\":\"9\"}}");
    ck_assert_str_eq(node("/config/brokers/<default>"),
                     "{\"version\":1,\"config\":{\"any.key\":\"x\"}}");
    ck_assert_str_eq(node("/config/changes/config_change_0000000001"),
                     "{\"version\":2,\"entity_path\":\"brokers/<default>\"}");
    check((struct step){RESOURCE_BROKER, "2", CONFIG_OP_SET, "num.io.threads", "9", false},
          INVALID_REQUEST, "Unexpected broker id, expected 1, but received 2");
    check((struct step){RESOURCE_BROKER, "x", CONFIG_OP_SET, "num.io.threads", "9", false},
          INVALID_REQUEST, "Node id must be an integer, but it is: x");
    check((struct step){RESOURCE_BROKER, "1", 7, "num.io.threads", "9", false}, INVALID_REQUEST,
          "Unknown operations type 7");
}
END_TEST

START_TEST(nothing_is_written_without_a_controller)
{
    start(false);
    struct config_alteration c =
        run((struct step){RESOURCE_TOPIC, "t", CONFIG_OP_SET, "retention.ms", "5", false}, true);
    ck_assert_int_eq(c.error, STALE_CONTROLLER_EPOCH);
    ck_assert_uint_eq(notifications(), 0);
}
END_TEST

static const char *level_of(const char *name)
{
    for (int i = 0; i < say_logger_count(); i++) {
        const char *level, *found = config_admin_logger(&arena, i, &level);

        if (strcmp(found, name) == 0)
            return level;
    }
    return "";
}

START_TEST(the_root_logger_has_a_level)
{
    start(true);
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_SET, "root", "FATAL", false}, NONE,
          NULL);
    ck_assert_str_eq(level_of("root"), "FATAL");
    ck_assert(!say_is_on(SAY_WARN));
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_SET, "root", "DEBUG", true}, NONE,
          NULL);
    ck_assert_str_eq(level_of("root"), "FATAL");
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_DELETE, "root", NULL, false},
          INVALID_REQUEST, "Removing the log level of the root logger is not allowed");
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_SET, "kafka", "INFO", false},
          INVALID_CONFIG, "Logger kafka does not exist!");
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_APPEND, "root", "INFO", false},
          INVALID_REQUEST, "APPEND operation is not allowed for the BROKER_LOGGER resource");
}
END_TEST

START_TEST(a_folder_s_logger_has_a_level_until_that_is_deleted)
{
    start(true);
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_SET, "root", "ERROR", false}, NONE,
          NULL);
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_SET, "broker", "DEBUG", false}, NONE,
          NULL);
    ck_assert_str_eq(level_of("broker.storage"), "DEBUG");
    ck_assert_str_eq(level_of("zk"), "ERROR");
    check((struct step){RESOURCE_BROKER_LOGGER, "1", CONFIG_OP_DELETE, "broker", NULL, false}, NONE,
          NULL);
    ck_assert_str_eq(level_of("broker.storage"), "ERROR");
}
END_TEST

TEST_MAIN("broker/meta/config_admin", what_others_change_meanwhile_stays,
          a_topics_settings_are_written_and_told, what_is_not_incremental_replaces_everything,
          a_dry_run_checks_and_writes_nothing, topics_are_refused_as_kafka_does,
          brokers_write_their_own_settings_and_the_common_ones,
          nothing_is_written_without_a_controller, the_root_logger_has_a_level,
          a_folder_s_logger_has_a_level_until_that_is_deleted)
