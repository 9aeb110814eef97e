#include "zk/node_config.h"

#include "common/base/strbuf.h"
#include "zk/node_json.h"

#include <ctype.h>

static const char *const types[] = {"topics", "brokers", "clients", "users", "ips"};

int node_config_decode(struct slice data, struct arena *a, struct node_why *why,
                       struct node_config *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_config c = {0};
    const char *key;
    json_t *map, *v;

    if (data.len > NODE_MAX_BYTES)
        return node_wrong(why, "%zu bytes, at most %d are read", data.len, NODE_MAX_BYTES);
    *ret = c;
    if (node_parse(data, why, &root) < 0 || !(map = json_object_get(root, "config"))) {
        ret->is_unreadable = !root && data.len > 0;
        return 0;
    }
    if (!json_is_object(map))
        return node_wrong(why, "\"config\" is no object");
    c.entries = arena_new_array(a, struct node_config_entry, json_object_size(map));
    json_object_foreach(map, key, v)
    {
        if (!json_is_string(v))
            return node_wrong(why, "the value of \"%.60s\" is no text", key);
        c.entries[c.count++] =
            (struct node_config_entry){arena_str(a, str_of(key)), node_text(a, v)};
    }
    *ret = c;
    return 0;
}

struct slice node_config_encode(struct arena *a, const struct node_config *c)
{
    json_t *root = json_object(), *map = json_object();

    for (int32_t i = 0; i < c->count; i++) {
        const struct node_config_entry *e = &c->entries[i];

        json_object_setn_new(map, e->key.p, e->key.len, node_json_str(e->value));
    }
    json_object_set_new(root, "version", json_integer(1));
    json_object_set_new(root, "config", map);
    return node_dump(a, root);
}

struct str node_config_get(const struct node_config *c, const char *key)
{
    for (int32_t i = 0; i < c->count; i++) {
        if (str_eqz(c->entries[i].key, key))
            return c->entries[i].value;
    }
    return STR_NULL;
}

struct str node_sanitize(struct arena *a, struct str name)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (str_eqz(name, "<default>"))
        return arena_str(a, name);
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.p[i];

        if (c < 0x80 && (isalnum(c) || c == '.' || c == '-' || c == '_'))
            strbuf_add_char(&sb, (char)c);
        else
            strbuf_addf(&sb, "%%%02X", c);
    }
    return arena_str(a, strbuf_str(&sb));
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int node_desanitize(struct arena *a, struct str text, struct str *ret)
{
    char *out = arena_alloc(a, text.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];

        if (c == '%') {
            int high = i + 2 < text.len ? hex(text.p[i + 1]) : -1;
            int low = high >= 0 ? hex(text.p[i + 2]) : -1;

            if (low < 0)
                return -EINVAL;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        out[n++] = c;
    }
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
}

static bool is_type(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_eqz(type, types[i]))
            return true;
    }
    return false;
}

/* "users/u/clients/c" is of type users and named "u/clients/c". */
static int split_path(struct str path, struct node_why *why, struct node_config_change *ret)
{
    struct str rest = path, type;

    if (!str_split(&rest, '/', &type) || str_is_null(rest) || rest.len == 0 || !is_type(type))
        return node_wrong(why, "\"entity_path\" is \"%.*s\", which is no TYPE/NAME of ours",
                          (int)MIN(path.len, (size_t)80), path.p);
    *ret = (struct node_config_change){type, rest};
    return 0;
}

static int decode_v1(const json_t *root, struct arena *a, struct node_why *why,
                     struct node_config_change *ret)
{
    struct node_config_change c;
    int r = node_str(root, "entity_type", a, why, &c.type);

    if (r < 0 || (r = node_str(root, "entity_name", a, why, &c.name)) < 0)
        return r;
    if (!str_eqz(c.type, "topics") && !str_eqz(c.type, "clients"))
        return node_wrong(why, "\"entity_type\" is neither topics nor clients");
    if (c.name.len == 0)
        return node_wrong(why, "\"entity_name\" is empty");
    *ret = c;
    return 0;
}

int node_config_change_decode(struct slice data, struct arena *a, struct node_why *why,
                              struct node_config_change *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    int32_t version;
    struct str path;
    int r = node_parse(data, why, &root);

    if (r < 0 || (r = node_i32(root, "version", why, &version)) < 0)
        return r;
    if (version == 1)
        return decode_v1(root, a, why, ret);
    if (version != 2)
        return node_wrong(why, "\"version\" is %d, neither 1 nor 2", version);
    if ((r = node_str(root, "entity_path", a, why, &path)) < 0)
        return r;
    return split_path(path, why, ret);
}

struct slice node_config_change_encode(struct arena *a, const struct node_config_change *c)
{
    json_t *root = json_object();
    struct str path = arena_printf(a, "%.*s/%.*s", STR_ARG(c->type), STR_ARG(c->name));

    json_object_set_new(root, "version", json_integer(2));
    json_object_set_new(root, "entity_path", node_json_str(path));
    return node_dump(a, root);
}
