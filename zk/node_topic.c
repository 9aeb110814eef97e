#include "zk/node_topic.h"

#include "zk/node_json.h"

#include <stdio.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    const struct node_partition *pa = a, *pb = b;

    return (pa->id > pb->id) - (pa->id < pb->id);
}

const struct node_partition *node_topic_partition(const struct node_topic *t, int32_t id)
{
    const struct node_partition key = {.id = id};

    return t->count ? bsearch(&key, t->partitions, (size_t)t->count, sizeof key, by_id) : NULL;
}

static int decode_partitions(json_t *map, struct arena *a, struct node_why *why,
                             struct node_topic *t)
{
    const char *key;
    json_t *ids;

    t->partitions = arena_new_array(a, struct node_partition, json_object_size(map));
    json_object_foreach(map, key, ids)
    {
        struct node_partition *part = &t->partitions[t->count++];
        int r = node_key_i32(key, "partitions", why, &part->id);

        if (r < 0 || (r = node_ids_decode(ids, "partitions", a, why, &part->replicas)) < 0)
            return r;
    }
    if (t->count)
        qsort(t->partitions, (size_t)t->count, sizeof *t->partitions, by_id);
    for (int32_t i = 1; i < t->count; i++) {
        if (t->partitions[i].id == t->partitions[i - 1].id)
            return node_wrong(why, "partition %d twice", t->partitions[i].id);
    }
    return 0;
}

/* adding_replicas or removing_replicas; entries of partitions that there are not are passed over.
 * */
static int decode_changes(const json_t *root, const char *key, struct arena *a,
                          struct node_why *why, struct node_topic *t)
{
    bool adding = strcmp(key, "adding_replicas") == 0;
    const char *name;
    json_t *map, *ids;

    if (!json_object_get(root, key))
        return 0;
    int r = node_object(root, key, why, &map);
    if (r < 0)
        return r;
    json_object_foreach(map, name, ids)
    {
        int32_t id;

        if ((r = node_key_i32(name, key, why, &id)) < 0)
            return r;
        struct node_partition *part = (struct node_partition *)node_topic_partition(t, id);
        if (!part)
            continue;
        r = node_ids_decode(ids, key, a, why, adding ? &part->adding : &part->removing);
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode_id(const json_t *root, struct arena *a, struct node_why *why, struct uuid *ret)
{
    struct str text;

    if (!json_object_get(root, "topic_id"))
        return 0;
    int r = node_str(root, "topic_id", a, why, &text);
    if (r < 0)
        return r;
    if (uuid_from_text(text, ret) < 0)
        return node_wrong(why, "\"topic_id\" is no id: \"%.*s\"", (int)MIN(text.len, (size_t)40),
                          text.p);
    return 0;
}

int node_topic_decode(struct slice data, struct arena *a, struct node_why *why,
                      struct node_topic *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_topic t = {0};
    json_t *map;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_object(root, "partitions", why, &map)) < 0 ||
        (r = decode_partitions(map, a, why, &t)) < 0 ||
        (r = decode_changes(root, "adding_replicas", a, why, &t)) < 0 ||
        (r = decode_changes(root, "removing_replicas", a, why, &t)) < 0 ||
        (r = decode_id(root, a, why, &t.id)) < 0)
        return r;
    *ret = t;
    return 0;
}

struct slice node_topic_encode(struct arena *a, const struct node_topic *t)
{
    json_t *root = json_object(), *replicas = json_object();
    json_t *adding = json_object(), *removing = json_object();

    for (int32_t i = 0; i < t->count; i++) {
        const struct node_partition *part = &t->partitions[i];
        char key[16];

        snprintf(key, sizeof key, "%d", part->id);
        json_object_set_new(replicas, key, node_json_ids(&part->replicas));
        if (part->adding.count)
            json_object_set_new(adding, key, node_json_ids(&part->adding));
        if (part->removing.count)
            json_object_set_new(removing, key, node_json_ids(&part->removing));
    }
    json_object_set_new(root, "version", json_integer(3));
    json_object_set_new(root, "partitions", replicas);
    json_object_set_new(root, "adding_replicas", adding);
    json_object_set_new(root, "removing_replicas", removing);
    if (!uuid_is_zero(t->id)) {
        char text[UUID_TEXT_LEN + 1];

        uuid_to_text(t->id, text);
        json_object_set_new(root, "topic_id", json_string(text));
    }
    return node_dump(a, root);
}
