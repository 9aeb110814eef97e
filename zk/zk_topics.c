#include "zk/zk_topics.h"

#include "zk/zk_configs.h"
#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum zk_result zk_topics_list(struct zk_store *s, bool watch, struct arena *a, struct zk_names *ret)
{
    return zk_store_children(s, ZK_PATH_TOPICS, watch, a, ret);
}

static enum zk_result read_chunk(struct zk_store *s, struct arena *a, struct zk_topic *topics,
                                 size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_get(&b, zk_path_topic(&b.arena, topics[i].name));
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        const struct zk_op *op = &b.ops[i];
        struct node_why why;

        topics[i].result = op->result;
        topics[i].version = op->stat.version;
        if (op->result == ZK_OK && node_topic_decode(op->ret_data, a, &why, &topics[i].node) < 0)
            topics[i].result = zk_malformed(op->path, &why);
        if (op->result != ZK_OK && op->result != ZK_NO_NODE)
            return op->result;
    }
    return ZK_OK;
}

enum zk_result zk_topics_read(struct zk_store *s, struct arena *a, struct zk_topic *topics,
                              size_t count)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = read_chunk(s, a, topics + at, MIN(count - at, (size_t)ZK_CHUNK));
    return r;
}

static enum zk_result is_there(struct zk_store *s, const char *path, bool *ret)
{
    enum zk_result r = zk_store_exists(s, path, NULL);

    if (r != ZK_OK && r != ZK_NO_NODE)
        return r;
    *ret = r == ZK_OK;
    return ZK_OK;
}

enum zk_result zk_topic_exists(struct zk_store *s, struct str name, bool *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return is_there(s, zk_path_topic(&a, name), ret);
}

/* Topics being made together. */
struct making {
    struct zk_topic *topics;
    const struct node_config *configs;
    size_t count;
    int32_t fence; /* version of /controller */
};

/* One pipelined round: makes the config of each topic (is_new), or replaces that of those whose
 * making found one. */
static enum zk_result write_configs(struct zk_store *s, const struct making *m, bool is_new)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    enum zk_result wanted = is_new ? ZK_OK : ZK_NODE_EXISTS;

    for (size_t i = 0; i < m->count; i++) {
        if (m->topics[i].result != wanted)
            continue;
        const char *path = zk_path_config(&b.arena, "topics", m->topics[i].name);
        struct slice data = node_config_encode(&b.arena, &m->configs[i]);

        zk_batch_multi_begin(&b);
        zk_batch_check(&b, ZK_PATH_CONTROLLER, m->fence);
        if (is_new)
            zk_batch_create(&b, path, data, 0);
        else
            zk_batch_set(&b, path, data, ZK_ANY_VERSION);
        zk_batch_multi_end(&b);
    }
    zk_store_run(s, &b);
    for (size_t i = 0, at = 0; i < m->count; i++) {
        if (m->topics[i].result != wanted)
            continue;
        enum zk_result check = b.ops[at].result;
        m->topics[i].result = b.ops[at + 1].result;
        at += 2;
        if (check == ZK_BAD_VERSION || check == ZK_NO_NODE)
            return ZK_CONTROLLER_MOVED;
        if (check != ZK_OK && check != ZK_ROLLED_BACK)
            return check;
    }
    return ZK_OK;
}

/* A node with our random id is our own create, whose answer was lost. */
static enum zk_result recognise_own(struct zk_store *s, struct zk_topic *topic)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_topic there = {.name = topic->name};
    enum zk_result r = zk_topics_read(s, &a, &there, 1);

    if (r == ZK_OK && there.result == ZK_OK && !uuid_is_zero(topic->node.id) &&
        uuid_eq(there.node.id, topic->node.id))
        topic->result = ZK_OK;
    return r;
}

static enum zk_result write_nodes(struct zk_store *s, struct zk_topic *topics, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    enum zk_result r = ZK_OK;

    for (size_t i = 0; i < count; i++) {
        if (topics[i].result == ZK_OK)
            zk_batch_create(&b, zk_path_topic(&b.arena, topics[i].name),
                            node_topic_encode(&b.arena, &topics[i].node), 0);
    }
    zk_store_run(s, &b);
    for (size_t i = 0, at = 0; r == ZK_OK && i < count; i++) {
        if (topics[i].result != ZK_OK)
            continue;
        topics[i].result = b.ops[at++].result;
        if (topics[i].result == ZK_NODE_EXISTS)
            r = recognise_own(s, &topics[i]);
    }
    return r;
}

static enum zk_result create_chunk(struct zk_store *s, const struct making *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->topics[i].result = ZK_OK;
    enum zk_result r = write_configs(s, m, true);
    /* Settings that were left behind, or written for a topic to come, are replaced. */
    if (r == ZK_OK)
        r = write_configs(s, m, false);
    return r == ZK_OK ? write_nodes(s, m->topics, m->count) : r;
}

enum zk_result zk_topics_create(struct zk_store *s, struct zk_topic *topics,
                                const struct node_config *configs, size_t count)
{
    int32_t fence;
    enum zk_result r = zk_config_fence(s, &fence);

    for (size_t at = 0; r == ZK_OK && at < count; at += ZK_CHUNK) {
        struct making m = {topics + at, configs + at, MIN(count - at, (size_t)ZK_CHUNK), fence};

        r = create_chunk(s, &m);
    }
    return r;
}

