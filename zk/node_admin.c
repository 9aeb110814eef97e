#include "zk/node_admin.h"

#include "zk/node_json.h"

/* Kafka binds this node to a fixed class: a key that is not among these makes the whole content
 * count for nothing. */
static int only_keys(const json_t *obj, const char *const *keys, size_t count, struct node_why *why)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)obj, key, v)
    {
        size_t i = 0;

        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        if (i == count)
            return node_wrong(why, "unknown key \"%.60s\"", key);
    }
    return 0;
}

static int decode_entry(const json_t *v, struct arena *a, struct node_why *why,
                        struct node_reassign_entry *ret)
{
    static const char *const keys[] = {"topic", "partition", "replicas"};
    json_t *ids;
    int r = only_keys(v, keys, ARRAY_LEN(keys), why);

    if (r < 0 || (r = node_str(v, "topic", a, why, &ret->topic)) < 0 ||
        (r = node_i32(v, "partition", why, &ret->partition)) < 0 ||
        (r = node_array(v, "replicas", why, &ids)) < 0)
        return r;
    return node_ids_decode(ids, "replicas", a, why, &ret->replicas);
}

int node_reassign_decode(struct slice data, struct arena *a, struct node_why *why,
                         struct node_reassign *ret)
{
    static const char *const keys[] = {"version", "partitions"};
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_reassign list = {0};
    json_t *array, *v;
    size_t i;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = only_keys(root, keys, ARRAY_LEN(keys), why)) < 0 ||
        (r = node_array(root, "partitions", why, &array)) < 0)
        return r;
    list.list = arena_new_array(a, struct node_reassign_entry, json_array_size(array));
    json_array_foreach(array, i, v)
    {
        if ((r = decode_entry(v, a, why, &list.list[list.count++])) < 0)
            return r;
    }
    *ret = list;
    return 0;
}

static json_t *partition_json(struct str topic, int32_t partition)
{
    json_t *j = json_object();

    json_object_set_new(j, "topic", node_json_str(topic));
    json_object_set_new(j, "partition", json_integer(partition));
    return j;
}

static struct slice dump_list(struct arena *a, json_t *array)
{
    json_t *root = json_object();

    json_object_set_new(root, "version", json_integer(1));
    json_object_set_new(root, "partitions", array);
    return node_dump(a, root);
}

struct slice node_reassign_encode(struct arena *a, const struct node_reassign *r)
{
    json_t *array = json_array();

    for (int32_t i = 0; i < r->count; i++) {
        json_t *j = partition_json(r->list[i].topic, r->list[i].partition);

        json_object_set_new(j, "replicas", node_json_ids(&r->list[i].replicas));
        json_array_append_new(array, j);
    }
    return dump_list(a, array);
}

int node_partition_names_decode(struct slice data, struct arena *a, struct node_why *why,
                                struct node_partition_names *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_partition_names names = {0};
    json_t *array, *v;
    size_t i;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_array(root, "partitions", why, &array)) < 0)
        return r;
    names.list = arena_new_array(a, struct node_partition_name, json_array_size(array));
    json_array_foreach(array, i, v)
    {
        struct node_partition_name *n = &names.list[names.count++];

        if ((r = node_str(v, "topic", a, why, &n->topic)) < 0 ||
            (r = node_i32(v, "partition", why, &n->partition)) < 0)
            return r;
    }
    *ret = names;
    return 0;
}

struct slice node_partition_names_encode(struct arena *a, const struct node_partition_names *n)
{
    json_t *array = json_array();

    for (int32_t i = 0; i < n->count; i++)
        json_array_append_new(array, partition_json(n->list[i].topic, n->list[i].partition));
    return dump_list(a, array);
}

int node_log_dir_event_decode(struct slice data, struct node_why *why, int32_t *ret_broker)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    int r = node_parse(data, why, &root);

    return r < 0 ? -EBADMSG : node_i32(root, "broker", why, ret_broker);
}

struct slice node_log_dir_event_encode(struct arena *a, int32_t broker)
{
    return slice_of_str(arena_printf(a, "{\"version\":1,\"broker\":%d,\"event\":1}", broker));
}
