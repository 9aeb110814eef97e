#include "broker/meta/quota_admin.h"

#include "common/base/err.h"
#include "common/base/say.h"
#include "common/base/strbuf.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"
#include "zk/zk_configs.h"

static struct arena arena;
static struct fake_zk_server *server;
static struct fake_zk *one;
static struct zk_store *zk;

static void start(void)
{
    static struct clock_fake clock;

    say_set_level(SAY_ERROR + 1);
    clock_fake_init(&clock, 1000);
    server = fake_zk_server_new(&clock.clock);
    one = fake_zk_new(server);
    zk = fake_zk_store(one);
    ck_assert_int_eq(zk_cluster_prepare(zk), ZK_OK);
    ck_assert_int_eq(zk_store_create_deep(zk, "/controller",
                                          slice_of_str(STR("{\"version\":1,\"brokerid\":1}"))),
                     ZK_OK);
}

/* NULL: the entity has no such part; "": the default. */
struct step {
    const char *user, *client, *ip;
    const char *key;
    double value;
    bool is_removal;
};

static struct str name_of(const char *text)
{
    return *text ? str_of(text) : STR_NULL;
}

static struct quota_alteration run(struct step s)
{
    struct quota_part parts[3];
    const struct quota_op op = {str_of(s.key), s.value, s.is_removal};
    struct quota_alteration al = {.parts = parts, .ops = &op, .op_count = 1};

    if (s.user)
        parts[al.part_count++] = (struct quota_part){STR("user"), name_of(s.user)};
    if (s.client)
        parts[al.part_count++] = (struct quota_part){STR("client-id"), name_of(s.client)};
    if (s.ip)
        parts[al.part_count++] = (struct quota_part){STR("ip"), name_of(s.ip)};
    quota_admin_alter(&(struct quota_run){.zk = zk, .a = &arena}, &al, 1);
    return al;
}

static void set(struct step s)
{
    ck_assert_int_eq(run(s).error, NONE);
}

static void check_refused(struct step s, int16_t error, const char *message)
{
    struct quota_alteration al = run(s);

    ck_assert_int_eq(al.error, error);
    ck_assert_msg(str_eqz(al.message, message), "%.*s", STR_ARG(al.message));
}

static const char *node(const char *path)
{
    struct slice data;

    if (zk_store_get(zk, path, &arena, &data, NULL) != ZK_OK)
        return NULL;
    return data.p ? arena_strz(&arena, str_of_slice(data)) : "";
}

#define CONFIG(text) "{\"version\":1,\"config\":{" text "}}"

START_TEST(quotas_stand_where_kafka_looks_for_them)
{
    start();
    set((struct step){.user = "a b*", .key = "producer_byte_rate", .value = 1000});
    set((struct step){.user = "", .key = "request_percentage", .value = 12.5});
    set((struct step){.user = "<default>", .key = "consumer_byte_rate", .value = 7});
    set((struct step){.client = "c", .key = "controller_mutation_rate", .value = 1e10});
    set((struct step){.user = "u", .client = "", .key = "consumer_byte_rate", .value = 3});
    set((struct step){.ip = "127.0.0.1", .key = "connection_creation_rate", .value = 5});
    ck_assert_str_eq(node("/config/users/a%20b%2A"), CONFIG("\"producer_byte_rate\":\"1000\""));
    ck_assert_str_eq(node("/config/users/<default>"), CONFIG("\"request_percentage\":\"12.5\""));
    ck_assert_str_eq(node("/config/users/%3Cdefault%3E"), CONFIG("\"consumer_byte_rate\":\"7\""));
    ck_assert_str_eq(node("/config/clients/c"), CONFIG("\"controller_mutation_rate\":\"1.0E10\""));
    ck_assert_str_eq(node("/config/users/u/clients/<default>"),
                     CONFIG("\"consumer_byte_rate\":\"3\""));
    ck_assert_str_eq(node("/config/ips/127.0.0.1"), CONFIG("\"connection_creation_rate\":\"5\""));
    ck_assert_str_eq(node("/config/changes/config_change_0000000004"),
                     "{\"version\":2,\"entity_path\":\"users/u/clients/<default>\"}");
}
END_TEST

