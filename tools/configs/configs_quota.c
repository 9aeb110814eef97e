/*
 * configs_quota.c - quotas of users, clients and addresses
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/sasl/scram.h"
#include "tools/base/java.h"
#include "tools/base/nearest.h"
#include "tools/configs/configs.h"

enum { MATCH_EXACT = 0, MATCH_DEFAULT = 1, MATCH_ANY = 2 };
enum { PARTS_MAX = 2 };

static const char *const user_keys[] = {"producer_byte_rate", "consumer_byte_rate",
                                        "request_percentage", "controller_mutation_rate"};
static const char *const ip_keys[] = {"connection_creation_rate"};
static const char *const scram_keys[] = {"SCRAM-SHA-256", "SCRAM-SHA-512"};

static const struct texts user_quotas = {(const char **)user_keys, ARRAY_LEN(user_keys)};
static const struct texts ip_quotas = {(const char **)ip_keys, ARRAY_LEN(ip_keys)};
static const struct texts mechanisms = {(const char **)scram_keys, ARRAY_LEN(scram_keys)};

/* ---- entities ---- */

static struct str wire_type(const char *type)
{
    if (strcmp(type, TYPE_USERS) == 0)
        return STR("user");
    return strcmp(type, TYPE_CLIENTS) == 0 ? STR("client-id") : STR("ip");
}

static int find_quotas(struct configs *c, const struct describe_client_quotas_response **ret)
{
    struct describe_client_quotas_request_component parts[PARTS_MAX];
    struct describe_client_quotas_request m;
    const struct cluster_call call = {"describeClientQuotas", SEED_ANY, API_DESCRIBE_CLIENT_QUOTAS,
                                      1, &m};
    const void *got;

    if (c->names.count > c->types.count) {
        strbuf_addz(&c->why, "More entity names specified than entity types");
        return -EINVAL;
    }
    assert(c->types.count <= PARTS_MAX);
    for (size_t i = 0; i < c->types.count; i++) {
        const char *name = i < c->names.count ? c->names.v[i] : NULL;

        parts[i] = (struct describe_client_quotas_request_component){wire_type(c->types.v[i]),
                                                                     MATCH_ANY, STR_NULL};
        if (name && *name)
            parts[i] = (struct describe_client_quotas_request_component){wire_type(c->types.v[i]),
                                                                         MATCH_EXACT, str_of(name)};
        else if (name)
            parts[i].match_type = MATCH_DEFAULT;
    }
    msg_init(&describe_client_quotas_request_desc, &m);
    m.components = parts;
    m.components_count = (int32_t)c->types.count;
    m.strict = true;
    cluster_start(c->cluster);
    int r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "DESCRIBE_CLIENT_QUOTAS");
    *ret = got;
    return (*ret)->error_code ? configs_refused(c, (*ret)->error_code, (*ret)->error_message) : 0;
}

/* ---- describing ---- */

static int by_entity(const void *a, const void *b)
{
    const quota_entry *x = a, *y = b;
    int order = 0;

    for (int32_t i = 0; order == 0 && i < MIN(x->entity_count, y->entity_count); i++)
        order = str_cmp(x->entity[i].entity_name, y->entity[i].entity_name);
    return order;
}

int configs_describe_quotas(struct configs *c, struct table *t)
{
    const struct describe_client_quotas_response *found;
    int r = find_quotas(c, &found);

    if (r)
        return r;
    int32_t n = MAX(found->entries_count, 0);
    if (c->as_kafka) {
        configs_sort_quotas(found->entries, n);
        for (int32_t i = 0; i < n; i++)
            configs_print_quota(&found->entries[i], stdout);
        return 0;
    }
    if (n > 1)
        qsort(found->entries, (size_t)n, sizeof *found->entries, by_entity);
    configs_table_quota(t, NULL);
    for (int32_t i = 0; i < n; i++)
        configs_table_quota(t, &found->entries[i]);
    return 0;
}

/* ---- changing ---- */

static void fill_entity(const struct configs *c, struct alter_client_quotas_request_entity *parts,
                        struct alter_client_quotas_request_entry *entry)
{
    for (size_t i = 0; i < c->types.count; i++)
        parts[i] = (struct alter_client_quotas_request_entity){
            wire_type(c->types.v[i]), *c->names.v[i] ? str_of(c->names.v[i]) : STR_NULL};
    entry->entity = parts;
    entry->entity_count = (int32_t)c->types.count;
}

