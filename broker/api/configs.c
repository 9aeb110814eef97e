/*
 * configs.c - DescribeConfigs: settings of topics and of this broker, and where they come from
 * (protocol.md 11.26). On a worker, as topics' settings are read from ZooKeeper.
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "broker/meta/metadata.h"
#include "broker/meta/topic_admin.h"
#include "broker/meta/topic_names.h"
#include "common/base/err.h"

enum {
    RESOURCE_TOPIC = 2,
    RESOURCE_BROKER = 4,
    RESOURCE_BROKER_LOGGER = 8,
    RESOURCE_CLIENT_METRICS = 16
};

/* One DescribeConfigs request on its way; lives in its arena. */
struct describing {
    struct job job;
    struct broker *b;
    struct request *req;
    struct describe_configs_response *resp;
};

static bool is_wanted(const struct describe_configs_request_resource *resource, const char *key)
{
    if (resource->configuration_keys_count <= 0)
        return true;
    for (int32_t i = 0; i < resource->configuration_keys_count; i++) {
        if (str_eqz(resource->configuration_keys[i], key))
            return true;
    }
    return false;
}

static void refuse(struct describe_configs_response_result *r, int16_t error, struct str message)
{
    r->error_code = error;
    r->error_message = message;
}

/* What an option's entry and its synonyms are made of: a value, and under which name it was found
 * where. */
struct origin {
    const char *name;
    struct str value;
    int8_t source;
};

/* The first origin is the one in force. */
static void add_entry(struct describing *de, struct describe_configs_response_result *r,
                      const struct conf_option *o, const struct origin *origins, int32_t count)
{
    const struct describe_configs_request *body = de->req->body;
    struct describe_configs_response_config *c = &r->configs[r->configs_count++];
    bool is_secret = o->type == CONF_PASSWORD;

    struct_init(&describe_configs_response_config_desc, c);
    c->name = str_of(o->key);
    c->value = is_secret ? STR_NULL : origins[0].value;
    c->read_only = r->resource_type == RESOURCE_BROKER && o->mode == CONF_READ_ONLY;
    if (de->req->version == 0)
        c->is_default = origins[0].source == SOURCE_DEFAULT;
    else
        c->config_source = origins[0].source;
    c->is_sensitive = is_secret;
    if (de->req->version >= 3)
        c->config_type = conf_type_to_wire(o->type);
    if (!body->include_synonyms)
        return;
    c->synonyms =
        arena_new_array(&de->req->arena, struct describe_configs_response_synonym, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        if (str_is_null(origins[i].value) && i > 0)
            continue;
        c->synonyms[c->synonyms_count++] = (struct describe_configs_response_synonym){
            .name = str_of(origins[i].name),
            .value = is_secret ? STR_NULL : origins[i].value,
            .source = origins[i].source,
        };
    }
}

/* ---- topics ---- */

static void add_topic_entry(struct describing *de, struct describe_configs_response_result *r,
                            const struct topic_setting *set, const struct topic_setting *inherited)
{
    const char *synonym = topic_option_synonym(set->option);
    const char *name = synonym ? synonym : set->option->key;
    struct origin origins[3];
    int32_t n = 0;

    if (set->source == SOURCE_TOPIC)
        origins[n++] = (struct origin){set->option->key, set->value, SOURCE_TOPIC};
    if (inherited->source == SOURCE_STATIC_BROKER)
        origins[n++] = (struct origin){name, inherited->value, SOURCE_STATIC_BROKER};
    /* A coarser key of the file (hours for ms) shows as the default, as it does in Kafka. */
    struct str dflt =
        inherited->source == SOURCE_DEFAULT ? inherited->value : str_of(set->option->default_text);
    origins[n++] = (struct origin){name, dflt, SOURCE_DEFAULT};
    add_entry(de, r, set->option, origins, n);
}

static void describe_topic(struct describing *de,
                           const struct describe_configs_request_resource *in,
                           struct describe_configs_response_result *r)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(de->b->metadata);
    struct arena *a = &de->req->arena;
    struct topic_override *overrides;
    struct topic_setting *set, *inherited;
    struct str why;
    size_t count;
    int error = topic_name_check(a, in->resource_name, &why);

    if (error) {
        refuse(r, (int16_t)error, why);
        return;
    }
    if (!metadata_topic(s, in->resource_name)) {
        refuse(r, UNKNOWN_TOPIC_OR_PARTITION, STR_NULL);
        return;
    }
    if (topic_admin_overrides(de->b->topics, a, in->resource_name, &overrides, &count) < 0) {
        refuse(r, UNKNOWN_SERVER_ERROR, STR("The topic's settings cannot be read from ZooKeeper."));
        return;
    }
    set = arena_new_array(a, struct topic_setting, topic_option_count);
    inherited = arena_new_array(a, struct topic_setting, topic_option_count);
    topic_conf_settings(de->b->conf, overrides, count, set);
    topic_conf_settings(de->b->conf, NULL, 0, inherited);
    r->configs = arena_new_array(a, struct describe_configs_response_config, topic_option_count);
    for (size_t i = 0; i < topic_option_count; i++) {
        if (is_wanted(in, set[i].option->key))
            add_topic_entry(de, r, &set[i], &inherited[i]);
    }
}

/* ---- brokers ---- */

static void add_broker_entry(struct describing *de, struct describe_configs_response_result *r,
                             const struct conf_option *o)
{
    const char *given = props_get(&de->b->conf->props, o->key);
    struct origin origins[2];
    int32_t n = 0;

    if (given)
        origins[n++] = (struct origin){o->key, str_of(given), SOURCE_STATIC_BROKER};
    origins[n++] = (struct origin){o->key, str_of(o->default_text), SOURCE_DEFAULT};
    add_entry(de, r, o, origins, n);
}

