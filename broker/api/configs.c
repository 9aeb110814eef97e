/*
 * configs.c - DescribeConfigs: settings of topics, brokers and loggers, and where they come from
 * (protocol.md 11.26). On a worker, as topics' settings are read from ZooKeeper.
 */
#include "broker/api/handlers.h"

#include "broker/config/docs.h"
#include "broker/config/dynamic_keys.h"
#include "broker/meta/config_admin.h"
#include "broker/meta/topic_admin.h"
#include "broker/meta/topic_names.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/conf/show.h"

/* One DescribeConfigs request on its way; lives in its arena. */
struct describing {
    struct job job;
    struct broker *b;
    struct request *req;
    struct describe_configs_response *resp;
    const struct conf_snapshot *conf;
};

/* One setting as it is to be told. */
struct setting {
    const char *key;
    const struct conf_option *option; /* NULL: nobody knows it, so that its value is kept secret */
    struct str value;
    const struct origin *origins; /* the first is the one in force */
    size_t origin_count;
    const char *doc;
    bool is_read_only;
    bool is_raw; /* the value is told as it is */
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

/* A copy, as Kafka prints it. */
static struct str show(struct arena *a, const struct conf_option *o, struct str value)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (!o || str_is_null(value))
        return arena_str(a, value);
    conf_show(o, value, &sb);
    return arena_str(a, strbuf_str(&sb));
}

static void add_synonyms(struct describing *de, struct describe_configs_response_config *c,
                         const struct setting *s)
{
    struct arena *a = &de->req->arena;

    c->synonyms = arena_new_array(a, struct describe_configs_response_synonym, s->origin_count);
    c->synonyms_count = (int32_t)s->origin_count;
    for (size_t i = 0; i < s->origin_count; i++) {
        const struct origin *o = &s->origins[i];
        /* What was given is told as it was given, but for a topic's own. */
        bool is_shown = o->source == SOURCE_TOPIC || o->source == SOURCE_DEFAULT;

        c->synonyms[i] = (struct describe_configs_response_synonym){
            .name = arena_str(a, str_of(o->name)),
            .value = c->is_sensitive ? STR_NULL : show(a, is_shown ? s->option : NULL, o->value),
            .source = (int8_t)o->source,
        };
    }
}

static void add_setting(struct describing *de, struct describe_configs_response_result *r,
                        const struct setting *s)
{
    const struct describe_configs_request *body = de->req->body;
    struct describe_configs_response_config *c = &r->configs[r->configs_count++];
    struct arena *a = &de->req->arena;
    enum conf_source source = s->origin_count ? s->origins[0].source : SOURCE_DEFAULT;

    struct_init(&describe_configs_response_config_desc, c);
    c->name = arena_str(a, str_of(s->key));
    c->is_sensitive = !s->option || s->option->type == CONF_PASSWORD;
    c->value = c->is_sensitive ? STR_NULL : show(a, s->is_raw ? NULL : s->option, s->value);
    c->read_only = s->is_read_only;
    if (de->req->version > 0) /* is_default, of version 0, is never set by Kafka 3.9 */
        c->config_source = (int8_t)source;
    if (de->req->version >= 3 && s->option)
        c->config_type = conf_type_to_wire(s->option->type);
    if (de->req->version >= 3)
        c->documentation = body->include_documentation && s->doc ? str_of(s->doc) : STR_NULL;
    if (body->include_synonyms)
        add_synonyms(de, c, s);
}

/* ---- topics ---- */

static void add_topic_setting(struct describing *de, struct describe_configs_response_result *r,
                              size_t option, struct str override)
{
    const struct conf_option *o = &topic_options[option];
    struct origin origins[ORIGINS_MAX];

    add_setting(de, r,
                &(struct setting){
                    .key = o->key,
                    .option = o,
                    .value = str_is_null(override)
                                 ? str_of(de->conf->conf->topic_default_texts[option])
                                 : override,
                    .origins = origins,
                    .origin_count = topic_origins(de->conf, o, override, origins),
                    .doc = topic_option_doc(o->key),
                });
}

static struct str find_override(const struct topic_override *overrides, size_t count,
                                const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eqz(overrides[i].name, key))
            return overrides[i].value;
    }
    return STR_NULL;
}

