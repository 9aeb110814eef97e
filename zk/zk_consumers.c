#include "zk/zk_consumers.h"

#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

#include <stdio.h>

/* What one call, or a chunk of it, writes. */
struct writing {
    struct str group;
    struct zk_consumer_offset *list;
    size_t count;
};

/* A path ends at its first NUL: it would be that of another group. */
static bool is_nameable(struct str group)
{
    return memchr(group.p, '\0', group.len) == NULL;
}

static void give_all(struct zk_consumer_offset *list, size_t count, enum zk_result r)
{
    for (size_t i = 0; i < count; i++)
        list[i].result = r;
}

static void decode(const struct zk_op *op, struct zk_consumer_offset *ret)
{
    struct node_why why;
    struct str text = str_of_slice(op->ret_data);

    ret->offset = -1;
    ret->result = op->result;
    if (op->result != ZK_OK)
        return;
    if (str_is_null(text)) { /* somebody made the node and wrote nothing */
        ret->result = ZK_NO_NODE;
    } else if (str_to_i64(text, INT64_MIN, INT64_MAX, &ret->offset) < 0) {
        ret->offset = -1;
        snprintf(why.text, sizeof why.text, "an offset is wanted, a decimal number");
        ret->result = zk_malformed(op->path, &why);
    }
}

static void read_chunk(struct zk_store *s, struct str group, struct zk_consumer_offset *list,
                       size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_get(&b,
                     zk_path_consumer_offset(&b.arena, group, list[i].topic, list[i].partition));
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++)
        decode(&b.ops[i], &list[i]);
}

/* One round over those whose result so far is wanted: gives each a new one. */
static void write_round(struct zk_store *s, const struct writing *w, enum zk_result wanted,
                        bool create)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < w->count; i++) {
        const struct zk_consumer_offset *o = &w->list[i];

        if (o->result != wanted)
            continue;
        const char *path = zk_path_consumer_offset(&b.arena, w->group, o->topic, o->partition);
        struct slice data = slice_of_str(arena_printf(&b.arena, "%lld", (long long)o->offset));

        if (create)
            zk_batch_create(&b, path, data, 0);
        else
            zk_batch_set(&b, path, data, ZK_ANY_VERSION);
    }
    if (b.count == 0)
        return;
    zk_store_run(s, &b);
    for (size_t i = 0, at = 0; i < w->count; i++)
        if (w->list[i].result == wanted)
            w->list[i].result = b.ops[at++].result;
}

/* The topics' nodes, for those that have none. Where that fails it is their result. */
static void make_parents(struct zk_store *s, const struct writing *w)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char **paths = arena_new_array(&a, const char *, w->count);
    struct str last = STR_NULL;
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++) {
        if (w->list[i].result != ZK_NO_NODE || str_eq(w->list[i].topic, last))
            continue;
        last = w->list[i].topic;
        paths[n++] = zk_path_consumer_offsets(&a, w->group, last);
    }
    enum zk_result r = n ? zk_store_ensure_paths(s, paths, n) : ZK_OK;

    for (size_t i = 0; r != ZK_OK && i < w->count; i++)
        if (w->list[i].result == ZK_NO_NODE)
            w->list[i].result = r;
}

/* Most are there, and are set in the first round. What is created meanwhile by another client, or
 * by ourselves when the answer is lost and the request repeated, is set in the last one. */
static void write_chunk(struct zk_store *s, struct str group, struct zk_consumer_offset *list,
                        size_t count)
{
    struct writing w = {group, list, count};

    give_all(list, count, ZK_NO_NODE);
    write_round(s, &w, ZK_NO_NODE, false);
    make_parents(s, &w);
    write_round(s, &w, ZK_NO_NODE, true);
    write_round(s, &w, ZK_NODE_EXISTS, false);
}

static void
in_chunks(struct zk_store *s, struct str group, struct zk_consumer_offset *list, size_t count,
          void (*chunk)(struct zk_store *, struct str, struct zk_consumer_offset *, size_t))
{
    if (!is_nameable(group)) {
        give_all(list, count, ZK_OTHER);
        return;
    }
    for (size_t at = 0; at < count; at += ZK_CHUNK)
        chunk(s, group, list + at, MIN(count - at, (size_t)ZK_CHUNK));
}

void zk_consumer_offsets_read(struct zk_store *s, struct str group, struct zk_consumer_offset *list,
                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i].offset = -1;
    in_chunks(s, group, list, count, read_chunk);
}

void zk_consumer_offsets_write(struct zk_store *s, struct str group,
                               struct zk_consumer_offset *list, size_t count)
{
    in_chunks(s, group, list, count, write_chunk);
}
