#include "zk/zk_store.h"

#include "common/base/mem.h"
#include "zk/zk_paths.h"

/* Moves what an op has read to the caller's arena. */
static struct slice copy(struct arena *a, struct slice data)
{
    if (!data.p)
        return (struct slice){0};
    uint8_t *p = arena_alloc(a, data.len + 1);

    memcpy(p, data.p, data.len);
    return slice_of(p, data.len);
}

static enum zk_result take_read(const struct zk_op *op, struct arena *a, struct slice *ret_data,
                                struct zk_stat *ret_stat)
{
    if (op->result == ZK_OK && ret_data)
        *ret_data = copy(a, op->ret_data);
    if (op->result == ZK_OK && ret_stat)
        *ret_stat = op->stat;
    return op->result;
}

enum zk_result zk_store_get(struct zk_store *s, const char *path, struct arena *a,
                            struct slice *ret_data, struct zk_stat *ret_stat)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_get(&b, path);
    zk_store_run(s, &b);
    return take_read(&b.ops[0], a, ret_data, ret_stat);
}

enum zk_result zk_store_get_armed(struct zk_store *s, const char *path, struct arena *a,
                                  struct slice *ret_data, struct zk_stat *ret_stat)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_exists(&b, path);
    zk_batch_get(&b, path);
    zk_store_run(s, &b);
    return take_read(&b.ops[1], a, ret_data, ret_stat);
}

enum zk_result zk_store_exists(struct zk_store *s, const char *path, struct zk_stat *ret_stat)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_exists(&b, path);
    zk_store_run(s, &b);
    if (b.ops[0].result == ZK_OK && ret_stat)
        *ret_stat = b.ops[0].stat;
    return b.ops[0].result;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

enum zk_result zk_store_children(struct zk_store *s, const char *path, bool watch, struct arena *a,
                                 struct zk_names *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_names names = {0};

    zk_batch_children(&b, path, watch);
    zk_store_run(s, &b);
    const struct zk_op *op = &b.ops[0];

    if (op->result != ZK_OK && op->result != ZK_NO_NODE)
        return op->result;
    if (op->result == ZK_OK && op->ret_names_count) {
        names.list = arena_new_array(a, struct str, op->ret_names_count);
        names.count = op->ret_names_count;
        for (size_t i = 0; i < names.count; i++)
            names.list[i] = arena_str(a, op->ret_names[i]);
        qsort(names.list, names.count, sizeof *names.list, by_name);
    }
    *ret = names;
    return ZK_OK;
}

enum zk_result zk_store_create(struct zk_store *s, const char *path, struct slice data,
                               uint32_t flags)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_create(&b, path, data, flags);
    zk_store_run(s, &b);
    return b.ops[0].result;
}

enum zk_result zk_store_set(struct zk_store *s, const char *path, struct slice data,
                            int32_t version, struct zk_stat *ret_stat)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_set(&b, path, data, version);
    zk_store_run(s, &b);
    if (b.ops[0].result == ZK_OK && ret_stat)
        *ret_stat = b.ops[0].stat;
    return b.ops[0].result;
}

enum zk_result zk_store_delete(struct zk_store *s, const char *path, int32_t version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_delete(&b, path, version);
    zk_store_run(s, &b);
    return b.ops[0].result;
}

/* From the first missing ancestor down. Depth is that of our own paths: a handful. */
static enum zk_result create_parents(struct zk_store *s, const char *path)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *parent = zk_path_parent(&a, path);

    if (!parent)
        return ZK_OK;
    enum zk_result r = zk_store_create_deep(s, parent, (struct slice){0});

    return r == ZK_NODE_EXISTS ? ZK_OK : r;
}

enum zk_result zk_store_create_deep(struct zk_store *s, const char *path, struct slice data)
{
    enum zk_result r = zk_store_create(s, path, data, 0);

    if (r != ZK_NO_NODE)
        return r;
    r = create_parents(s, path);
    return r == ZK_OK ? zk_store_create(s, path, data, 0) : r;
}

enum zk_result zk_store_ensure_paths(struct zk_store *s, const char *const *paths, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_exists(&b, paths[i]);
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        enum zk_result r = b.ops[i].result;

        if (r == ZK_NO_NODE)
            r = zk_store_create_deep(s, paths[i], (struct slice){0});
        if (r != ZK_OK && r != ZK_NODE_EXISTS)
            return r;
    }
    return ZK_OK;
}

