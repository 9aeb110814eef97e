#include "zk/node_broker.h"

#include "common/base/mem.h"
#include "zk/node_json.h"

#include <ctype.h>
#include <stdio.h>

static const char *const protocols[] = {
    [NODE_PLAINTEXT] = "PLAINTEXT",
    [NODE_SSL] = "SSL",
    [NODE_SASL_PLAINTEXT] = "SASL_PLAINTEXT",
    [NODE_SASL_SSL] = "SASL_SSL",
};

const char *node_protocol_name(enum node_protocol p)
{
    assert((size_t)p < ARRAY_LEN(protocols));
    return protocols[p];
}

int node_protocol_parse(struct str name, enum node_protocol *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
        if (str_eqz(name, protocols[i])) {
            *ret = (enum node_protocol)i;
            return 0;
        }
    }
    return -EINVAL;
}

static struct str upper(struct arena *a, struct str s)
{
    char *p = arena_strz(a, s);

    for (size_t i = 0; i < s.len; i++)
        p[i] = (char)toupper((unsigned char)p[i]);
    return (struct str){p, s.len};
}

static int check_host(struct str host, struct node_why *why)
{
    for (size_t i = 0; i < host.len; i++) {
        unsigned char c = (unsigned char)host.p[i];

        if (!c || !(isalnum(c) || strchr("-%._:", c)))
            return node_wrong(why, "a host has a strange character: \"%.*s\"",
                              (int)MIN(host.len, (size_t)60), host.p);
    }
    return 0;
}

/* "LISTENER://host:port", an IPv6 host in brackets; the host may be empty. */
static int parse_endpoint(struct str text, struct arena *a, struct node_why *why,
                          struct node_endpoint *ret)
{
    const char *sep = text.len ? memmem(text.p, text.len, "://", 3) : NULL;
    const char *colon = text.len ? memrchr(text.p, ':', text.len) : NULL;
    const char *end = text.p + text.len;

    if (!sep || colon <= sep + 2 ||
        str_to_i32((struct str){colon + 1, (size_t)(end - colon - 1)}, -1, 65535, &ret->port) < 0)
        return node_wrong(why, "\"endpoints\" has \"%.*s\", which is no LISTENER://host:port",
                          (int)MIN(text.len, (size_t)80), text.p);
    struct str host = {sep + 3, (size_t)(colon - sep - 3)};

    if (host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']')
        host = (struct str){host.p + 1, host.len - 2};
    ret->host = arena_str(a, host);
    ret->listener = upper(a, (struct str){text.p, (size_t)(sep - text.p)});
    return check_host(host, why);
}

static int protocol_of(const json_t *map, struct str listener, struct node_why *why,
                       enum node_protocol *ret)
{
    const json_t *v = map ? json_object_getn(map, listener.p, listener.len) : NULL;

    if (!map) {
        if (node_protocol_parse(listener, ret) == 0)
            return 0;
    } else if (json_is_string(v)) {
        struct str name = {json_string_value(v), json_string_length(v)};

        if (node_protocol_parse(name, ret) == 0)
            return 0;
    }
    return node_wrong(why, "listener \"%.*s\" has no security protocol",
                      (int)MIN(listener.len, (size_t)60), listener.p);
}

static int decode_endpoints(const json_t *root, struct arena *a, struct node_why *why,
                            struct node_broker *b)
{
    json_t *list, *map = NULL, *v;
    size_t i;
    int r = node_array(root, "endpoints", why, &list);

    if (r < 0)
        return r;
    if (json_object_get(root, "listener_security_protocol_map") &&
        (r = node_object(root, "listener_security_protocol_map", why, &map)) < 0)
        return r;
    b->endpoints = arena_new_array(a, struct node_endpoint, json_array_size(list));
    json_array_foreach(list, i, v)
    {
        struct node_endpoint *e = &b->endpoints[b->endpoint_count];
        struct str text = {json_string_value(v), json_string_length(v)};

        if (!json_is_string(v))
            return node_wrong(why, "\"endpoints\" has an entry that is no text");
        if ((r = parse_endpoint(text, a, why, e)) < 0 ||
            (r = protocol_of(map, e->listener, why, &e->protocol)) < 0)
            return r;
        if (node_broker_endpoint(b, e->listener))
            return node_wrong(why, "listener \"%.*s\" twice", STR_ARG(e->listener));
        b->endpoint_count++;
    }
    return 0;
}