static void describe_topic(struct describing *de,
                           const struct describe_configs_request_resource *in,
                           struct describe_configs_response_result *r)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(de->b->metadata);
    struct arena *a = &de->req->arena;
    struct topic_override *overrides;
    struct str why;
    size_t count;
    int error = topic_name_check(a, in->resource_name, &why);

    if (error) {
        refuse(r, (int16_t)error, why);
        return;
    }
    if (!metadata_topic(s, in->resource_name)) {
        r->error_code = UNKNOWN_TOPIC_OR_PARTITION;
        return;
    }
    if (topic_admin_overrides(de->b->topics, a, in->resource_name, &overrides, &count) < 0) {
        refuse(r, UNKNOWN_SERVER_ERROR, STR("The topic's settings cannot be read from ZooKeeper."));
        return;
    }
    r->configs = arena_new_array(a, struct describe_configs_response_config, topic_option_count);
    for (size_t i = 0; i < topic_option_count; i++) {
        const char *key = topic_options[i].key;

        if (is_wanted(in, key))
            add_topic_setting(de, r, i, find_override(overrides, count, key));
    }
}

/* ---- brokers ---- */

static void add_broker_setting(struct describing *de, struct describe_configs_response_result *r,
                               const char *key)
{
    struct origin origins[ORIGINS_MAX];
    size_t count = broker_origins(de->conf, key, origins);
    bool is_id = strcmp(key, "node.id") == 0 || strcmp(key, "broker.id") == 0;

    add_setting(
        de, r,
        &(struct setting){
            .key = key,
            .option = broker_key_option(key),
            .value = is_id ? origins[0].value : str_of(broker_conf_text(de->conf->conf, key, NULL)),
            .origins = origins,
            .origin_count = count,
            .doc = broker_option_doc(key),
            .is_read_only = !broker_key_is_dynamic(key),
        });
}

/* Values that are set for all brokers stand as they were given. */
static void add_common_setting(struct describing *de, struct describe_configs_response_result *r,
                               const struct prop *p)
{
    struct origin all[ORIGINS_MAX], origins[ORIGINS_MAX];
    size_t count = broker_origins(de->conf, p->key, all), n = 0;

    for (size_t i = 0; i < count; i++) {
        if (all[i].source == SOURCE_DYNAMIC_DEFAULT)
            origins[n++] = all[i];
    }
    add_setting(de, r,
                &(struct setting){
                    .key = p->key,
                    .option = broker_key_option(p->key),
                    .value = str_of(p->value),
                    .origins = origins,
                    .origin_count = n,
                    .doc = broker_option_doc(p->key),
                    .is_read_only = !broker_key_is_dynamic(p->key),
                    .is_raw = true,
                });
}

static void describe_common(struct describing *de,
                            const struct describe_configs_request_resource *in,
                            struct describe_configs_response_result *r)
{
    const struct props *props = &de->conf->common;

    r->configs =
        arena_new_array(&de->req->arena, struct describe_configs_response_config, props->count);
    for (size_t i = 0; i < props->count; i++) {
        if (is_wanted(in, props->v[i].key))
            add_common_setting(de, r, &props->v[i]);
    }
}

/* Of a broker's id, in the words of DescribeConfigs. */
static bool is_our_id(const struct describing *de,
                      const struct describe_configs_request_resource *in, const char *or_else,
                      struct describe_configs_response_result *r)
{
    struct arena *a = &de->req->arena;
    int32_t id;

    if (str_to_i32(in->resource_name, INT32_MIN, INT32_MAX, &id) < 0) {
        refuse(r, INVALID_REQUEST,
               arena_printf(a, "Broker id must be an integer, but it is: %.*s",
                            STR_ARG(in->resource_name)));
        return false;
    }
    if (id == de->b->broker_id)
        return true;
    refuse(r, INVALID_REQUEST,
           arena_printf(a, "Unexpected broker id, expected %d%s but received %.*s",
                        de->b->broker_id, or_else, STR_ARG(in->resource_name)));
    return false;
}