static int fill_ops(struct configs *c, struct alter_client_quotas_request_entry *entry)
{
    entry->ops = arena_new_array(&c->arena, struct alter_client_quotas_request_op,
                                 c->add.count + c->drop.count + 1);
    for (size_t i = 0; i < c->add.count; i++) {
        struct alter_client_quotas_request_op *op = &entry->ops[entry->ops_count++];

        op->key = str_of(c->add.v[i].key);
        if (java_parse_double(str_of(c->add.v[i].value), &op->value) < 0) {
            strbuf_addf(&c->why, "Cannot parse quota configuration value for %s: %s",
                        c->add.v[i].key, c->add.v[i].value);
            return -EINVAL;
        }
    }
    for (size_t i = 0; i < c->drop.count; i++)
        entry->ops[entry->ops_count++] =
            (struct alter_client_quotas_request_op){.key = str_of(c->drop.v[i]), .remove = true};
    return 0;
}

static int send_quotas(struct configs *c)
{
    struct alter_client_quotas_request_entity parts[PARTS_MAX];
    struct alter_client_quotas_request_entry entry = {0};
    struct alter_client_quotas_request m;
    const struct cluster_call call = {"alterClientQuotas", SEED_ANY, API_ALTER_CLIENT_QUOTAS, 1,
                                      &m};
    const void *got;
    int r = fill_ops(c, &entry);

    if (r < 0)
        return r;
    fill_entity(c, parts, &entry);
    msg_init(&alter_client_quotas_request_desc, &m);
    m.entries = &entry;
    m.entries_count = 1;
    m.validate_only = c->is_dry;
    cluster_start(c->cluster);
    r = cluster_call(c->cluster, &call, &c->arena, &got, &c->why);
    if (r < 0)
        return configs_lost(c, r, "ALTER_CLIENT_QUOTAS");
    const struct alter_client_quotas_response *response = got;
    for (int32_t i = 0; i < response->entries_count; i++) {
        if (response->entries[i].error_code)
            return configs_refused(c, response->entries[i].error_code,
                                   response->entries[i].error_message);
    }
    return 0;
}

/* The keys that the one entity has; values may be asked for by quota_before(). */
static struct texts set_keys(struct configs *c, const struct describe_client_quotas_response *found)
{
    const quota_entry *e = found->entries_count > 0 ? &found->entries[0] : NULL;
    struct texts ret = {
        arena_new_array(&c->arena, const char *, e ? (size_t)e->values_count + 1 : 1), 0};

    for (int32_t i = 0; e && i < e->values_count; i++)
        ret.v[ret.count++] = arena_strz(&c->arena, e->values[i].key);
    return ret;
}

static struct str quota_before(struct configs *c,
                               const struct describe_client_quotas_response *found, const char *key)
{
    const quota_entry *e = found->entries_count > 0 ? &found->entries[0] : NULL;

    for (int32_t i = 0; e && i < e->values_count; i++) {
        if (str_eqz(e->values[i].key, key))
            return arena_printf(&c->arena, "%.15g", e->values[i].value);
    }
    return STR_NULL;
}

static const char *entity_text(struct configs *c)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (size_t i = 0; i < c->types.count; i++)
        strbuf_addf(&sb, "%s%.*s %s", i ? ", " : "", STR_ARG(configs_singular(c->types.v[i])),
                    *c->names.v[i] ? c->names.v[i] : "(default)");
    return arena_strz(&c->arena, strbuf_str(&sb));
}

static void say_changed(struct configs *c, const struct describe_client_quotas_response *found)
{
    struct config_change *changes =
        arena_new_array(&c->arena, struct config_change, c->add.count + c->drop.count + 1);
    size_t n = 0;

    for (size_t i = 0; i < c->add.count; i++)
        changes[n++] = (struct config_change){
            c->add.v[i].key, quota_before(c, found, c->add.v[i].key), str_of(c->add.v[i].value)};
    for (size_t i = 0; i < c->drop.count; i++)
        changes[n++] =
            (struct config_change){c->drop.v[i], quota_before(c, found, c->drop.v[i]), STR_NULL};
    configs_print_changes(c, entity_text(c), changes, n);
}

int configs_alter_quotas(struct configs *c)
{
    const struct describe_client_quotas_response *found;
    int r = find_quotas(c, &found);

    if (r)
        return r;
    const struct texts set = set_keys(c, found);
    r = configs_check_drop(c, &set);
    r = r ? r : send_quotas(c);
    if (r == 0 && !c->as_kafka)
        say_changed(c, found);
    return r;
}

/* ---- what may be changed for whom ---- */

static struct texts concat(struct configs *c, const struct texts *a, const struct texts *b)
{
    struct texts ret = {arena_new_array(&c->arena, const char *, a->count + b->count + 1), 0};

