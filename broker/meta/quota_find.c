/*
 * quota_find.c - quota_admin_describe(): which entities a filter means, and their quotas
 */
#include "broker/meta/quota_internal.h"

#include "common/base/err.h"
#include "zk/zk_configs.h"

/* One part of the filter; NULL where it says nothing of that type. */
struct wanted {
    const struct quota_filter_part *user, *client, *ip;
    bool is_strict;
};

struct finding {
    const struct quota_run *run;
    struct wanted w;
    struct quota_list *list;
    struct str *message;
};

static int16_t refuse(struct finding *f, int16_t error, struct str message)
{
    *f->message = message;
    return error;
}

/* ---- the filter ---- */

static int16_t take_part(struct finding *f, const struct quota_filter_part *p)
{
    const struct quota_filter_part **at = NULL;
    const char *name = "";

    if (str_eqz(p->type, QUOTA_USER)) {
        at = &f->w.user;
        name = "user";
    } else if (str_eqz(p->type, QUOTA_CLIENT)) {
        at = &f->w.client;
        name = "client";
    } else if (str_eqz(p->type, QUOTA_IP)) {
        at = &f->w.ip;
        name = "ip";
    }
    if (!at && p->type.len == 0)
        return refuse(f, INVALID_REQUEST, STR("Unexpected empty filter component entity type"));
    if (!at)
        return refuse(
            f, UNSUPPORTED_VERSION,
            arena_printf(f->run->a, "Custom entity type '%.*s' not supported", STR_ARG(p->type)));
    if (*at)
        return refuse(f, INVALID_REQUEST,
                      arena_printf(f->run->a, "Duplicate %s filter component entity type", name));
    *at = p;
    return NONE;
}

static int16_t take_filter(struct finding *f, const struct quota_filter *filter)
{
    int16_t r = NONE;

    f->w.is_strict = filter->is_strict;
    for (int32_t i = 0; i < filter->part_count; i++) {
        const struct quota_filter_part *p = &filter->parts[i];

        if (p->match < QUOTA_EXACT || p->match > QUOTA_ANY ||
            (p->match == QUOTA_EXACT && str_is_null(p->name)))
            return UNKNOWN_SERVER_ERROR;
    }
    for (int32_t i = 0; i < filter->part_count && r == NONE; i++)
        r = take_part(f, &filter->parts[i]);
    if (r == NONE && f->w.ip && (f->w.user || f->w.client))
        r = refuse(f, INVALID_REQUEST,
                   STR("Invalid entity filter component combination, IP filter component should "
                       "not be used with user or clientId filter component."));
    return r;
}

/* Whether the filter's part says yes to a name, or to an entity without such a part. */
static bool is_match(const struct finding *f, const struct quota_filter_part *p, bool has_name,
                     struct str name)
{
    if (!p)
        return !has_name || !f->w.is_strict;
    if (!has_name)
        return false;
    if (p->match == QUOTA_EXACT)
        return str_eq(p->name, name);
    return p->match == QUOTA_ANY || str_is_null(name);
}

/* ---- what is found ---- */

static int16_t add_values(struct finding *f, const struct node_config *c, const char *kind,
                          struct quota_entry *e)
{
    bool is_ip = strcmp(kind, QUOTA_IP) == 0;
    const struct conf_option *keys = is_ip ? quota_ip_keys : quota_client_keys;
    size_t count = is_ip ? QUOTA_IP_KEYS : QUOTA_CLIENT_KEYS;

    e->values = arena_new_array(f->run->a, struct quota_value, count);
    for (size_t i = 0; i < count; i++) {
        struct str text = node_config_get(c, keys[i].key);
        double value;

        if (str_is_null(text))
            continue;
        if (str_to_double(text, &value) < 0)
            return UNKNOWN_SERVER_ERROR; /* as in Kafka, for the whole request */
        e->values[e->value_count++] = (struct quota_value){str_of(keys[i].key), value};
    }
    return NONE;
}

static void add_entry(struct finding *f, const struct quota_entry *e)
{
    struct quota_list *l = f->list;

    if (l->count == l->cap) {
        int32_t cap = l->cap * 2 + 16;
        struct quota_entry *grown = arena_new_array(f->run->a, struct quota_entry, (size_t)cap);

        if (l->count)
            memcpy(grown, l->entries, (size_t)l->count * sizeof *grown);
        l->entries = grown;
        l->cap = cap;
    }
    l->entries[l->count++] = *e;
}

/* Entities of one kind: those below /config/TYPE, or with a prefix "U/clients/". */
struct kind {
    const char *type;
    const char *part;  /* what their names are names of */
    struct str prefix; /* of their paths */
    struct str user;   /* of a pair */
    bool is_pair;
};