/* Version 1: one plaintext listener. */
static int decode_host_port(const json_t *root, struct arena *a, struct node_why *why,
                            struct node_broker *b)
{
    struct node_endpoint e = {.listener = STR("PLAINTEXT"), .protocol = NODE_PLAINTEXT};
    int r = node_str(root, "host", a, why, &e.host);

    if (r < 0 || (r = check_host(e.host, why)) < 0 ||
        (r = node_i32(root, "port", why, &e.port)) < 0)
        return r;
    if (e.port < -1 || e.port > 65535)
        return node_wrong(why, "\"port\" is %d", e.port);
    b->endpoints = arena_new(a, struct node_endpoint);
    b->endpoints[0] = e;
    b->endpoint_count = 1;
    return 0;
}

static int decode_rack(const json_t *root, struct arena *a, struct node_why *why, struct str *ret)
{
    const json_t *v = json_object_get(root, "rack");

    *ret = STR_NULL;
    if (!v || json_is_null(v))
        return 0;
    return node_str(root, "rack", a, why, ret);
}

static int decode_features(const json_t *root, struct arena *a, struct node_why *why,
                           struct node_broker *b)
{
    json_t *map, *v;
    const char *name;

    if (!json_object_get(root, "features"))
        return 0;
    int r = node_object(root, "features", why, &map);
    if (r < 0)
        return r;
    b->features = arena_new_array(a, struct node_feature, json_object_size(map));
    json_object_foreach(map, name, v)
    {
        struct node_feature *f = &b->features[b->feature_count++];
        int32_t min, max;

        if ((r = node_i32(v, "min_version", why, &min)) < 0 ||
            (r = node_i32(v, "max_version", why, &max)) < 0)
            return r;
        if (min < 0 || max < min || max > INT16_MAX)
            return node_wrong(why, "feature \"%.60s\" has versions %d to %d", name, min, max);
        *f = (struct node_feature){arena_str(a, str_of(name)), (int16_t)min, (int16_t)max};
    }
    return 0;
}

int node_broker_decode(struct slice data, struct arena *a, struct node_why *why,
                       struct node_broker *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_broker b = {0};
    int32_t version;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "version", why, &version)) < 0)
        return r;
    if (version < 1)
        return node_wrong(why, "\"version\" is %d, below 1", version);
    if ((r = node_i32(root, "jmx_port", why, &b.jmx_port)) < 0)
        return r;
    if (node_i64_text(root, "timestamp", NULL, &b.timestamp_ms) < 0)
        b.timestamp_ms = 0;
    r = version == 1 ? decode_host_port(root, a, why, &b) : decode_endpoints(root, a, why, &b);
    if (r < 0 || (r = decode_rack(root, a, why, &b.rack)) < 0 ||
        (r = decode_features(root, a, why, &b)) < 0)
        return r;
    *ret = b;
    return 0;
}

static json_t *endpoint_text(const struct node_endpoint *e)
{
    bool ipv6 = e->host.len && memchr(e->host.p, ':', e->host.len);

    return json_sprintf(ipv6 ? "%.*s://[%.*s]:%d" : "%.*s://%.*s:%d", STR_ARG(e->listener),
                        STR_ARG(e->host), e->port);
}

static json_t *features_json(const struct node_broker *b)
{
    json_t *map = json_object();

    for (int32_t i = 0; i < b->feature_count; i++) {
        const struct node_feature *f = &b->features[i];

        json_object_setn_new(
            map, f->name.p, f->name.len,
            json_pack("{s:i,s:i}", "min_version", f->min_version, "max_version", f->max_version));
    }
    return map;
}

struct slice node_broker_encode(struct arena *a, const struct node_broker *b)
{
    json_t *root = json_object(), *endpoints = json_array(), *map = json_object();
    const struct node_endpoint *plain = NULL;
    int32_t version = b->version > 0 ? b->version : 5;
    char timestamp[24];

