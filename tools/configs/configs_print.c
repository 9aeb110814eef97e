/*
 * configs_print.c - settings, quotas and credentials: Kafka's lines, and our tables
 */
#include "common/base/hash.h"
#include "common/base/mem.h"
#include "common/sasl/scram.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"

static const char *const sources[] = {
    "UNKNOWN",
    "DYNAMIC_TOPIC_CONFIG",
    "DYNAMIC_BROKER_CONFIG",
    "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG",
    "DEFAULT_CONFIG",
    "DYNAMIC_BROKER_LOGGER_CONFIG",
    "DYNAMIC_CLIENT_METRICS_CONFIG",
    "DYNAMIC_GROUP_CONFIG",
};

/* The same in our tables. */
static const char *const short_sources[] = {
    "-",       "topic",  "broker",  "all brokers", "server.properties",
    "default", "logger", "metrics", "group",
};

static size_t source_index(int8_t source)
{
    return source > 0 && source < (int8_t)ARRAY_LEN(sources) ? (size_t)source : 0;
}

static struct str or_null(struct str s)
{
    return str_is_null(s) ? STR("null") : s;
}

struct str configs_singular(const char *type)
{
    return (struct str){type, strlen(type) - 1};
}

/* ---- as Kafka's tool ---- */

void configs_print_head(const char *type, const char *name, bool all, FILE *out)
{
    struct str singular = configs_singular(type);

    if (*name)
        fprintf(out, "%s configs for %.*s %s are:\n", all ? "All" : "Dynamic", STR_ARG(singular),
                name);
    else
        fprintf(out, "Default configs for %s in the cluster are:\n", type);
}

void configs_print_entry(const config_entry *e, FILE *out)
{
    fprintf(out, "  %.*s=%.*s sensitive=%s synonyms={", STR_ARG(e->name),
            STR_ARG(or_null(e->value)), e->is_sensitive ? "true" : "false");
    for (int32_t i = 0; i < e->synonyms_count; i++)
        fprintf(out, "%s%s:%.*s=%.*s", i ? ", " : "", sources[source_index(e->synonyms[i].source)],
                STR_ARG(e->synonyms[i].name), STR_ARG(or_null(e->synonyms[i].value)));
    fputs("}\n", out);
}

/* ---- quotas ---- */

static int32_t hash_of(struct str s)
{
    return str_is_null(s) ? 0 : hash_java(s);
}

/* hashCode() of Java's ClientQuotaEntity. */
static int32_t entity_hash(const quota_entry *e)
{
    uint32_t sum = 0;

    for (int32_t i = 0; i < e->entity_count; i++)
        sum += (uint32_t)(hash_of(e->entity[i].entity_type) ^ hash_of(e->entity[i].entity_name));
    return (int32_t)(sum + 31);
}

/* The values of one, as a HashMap for that many gives them. */
static void sort_values(quota_entry *e)
{
    size_t n = (size_t)MAX(e->values_count, 0);
    CLEANUP(free_p) int32_t *hashes = xnew_array(int32_t, n + 1);
    CLEANUP(free_p) size_t *order = xnew_array(size_t, n + 1);
    CLEANUP(free_p)
    struct describe_client_quotas_response_value *old =
        xnew_array(struct describe_client_quotas_response_value, n + 1);

    for (size_t i = 0; i < n; i++) {
        old[i] = e->values[i];
        hashes[i] = hash_of(old[i].key);
    }
    java_map_order(hashes, n, n, order);
    for (size_t i = 0; i < n; i++)
        e->values[i] = old[order[i]];
}

void configs_sort_quotas(quota_entry *entries, int32_t count)
{
    size_t n = (size_t)MAX(count, 0);
    CLEANUP(free_p) int32_t *hashes = xnew_array(int32_t, n + 1);
    CLEANUP(free_p) size_t *order = xnew_array(size_t, n + 1);
    CLEANUP(free_p) quota_entry *old = xnew_array(quota_entry, n + 1);

    for (size_t i = 0; i < n; i++) {
        sort_values(&entries[i]);
        old[i] = entries[i];
        hashes[i] = entity_hash(&old[i]);
    }
    java_map_order(hashes, n, n, order);
    for (size_t i = 0; i < n; i++)
        entries[i] = old[order[i]];
}

