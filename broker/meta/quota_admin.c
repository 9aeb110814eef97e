#include "broker/meta/quota_admin.h"

#include "broker/meta/quota_internal.h"
#include "common/base/err.h"
#include "common/conf/show.h"
#include "common/io/sock.h"
#include "zk/zk_configs.h"

#include <inttypes.h>
#include <math.h>

const struct conf_option quota_client_keys[] = {
    {.key = "producer_byte_rate", .type = CONF_LONG, .at = -1},
    {.key = "consumer_byte_rate", .type = CONF_LONG, .at = -1},
    {.key = "request_percentage", .type = CONF_DOUBLE, .at = -1},
    {.key = "controller_mutation_rate", .type = CONF_DOUBLE, .at = -1},
};

const struct conf_option quota_ip_keys[] = {
    {.key = "connection_creation_rate", .type = CONF_INT, .at = -1},
};

/* Where an entity's quotas stand, and which keys they may have. */
struct place {
    const char *type;
    struct str name;
    const struct conf_option *keys;
    size_t key_count;
    bool has_credentials;
};

/* How often a change is made anew as others were faster: each time one of them has succeeded. */
enum { ROUNDS_MAX = 100 };

/* Names as they stand in a path; null where the entity has no such part. */
struct entity {
    struct str user, client, ip;
};

struct str quota_name_encode(struct arena *a, struct str name)
{
    if (str_is_null(name))
        return STR("<default>");
    /* Somebody may be called that. */
    if (str_eqz(name, "<default>"))
        return STR("%3Cdefault%3E");
    return node_sanitize(a, name);
}

int quota_name_decode(struct arena *a, struct str text, struct str *ret)
{
    if (!str_eqz(text, "<default>"))
        return node_desanitize(a, text, ret);
    *ret = STR_NULL;
    return 0;
}

static int refuse(struct quota_alteration *al, int16_t error, struct str message)
{
    al->error = error;
    al->message = message;
    return error;
}

/* ---- which entity ---- */

static int parse_part(const struct quota_run *run, struct quota_alteration *al,
                      const struct quota_part *p, struct entity *e)
{
    struct str name = quota_name_encode(run->a, p->name);

    if (str_eqz(p->type, QUOTA_USER))
        e->user = name;
    else if (str_eqz(p->type, QUOTA_CLIENT))
        e->client = name;
    else if (str_eqz(p->type, QUOTA_IP))
        e->ip = name;
    else
        return refuse(
            al, INVALID_REQUEST,
            arena_printf(run->a, "Unhandled client quota entity type: %.*s", STR_ARG(p->type)));
    if (!str_is_null(p->name) && p->name.len == 0)
        return refuse(al, INVALID_REQUEST,
                      arena_printf(run->a, "Empty %.*s not supported", STR_ARG(p->type)));
    return 0;
}

static bool is_address(const struct str ip)
{
    CLEANUP(free_p) char *host = str_dup(ip);
    struct sock_addr addr;
    int count;

    return str_eqz(ip, "<default>") || sock_addr_lookup(host, 0, &addr, 1, &count) == 0;
}

static int place_ip(const struct quota_run *run, struct quota_alteration *al,
                    const struct entity *e, struct place *ret)
{
    if (!str_is_null(e->user) || !str_is_null(e->client))
        return refuse(al, INVALID_REQUEST,
                      STR("Invalid quota entity combination, IP entity should not be used with "
                          "user/client ID entity."));
    if (!is_address(e->ip))
        return refuse(
            al, INVALID_REQUEST,
            arena_printf(run->a, "%.*s is not a valid IP or resolvable host.", STR_ARG(e->ip)));
    *ret = (struct place){"ips", e->ip, quota_ip_keys, QUOTA_IP_KEYS, false};
    return 0;
}

static int find_place(const struct quota_run *run, struct quota_alteration *al, struct place *ret)
{
    struct entity e = {STR_NULL, STR_NULL, STR_NULL};
    int r = 0;

    if (al->part_count == 0)
        return refuse(al, INVALID_REQUEST, STR("Invalid empty client quota entity"));
    for (int32_t i = 0; i < al->part_count && r == 0; i++)
        r = parse_part(run, al, &al->parts[i], &e);
    if (r)
        return r;
    if (!str_is_null(e.ip))
        return place_ip(run, al, &e, ret);
    *ret = (struct place){.keys = quota_client_keys, .key_count = QUOTA_CLIENT_KEYS};
    ret->type = str_is_null(e.user) ? "clients" : "users";
    ret->has_credentials = !str_is_null(e.user);
    ret->name = str_is_null(e.user) ? e.client
                : str_is_null(e.client)
                    ? e.user
                    : arena_printf(run->a, "%.*s/clients/%.*s", STR_ARG(e.user), STR_ARG(e.client));
    return 0;
}

/* ---- values ---- */

/* As Java turns a double into a whole number. */
static int64_t whole(double v, int64_t min, int64_t max)
{
    if (isnan(v))
        return 0;
    if (v >= (double)max)
        return max;
    return v <= (double)min ? min : (int64_t)v;
}

