#include "zk/node_cluster.h"

#include "zk/node_json.h"

#include <inttypes.h>

int node_cluster_id_decode(struct slice data, struct arena *a, struct node_why *why,
                           struct str *ret_id)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    int r = node_parse(data, why, &root);

    return r < 0 ? -EBADMSG : node_str(root, "id", a, why, ret_id);
}

/* The version is a text here, and nowhere else. */
struct slice node_cluster_id_encode(struct arena *a, struct str id)
{
    json_t *root = json_object();

    json_object_set_new(root, "version", json_string("1"));
    json_object_set_new(root, "id", node_json_str(id));
    return node_dump(a, root);
}

int node_producer_block_decode(struct slice data, struct node_why *why,
                               struct node_producer_block *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_producer_block b = {0};
    int r;

    if (!data.p)
        return -ENODATA;
    if (node_parse(data, why, &root) < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "broker", why, &b.broker)) < 0 ||
        (r = node_i64_text(root, "block_start", why, &b.start)) < 0 ||
        (r = node_i64_text(root, "block_end", why, &b.end)) < 0)
        return r;
    if (b.start < 0 || b.end < b.start)
        return node_wrong(why, "the block goes from %" PRId64 " to %" PRId64, b.start, b.end);
    *ret = b;
    return 0;
}

struct slice node_producer_block_encode(struct arena *a, const struct node_producer_block *b)
{
    return slice_of_str(arena_printf(a,
                                     "{\"version\":1,\"broker\":%d,\"block_start\":\"%" PRId64
                                     "\",\"block_end\":\"%" PRId64 "\"}",
                                     b->broker, b->start, b->end));
}

static int decode_feature(const char *name, const json_t *v, int32_t version, struct node_why *why,
                          struct node_finalized *ret)
{
    int32_t min = 1, max;
    int r = version == 1 ? node_i32(v, "min_version_level", why, &min) : 0;

    if (r < 0 || (r = node_i32(v, "max_version_level", why, &max)) < 0)
        return r;
    if (min < 1 || max < min || max > INT16_MAX)
        return node_wrong(why, "feature \"%.60s\" has levels %d to %d", name, min, max);
    ret->min_version = (int16_t)min;
    ret->max_version = (int16_t)max;
    return 0;
}

int node_features_decode(struct slice data, struct arena *a, struct node_why *why,
                         struct node_features *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_features f = {0};
    const char *name;
    json_t *map, *v;
    int32_t status;
    int r = node_parse(data, why, &root);

    if (r < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "version", why, &f.version)) < 0 ||
        (r = node_i32(root, "status", why, &status)) < 0 ||
        (r = node_object(root, "features", why, &map)) < 0)
        return r;
    if (f.version != 1 && f.version != 2)
        return node_wrong(why, "\"version\" is %d, neither 1 nor 2", f.version);
    if (status != 0 && status != 1)
        return node_wrong(why, "\"status\" is %d, neither 0 nor 1", status);
    f.enabled = status == 1;
    f.list = arena_new_array(a, struct node_finalized, json_object_size(map));
    json_object_foreach(map, name, v)
    {
        struct node_finalized *one = &f.list[f.count++];

        one->name = arena_str(a, str_of(name));
        if ((r = decode_feature(name, v, f.version, why, one)) < 0)
            return r;
    }
    *ret = f;
    return 0;
}

struct slice node_features_encode(struct arena *a, const struct node_features *f)
{
    json_t *root = json_object(), *map = json_object();

    for (int32_t i = 0; i < f->count; i++) {
        const struct node_finalized *one = &f->list[i];
        json_t *j = json_object();

        if (f->version == 1)
            json_object_set_new(j, "min_version_level", json_integer(one->min_version));
        json_object_set_new(j, "max_version_level", json_integer(one->max_version));
        json_object_setn_new(map, one->name.p, one->name.len, j);
    }
    json_object_set_new(root, "features", map);
    json_object_set_new(root, "version", json_integer(f->version));
    json_object_set_new(root, "status", json_integer(f->enabled));
    return node_dump(a, root);
}

int node_migration_decode(struct slice data, struct node_why *why, struct node_migration *ret)
{
    CLEANUP(json_decref_p) json_t *root = NULL;
    struct node_migration m = {0};
    int r;

    if (!data.p)
        return -ENODATA;
    if (node_parse(data, why, &root) < 0)
        return -EBADMSG;
    if ((r = node_i32(root, "kraft_controller_id", why, &m.controller_id)) < 0 ||
        (r = node_i32(root, "kraft_controller_epoch", why, &m.controller_epoch)) < 0)
        return r;
    *ret = m;
    return 0;
}