/* "user-principal 'u', the default client-id" */
static void add_entity(const quota_entry *e, struct strbuf *out)
{
    static const char *const kinds[][2] = {
        {"user", "user-principal"}, {"client-id", "client-id"}, {"ip", "ip"}};

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (int32_t i = 0; i < e->entity_count; i++) {
            if (!str_eqz(e->entity[i].entity_type, kinds[k][0]))
                continue;
            if (out->len)
                strbuf_addz(out, ", ");
            if (str_is_null(e->entity[i].entity_name))
                strbuf_addf(out, "the default %s", kinds[k][1]);
            else
                strbuf_addf(out, "%s '%.*s'", kinds[k][1], STR_ARG(e->entity[i].entity_name));
        }
    }
}

void configs_print_quota(const quota_entry *e, FILE *out)
{
    CLEANUP(strbuf_deinit) struct strbuf entity = {0}, values = {0};

    add_entity(e, &entity);
    for (int32_t i = 0; i < e->values_count; i++) {
        strbuf_addf(&values, "%s%.*s=", i ? ", " : "", STR_ARG(e->values[i].key));
        java_double(e->values[i].value, &values);
    }
    fprintf(out, "Quota configs for %s are %s\n", entity.len ? entity.s : "",
            values.len ? values.s : "");
}

/* ---- credentials ---- */

static const char *mechanism_name(int8_t mechanism)
{
    const char *name = scram_name(mechanism);

    return name ? name : "UNKNOWN";
}

void configs_print_scram(struct str user,
                         const struct describe_user_scram_credentials_response_credential_info *v,
                         int32_t count, FILE *out)
{
    fprintf(out, "SCRAM credential configs for user-principal '%.*s' are ", STR_ARG(user));
    for (int32_t i = 0; i < count; i++)
        fprintf(out, "%s%s=iterations=%d", i ? ", " : "", mechanism_name(v[i].mechanism),
                v[i].iterations);
    fputc('\n', out);
}

/* ---- tables ---- */

static void cell(struct table *t, struct str s)
{
    table_cell(t, "%.*s", STR_ARG(str_is_null(s) ? STR("-") : s));
}

/* What would count were the setting deleted. */
static struct str value_beneath(const config_entry *e)
{
    for (int32_t i = 0; i < e->synonyms_count; i++) {
        if (e->synonyms[i].source > e->config_source)
            return e->synonyms[i].value;
    }
    return STR_NULL;
}

void configs_table_entries(struct table *t, const char *name, const struct config_entries *e)
{
    if (t->columns == 0) {
        table_add(t, "ENTITY", false);
        table_add(t, "SETTING", false);
        table_add(t, "VALUE", false);
        table_add(t, "FROM", false);
        table_add(t, "OTHERWISE", false);
    }
    for (size_t i = 0; e && i < e->count; i++) {
        const config_entry *one = e->v[i];

        table_cell(t, "%s", *name ? name : "(default)");
        cell(t, one->name);
        cell(t, one->is_sensitive ? STR("(hidden)") : one->value);
        table_cell(t, "%s", short_sources[source_index(one->config_source)]);
        cell(t, value_beneath(one));
    }
}

void configs_table_quota(struct table *t, const quota_entry *e)
{
    CLEANUP(strbuf_deinit) struct strbuf entity = {0};

    if (t->columns == 0) {
        table_add(t, "ENTITY", false);
        table_add(t, "SETTING", false);
        table_add(t, "VALUE", true);
    }
    if (e)
        add_entity(e, &entity);
    for (int32_t i = 0; e && i < e->values_count; i++) {
        table_cell(t, "%s", entity.len ? entity.s : "-");
        cell(t, e->values[i].key);
        table_cell(t, "%.15g", e->values[i].value);
    }
}

void configs_print_changes(const struct configs *c, const char *entity,
                           const struct config_change *changes, size_t count)
{
    CLEANUP(table_deinit) struct table t = {0};

    table_add(&t, "ENTITY", false);
    table_add(&t, "SETTING", false);
    table_add(&t, "BEFORE", false);
    table_add(&t, "AFTER", false);
    table_add(&t, "DONE", false);
    for (size_t i = 0; i < count; i++) {
        table_cell(&t, "%s", entity);
        table_cell(&t, "%s", changes[i].key);
        cell(&t, changes[i].before);
        cell(&t, changes[i].after);
        table_cell(&t, "%s", c->is_dry ? "dry run" : "yes");
    }
    configs_print_table(c, &t);
}

void configs_print_table(const struct configs *c, struct table *t)
{
    if (c->as_json)
        table_print_json(t, stdout);
    else
        table_print(t, stdout);
}