    for (int32_t i = 0; i < b->endpoint_count; i++) {
        const struct node_endpoint *e = &b->endpoints[i];

        if (!plain && e->protocol == NODE_PLAINTEXT)
            plain = e;
        json_array_append_new(endpoints, endpoint_text(e));
        json_object_setn_new(map, e->listener.p, e->listener.len,
                             json_string(node_protocol_name(e->protocol)));
    }
    snprintf(timestamp, sizeof timestamp, "%lld", (long long)b->timestamp_ms);
    json_object_set_new(root, "version", json_integer(version));
    json_object_set_new(root, "host", plain ? node_json_str(plain->host) : json_null());
    json_object_set_new(root, "port", json_integer(plain ? plain->port : -1));
    json_object_set_new(root, "endpoints", endpoints);
    json_object_set_new(root, "jmx_port", json_integer(b->jmx_port));
    json_object_set_new(root, "timestamp", json_string(timestamp));
    if (!str_is_null(b->rack) && version >= 3)
        json_object_set_new(root, "rack", node_json_str(b->rack));
    if (version >= 4)
        json_object_set(root, "listener_security_protocol_map", map);
    json_decref(map);
    if (version >= 5)
        json_object_set_new(root, "features", features_json(b));
    return node_dump(a, root);
}

const struct node_endpoint *node_broker_endpoint(const struct node_broker *b, struct str listener)
{
    for (int32_t i = 0; i < b->endpoint_count; i++) {
        if (str_eq(b->endpoints[i].listener, listener))
            return &b->endpoints[i];
    }
    return NULL;
}

static bool same_endpoint(const struct node_endpoint *a, const struct node_endpoint *b)
{
    return str_eq(a->listener, b->listener) && str_eq(a->host, b->host) && a->port == b->port &&
           a->protocol == b->protocol;
}

static bool has_feature(const struct node_broker *b, const struct node_feature *f)
{
    for (int32_t i = 0; i < b->feature_count; i++) {
        const struct node_feature *g = &b->features[i];

        if (str_eq(f->name, g->name))
            return f->min_version == g->min_version && f->max_version == g->max_version;
    }
    return false;
}

bool node_broker_same(const struct node_broker *a, const struct node_broker *b)
{
    if (a->endpoint_count != b->endpoint_count || a->feature_count != b->feature_count)
        return false;
    for (int32_t i = 0; i < a->endpoint_count; i++) {
        const struct node_endpoint *e = node_broker_endpoint(b, a->endpoints[i].listener);

        if (!e || !same_endpoint(&a->endpoints[i], e))
            return false;
    }
    for (int32_t i = 0; i < a->feature_count; i++) {
        if (!has_feature(b, &a->features[i]))
            return false;
    }
    return true;
}

bool node_broker_collides(const struct node_broker *a, const struct node_broker *b,
                          const struct node_endpoint **ret)
{
    for (int32_t i = 0; i < a->endpoint_count; i++) {
        for (int32_t j = 0; j < b->endpoint_count; j++) {
            const struct node_endpoint *ea = &a->endpoints[i], *eb = &b->endpoints[j];

            if (ea->port != eb->port || !str_eq(ea->host, eb->host))
                continue;
            if (ret)
                *ret = ea;
            return true;
        }
    }
    return false;
}

struct node_broker node_broker_copy(struct arena *a, const struct node_broker *b)
{
    struct node_broker c = *b;

    c.rack = arena_str(a, b->rack);
    c.endpoints = arena_new_array(a, struct node_endpoint, (size_t)b->endpoint_count);
    for (int32_t i = 0; i < b->endpoint_count; i++) {
        c.endpoints[i] = b->endpoints[i];
        c.endpoints[i].listener = arena_str(a, b->endpoints[i].listener);
        c.endpoints[i].host = arena_str(a, b->endpoints[i].host);
    }
    c.features = arena_new_array(a, struct node_feature, (size_t)b->feature_count);
    for (int32_t i = 0; i < b->feature_count; i++) {
        c.features[i] = b->features[i];
        c.features[i].name = arena_str(a, b->features[i].name);
    }
    return c;
}
