#include "zk/zk_configs.h"

#include "tests/unit/zk/zk_test.h"
#include "zk/zk_election.h"

static struct node_config_entry entry = {STR("k"), STR("v")};
static const struct node_config config = {&entry, 1};

static void with_controller(struct zk_test *z)
{
    struct zk_election e;

    zk_test_init(z);
    say_set_level(SAY_ERROR + 1);
    ck_assert_int_eq(zk_elect(z->t, 2, &e), ZK_OK);
}

START_TEST(config_is_created_then_set)
{
    struct zk_test z;
    struct node_config back;

    with_controller(&z);
    ck_assert_int_eq(zk_config_read(z.s, "topics", STR("t"), &z.a, &back), ZK_OK);
    ck_assert_int_eq(back.count, 0);
    ck_assert_int_eq(zk_config_set(z.s, "topics", STR("t"), &config), ZK_OK);
    ck_assert_int_eq(zk_config_set(z.s, "topics", STR("t"), &config), ZK_OK);
    ck_assert_int_eq(zk_config_read(z.s, "topics", STR("t"), &z.a, &back), ZK_OK);
    ck_assert(str_eqz(node_config_get(&back, "k"), "v"));
    zk_test_deinit(&z);
}
END_TEST

START_TEST(what_another_has_written_meanwhile_is_not_written_over)
{
    struct zk_test z;
    struct zk_config a = {.name = STR("t")}, b = a, c = a;

    with_controller(&z);
    ck_assert_int_eq(zk_config_look(z.s, "topics", &z.a, &a), ZK_OK);
    ck_assert_int_eq(a.version, ZK_CONFIG_ABSENT);
    ck_assert_int_eq(zk_config_update(z.s, "topics", a.name, &config, a.version), ZK_OK);
    ck_assert_int_eq(zk_config_update(z.s, "topics", a.name, &config, a.version), ZK_BAD_VERSION);
    ck_assert_int_eq(zk_config_delete(z.s, "topics", a.name, a.version), ZK_OK);
    ck_assert_int_eq(zk_config_look(z.s, "topics", &z.a, &b), ZK_OK);
    ck_assert(b.is_present);
    ck_assert_int_eq(zk_config_update(z.s, "topics", b.name, &config, b.version), ZK_OK);
    ck_assert_int_eq(zk_config_update(z.s, "topics", b.name, &config, b.version), ZK_BAD_VERSION);
    ck_assert_int_eq(zk_config_delete(z.s, "topics", b.name, b.version), ZK_BAD_VERSION);
    ck_assert_int_eq(zk_config_look(z.s, "topics", &z.a, &c), ZK_OK);
    ck_assert_int_eq(zk_config_delete(z.s, "topics", c.name, c.version), ZK_OK);
    ck_assert_int_eq(zk_config_update(z.s, "topics", c.name, &config, c.version), ZK_BAD_VERSION);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(config_is_refused_without_a_controller_or_under_kraft)
{
    struct zk_test z;

    zk_test_init(&z);
    say_set_level(SAY_ERROR + 1);
    ck_assert_int_eq(zk_config_set(z.s, "topics", STR("t"), &config), ZK_CONTROLLER_MOVED);
    zk_store_create(z.s, ZK_PATH_CONTROLLER,
                    bytes("{\"brokerid\":3000,\"kraftControllerEpoch\":1}"), 0);
    ck_assert_int_eq(zk_config_set(z.s, "topics", STR("t"), &config), ZK_REFUSED);
    zk_test_deinit(&z);
}
END_TEST

static void move_controller(const struct zk_op *op, void *ctx)
{
    struct zk_store *other = ctx;

    if (op->kind == ZK_OP_CHECK)
        zk_store_set(other, ZK_PATH_CONTROLLER, bytes("{\"brokerid\":9}"), -1, NULL);
}

START_TEST(controller_that_moved_meanwhile_fails_the_write)
{
    struct zk_test z;

    with_controller(&z);
    zk_config_set(z.s, "topics", STR("t"), &config);
    fake_zk_hook(z.one, move_controller, z.t);
    ck_assert_int_eq(zk_config_set(z.s, "topics", STR("t"), &config), ZK_CONTROLLER_MOVED);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(many_configs_are_read_in_one_round)
{
    struct zk_test z;
    struct zk_config list[] = {{.name = STR("t")}, {.name = STR("absent")}, {.name = STR("bad")}};
    struct zk_names names;

    with_controller(&z);
    zk_config_set(z.s, "topics", STR("t"), &config);
    zk_store_create(z.s, "/config/topics/bad", bytes("{\"config\":{\"k\":1}}"), 0);
    uint64_t before = fake_zk_rounds(z.one);
    ck_assert_int_eq(zk_configs_read(z.s, "topics", &z.a, list, 3), ZK_OK);
    ck_assert_uint_eq(fake_zk_rounds(z.one), before + 1);
    ck_assert(list[0].is_present && list[0].node.count == 1);
    ck_assert(!list[1].is_present && list[1].result == ZK_OK);
    ck_assert_int_eq(list[2].result, ZK_MALFORMED);
    ck_assert_int_eq(zk_configs_list(z.s, "topics", &z.a, &names), ZK_OK);
    ck_assert_uint_eq(names.count, 2);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(deleted_pair_takes_its_empty_parents_along)
{
    struct zk_test z;

    with_controller(&z);
    zk_config_set(z.s, "users", STR("u/clients/c"), &config);
    zk_config_set(z.s, "users", STR("u/clients/d"), &config);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("u/clients/c"), ZK_ANY_VERSION), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/users/u/clients", NULL), ZK_OK);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("u/clients/d"), ZK_ANY_VERSION), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/users/u", NULL), ZK_NO_NODE);
    zk_config_set(z.s, "users", STR("v"), &config);
    zk_config_set(z.s, "users", STR("v/clients/c"), &config);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("v"), ZK_ANY_VERSION), ZK_NOT_EMPTY);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("v/clients/c"), ZK_ANY_VERSION), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/users/v", NULL), ZK_OK);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("v"), ZK_ANY_VERSION), ZK_OK);
    ck_assert_int_eq(zk_config_delete(z.s, "users", STR("v"), ZK_ANY_VERSION), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

static const struct node_config nothing = {NULL, 0};

/* There is no controller before brokers are. */
START_TEST(bootstrapping_writes_and_notifies_at_once)
{
    struct zk_test z;

    zk_test_init(&z);
    ck_assert_int_eq(zk_config_bootstrap(z.s, "brokers", STR("1"), &config), ZK_OK);
    ck_assert(zk_test_holds(&z, "/config/brokers/1", "{\"version\":1,\"config\":{\"k\":\"v\"}}"));
    ck_assert(zk_test_holds(&z, ZK_PREFIX_CONFIG_CHANGE "0000000000",
                            "{\"version\":2,\"entity_path\":\"brokers/1\"}"));
    ck_assert_int_eq(zk_config_bootstrap(z.s, "brokers", STR("1"), &nothing), ZK_OK);
    ck_assert(zk_test_holds(&z, "/config/brokers/1", "{\"version\":1,\"config\":{}}"));
    ck_assert_int_eq(zk_store_exists(z.s, ZK_PREFIX_CONFIG_CHANGE "0000000001", NULL), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(bootstrapping_makes_what_is_missing)
{
    struct zk_test z;

    zk_test_init(&z);
    ck_assert_int_eq(zk_store_delete_deep(z.s, ZK_PATH_CONFIG, ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_config_bootstrap(z.s, "users", STR("u"), &config), ZK_OK);
    ck_assert(zk_test_holds(&z, "/config/users/u", "{\"version\":1,\"config\":{\"k\":\"v\"}}"));
    ck_assert_int_eq(zk_store_exists(z.s, ZK_PREFIX_CONFIG_CHANGE "0000000000", NULL), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(a_user_without_settings_goes_unless_it_has_clients)
{
    struct zk_test z;

    with_controller(&z);
    zk_config_set(z.s, "users", STR("u"), &config);
    zk_config_set(z.s, "users", STR("v/clients/c"), &config);
    ck_assert_int_eq(zk_config_bootstrap(z.s, "users", STR("u"), &nothing), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/users/u", NULL), ZK_NO_NODE);
    ck_assert_int_eq(zk_config_bootstrap(z.s, "users", STR("v"), &nothing), ZK_OK);
    ck_assert(zk_test_holds(&z, "/config/users/v", "{\"version\":1,\"config\":{}}"));
    ck_assert_int_eq(zk_config_bootstrap(z.s, "users", STR("w"), &nothing), ZK_OK);
    ck_assert_int_eq(zk_store_exists(z.s, "/config/users/w", NULL), ZK_NO_NODE);
    ck_assert_int_eq(zk_store_exists(z.s, ZK_PREFIX_CONFIG_CHANGE "0000000002", NULL), ZK_OK);
    zk_test_deinit(&z);
}
END_TEST

struct changes {
    int count;
    char names[256];
};

static void on_change(const struct node_config_change *change, void *ctx)
{
    struct changes *c = ctx;
    size_t n = strlen(c->names);

    c->count++;
    snprintf(c->names + n, sizeof c->names - n, "%.*s/%.*s ", STR_ARG(change->type),
             STR_ARG(change->name));
}

START_TEST(changes_are_handled_once_each_in_order)
{
    struct zk_test z;
    struct zk_config_changes run = {0};
    struct changes seen = {0};

    with_controller(&z);
    zk_config_notify(z.t, "topics", STR("a"));
    zk_config_notify(z.t, "brokers", STR("<default>"));
    zk_store_create(z.t, ZK_PREFIX_CONFIG_CHANGE, bytes("{}"), ZK_SEQUENTIAL);
    zk_store_create(z.t, ZK_PREFIX_CONFIG_CHANGE, bytes("hello"), ZK_SEQUENTIAL);
    zk_store_create(z.t, ZK_PREFIX_CONFIG_CHANGE, (struct slice){0}, ZK_SEQUENTIAL);
    zk_store_create(z.t, ZK_PATH_CONFIG_CHANGES "/strange", bytes("{}"), 0);
    ck_assert_int_eq(zk_config_changes_run(z.s, &run, on_change, &seen), ZK_OK);
    ck_assert_str_eq(seen.names, "topics/a brokers/<default> ");
    zk_config_notify(z.t, "users", STR("u/clients/c"));
    ck_assert_int_eq(zk_config_changes_run(z.s, &run, on_change, &seen), ZK_OK);
    ck_assert_int_eq(seen.count, 3);
    ck_assert_int_eq(zk_config_changes_run(z.s, &run, on_change, &seen), ZK_OK);
    ck_assert_int_eq(seen.count, 3);
    zk_test_deinit(&z);
}
END_TEST

START_TEST(changes_go_after_fifteen_minutes)
{
    struct zk_test z;
    struct zk_config_changes run = {0};
    struct changes seen = {0};
    struct zk_names names;

    with_controller(&z);
    zk_config_notify(z.t, "topics", STR("a"));
    clock_fake_advance(&z.clock, 15 * 60 * 1000 + 1);
    zk_config_notify(z.t, "topics", STR("b"));
    ck_assert_int_eq(zk_config_changes_run(z.s, &run, on_change, &seen), ZK_OK);
    ck_assert_int_eq(seen.count, 2);
    zk_store_children(z.s, ZK_PATH_CONFIG_CHANGES, false, &z.a, &names);
    ck_assert_uint_eq(names.count, 1);
    zk_test_deinit(&z);
}
END_TEST

TEST_MAIN("zk/zk_configs", config_is_created_then_set,
          what_another_has_written_meanwhile_is_not_written_over,
          config_is_refused_without_a_controller_or_under_kraft,
          controller_that_moved_meanwhile_fails_the_write, many_configs_are_read_in_one_round,
          deleted_pair_takes_its_empty_parents_along, bootstrapping_writes_and_notifies_at_once,
          bootstrapping_makes_what_is_missing, a_user_without_settings_goes_unless_it_has_clients,
          changes_are_handled_once_each_in_order, changes_go_after_fifteen_minutes)