static int format(const struct quota_run *run, struct quota_alteration *al,
                  const struct conf_option *o, double value, struct str *ret)
{
    static const double epsilon = 1e-6;
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};
    bool is_long = o->type == CONF_LONG;

    if (o->type == CONF_DOUBLE) {
        conf_show_double(value, &sb);
        *ret = arena_str(run->a, strbuf_str(&sb));
        return 0;
    }
    int64_t n =
        whole(value + epsilon, is_long ? INT64_MIN : INT32_MIN, is_long ? INT64_MAX : INT32_MAX);
    if (fabs((double)n - value) > epsilon)
        return refuse(al, INVALID_REQUEST,
                      arena_printf(run->a, "Configuration %s must be a %s value", o->key,
                                   is_long ? "LONG" : "INT"));
    *ret = arena_printf(run->a, "%" PRId64, n);
    return 0;
}

static int32_t find_entry(const struct node_config *c, struct str key)
{
    int32_t i = 0;

    while (i < c->count && !str_eq(c->entries[i].key, key))
        i++;
    return i;
}

static void remove_entry(struct node_config *c, struct str key)
{
    int32_t at = find_entry(c, key);

    if (at < c->count)
        c->entries[at] = c->entries[--c->count];
}

static int set_entry(const struct quota_run *run, struct quota_alteration *al,
                     const struct place *place, const struct quota_op *op, struct node_config *c)
{
    const struct conf_option *o = conf_find(place->keys, place->key_count, op->key);
    int32_t at = find_entry(c, op->key);
    struct str value;

    if (!o && place->has_credentials &&
        (str_eqz(op->key, "SCRAM-SHA-256") || str_eqz(op->key, "SCRAM-SHA-512")))
        return refuse(al, UNKNOWN_SERVER_ERROR, STR_NULL); /* no quota, and Kafka trips over it */
    if (!o)
        return refuse(al, INVALID_REQUEST,
                      arena_printf(run->a, "Invalid configuration key %.*s", STR_ARG(op->key)));
    int r = format(run, al, o, op->value, &value);
    if (r)
        return r;
    c->entries[at] = (struct node_config_entry){str_of(o->key), value};
    c->count = MAX(c->count, at + 1);
    return 0;
}

/* ---- one alteration ---- */

static void refuse_zk(const struct quota_run *run, struct quota_alteration *al, enum zk_result r)
{
    if (r == ZK_CONTROLLER_MOVED)
        refuse(al, STALE_CONTROLLER_EPOCH,
               STR("There is no controller just now, or it has changed meanwhile; try again."));
    else
        refuse(al, UNKNOWN_SERVER_ERROR,
               arena_printf(run->a, "ZooKeeper did not take the quotas: %s", zk_result_name(r)));
}

/* Nobody keeps an empty node, unless others hang below it. */
static enum zk_result write_place(const struct quota_run *run, const struct place *place,
                                  const struct node_config *c, int32_t version)
{
    enum zk_result r = ZK_NOT_EMPTY;

    if (c->count == 0)
        r = zk_config_delete(run->zk, place->type, place->name, version);
    if (r == ZK_NOT_EMPTY)
        r = zk_config_update(run->zk, place->type, place->name, c, version);
    return r == ZK_OK ? zk_config_notify(run->zk, place->type, place->name) : r;
}

/* False: others have written the node since it was read. */
static bool alter_now(const struct quota_run *run, struct quota_alteration *al,
                      const struct place *place)
{
    struct zk_config stored = {.name = place->name};
    const struct node_config *was = &stored.node;
    struct node_config c = {0};
    enum zk_result r = zk_config_look(run->zk, place->type, run->a, &stored);

    if (r != ZK_OK) {
        refuse_zk(run, al, r);
        return true;
    }
    c.entries =
        arena_new_array(run->a, struct node_config_entry, (size_t)was->count + place->key_count);
    c.count = was->count;
    for (int32_t i = 0; i < was->count; i++)
        c.entries[i] = was->entries[i];
    for (int32_t i = 0; i < al->op_count; i++) {
        if (al->ops[i].is_removal)
            remove_entry(&c, al->ops[i].key);
        else if (set_entry(run, al, place, &al->ops[i], &c))
            return true;
    }
    if (run->is_dry_run)
        return true;
    r = write_place(run, place, &c, stored.version);
    if (r != ZK_OK && r != ZK_BAD_VERSION)
        refuse_zk(run, al, r);
    return r != ZK_BAD_VERSION;
}

static void alter_one(const struct quota_run *run, struct quota_alteration *al)
{
    struct place place;

    if (find_place(run, al, &place))
        return;
    for (int round = 0; round < ROUNDS_MAX; round++)
        if (alter_now(run, al, &place))
            return;
    refuse_zk(run, al, ZK_BAD_VERSION);
}

void quota_admin_alter(const struct quota_run *run, struct quota_alteration *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        alter_one(run, &list[i]);
}
