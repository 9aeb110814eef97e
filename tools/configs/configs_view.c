/*
 * configs_view.c - what topics, brokers and loggers have for settings
 *
 * Topics are asked for together, as many at a time as an answer can well hold; brokers one by one,
 * as each answers for itself.
 */
#include "broker/meta/topic_names.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/mem.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, RESOURCE_LOGGER = 8, RESOURCE_METRICS = 16 };
enum { FROM_TOPIC = 1, FROM_BROKER = 2, FROM_ALL_BROKERS = 3, FROM_METRICS = 7 };
enum { TOPICS_AT_ONCE = 256 };

int8_t configs_resource_type(const char *type)
{
    if (strcmp(type, TYPE_TOPICS) == 0)
        return RESOURCE_TOPIC;
    if (strcmp(type, TYPE_BROKERS) == 0)
        return RESOURCE_BROKER;
    return strcmp(type, TYPE_LOGGERS) == 0 ? RESOURCE_LOGGER : RESOURCE_METRICS;
}

/* The source of an entity's own settings; 0: whatever there is. */
static int8_t own_source(const char *type, const char *name)
{
    switch (configs_resource_type(type)) {
    case RESOURCE_TOPIC:
        return FROM_TOPIC;
    case RESOURCE_BROKER:
        return *name ? FROM_BROKER : FROM_ALL_BROKERS;
    case RESOURCE_METRICS:
        return FROM_METRICS;
    default:
        return 0;
    }
}

/* As our own tool it is said at once that there is no such broker; as Kafka's it may yet come. */
static int check_broker(struct configs *c, int32_t id)
{
    const struct metadata_response *meta;

    if (c->as_kafka)
        return 0;
    int r = cluster_metadata(c->cluster, STR(""), &c->arena, &meta, &c->why);
    for (int32_t i = 0; r == 0 && i < meta->brokers_count; i++) {
        if (meta->brokers[i].node_id == id)
            return 0;
    }
    if (r == 0)
        strbuf_addf(&c->why, "broker %d is not up: it must be to be asked for its settings", id);
    return r < 0 ? r : -EINVAL;
}

int configs_broker_of(struct configs *c, const char *type, const char *name, int32_t *ret)
{
    *ret = SEED_ANY;
    if (strcmp(type, TYPE_LOGGERS) != 0 && (strcmp(type, TYPE_BROKERS) != 0 || !*name))
        return 0;
    if (str_to_i32(str_of(name), INT32_MIN, INT32_MAX, ret) == 0)
        return check_broker(c, *ret);
    strbuf_addf(&c->why, "The entity name for %s must be a valid integer broker id, but it is: %s",
                type, name);
    return -EINVAL;
}

/* ---- asking ---- */

static int ask(struct configs *c, const char *type, const char *const *names, size_t count,
               const struct describe_configs_response **ret)
{
    struct describe_configs_request m;
    struct cluster_call call = {"describeConfigs", SEED_ANY, API_DESCRIBE_CONFIGS, 4, &m};
    const void *got;
    int r = configs_broker_of(c, type, names[0], &call.to);

    if (r < 0)
        return r;
    msg_init(&describe_configs_request_desc, &m);
    m.include_synonyms = true;
    m.resources_count = (int32_t)count;
    m.resources = arena_new_array(&c->arena, struct describe_configs_request_resource, count);
    for (size_t i = 0; i < count; i++) {
        struct_init(&describe_configs_request_resource_desc, &m.resources[i]);
        m.resources[i].resource_type = configs_resource_type(type);
        m.resources[i].resource_name = str_of(names[i]);
        m.resources[i].configuration_keys_count = -1;
    }
    cluster_start(c->cluster);
    r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "DESCRIBE_CONFIGS");
    *ret = got;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(const config_entry *const *)a)->name,
                   (*(const config_entry *const *)b)->name);
}

static void take_entries(struct configs *c, const struct describe_configs_response_result *from,
                         int8_t source, struct config_entries *ret)
{
    *ret = (struct config_entries){
        arena_new_array(&c->arena, const config_entry *, (size_t)MAX(from->configs_count, 0)), 0};
    for (int32_t i = 0; i < from->configs_count; i++) {
        if (source == 0 || from->configs[i].config_source == source)
            ret->v[ret->count++] = &from->configs[i];
    }
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof(*ret->v), by_name);
}

/* The result of one entity in an answer. */
static int find_result(struct configs *c, const struct describe_configs_response *response,
                       const char *name, const struct describe_configs_response_result **ret)
{
    for (int32_t i = 0; i < response->results_count; i++) {
        const struct describe_configs_response_result *one = &response->results[i];

        if (!str_eqz(one->resource_name, name))
            continue;
        *ret = one;
        return one->error_code ? configs_refused(c, one->error_code, one->error_message) : 0;
    }
    return configs_refused(c, UNKNOWN_SERVER_ERROR,
                           STR("The broker's answer says nothing of the resource asked for."));
}

static int check_topic(struct configs *c, const char *type, const char *name)
{
    struct str text;

    if (strcmp(type, TYPE_TOPICS) != 0 || !*name ||
        topic_name_check(&c->arena, str_of(name), &text) == 0)
        return 0;
    return configs_throw(c, "org.apache.kafka.common.errors.InvalidTopicException", "%.*s",
                         STR_ARG(text));
}

int configs_read(struct configs *c, const char *type, const char *name, bool all,
                 struct config_entries *ret)
{
    const struct describe_configs_response *response;
    const struct describe_configs_response_result *result;
    int r = check_topic(c, type, name);

