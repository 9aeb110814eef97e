/*
 * configs_alter.c - changes settings of topics, brokers, loggers and client metrics
 *
 * Kafka's tool replaces all settings of a broker at once (the request that came first), which it
 * can only where it can read them all; as our own tool we change what is asked for and no more.
 */
#include "broker/config/broker_conf.h"
#include "broker/config/dynamic_keys.h"
#include "broker/config/topic_conf.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/nearest.h"
#include "tools/configs/configs.h"

enum { OP_SET = 0, OP_DELETE = 1 };

/* ---- names that are known ---- */

static void try_options(struct nearest *near, const struct conf_option *options, size_t count,
                        bool only_dynamic)
{
    for (size_t i = 0; i < count; i++) {
        if (!only_dynamic || options[i].mode != CONF_READ_ONLY)
            nearest_try(near, options[i].key);
    }
}

static bool is_known(bool of_topics, const char *key)
{
    static const char *const rates[] = {"leader.replication.throttled.rate",
                                        "follower.replication.throttled.rate",
                                        "replica.alter.log.dirs.io.max.bytes.per.second"};

    if (of_topics)
        return conf_find(topic_options, topic_option_count, str_of(key));
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        if (strcmp(rates[i], key) == 0)
            return true;
    }
    return broker_key_option(key);
}

/*
 * As our own tool: a name that nothing has is a mistake. Kafka's brokers keep such a setting of a
 * broker without a word, and hide its value. --force sets it all the same.
 */
static int check_names(struct configs *c, const char *type)
{
    bool of_topics = strcmp(type, TYPE_TOPICS) == 0;

    if (c->as_kafka || opts_has(c->o, CONFIGS_FORCE) ||
        (!of_topics && strcmp(type, TYPE_BROKERS) != 0))
        return 0;
    for (size_t i = 0; i < c->add.count; i++) {
        const char *key = c->add.v[i].key;
        struct nearest near = nearest_to(str_of(key));

        if (is_known(of_topics, key))
            continue;
        if (of_topics)
            try_options(&near, topic_options, topic_option_count, false);
        else
            try_options(&near, broker_options, broker_option_count, true);
        strbuf_addf(&c->why, "%s is no setting of %s", key, type);
        if (near.best)
            strbuf_addf(&c->why, "; did you mean %s?", near.best);
        strbuf_addz(&c->why, " (--force sets it all the same)");
        return -EINVAL;
    }
    return 0;
}

/* ---- what is there ---- */

static const config_entry *entry_of(const struct config_entries *e, const char *key)
{
    for (size_t i = 0; i < e->count; i++) {
        if (str_eqz(e->v[i]->name, key))
            return e->v[i];
    }
    return NULL;
}

static struct texts entry_names(struct configs *c, const struct config_entries *e)
{
    struct texts ret = {arena_new_array(&c->arena, const char *, e->count + 1), 0};

    for (size_t i = 0; i < e->count; i++)
        ret.v[ret.count++] = arena_strz(&c->arena, e->v[i]->name);
    return ret;
}

/* ---- incremental ---- */

static int send_incremental(struct configs *c, const char *type, const char *name)
{
    size_t n = c->add.count + c->drop.count;
    struct incremental_alter_configs_request_resource res = {
        .resource_type = configs_resource_type(type), .resource_name = str_of(name)};
    struct incremental_alter_configs_request m;
    struct cluster_call call = {"incrementalAlterConfigs", SEED_ANY, API_INCREMENTAL_ALTER_CONFIGS,
                                1, &m};
    const void *got;
    int r = configs_broker_of(c, type, name, &call.to);

    if (r < 0)
        return r;
    res.configs =
        arena_new_array(&c->arena, struct incremental_alter_configs_request_config, n + 1);
    for (size_t i = 0; i < c->add.count; i++)
        res.configs[res.configs_count++] = (struct incremental_alter_configs_request_config){
            str_of(c->add.v[i].key), OP_SET, str_of(c->add.v[i].value)};
    for (size_t i = 0; i < c->drop.count; i++)
        res.configs[res.configs_count++] = (struct incremental_alter_configs_request_config){
            str_of(c->drop.v[i]), OP_DELETE, STR("")};
    msg_init(&incremental_alter_configs_request_desc, &m);
    m.resources = &res;
    m.resources_count = 1;
    m.validate_only = c->is_dry;
    cluster_start(c->cluster);
    r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "INCREMENTAL_ALTER_CONFIGS");
    const struct incremental_alter_configs_response *response = got;
    for (int32_t i = 0; i < response->responses_count; i++) {
        if (response->responses[i].error_code)
            return configs_refused(c, response->responses[i].error_code,
                                   response->responses[i].error_message);
    }
    return 0;
}

/* ---- all at once ---- */

static void put_setting(struct alter_configs_request_resource *res, struct str key,
                        struct str value)
{
    int32_t i = 0;

    while (i < res->configs_count && !str_eq(res->configs[i].name, key))
        i++;
    res->configs[i] = (struct alter_configs_request_config){key, value};
    res->configs_count += i == res->configs_count;
}

/* Old settings, new ones over them, without those that go. */
static void merge(struct configs *c, const struct config_entries *old,
                  struct alter_configs_request_resource *res)
{
    int32_t kept = 0;