    for (size_t i = 0; i < a->count; i++)
        ret.v[ret.count++] = a->v[i];
    for (size_t i = 0; i < b->count; i++)
        ret.v[ret.count++] = b->v[i];
    return ret;
}

/* As our own tool, what may have been meant. */
static void add_hint(struct configs *c, const struct texts *bad, const struct texts *known)
{
    struct nearest near = nearest_to(str_of(bad->v[0]));

    for (size_t i = 0; i < known->count; i++)
        nearest_try(&near, known->v[i]);
    if (near.best)
        strbuf_addf(&c->why, "; did you mean %s?", near.best);
}

struct rule {
    const char *what, *whose; /* "Only ... can be added for '...' using ..." */
    const struct texts *known;
};

/* Scala's names of the two kinds of lists stand in the text. */
static int refuse_keys(struct configs *c, const struct rule *rule, const struct texts *bad,
                       bool is_added)
{
    const char *list = is_added ? bad->count > 4 ? "HashSet" : "Set" : "ArrayBuffer";

    if (bad->count == 0)
        return 0;
    strbuf_addf(&c->why, "Only %s configs can be %s for '%s' using --bootstrap-server. ",
                rule->what, is_added ? "added" : "deleted", rule->whose);
    strbuf_addf(&c->why, "Unexpected config names: %s", c->as_kafka ? list : "");
    strbuf_addz(&c->why, c->as_kafka ? "(" : "");
    texts_join(bad, ", ", &c->why);
    strbuf_addz(&c->why, c->as_kafka ? ")" : "");
    if (!c->as_kafka)
        add_hint(c, bad, rule->known);
    return -EINVAL;
}

struct keys {
    struct texts quotas, scram, unknown;
};

static struct keys sort_keys(struct configs *c, const struct texts *list)
{
    struct texts rest = texts_filter(&c->arena, list, &user_quotas, false);

    return (struct keys){texts_filter(&c->arena, list, &user_quotas, true),
                         texts_filter(&c->arena, &rest, &mechanisms, true),
                         texts_filter(&c->arena, &rest, &mechanisms, false)};
}

/* With a client in it, only quotas. */
static int check_client_keys(struct configs *c, const struct keys *add, const struct keys *drop)
{
    static const struct rule rule = {"quota", TYPE_CLIENTS, &user_quotas};
    const struct texts bad = concat(c, &add->unknown, &add->scram);
    const struct texts bad_drop = concat(c, &drop->unknown, &drop->scram);
    int r = refuse_keys(c, &rule, &bad, true);

    return r ? r : refuse_keys(c, &rule, &bad_drop, false);
}

static int check_user_keys(struct configs *c, const struct keys *add, const struct keys *drop)
{
    static const struct rule rule = {"quota and SCRAM credential", TYPE_USERS, &user_quotas};
    int r = refuse_keys(c, &rule, &add->unknown, true);

    r = r ? r : refuse_keys(c, &rule, &drop->unknown, false);
    if (r || add->scram.count + drop->scram.count == 0)
        return r;
    if (texts_has(&c->names, ""))
        strbuf_addz(&c->why, "The use of --entity-default or --user-defaults is not allowed with "
                             "User SCRAM Credentials using --bootstrap-server.");
    else if (add->quotas.count + drop->quotas.count)
        strbuf_addz(&c->why, "Cannot alter both quota and SCRAM credential configs simultaneously "
                             "for 'users' using --bootstrap-server.");
    else
        return 0;
    return -EINVAL;
}

int configs_alter_users(struct configs *c)
{
    const struct texts keys = props_keys(&c->arena, &c->add);
    const struct keys add = sort_keys(c, &keys), drop = sort_keys(c, &c->drop);
    bool has_client = c->types.count == 2 || strcmp(c->types.v[0], TYPE_CLIENTS) == 0;
    int r = has_client ? check_client_keys(c, &add, &drop) : check_user_keys(c, &add, &drop);

    if (r)
        return r;
    return add.quotas.count + drop.quotas.count ? configs_alter_quotas(c) : configs_alter_scram(c);
}

int configs_alter_ips(struct configs *c)
{
    const struct texts keys = props_keys(&c->arena, &c->add);
    const struct texts all = concat(c, &keys, &c->drop);
    const struct texts bad = texts_filter(&c->arena, &all, &ip_quotas, false);

    if (bad.count == 0)
        return configs_alter_quotas(c);
    strbuf_addz(&c->why, "Only connection quota configs can be added for 'ips' using "
                         "--bootstrap-server. Unexpected config names: ");
    texts_join(&bad, ",", &c->why);
    if (!c->as_kafka)
        add_hint(c, &bad, &ip_quotas);
    return -EINVAL;
}
