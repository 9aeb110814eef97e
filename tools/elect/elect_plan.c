/*
 * elect_plan.c - partitions to elect leaders for, as JSON, and in Java's order
 */
#include "common/base/hash.h"
#include "common/base/mem.h"
#include "tools/base/java.h"
#include "tools/elect/elect.h"

#include <errno.h>
#include <jansson.h>

#define JACKSON "com.fasterxml.jackson.databind.JsonMappingException: "

static void json_put(json_t **j)
{
    json_decref(*j);
}

/* hashCode() of Java's TopicPartition. */
static int32_t hash_of(const struct elect_part *p)
{
    return (int32_t)((31u + (uint32_t)p->partition) * 31u + (uint32_t)hash_java(p->topic));
}

void elect_sort(struct elect_parts *p)
{
    CLEANUP(free_p) int32_t *hashes = xnew_array(int32_t, p->count + 1);
    CLEANUP(free_p) size_t *order = xnew_array(size_t, p->count + 1);
    CLEANUP(free_p) struct elect_part *old = xnew_array(struct elect_part, p->count + 1);

    for (size_t i = 0; i < p->count; i++) {
        old[i] = p->v[i];
        hashes[i] = hash_of(&old[i]);
    }
    java_map_order(hashes, p->count, 0, order);
    for (size_t i = 0; i < p->count; i++)
        p->v[i] = old[order[i]];
}

static int wrong_kind(const json_t *j, const char *wanted, struct strbuf *why)
{
    CLEANUP(free_p) char *text = json_dumps(j, JSON_ENCODE_ANY | JSON_COMPACT);

    strbuf_addf(why, JACKSON "Expected %s, received %s", wanted, text ? text : "");
    return -EINVAL;
}

static int get_field(const json_t *entry, const char *name, const json_t **ret, struct strbuf *why)
{
    if (!json_is_object(entry))
        return wrong_kind(entry, "JSON object", why);
    *ret = json_object_get(entry, name);
    if (*ret)
        return 0;
    strbuf_addf(why, JACKSON "No such field exists: `%s`", name);
    return -EINVAL;
}

static int parse_entry(const json_t *entry, struct arena *a, struct elect_part *ret,
                       struct strbuf *why)
{
    const json_t *topic, *partition;
    int r = get_field(entry, "topic", &topic, why);

    if (r == 0 && !json_is_string(topic))
        r = wrong_kind(topic, "`String` value", why);
    r = r ? r : get_field(entry, "partition", &partition, why);
    if (r == 0 && (!json_is_integer(partition) || json_integer_value(partition) < INT32_MIN ||
                   json_integer_value(partition) > INT32_MAX))
        r = wrong_kind(partition, "`Integer` value", why);
    if (r)
        return r;
    *ret = (struct elect_part){
        .topic = arena_str(a, (struct str){json_string_value(topic), json_string_length(topic)}),
        .partition = (int32_t)json_integer_value(partition)};
    return 0;
}

/* By name; of one partition's entries the earlier one first. */
static int by_name(const void *a, const void *b)
{
    const struct elect_part *x = *(const struct elect_part *const *)a;
    const struct elect_part *y = *(const struct elect_part *const *)b;
    int order = str_cmp(x->topic, y->topic);

    if (order == 0)
        order = (x->partition > y->partition) - (x->partition < y->partition);
    return order ? order : (x > y) - (x < y);
}

static bool is_same(const struct elect_part *x, const struct elect_part *y)
{
    return x->partition == y->partition && str_eq(x->topic, y->topic);
}

/* Each partition's second entry. */
static void find_doubles(const struct elect_parts *p, struct elect_parts *ret)
{
    CLEANUP(free_p) const struct elect_part **sorted = xcalloc(p->count + 1, sizeof *sorted);
    CLEANUP(free_p) bool *is_second = xnew_array(bool, p->count + 1);

    for (size_t i = 0; i < p->count; i++)
        sorted[i] = &p->v[i];
    if (p->count > 1)
        qsort(sorted, p->count, sizeof(*sorted), by_name);
    for (size_t i = 1; i < p->count; i++)
        is_second[sorted[i] - p->v] =
            is_same(sorted[i], sorted[i - 1]) && (i < 2 || !is_same(sorted[i], sorted[i - 2]));
    for (size_t i = 0; i < p->count; i++) {
        if (is_second[i])
            ret->v[ret->count++] = p->v[i];
    }
}

static int check_doubles(const struct elect_parts *p, struct strbuf *why)
{
    CLEANUP(free_p) struct elect_part *room = xnew_array(struct elect_part, p->count + 1);
    struct elect_parts twice = {room, 0};

    find_doubles(p, &twice);
    if (twice.count == 0)
        return 0;
    elect_sort(&twice);
    strbuf_addz(why, "Replica election data contains duplicate partitions: [");
    for (size_t i = 0; i < twice.count; i++)
        strbuf_addf(why, "%s%.*s-%d", i ? ", " : "", STR_ARG(room[i].topic), room[i].partition);
    strbuf_add_char(why, ']');
    return -EINVAL;
}

int elect_parse(struct str json, struct arena *a, struct elect_parts *ret, struct strbuf *why)
{
    CLEANUP(json_put) json_t *root = json_loadb(json.p, json.len, JSON_DECODE_ANY, NULL);
    const json_t *list = json_object_get(root, "partitions");
    struct elect_parts found;
    int r = 0;

    if (!root || (root && !json_is_object(root))) {
        strbuf_addz(why, "Replica election data is empty");
        return -EINVAL;
    }
    if (!list) {
        strbuf_addz(why, "Replica election data is missing \"partitions\" field");
        return -EINVAL;
    }
    if (!json_is_array(list))
        return wrong_kind(list, "JSON array", why);
    found = (struct elect_parts){arena_new_array(a, struct elect_part, json_array_size(list) + 1),
                                 json_array_size(list)};
    for (size_t i = 0; i < found.count && r == 0; i++)
        r = parse_entry(json_array_get(list, i), a, &found.v[i], why);
    r = r ? r : check_doubles(&found, why);
    if (r == 0)
        *ret = found;
    return r;
}