/* Another broker is faster, once. */
static void be_faster(const struct zk_op *op, void *ctx)
{
    struct node_config_entry e = {STR("consumer_byte_rate"), STR("7")};
    struct zk_store **other = ctx, *now = *other;

    if (!now || (op->kind != ZK_OP_CHECK && op->kind != ZK_OP_CREATE && op->kind != ZK_OP_DELETE))
        return;
    *other = NULL;
    ck_assert_int_eq(zk_config_set(now, "users", STR("u"), &(struct node_config){&e, 1}), ZK_OK);
}

START_TEST(what_others_change_meanwhile_stays)
{
    struct step s = {.user = "u", .key = "producer_byte_rate", .value = 1};
    struct zk_store *other, *turn;

    start();
    other = turn = fake_zk_store(fake_zk_new(server));
    fake_zk_hook(one, be_faster, &turn);
    set(s);
    ck_assert_str_eq(node("/config/users/u"),
                     CONFIG("\"consumer_byte_rate\":\"7\",\"producer_byte_rate\":\"1\""));
    ck_assert_int_eq(zk_config_delete(other, "users", STR("u"), ZK_ANY_VERSION), ZK_OK);
    set(s);
    turn = other;
    s.is_removal = true; /* of the only one there was */
    set(s);
    ck_assert_str_eq(node("/config/users/u"), CONFIG("\"consumer_byte_rate\":\"7\""));
}
END_TEST

START_TEST(an_entity_without_quotas_goes_with_its_empty_parents)
{
    const struct step pair = {.user = "u", .client = "c", .key = "producer_byte_rate", .value = 1};
    const struct step user = {.user = "u", .key = "producer_byte_rate", .value = 1};
    struct step gone_pair = pair, gone_user = user;

    gone_pair.is_removal = gone_user.is_removal = true;
    start();
    set(pair);
    set(user);
    set(gone_user);
    ck_assert_str_eq(node("/config/users/u"), CONFIG(""));
    set(gone_pair);
    ck_assert_ptr_null(node("/config/users/u"));
    set(gone_user);
    ck_assert_ptr_null(node("/config/users/u"));
}
END_TEST

/* Words of a 3.9 broker. */
START_TEST(refusals_use_the_words_of_kafka)
{
    start();
    check_refused((struct step){.key = "producer_byte_rate"}, INVALID_REQUEST,
                  "Invalid empty client quota entity");
    check_refused((struct step){.ip = "1.2.3.4", .user = "u", .key = "connection_creation_rate"},
                  INVALID_REQUEST,
                  "Invalid quota entity combination, IP entity should not be used with "
                  "user/client ID entity.");
    check_refused((struct step){.user = "u", .key = "connection_creation_rate", .value = 1},
                  INVALID_REQUEST, "Invalid configuration key connection_creation_rate");
    check_refused((struct step){.user = "u", .key = "producer_byte_rate", .value = 1.5},
                  INVALID_REQUEST, "Configuration producer_byte_rate must be a LONG value");
    check_refused(
        (struct step){.ip = "127.0.0.1", .key = "connection_creation_rate", .value = 5e12},
        INVALID_REQUEST, "Configuration connection_creation_rate must be a INT value");
    check_refused((struct step){.user = "u", .key = "SCRAM-SHA-256", .value = 1},
                  UNKNOWN_SERVER_ERROR, NULL);
    ck_assert_ptr_null(node("/config/users/u"));
}
END_TEST

static void fill(void)
{
    start();
    set((struct step){.user = "a", .key = "producer_byte_rate", .value = 1});
    set((struct step){.user = "", .key = "producer_byte_rate", .value = 2});
    set((struct step){.client = "c", .key = "producer_byte_rate", .value = 3});
    set((struct step){.user = "a", .client = "c", .key = "producer_byte_rate", .value = 4});
    set((struct step){.user = "", .client = "", .key = "producer_byte_rate", .value = 5});
    set((struct step){.ip = "127.0.0.1", .key = "connection_creation_rate", .value = 6});
}