    res->configs = arena_new_array(&c->arena, struct alter_configs_request_config,
                                   old->count + c->add.count + 1);
    for (size_t i = 0; i < old->count; i++)
        put_setting(res, old->v[i]->name, old->v[i]->value);
    for (size_t i = 0; i < c->add.count; i++)
        put_setting(res, str_of(c->add.v[i].key), str_of(c->add.v[i].value));
    for (int32_t i = 0; i < res->configs_count; i++) {
        if (!texts_has(&c->drop, arena_strz(&c->arena, res->configs[i].name)))
            res->configs[kept++] = res->configs[i];
    }
    res->configs_count = kept;
}

/* What a broker hides cannot be written back. */
static int check_hidden(struct configs *c, const struct alter_configs_request_resource *res)
{
    CLEANUP(strbuf_deinit) struct strbuf hidden = {0};

    for (int32_t i = 0; i < res->configs_count; i++) {
        if (str_is_null(res->configs[i].value))
            strbuf_addf(&hidden, "%s%.*s", hidden.len ? ", " : "", STR_ARG(res->configs[i].name));
    }
    if (hidden.len == 0)
        return 0;
    strbuf_addf(&c->why,
                "All sensitive broker config entries must be specified for --alter, missing "
                "entries: Set(%s)",
                hidden.s);
    return -EINVAL;
}

static int send_all(struct configs *c, const char *name, const struct config_entries *old)
{
    struct alter_configs_request_resource res = {
        .resource_type = configs_resource_type(TYPE_BROKERS), .resource_name = str_of(name)};
    struct alter_configs_request m;
    struct cluster_call call = {"alterConfigs", SEED_ANY, API_ALTER_CONFIGS, 2, &m};
    const void *got;
    int r = configs_broker_of(c, TYPE_BROKERS, name, &call.to);

    if (r < 0)
        return r;
    merge(c, old, &res);
    r = check_hidden(c, &res);
    if (r < 0)
        return r;
    msg_init(&alter_configs_request_desc, &m);
    m.resources = &res;
    m.resources_count = 1;
    cluster_start(c->cluster);
    r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "ALTER_CONFIGS");
    const struct alter_configs_response *response = got;
    for (int32_t i = 0; i < response->responses_count; i++) {
        if (response->responses[i].error_code)
            return configs_refused(c, response->responses[i].error_code,
                                   response->responses[i].error_message);
    }
    return 0;
}

/* ---- the action ---- */

static int check_loggers(struct configs *c, const struct texts *known)
{
    const struct texts add = props_keys(&c->arena, &c->add);
    struct texts bad = texts_filter(&c->arena, &c->drop, known, false);
    struct texts more = texts_filter(&c->arena, &add, known, false);
    struct texts all = {arena_new_array(&c->arena, const char *, bad.count + more.count + 1), 0};

    for (size_t i = 0; i < bad.count; i++)
        all.v[all.count++] = bad.v[i];
    for (size_t i = 0; i < more.count; i++)
        all.v[all.count++] = more.v[i];
    if (all.count == 0)
        return 0;
    strbuf_addz(&c->why, "Invalid broker logger(s): ");
    texts_join(&all, ",", &c->why);
    return -EINVAL;
}

static struct str shown_value(const config_entry *e)
{
    if (!e)
        return STR_NULL;
    return e->is_sensitive ? STR("(hidden)") : e->value;
}

/* What a broker does not know may be anything: it tells it to nobody either. */
static bool is_secret(const struct configs *c, const char *key)
{
    return broker_key_is_password(key) ||
           (strcmp(c->types.v[0], TYPE_BROKERS) == 0 && !is_known(false, key));
}

static void say_changed(struct configs *c, const char *name, const struct config_entries *old)
{
    struct config_change *changes =
        arena_new_array(&c->arena, struct config_change, c->add.count + c->drop.count + 1);
    size_t n = 0;

    for (size_t i = 0; i < c->add.count; i++) {
        const char *key = c->add.v[i].key;
        changes[n++] =
            (struct config_change){key, shown_value(entry_of(old, key)),
                                   is_secret(c, key) ? STR("(hidden)") : str_of(c->add.v[i].value)};
    }
    for (size_t i = 0; i < c->drop.count; i++)
        changes[n++] = (struct config_change){c->drop.v[i],
                                              shown_value(entry_of(old, c->drop.v[i])), STR_NULL};
    configs_print_changes(c, *name ? name : "(default)", changes, n);
}

int configs_alter_resource(struct configs *c)
{
    const char *type = c->types.v[0], *name = c->names.v[0];
    bool of_loggers = strcmp(type, TYPE_LOGGERS) == 0;
    struct config_entries old;
    int r = check_names(c, type);

    r = r ? r : configs_read(c, type, name, false, &old);
    if (r)
        return r;
    const struct texts set = entry_names(c, &old);
    r = of_loggers ? check_loggers(c, &set) : configs_check_drop(c, &set);
    if (r == 0 && c->as_kafka && strcmp(type, TYPE_BROKERS) == 0)
        r = send_all(c, name, &old);
    else if (r == 0)
        r = send_incremental(c, type, name);
    if (r == 0 && !c->as_kafka)
        say_changed(c, name, &old);
    return r;
}
