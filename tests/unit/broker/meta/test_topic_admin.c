#include "broker/meta/topic_admin.h"

#include "common/base/err.h"
#include "common/wire/messages.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"
#include "zk/zk_configs.h"
#include "zk/zk_election.h"
#include "zk/zk_topics.h"

static struct arena arena;
static struct fake_zk *fake;
static struct zk_store *zk;
static struct topic_admin *admin;
static struct metadata *metadata;

static void set_brokers(int n)
{
    struct update_metadata_request req;

    msg_init(&update_metadata_request_desc, &req);
    req.live_brokers =
        arena_new_array(&arena, struct update_metadata_request_live_broker, (size_t)n);
    req.live_brokers_count = n;
    for (int i = 0; i < n; i++) {
        struct_init(&update_metadata_request_live_broker_desc, &req.live_brokers[i]);
        req.live_brokers[i].id = i + 1;
    }
    metadata_update(metadata, &req);
}

static void start(const char *more)
{
    static struct clock_fake clock;
    CLEANUP(strbuf_deinit) struct strbuf why = {0}, text = {0};
    struct broker_conf *conf;
    struct props props = {0};
    int line;

    clock_fake_init(&clock, 1000);
    fake = fake_zk_new(fake_zk_server_new(&clock.clock));
    zk = fake_zk_store(fake);
    ck_assert_int_eq(zk_cluster_prepare(zk), ZK_OK);
    ck_assert_int_eq(zk_store_create_deep(
                         zk, "/controller",
                         slice_of_str(STR("{\"version\":1,\"brokerid\":1,\"timestamp\":\"1\"}"))),
                     ZK_OK);
    strbuf_addf(&text, "broker.id=1\nzookeeper.connect=z:1\n%s", more);
    ck_assert_int_eq(props_parse(&props, strbuf_str(&text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &conf, &why), 0);
    metadata = metadata_new();
    set_brokers(3);
    admin = topic_admin_new(
        &(struct topic_admin_opts){.zk = zk, .metadata = metadata, .live = live_conf_new(conf)});
}

static struct topic_creation create(struct topic_creation c)
{
    topic_admin_create(admin, &arena, &c, 1, false);
    return c;
}

static struct topic_creation automatic(const char *name, int partitions, int rf)
{
    return (struct topic_creation){
        .name = str_of(name), .num_partitions = partitions, .replication_factor = rf};
}

static struct zk_topic read_topic(const char *name)
{
    struct zk_topic t = {.name = str_of(name)};

    ck_assert_int_eq(zk_topics_read(zk, &arena, &t, 1), ZK_OK);
    return t;
}

START_TEST(a_topic_is_written_with_its_settings_and_an_id)
{
    const struct topic_override o[] = {{STR("retention.ms"), STR("5")}};
    struct topic_creation c = automatic("t", 4, 2);
    struct node_config config;

    start("");
    c.overrides = o;
    c.override_count = 1;
    c = create(c);
    ck_assert_int_eq(c.error, NONE);
    struct zk_topic t = read_topic("t");
    ck_assert_int_eq(t.result, ZK_OK);
    ck_assert_int_eq(t.node.count, 4);
    ck_assert_int_eq(t.node.partitions[3].replicas.count, 2);
    ck_assert(uuid_eq(t.node.id, c.id) && !uuid_is_zero(c.id));
    ck_assert_int_eq(zk_config_read(zk, "topics", STR("t"), &arena, &config), ZK_OK);
    ck_assert(str_eqz(node_config_get(&config, "retention.ms"), "5"));
}
END_TEST

START_TEST(defaults_come_from_the_broker)
{
    start("num.partitions=5\ndefault.replication.factor=3\ninter.broker.protocol.version=2.7\n");
    struct topic_creation c = create(automatic("t", -1, -1));

    ck_assert_int_eq(c.error, NONE);
    ck_assert_int_eq(c.num_partitions, 5);
    ck_assert_int_eq(c.replication_factor, 3);
    /* Topic ids came with 2.8. */
    ck_assert(uuid_is_zero(read_topic("t").node.id));
}
END_TEST

START_TEST(each_check_has_its_code)
{
    const int32_t twice[] = {1, 1}, one[] = {1}, far[] = {99};
    const struct topic_assignment dup = {0, twice, 2}, gap = {1, one, 1}, unknown = {0, far, 1};
    const struct topic_override bad = {STR("retention.ms"), STR("x")},
                                null = {STR("retention.ms"), STR_NULL};

    start("");
    ck_assert_int_eq(create(automatic("t", 0, 1)).error, INVALID_PARTITIONS);
    ck_assert_int_eq(create(automatic("t", 100000000, 1)).error, INVALID_PARTITIONS);
    ck_assert_int_eq(create(automatic("t", 1, 0)).error, INVALID_REPLICATION_FACTOR);
    ck_assert_int_eq(create(automatic("t", 1, 4)).error, INVALID_REPLICATION_FACTOR);
    ck_assert_int_eq(create(automatic("t t", 1, 1)).error, INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = 1,
                                                    .replication_factor = -1,
                                                    .assignments = &dup,
                                                    .assignment_count = 1})
                         .error,
                     INVALID_REQUEST);
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = -1,
                                                    .replication_factor = -1,
                                                    .assignments = &dup,
                                                    .assignment_count = 1})
                         .error,
                     INVALID_REPLICA_ASSIGNMENT);
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = -1,
                                                    .replication_factor = -1,
                                                    .assignments = &gap,
                                                    .assignment_count = 1})
                         .error,
                     INVALID_REPLICA_ASSIGNMENT);
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = 1,
                                                    .replication_factor = 1,
                                                    .overrides = &bad,
                                                    .override_count = 1})
                         .error,
                     INVALID_CONFIG);
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = 1,
                                                    .replication_factor = 1,
                                                    .overrides = &null,
                                                    .override_count = 1})
                         .error,
                     INVALID_CONFIG);
    ck_assert_int_eq(read_topic("t").result, ZK_NO_NODE);
    /* As in Kafka, brokers that are not there may be named by hand. */
    ck_assert_int_eq(create((struct topic_creation){.name = STR("t"),
                                                    .num_partitions = -1,
                                                    .replication_factor = -1,
                                                    .assignments = &unknown,
                                                    .assignment_count = 1})
                         .error,
                     NONE);
}
END_TEST