enum zk_result zk_topic_create(struct zk_store *s, struct str name, const struct node_topic *t,
                               const struct node_config *config)
{
    struct zk_topic one = {.name = name, .node = *t};
    enum zk_result r = zk_topics_create(s, &one, config, 1);

    return r == ZK_OK ? one.result : r;
}

enum zk_result zk_topic_set(struct zk_store *s, struct str name, const struct node_topic *t,
                            int32_t epoch_version)
{
    struct zk_topic one = {.name = name, .node = *t};
    enum zk_result r = zk_topics_set(s, &one, 1, epoch_version);

    return r == ZK_OK ? one.result : r;
}

static enum zk_result set_chunk(struct zk_store *s, struct zk_topic *topics, size_t count,
                                int32_t epoch_version, bool is_conditional)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t stride = epoch_version == ZK_NO_FENCE ? 1 : 2;
    enum zk_result all = ZK_OK;

    for (size_t i = 0; i < count; i++)
        zk_batch_set_fenced(&b, epoch_version, zk_path_topic(&b.arena, topics[i].name),
                            node_topic_encode(&b.arena, &topics[i].node),
                            is_conditional ? topics[i].version : ZK_ANY_VERSION);
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        size_t at = i * stride + stride - 1;

        topics[i].result = zk_batch_result(&b, at);
        if (topics[i].result == ZK_OK)
            topics[i].version = b.ops[at].stat.version;
        else if (topics[i].result != ZK_NO_NODE && topics[i].result != ZK_BAD_VERSION &&
                 all != ZK_CONTROLLER_MOVED)
            all = topics[i].result;
    }
    return all;
}

static enum zk_result set_all(struct zk_store *s, struct zk_topic *topics, size_t count,
                              int32_t epoch_version, bool is_conditional)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = set_chunk(s, topics + at, MIN(count - at, (size_t)ZK_CHUNK), epoch_version,
                      is_conditional);
    return r;
}

enum zk_result zk_topics_set(struct zk_store *s, struct zk_topic *topics, size_t count,
                             int32_t epoch_version)
{
    return set_all(s, topics, count, epoch_version, false);
}

enum zk_result zk_topics_update(struct zk_store *s, struct zk_topic *topics, size_t count,
                                int32_t epoch_version)
{
    return set_all(s, topics, count, epoch_version, true);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

enum zk_result zk_topic_partition_ids(struct zk_store *s, struct str name, struct arena *a,
                                      struct node_ids *ret)
{
    struct zk_names names;
    struct node_ids ids = {0};
    enum zk_result r = zk_store_children(s, zk_path_partitions(a, name), false, a, &names);

    if (r != ZK_OK)
        return r;
    ids.list = arena_new_array(a, int32_t, names.count);
    for (size_t i = 0; i < names.count; i++) {
        if (str_to_i32(names.list[i], 0, INT32_MAX, &ids.list[ids.count]) == 0)
            ids.count++;
    }
    qsort(ids.list, (size_t)ids.count, sizeof *ids.list, by_number);
    *ret = ids;
    return ZK_OK;
}

static enum zk_result delete_chunk(struct zk_store *s, const struct zk_names *names,
                                   int32_t epoch_version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names topics = {arena_new_array(&a, struct str, names->count), names->count};
    struct zk_names configs = {arena_new_array(&a, struct str, names->count), names->count};

    for (size_t i = 0; i < names->count; i++) {
        topics.list[i] = str_of(zk_path_topic(&a, names->list[i]));
        configs.list[i] = str_of(zk_path_config(&a, "topics", names->list[i]));
    }
    enum zk_result r = zk_store_delete_trees(s, &topics, epoch_version);
    if (r == ZK_OK)
        r = zk_store_delete_trees(s, &configs, epoch_version);
    return r == ZK_OK ? zk_delete_topics_remove(s, names, epoch_version) : r;
}

enum zk_result zk_topics_delete(struct zk_store *s, const struct zk_names *names,
                                int32_t epoch_version)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < names->count; at += ZK_CHUNK) {
        struct zk_names chunk = {names->list + at, MIN(names->count - at, (size_t)ZK_CHUNK)};
        r = delete_chunk(s, &chunk, epoch_version);
    }
    return r;
}

enum zk_result zk_topic_delete(struct zk_store *s, struct str name, int32_t epoch_version)
{
    struct zk_names one = {&name, 1};

    return zk_topics_delete(s, &one, epoch_version);
}

enum zk_result zk_delete_topic_request(struct zk_store *s, struct str name)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return zk_store_create_deep(s, zk_path_delete_topic(&a, name), (struct slice){0});
}

enum zk_result zk_delete_topics_list(struct zk_store *s, bool watch, struct arena *a,
                                     struct zk_names *ret)
{
    return zk_store_children(s, ZK_PATH_DELETE_TOPICS, watch, a, ret);
}

enum zk_result zk_delete_topics_is_requested(struct zk_store *s, struct str name, bool *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return is_there(s, zk_path_delete_topic(&a, name), ret);
}

enum zk_result zk_delete_topics_remove(struct zk_store *s, const struct zk_names *names,
                                       int32_t epoch_version)
{
    return zk_store_delete_children(s, ZK_PATH_DELETE_TOPICS, names, epoch_version);
}