static int16_t take_config(struct finding *f, const struct kind *k, const struct zk_config *c)
{
    struct quota_entry e = {0};
    struct str text = c->name, name;

    text.p += k->prefix.len;
    text.len -= k->prefix.len;
    if (quota_name_decode(f->run->a, text, &name) < 0)
        return UNKNOWN_SERVER_ERROR;
    bool is_ip = strcmp(k->part, QUOTA_IP) == 0, is_user = strcmp(k->part, QUOTA_USER) == 0;
    if (is_ip ? !is_match(f, f->w.ip, true, name)
              : !is_match(f, f->w.user, is_user || k->is_pair, k->is_pair ? k->user : name) ||
                    !is_match(f, f->w.client, !is_user, name))
        return NONE;
    if (k->is_pair)
        e.parts[e.part_count++] = (struct quota_part){STR(QUOTA_USER), k->user};
    e.parts[e.part_count++] = (struct quota_part){str_of(k->part), name};
    int16_t r = add_values(f, &c->node, k->part, &e);
    if (r == NONE && e.value_count)
        add_entry(f, &e);
    return r;
}

static int16_t refuse_zk(struct finding *f, enum zk_result r)
{
    return refuse(
        f, UNKNOWN_SERVER_ERROR,
        arena_printf(f->run->a, "The quotas cannot be read from ZooKeeper: %s", zk_result_name(r)));
}

static int16_t take_kind(struct finding *f, const struct kind *k, const struct zk_names *names)
{
    struct arena *a = f->run->a;
    struct zk_config *list = arena_new_array(a, struct zk_config, names->count);
    int16_t e = NONE;

    for (size_t i = 0; i < names->count; i++)
        list[i].name = arena_printf(a, "%.*s%.*s", STR_ARG(k->prefix), STR_ARG(names->list[i]));
    enum zk_result r = zk_configs_read(f->run->zk, k->type, a, list, names->count);
    if (r != ZK_OK)
        return refuse_zk(f, r);
    for (size_t i = 0; i < names->count && e == NONE; i++) {
        if (list[i].result == ZK_OK)
            e = take_config(f, k, &list[i]);
    }
    return e;
}

/* All names of a type; only the one where the filter has one. */
static int16_t names_of(struct finding *f, const char *type, const struct quota_filter_part *p,
                        struct zk_names *ret)
{
    struct arena *a = f->run->a;

    if (p && p->match == QUOTA_EXACT && p->name.len == 0)
        return NONE; /* nobody is called that */
    if (p && p->match != QUOTA_ANY) {
        ret->list = arena_new_array(a, struct str, 1);
        ret->list[0] = quota_name_encode(a, p->match == QUOTA_EXACT ? p->name : STR_NULL);
        ret->count = 1;
        return NONE;
    }
    enum zk_result r = zk_configs_list(f->run->zk, type, a, ret);
    return r == ZK_OK ? NONE : refuse_zk(f, r);
}

static int16_t find_pairs(struct finding *f, struct str user_text)
{
    struct arena *a = f->run->a;
    struct kind k = {.type = "users", .part = QUOTA_CLIENT, .is_pair = true};
    struct zk_names names = {0};

    if (quota_name_decode(a, user_text, &k.user) < 0)
        return UNKNOWN_SERVER_ERROR;
    k.prefix = arena_printf(a, "%.*s/clients/", STR_ARG(user_text));
    int16_t r = names_of(f, arena_printf(a, "users/%.*s/clients", STR_ARG(user_text)).p,
                         f->w.client, &names);
    return r == NONE ? take_kind(f, &k, &names) : r;
}

static int16_t find_users(struct finding *f)
{
    const struct kind k = {.type = "users", .part = QUOTA_USER};
    struct zk_names names = {0};
    int16_t r = names_of(f, "users", f->w.user, &names);

    if (r == NONE && !f->w.client)
        r = take_kind(f, &k, &names);
    bool want_pairs = f->w.client || !f->w.is_strict;
    for (size_t i = 0; want_pairs && i < names.count && r == NONE; i++)
        r = find_pairs(f, names.list[i]);
    return r;
}

static int16_t find_kind(struct finding *f, const char *type, const char *part,
                         const struct quota_filter_part *p)
{
    const struct kind k = {.type = type, .part = part};
    struct zk_names names = {0};
    int16_t r = names_of(f, type, p, &names);

    return r == NONE ? take_kind(f, &k, &names) : r;
}

int16_t quota_admin_describe(const struct quota_run *run, const struct quota_filter *filter,
                             struct quota_list *ret, struct str *ret_message)
{
    struct finding f = {.run = run, .list = ret, .message = ret_message};
    int16_t r = take_filter(&f, filter);
    bool is_any = filter->part_count == 0 && !filter->is_strict;

    if (r == NONE &&
        (f.w.user || is_any || (f.w.client && !f.w.is_strict) || (f.w.client && f.w.user)))
        r = find_users(&f);
    if (r == NONE && !f.w.user && (f.w.client || is_any))
        r = find_kind(&f, "clients", QUOTA_CLIENT, f.w.client);
    if (r == NONE && (f.w.ip || is_any))
        r = find_kind(&f, "ips", QUOTA_IP, f.w.ip);
    return r;
}