START_TEST(that_a_replica_is_missing_is_looked_at_last)
{
    const int32_t none[1] = {0};
    const struct topic_assignment empty = {0, none, 0}, empty_gap = {1, none, 0};
    const struct topic_override bad = {STR("retention.ms"), STR("x")};
    struct topic_creation c = {.name = STR("t"),
                               .num_partitions = -1,
                               .replication_factor = -1,
                               .assignments = &empty_gap,
                               .assignment_count = 1};

    start("");
    ck_assert(
        str_eqz(create(c).message, "partitions should be a consecutive 0-based integer sequence"));
    c.assignments = &empty;
    ck_assert_int_eq(create(c).error, INVALID_REPLICA_ASSIGNMENT);
    ck_assert(str_eqz(create(c).message, "A partition needs at least one replica"));
    c.overrides = &bad;
    c.override_count = 1;
    ck_assert_int_eq(create(c).error, INVALID_CONFIG);
}
END_TEST

START_TEST(refusals_name_the_first_fault_and_all_nulls)
{
    const int32_t twice[] = {1, 1}, one[] = {1};
    const struct topic_assignment gaps[] = {{1, one, 1}, {3, twice, 2}};
    const struct topic_override unset[] = {{STR("a"), STR_NULL}, {STR(""), STR_NULL}};

    start("");
    struct topic_creation uneven = create((struct topic_creation){.name = STR("t"),
                                                                  .num_partitions = -1,
                                                                  .replication_factor = -1,
                                                                  .assignments = gaps,
                                                                  .assignment_count = 2});
    ck_assert_int_eq(uneven.error, INVALID_REPLICA_ASSIGNMENT); /* that they have gaps comes last */
    ck_assert(str_eqz(uneven.message, "All partitions should have the same number of replicas"));
    struct topic_creation nulls = create((struct topic_creation){.name = STR("t"),
                                                                 .num_partitions = 1,
                                                                 .replication_factor = 1,
                                                                 .overrides = unset,
                                                                 .override_count = 2});
    ck_assert_int_eq(nulls.error, INVALID_CONFIG);
    ck_assert(str_eqz(nulls.message, "Null value not supported for topic configs: a,"));
}
END_TEST