    r = r ? r : ask(c, type, &name, 1, &response);
    r = r ? r : find_result(c, response, name, &result);
    if (r == 0)
        take_entries(c, result, all ? 0 : own_source(type, name), ret);
    return r;
}

/* ---- describing ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void order_as_java(struct configs *c, const int32_t *hashes, struct texts *t)
{
    size_t *order = arena_new_array(&c->arena, size_t, t->count + 1);
    const char **v = arena_new_array(&c->arena, const char *, t->count + 1);

    java_map_order(hashes, t->count, 0, order);
    for (size_t i = 0; i < t->count; i++)
        v[i] = t->v[order[i]];
    t->v = v;
}

/* Those that there are, in the order in which Java's AdminClient gives them, or by name. */
static int all_topics(struct configs *c, struct texts *ret)
{
    const struct metadata_response *meta;
    int r = cluster_metadata(c->cluster, STR_NULL, &c->arena, &meta, &c->why);

    if (r < 0)
        return configs_lost(c, r, "METADATA");
    int32_t *hashes = arena_new_array(&c->arena, int32_t, (size_t)meta->topics_count + 1);
    *ret =
        (struct texts){arena_new_array(&c->arena, const char *, (size_t)meta->topics_count + 1), 0};
    for (int32_t i = 0; i < meta->topics_count; i++) {
        hashes[ret->count] = hash_java(meta->topics[i].name);
        ret->v[ret->count++] = arena_strz(&c->arena, meta->topics[i].name);
    }
    if (c->as_kafka)
        order_as_java(c, hashes, ret);
    else if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, by_text);
    return 0;
}

static int id_order(const void *a, const void *b)
{
    int32_t x = ((const struct metadata_response_broker *)a)->node_id;
    int32_t y = ((const struct metadata_response_broker *)b)->node_id;

    return (x > y) - (x < y);
}

/* And the default behind them. */
static int all_brokers(struct configs *c, struct texts *ret)
{
    const struct metadata_response *meta;
    int r = cluster_metadata(c->cluster, STR(""), &c->arena, &meta, &c->why);

    if (r < 0)
        return configs_lost(c, r, "METADATA");
    size_t n = (size_t)MAX(meta->brokers_count, 0);
    int32_t *hashes = arena_new_array(&c->arena, int32_t, n + 1);
    *ret = (struct texts){arena_new_array(&c->arena, const char *, n + 2), 0};
    struct metadata_response_broker *brokers =
        arena_new_array(&c->arena, struct metadata_response_broker, n + 1);
    for (size_t i = 0; i < n; i++)
        brokers[i] = meta->brokers[i];
    if (n > 1)
        qsort(brokers, n, sizeof *brokers, id_order);
    for (size_t i = 0; i < n; i++) {
        hashes[i] = brokers[i].node_id; /* Integer.hashCode() */
        ret->v[ret->count++] = arena_strz(&c->arena, arena_printf(&c->arena, "%d", hashes[i]));
    }
    if (c->as_kafka)
        order_as_java(c, hashes, ret);
    const char **v = arena_new_array(&c->arena, const char *, n + 1);
    memcpy(v, ret->v, n * sizeof *v);
    v[n] = "";
    *ret = (struct texts){v, n + 1};
    return 0;
}

static int find_entities(struct configs *c, const char *type, struct texts *ret)
{
    if (c->names.count) {
        *ret = (struct texts){c->names.v, 1}; /* Kafka's tool looks at the first */
        return 0;
    }
    if (strcmp(type, TYPE_TOPICS) == 0)
        return all_topics(c, ret);
    if (strcmp(type, TYPE_METRICS) == 0)
        return configs_lost(c, -EPROTONOSUPPORT, "LIST_CLIENT_METRICS_RESOURCES");
    return all_brokers(c, ret);
}

struct view {
    const char *type;
    bool all;
    struct table table;
};

static void print_one(struct configs *c, struct view *v, const char *name,
                      const struct config_entries *e)
{
    if (!c->as_kafka) {
        configs_table_entries(&v->table, name, e);
        return;
    }
    for (size_t i = 0; i < e->count; i++)
        configs_print_entry(e->v[i], stdout);
}

/* Kafka's tool has printed the line above before it finds out that there is nothing to print. */
static int describe_some(struct configs *c, struct view *v, const char *const *names, size_t count)
{
    const struct describe_configs_response *response = NULL;
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++) {
        const struct describe_configs_response_result *result;
        struct config_entries e;

        if (c->as_kafka)
            configs_print_head(v->type, names[i], v->all, stdout);
        r = check_topic(c, v->type, names[i]);
        if (r == 0 && !response)
            r = ask(c, v->type, names, count, &response);
        r = r ? r : find_result(c, response, names[i], &result);
        if (r)
            return r;
        take_entries(c, result, v->all ? 0 : own_source(v->type, names[i]), &e);
        print_one(c, v, names[i], &e);
    }
    return r;
}

int configs_describe_resource(struct configs *c)
{
    struct view v = {.type = c->types.v[0], .all = opts_has(c->o, CONFIGS_ALL)};
    size_t step = strcmp(v.type, TYPE_TOPICS) == 0 ? TOPICS_AT_ONCE : 1;
    struct texts entities = {0};
    int r = find_entities(c, v.type, &entities);

    for (size_t i = 0; r == 0 && i < entities.count; i += step)
        r = describe_some(c, &v, entities.v + i, MIN(step, entities.count - i));
    if (r == 0 && !c->as_kafka) {
        configs_table_entries(&v.table, "", NULL);
        configs_print_table(c, &v.table);
    }
    table_deinit(&v.table);
    return r;
}