/* Paths of the trees below these, parents before children, a round trip per level. */
static enum zk_result collect(struct zk_store *s, struct arena *a, const struct zk_names *roots,
                              struct zk_names *ret)
{
    struct str *list = NULL;
    size_t count = 0, cap = 0, level = 0;

    xgrow(list, cap, roots->count + 1);
    for (size_t i = 0; i < roots->count; i++)
        list[count++] = str_of(arena_strz(a, roots->list[i]));
    while (level < count) {
        CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
        size_t end = count;

        for (size_t i = level; i < end; i++)
            zk_batch_children(&b, list[i].p, true);
        zk_store_run(s, &b);
        for (size_t i = level; i < end; i++) {
            const struct zk_op *op = &b.ops[i - level];

            if (op->result != ZK_OK && op->result != ZK_NO_NODE) {
                free(list);
                return op->result;
            }
            xgrow(list, cap, count + op->ret_names_count);
            for (size_t j = 0; j < op->ret_names_count; j++)
                list[count++] = str_of(zk_path_child(a, list[i].p, op->ret_names[j]));
        }
        level = end;
    }
    ret->list = arena_new_array(a, struct str, count);
    memcpy(ret->list, list, count * sizeof *list);
    ret->count = count;
    free(list);
    return ZK_OK;
}

/* The last first; ZK_OK, or the worst that happened. */
static enum zk_result delete_some(struct zk_store *s, const struct str *list, size_t count,
                                  int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    enum zk_result worst = ZK_OK;

    for (size_t i = count; i-- > 0;)
        zk_batch_delete_fenced(&b, epoch_version, list[i].p, ZK_ANY_VERSION);
    zk_store_run(s, &b);
    for (size_t at = 0; at < b.count; at++) {
        enum zk_result r = zk_batch_result(&b, at);

        if (b.ops[at].kind != ZK_OP_DELETE || r == ZK_OK || r == ZK_NO_NODE)
            continue;
        if (r == ZK_CONTROLLER_MOVED)
            return r;
        if (worst == ZK_OK || worst == ZK_NOT_EMPTY)
            worst = r;
    }
    return worst;
}

static enum zk_result delete_trees(struct zk_store *s, const struct zk_names *roots,
                                   int32_t epoch_version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names tree = {0};
    enum zk_result r = collect(s, &a, roots, &tree);

    /* Children stand after their parents: from the end, in bounded batches. */
    while (r == ZK_OK && tree.count) {
        size_t n = MIN(tree.count, (size_t)ZK_CHUNK);

        tree.count -= n;
        r = delete_some(s, tree.list + tree.count, n, epoch_version);
    }
    return r;
}

/* A child made meanwhile leaves its parents NOT_EMPTY; the trees are then looked at again, a few
 * times. */
enum zk_result zk_store_delete_trees(struct zk_store *s, const struct zk_names *roots,
                                     int32_t epoch_version)
{
    enum zk_result r = ZK_NOT_EMPTY;

    for (int round = 0; r == ZK_NOT_EMPTY && round < 5; round++)
        r = delete_trees(s, roots, epoch_version);
    return r;
}

enum zk_result zk_store_delete_deep(struct zk_store *s, const char *path, int32_t epoch_version)
{
    struct str root = str_of(path);
    struct zk_names one = {&root, 1};

    return zk_store_delete_trees(s, &one, epoch_version);
}

static enum zk_result delete_paths(struct zk_store *s, struct str *paths, size_t count,
                                   int32_t epoch_version)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = delete_some(s, paths + at, MIN(count - at, (size_t)ZK_CHUNK), epoch_version);
    return r;
}

enum zk_result zk_store_delete_children(struct zk_store *s, const char *dir,
                                        const struct zk_names *names, int32_t epoch_version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str *paths = arena_new_array(&a, struct str, names->count);

    for (size_t i = 0; i < names->count; i++)
        paths[i] = str_of(zk_path_child(&a, dir, names->list[i]));
    return delete_paths(s, paths, names->count, epoch_version);
}