START_TEST(names_that_are_taken_collide_or_go_are_refused)
{
    struct topic_creation pair[2] = {automatic("x.y", 1, 1), automatic("x_y", 1, 1)};

    start("");
    ck_assert_int_eq(create(automatic("a.b", 1, 1)).error, NONE);
    ck_assert_int_eq(create(automatic("a.b", 1, 1)).error, TOPIC_ALREADY_EXISTS);
    ck_assert_int_eq(create(automatic("a_b", 1, 1)).error, INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(zk_delete_topic_request(zk, STR("gone")), ZK_OK);
    ck_assert_int_eq(create(automatic("gone", 1, 1)).error, TOPIC_ALREADY_EXISTS);
    topic_admin_create(admin, &arena, pair, 2, false);
    ck_assert_int_eq(pair[0].error, NONE);
    ck_assert_int_eq(pair[1].error, INVALID_TOPIC_EXCEPTION);
}
END_TEST

START_TEST(a_dry_run_checks_and_writes_nothing)
{
    struct topic_creation c = automatic("t", 1, 1);

    start("");
    topic_admin_create(admin, &arena, &c, 1, true);
    ck_assert_int_eq(c.error, NONE);
    ck_assert_int_eq(read_topic("t").result, ZK_NO_NODE);
}
END_TEST

START_TEST(a_thousand_topics_take_a_few_round_trips)
{
    struct topic_creation *list = arena_new_array(&arena, struct topic_creation, 1000);

    start("");
    for (int i = 0; i < 1000; i++)
        list[i] = automatic(arena_printf(&arena, "t%d", i).p, 3, 3);
    uint64_t before = fake_zk_rounds(fake);
    topic_admin_create(admin, &arena, list, 1000, false);
    ck_assert_uint_le(fake_zk_rounds(fake) - before, 8);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(list[i].error, NONE);
    ck_assert_int_eq(read_topic("t999").node.count, 3);
}
END_TEST

START_TEST(without_a_controller_nothing_is_made)
{
    start("");
    ck_assert_int_eq(zk_store_delete(zk, "/controller", ZK_ANY_VERSION), ZK_OK);
    ck_assert_int_eq(create(automatic("t", 1, 1)).error, UNKNOWN_SERVER_ERROR);
    ck_assert_int_eq(read_topic("t").result, ZK_NO_NODE);
}
END_TEST

START_TEST(settings_left_behind_are_replaced)
{
    struct node_config config = {0};

    start("");
    ck_assert_int_eq(
        zk_config_set(
            zk, "topics", STR("t"),
            &(struct node_config){
                .entries = &(struct node_config_entry){STR("retention.ms"), STR("1")}, .count = 1}),
        ZK_OK);
    ck_assert_int_eq(create(automatic("t", 1, 1)).error, NONE);
    ck_assert_int_eq(zk_config_read(zk, "topics", STR("t"), &arena, &config), ZK_OK);
    ck_assert_int_eq(config.count, 0);
}
END_TEST

START_TEST(a_topic_on_demand_answers_what_metadata_tells)
{
    start("offsets.topic.replication.factor=2\noffsets.topic.num.partitions=7\n");
    ck_assert_int_eq(topic_admin_auto_create(admin, &arena, STR("t")), LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(topic_admin_auto_create(admin, &arena, STR("t")), LEADER_NOT_AVAILABLE);
    ck_assert_int_eq(topic_admin_auto_create(admin, &arena, STR("t!")), INVALID_TOPIC_EXCEPTION);
    ck_assert_int_eq(topic_admin_auto_create(admin, &arena, STR("__consumer_offsets")),
                     LEADER_NOT_AVAILABLE);
    struct zk_topic t = read_topic("__consumer_offsets");
    ck_assert_int_eq(t.node.count, 7);
    ck_assert_int_eq(t.node.partitions[0].replicas.count, 2);
    ck_assert_int_eq(topic_admin_auto_create(admin, &arena, STR("__transaction_state")),
                     LEADER_NOT_AVAILABLE);
}
END_TEST

TEST_MAIN("broker/meta/topic_admin", a_topic_is_written_with_its_settings_and_an_id,
          defaults_come_from_the_broker, each_check_has_its_code,
          that_a_replica_is_missing_is_looked_at_last, refusals_name_the_first_fault_and_all_nulls,
          names_that_are_taken_collide_or_go_are_refused, a_dry_run_checks_and_writes_nothing,
          a_thousand_topics_take_a_few_round_trips, without_a_controller_nothing_is_made,
          settings_left_behind_are_replaced, a_topic_on_demand_answers_what_metadata_tells)
