#include "tools/records/delete_plan.h"

#include "common/base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

static void json_put(json_t **j)
{
    json_decref(*j);
}

/* What Kafka's tool says of a value of another kind, with the value. */
static int wrong_kind(const char *wanted, const json_t *got, struct strbuf *why)
{
    CLEANUP(free_p) char *text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);

    strbuf_addf(why, "Expected %s, received %s", wanted, text ? text : "something else");
    return -EINVAL;
}

/* A whole number that 64 bits do not hold; it ends where the parser gave up. */
static int too_big(struct str text, int position, struct strbuf *why)
{
    size_t end = position > 0 ? MIN((size_t)position, text.len) : 0, start = end;

    while (start > 0 && (isdigit((unsigned char)text.p[start - 1]) || text.p[start - 1] == '-'))
        start--;
    strbuf_addf(why, "Expected `Long` value, received %.*s", (int)(end - start), text.p + start);
    return -EINVAL;
}

static int parse_root(struct str text, json_t **ret, struct strbuf *why)
{
    json_error_t error;
    CLEANUP(json_put)
    json_t *root = json_loadb(text.p, text.len, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);

    if (!root && json_error_code(&error) == json_error_numeric_overflow)
        return too_big(text, error.position, why);
    if (!root) {
        strbuf_addz(why, "The input string is not a valid JSON");
        return -EINVAL;
    }
    if (!json_is_object(root))
        return wrong_kind("JSON object", root, why);
    const json_t *version = json_object_get(root, "version");
    if (version && (!json_is_integer(version) || json_integer_value(version) < INT32_MIN ||
                    json_integer_value(version) > INT32_MAX))
        return wrong_kind("`Integer` value", version, why);
    if (version && json_integer_value(version) != 1) {
        strbuf_addf(why, "Not supported version field value %" PRId64,
                    (int64_t)json_integer_value(version));
        return -EINVAL;
    }
    *ret = TAKE(root);
    return 0;
}

static int field(const json_t *o, const char *name, const json_t **ret, struct strbuf *why)
{
    *ret = json_object_get(o, name);
    if (*ret)
        return 0;
    strbuf_addf(why, "No such field exists: `%s`", name);
    return -EINVAL;
}

static int parse_entry(const json_t *j, struct arena *a, struct delete_entry *e, struct strbuf *why)
{
    const json_t *v;

    if (!json_is_object(j))
        return wrong_kind("JSON object", j, why);
    if (field(j, "topic", &v, why) < 0)
        return -EINVAL;
    if (!json_is_string(v))
        return wrong_kind("`String` value", v, why);
    e->topic = arena_str(a, (struct str){json_string_value(v), json_string_length(v)});
    if (field(j, "partition", &v, why) < 0)
        return -EINVAL;
    if (!json_is_integer(v) || json_integer_value(v) < INT32_MIN ||
        json_integer_value(v) > INT32_MAX)
        return wrong_kind("`Integer` value", v, why);
    e->partition = (int32_t)json_integer_value(v);
    if (field(j, "offset", &v, why) < 0)
        return -EINVAL;
    if (!json_is_integer(v))
        return wrong_kind("`Long` value", v, why);
    e->offset = json_integer_value(v);
    return 0;
}

static int by_partition(const void *a, const void *b)
{
    const struct delete_entry *x = a, *y = b;
    size_t n = MIN(x->topic.len, y->topic.len);
    int order = n ? memcmp(x->topic.p, y->topic.p, n) : 0;

    if (order == 0)
        order = (x->topic.len > y->topic.len) - (x->topic.len < y->topic.len);
    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static int check_doubles(const struct delete_plan *p, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};

    for (size_t i = 1; i < p->count; i++) {
        bool is_new = i == 1 || by_partition(&p->v[i - 2], &p->v[i - 1]) != 0;
        if (is_new && by_partition(&p->v[i - 1], &p->v[i]) == 0)
            strbuf_addf(&twice, "%s%.*s-%d", twice.len ? "," : "", STR_ARG(p->v[i].topic),
                        p->v[i].partition);
    }
    if (twice.len == 0)
        return 0;
    strbuf_addf(why, "Offset json file contains duplicate topic partitions: %s", twice.s);
    return -EINVAL;
}

int delete_plan_parse(struct str json, struct arena *a, struct delete_plan *ret, struct strbuf *why)
{
    CLEANUP(json_put) json_t *root = NULL;
    int r = parse_root(json, &root, why);

    if (r < 0)
        return r;
    const json_t *list = json_object_get(root, "partitions");
    if (!list) {
        strbuf_addz(why, "Missing partitions field");
        return -EINVAL;
    }
    if (!json_is_array(list))
        return wrong_kind("JSON array", list, why);
    *ret =
        (struct delete_plan){arena_new_array(a, struct delete_entry, json_array_size(list) + 1), 0};
    for (size_t i = 0; r == 0 && i < json_array_size(list); i++)
        r = parse_entry(json_array_get(list, i), a, &ret->v[ret->count++], why);
    if (r < 0)
        return r;
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, by_partition);
    return check_doubles(ret, why);
}