/* Keys that plug-ins might read: listed, their values kept to ourselves. */
static void add_unknown_entry(struct describe_configs_response_result *r, const char *key,
                              int16_t version)
{
    struct describe_configs_response_config *c = &r->configs[r->configs_count++];

    struct_init(&describe_configs_response_config_desc, c);
    c->name = str_of(key);
    c->read_only = true;
    c->is_sensitive = true;
    if (version > 0)
        c->config_source = SOURCE_STATIC_BROKER;
}

static void describe_broker(struct describing *de,
                            const struct describe_configs_request_resource *in,
                            struct describe_configs_response_result *r)
{
    const struct props *props = &de->b->conf->props;
    struct arena *a = &de->req->arena;
    int32_t id;

    /* The cluster-wide dynamic defaults: there are none. */
    if (in->resource_name.len == 0)
        return;
    if (str_to_i32(in->resource_name, 0, INT32_MAX, &id) < 0) {
        refuse(r, INVALID_REQUEST,
               arena_printf(a, "Broker id must be an integer, but it is: %.*s",
                            STR_ARG(in->resource_name)));
        return;
    }
    if (id != de->b->broker_id) {
        refuse(r, INVALID_REQUEST,
               arena_printf(a,
                            "Unexpected broker id, expected %d or empty string, but received %.*s",
                            de->b->broker_id, STR_ARG(in->resource_name)));
        return;
    }
    r->configs = arena_new_array(a, struct describe_configs_response_config,
                                 broker_option_count + props->count);
    for (size_t i = 0; i < broker_option_count; i++) {
        if (is_wanted(in, broker_options[i].key))
            add_broker_entry(de, r, &broker_options[i]);
    }
    for (size_t i = 0; i < props->count; i++) {
        const char *key = props->v[i].key;

        if (!conf_find(broker_options, broker_option_count, str_of(key)) && is_wanted(in, key))
            add_unknown_entry(r, key, de->req->version);
    }
}

static void describe_loggers(struct describing *de,
                             const struct describe_configs_request_resource *in,
                             struct describe_configs_response_result *r)
{
    int32_t id;

    if (str_to_i32(in->resource_name, 0, INT32_MAX, &id) < 0 || id != de->b->broker_id) {
        refuse(r, INVALID_REQUEST,
               arena_printf(&de->req->arena, "Unexpected broker id, expected %d but received %.*s",
                            de->b->broker_id, STR_ARG(in->resource_name)));
        return;
    }
    /* There is one level for all diagnostics. */
    if (!is_wanted(in, "root"))
        return;
    r->configs = arena_new_array(&de->req->arena, struct describe_configs_response_config, 1);
    r->configs_count = 1;
    struct_init(&describe_configs_response_config_desc, r->configs);
    r->configs->name = STR("root");
    r->configs->value = STR("INFO");
    if (de->req->version > 0)
        r->configs->config_source = 6;
}

/* ---- the request ---- */

static void describe_one(struct describing *de, int32_t i)
{
    const struct describe_configs_request *body = de->req->body;
    const struct describe_configs_request_resource *in = &body->resources[i];
    struct describe_configs_response_result *r = &de->resp->results[i];

    struct_init(&describe_configs_response_result_desc, r);
    r->resource_type = in->resource_type;
    r->resource_name = in->resource_name;
    switch (in->resource_type) {
    case RESOURCE_TOPIC:
        describe_topic(de, in, r);
        break;
    case RESOURCE_BROKER:
        describe_broker(de, in, r);
        break;
    case RESOURCE_BROKER_LOGGER:
        describe_loggers(de, in, r);
        break;
    default:
        /* Client metrics: there are none in ZooKeeper mode. */
        break;
    }
}

static bool is_known_type(int8_t type)
{
    return type == RESOURCE_TOPIC || type == RESOURCE_BROKER || type == RESOURCE_BROKER_LOGGER ||
           type == RESOURCE_CLIENT_METRICS;
}

static void describe(struct job *j)
{
    struct describing *de = container_of(j, struct describing, job);
    const struct describe_configs_request *body = de->req->body;
    bool is_malformed = false;

    de->resp->results = arena_new_array(&de->req->arena, struct describe_configs_response_result,
                                        (size_t)body->resources_count);
    de->resp->results_count = body->resources_count;
    for (int32_t i = 0; i < body->resources_count; i++)
        is_malformed |= !is_known_type(body->resources[i].resource_type);
    for (int32_t i = 0; i < body->resources_count; i++) {
        if (!is_malformed) {
            describe_one(de, i);
            continue;
        }
        struct_init(&describe_configs_response_result_desc, &de->resp->results[i]);
        de->resp->results[i].resource_type = body->resources[i].resource_type;
        de->resp->results[i].resource_name = body->resources[i].resource_name;
        refuse(&de->resp->results[i], INVALID_REQUEST, STR("Unexpected resource type"));
    }
    request_reply(de->req, de->resp);
}

void handle_describe_configs(struct broker *b, struct request *req)
{
    struct describing *de = arena_new(&req->arena, struct describing);

    de->b = b;
    de->req = req;
    de->resp = arena_new(&req->arena, struct describe_configs_response);
    msg_init(&describe_configs_response_desc, de->resp);
    /* Topics' settings are read from ZooKeeper. */
    de->job.work = describe;
    workq_submit(b->workq, &de->job);
}
