#include "zk/node_json.h"

#include <stdarg.h>
#include <stdio.h>

int node_wrong(struct node_why *why, const char *fmt, ...)
{
    va_list ap;

    if (why) {
        va_start(ap, fmt);
        vsnprintf(why->text, sizeof why->text, fmt, ap);
        va_end(ap);
    }
    return -EBADMSG;
}

/* Deepest nesting of brackets outside of texts: the parser below recurses, so this is looked at
 * first. */
static int depth_of(struct slice data)
{
    int depth = 0, deepest = 0;
    bool in_text = false;

    for (size_t i = 0; i < data.len; i++) {
        uint8_t c = data.p[i];

        if (in_text) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_text = false;
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            deepest = MAX(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return deepest;
}

int node_parse(struct slice data, struct node_why *why, json_t **ret)
{
    json_error_t err;

    if (!data.p)
        return node_wrong(why, "no data (null)");
    if (data.len == 0)
        return node_wrong(why, "no data (empty)");
    if (data.len > NODE_MAX_BYTES)
        return node_wrong(why, "%zu bytes, at most %d are read", data.len, NODE_MAX_BYTES);
    if (depth_of(data) > NODE_MAX_DEPTH)
        return node_wrong(why, "nested deeper than %d", NODE_MAX_DEPTH);
    json_t *root =
        json_loadb((const char *)data.p, data.len, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &err);
    if (!root) {
        node_wrong(why, "no JSON: %s at byte %d", err.text, err.position);
        return -ENODATA;
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return node_wrong(why, "no JSON object");
    }
    *ret = root;
    return 0;
}

static int field(const json_t *obj, const char *key, struct node_why *why, json_t **ret)
{
    json_t *v = json_object_get(obj, key);

    if (!v)
        return node_wrong(why, "\"%s\" is missing", key);
    *ret = v;
    return 0;
}

static int as_i32(const json_t *v, const char *what, struct node_why *why, int32_t *ret)
{
    if (!json_is_integer(v))
        return node_wrong(why, "\"%s\" is no integer", what);
    json_int_t n = json_integer_value(v);

    if (n < INT32_MIN || n > INT32_MAX)
        return node_wrong(why, "\"%s\" is out of range: %" JSON_INTEGER_FORMAT, what, n);
    *ret = (int32_t)n;
    return 0;
}

int node_i32(const json_t *obj, const char *key, struct node_why *why, int32_t *ret)
{
    json_t *v = NULL;
    int r = field(obj, key, why, &v);

    return r < 0 ? r : as_i32(v, key, why, ret);
}

struct str node_text(struct arena *a, const json_t *string)
{
    return arena_str(a, (struct str){json_string_value(string), json_string_length(string)});
}

int node_str(const json_t *obj, const char *key, struct arena *a, struct node_why *why,
             struct str *ret)
{
    json_t *v = NULL;
    int r = field(obj, key, why, &v);

    if (r < 0)
        return r;
    if (!json_is_string(v))
        return node_wrong(why, "\"%s\" is no text", key);
    *ret = node_text(a, v);
    return 0;
}

int node_i64_text(const json_t *obj, const char *key, struct node_why *why, int64_t *ret)
{
    json_t *v = NULL;
    int r = field(obj, key, why, &v);

    if (r < 0)
        return r;
    struct str s = {json_string_value(v), json_string_length(v)};

    if (!json_is_string(v) || str_to_i64(s, INT64_MIN, INT64_MAX, ret) < 0)
        return node_wrong(why, "\"%s\" is no number in quotes", key);
    return 0;
}

int node_object(const json_t *obj, const char *key, struct node_why *why, json_t **ret)
{
    json_t *v = NULL;
    int r = field(obj, key, why, &v);

    if (r < 0)
        return r;
    if (!json_is_object(v))
        return node_wrong(why, "\"%s\" is no object", key);
    *ret = v;
    return 0;
}

int node_array(const json_t *obj, const char *key, struct node_why *why, json_t **ret)
{
    json_t *v = NULL;
    int r = field(obj, key, why, &v);

    if (r < 0)
        return r;
    if (!json_is_array(v))
        return node_wrong(why, "\"%s\" is no array", key);
    *ret = v;
    return 0;
}

int node_ids_decode(const json_t *array, const char *what, struct arena *a, struct node_why *why,
                    struct node_ids *ret)
{
    struct node_ids ids = {0};
    const json_t *v;
    size_t i;

    if (!json_is_array(array))
        return node_wrong(why, "\"%s\" is no array", what);
    ids.list = arena_new_array(a, int32_t, json_array_size(array));
    json_array_foreach(array, i, v)
    {
        int r = as_i32(v, what, why, &ids.list[ids.count++]);

        if (r < 0)
            return r;
    }
    *ret = ids;
    return 0;
}

int node_key_i32(const char *key, const char *what, struct node_why *why, int32_t *ret)
{
    if (str_to_i32(str_of(key), 0, INT32_MAX, ret) < 0)
        return node_wrong(why, "key \"%.40s\" in \"%s\" is no number", key, what);
    return 0;
}

struct slice node_dump(struct arena *a, json_t *root)
{
    size_t n = json_dumpb(root, NULL, 0, JSON_COMPACT);
    char *text = arena_alloc(a, n + 1);

    n = json_dumpb(root, text, n, JSON_COMPACT);
    json_decref(root);
    return slice_of(text, n);
}

/* What is no UTF-8 cannot be said in JSON; callers have checked names long before they come here.
 * */
json_t *node_json_str(struct str s)
{
    json_t *j = json_stringn(s.p ? s.p : "", s.len);

    return j ? j : json_string("");
}

json_t *node_json_ids(const struct node_ids *ids)
{
    json_t *array = json_array();

    for (int32_t i = 0; i < ids->count; i++)
        json_array_append_new(array, json_integer(ids->list[i]));
    return array;
}

bool node_ids_eq(const struct node_ids *a, const struct node_ids *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0);
}

bool node_ids_has(const struct node_ids *ids, int32_t id)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (ids->list[i] == id)
            return true;
    }
    return false;
}