static int by_value(const void *a, const void *b)
{
    const struct quota_entry *x = a, *y = b;

    return (x->values->value > y->values->value) - (x->values->value < y->values->value);
}

/* Which of the six were found, in order of their values. */
static void check_found(const struct quota_filter_part *parts, int32_t count, bool is_strict,
                        const char *expected)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    struct quota_list list = {0};
    struct str message = STR_NULL;

    ck_assert_int_eq(quota_admin_describe(&(struct quota_run){.zk = zk, .a = &arena},
                                          &(struct quota_filter){parts, count, is_strict}, &list,
                                          &message),
                     NONE);
    if (list.count)
        qsort(list.entries, (size_t)list.count, sizeof *list.entries, by_value);
    for (int32_t i = 0; i < list.count; i++)
        strbuf_addf(&sb, "%.0f", list.entries[i].values->value);
    ck_assert_str_eq(sb.s ? sb.s : "", expected);
}

START_TEST(filters_find_what_they_mean)
{
    const struct quota_filter_part user_a = {STR("user"), QUOTA_EXACT, STR("a")};
    const struct quota_filter_part any_user = {STR("user"), QUOTA_ANY, STR_NULL};
    const struct quota_filter_part default_user = {STR("user"), QUOTA_DEFAULT, STR_NULL};
    const struct quota_filter_part client = {STR("client-id"), QUOTA_EXACT, STR("c")};
    const struct quota_filter_part ip = {STR("ip"), QUOTA_ANY, STR_NULL};
    const struct quota_filter_part nobody = {STR("user"), QUOTA_EXACT, STR("")};
    const struct quota_filter_part pair[] = {user_a, client};

    fill();
    check_found(&nobody, 1, false, "");
    check_found(NULL, 0, false, "123456");
    check_found(NULL, 0, true, "");
    check_found(&user_a, 1, false, "14");
    check_found(&user_a, 1, true, "1");
    check_found(&any_user, 1, false, "1245");
    check_found(&default_user, 1, false, "25");
    check_found(&default_user, 1, true, "2");
    check_found(&client, 1, false, "34");
    check_found(&client, 1, true, "3");
    check_found(pair, 2, true, "4");
    check_found(&ip, 1, true, "6");
}
END_TEST

static void check_filter_refused(const struct quota_filter_part *parts, int32_t count,
                                 int16_t error, const char *words)
{
    struct quota_list list = {0};
    struct str message = STR_NULL;

    ck_assert_int_eq(quota_admin_describe(&(struct quota_run){.zk = zk, .a = &arena},
                                          &(struct quota_filter){parts, count, false}, &list,
                                          &message),
                     error);
    ck_assert(str_eqz(message, words));
}

START_TEST(filters_that_make_no_sense_are_refused)
{
    const struct quota_filter_part two[] = {{STR("user"), QUOTA_ANY, STR_NULL},
                                            {STR("user"), QUOTA_ANY, STR_NULL}};
    const struct quota_filter_part other = {STR("foo"), QUOTA_ANY, STR_NULL};
    const struct quota_filter_part unknown = {STR("user"), 7, STR_NULL};

    start();
    check_filter_refused(two, 2, INVALID_REQUEST, "Duplicate user filter component entity type");
    check_filter_refused(&other, 1, UNSUPPORTED_VERSION, "Custom entity type 'foo' not supported");
    check_filter_refused(&unknown, 1, UNKNOWN_SERVER_ERROR, NULL);
}
END_TEST

TEST_MAIN("broker/meta/quota_admin", what_others_change_meanwhile_stays,
          quotas_stand_where_kafka_looks_for_them,
          an_entity_without_quotas_goes_with_its_empty_parents, refusals_use_the_words_of_kafka,
          filters_find_what_they_mean, filters_that_make_no_sense_are_refused)