/* Kafka's internal keys show only where they are set. */
static bool is_public(const struct props *props, const char *key)
{
    static const char *const internal[] = {
        "log.initial.task.delay.ms",
        "producer.id.expiration.check.interval.ms",
        "remote.log.manager.task.retry.backoff.max.ms",
        "remote.log.manager.task.retry.backoff.ms",
        "remote.log.manager.task.retry.jitter",
        "unstable.api.versions.enable",
        "unstable.feature.versions.enable",
    };

    for (size_t i = 0; i < ARRAY_LEN(internal); i++) {
        if (strcmp(key, internal[i]) == 0)
            return props_get(props, key) != NULL;
    }
    return true;
}

static void describe_broker(struct describing *de,
                            const struct describe_configs_request_resource *in,
                            struct describe_configs_response_result *r)
{
    const struct props *props = &de->conf->conf->props;

    if (in->resource_name.len == 0) {
        describe_common(de, in, r);
        return;
    }
    if (!is_our_id(de, in, " or empty string,", r))
        return;
    r->configs = arena_new_array(&de->req->arena, struct describe_configs_response_config,
                                 broker_option_count + props->count);
    for (size_t i = 0; i < broker_option_count; i++) {
        if (is_wanted(in, broker_options[i].key) && is_public(props, broker_options[i].key))
            add_broker_setting(de, r, broker_options[i].key);
    }
    for (size_t i = 0; i < props->count; i++) {
        const char *key = props->v[i].key;

        if (!conf_find(broker_options, broker_option_count, str_of(key)) && is_wanted(in, key))
            add_broker_setting(de, r, key);
    }
}

static void add_logger(struct describing *de, const struct describe_configs_request_resource *in,
                       int logger, struct describe_configs_response_result *r)
{
    const char *level, *name = config_admin_logger(&de->req->arena, logger, &level);
    struct describe_configs_response_config *c = &r->configs[r->configs_count];

    if (!is_wanted(in, name))
        return;
    r->configs_count++;
    struct_init(&describe_configs_response_config_desc, c);
    c->name = str_of(name);
    c->value = str_of(level);
    if (de->req->version > 0)
        c->config_source = SOURCE_LOGGER;
    if (de->req->version >= 3)
        c->documentation = STR("");
}

static void describe_loggers(struct describing *de,
                             const struct describe_configs_request_resource *in,
                             struct describe_configs_response_result *r)
{
    if (in->resource_name.len == 0)
        refuse(r, INVALID_REQUEST, STR("Broker id must not be empty"));
    if (r->error_code || !is_our_id(de, in, "", r))
        return;
    r->configs = arena_new_array(&de->req->arena, struct describe_configs_response_config,
                                 (size_t)say_logger_count());
    for (int i = 0; i < say_logger_count(); i++)
        add_logger(de, in, i, r);
}

/* There are none in ZooKeeper mode. */
static void describe_client_metrics(const struct describe_configs_request_resource *in,
                                    struct describe_configs_response_result *r)
{
    refuse(r, INVALID_REQUEST,
           in->resource_name.len == 0
               ? STR("Client metrics subscription name must not be empty")
               : STR("Config type client-metrics is only supported on KRaft clusters"));
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
    r->error_message = STR("");
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
        describe_client_metrics(in, r);
        break;
    }
}

static bool is_known_type(int8_t type)
{
    return type == RESOURCE_TOPIC || type == RESOURCE_BROKER || type == RESOURCE_BROKER_LOGGER ||
           type == RESOURCE_CLIENT_METRICS;
}

static void refuse_malformed(const struct describe_configs_request_resource *in,
                             struct describe_configs_response_result *r)
{
    struct_init(&describe_configs_response_result_desc, r);
    r->resource_type = in->resource_type;
    r->resource_name = in->resource_name;
    refuse(r, INVALID_REQUEST,
           STR("This most likely occurs because of a request being malformed by the client library "
               "or the message was sent to an incompatible broker. See the broker logs for more "
               "details."));
}

static void describe(struct job *j)
{
    struct describing *de = container_of(j, struct describing, job);
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) conf = live_conf_get(de->b->live);
    const struct describe_configs_request *body = de->req->body;
    bool is_malformed = false;

    de->conf = conf;
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
        refuse_malformed(&body->resources[i], &de->resp->results[i]);
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
