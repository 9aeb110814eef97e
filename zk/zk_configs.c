#include "zk/zk_configs.h"

#include "zk/node_controller.h"
#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum { KEEP_CHANGES_MS = 15 * 60 * 1000 };

static enum zk_result read_chunk(struct zk_store *s, const char *type, struct arena *a,
                                 struct zk_config *list, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_get(&b, zk_path_config(&b.arena, type, list[i].name));
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        const struct zk_op *op = &b.ops[i];
        struct node_why why;

        if (op->result != ZK_OK && op->result != ZK_NO_NODE)
            return op->result;
        list[i].result = ZK_OK;
        list[i].is_present = op->result == ZK_OK;
        list[i].version = list[i].is_present ? op->stat.version : ZK_CONFIG_ABSENT;
        list[i].node = (struct node_config){0};
        if (list[i].is_present && node_config_decode(op->ret_data, a, &why, &list[i].node) < 0)
            list[i].result = zk_malformed(op->path, &why);
        if (list[i].node.is_unreadable)
            say_limited(SAY_ERROR, 50,
                        "znode %s holds no settings that can be read: %s; it counts as empty until "
                        "somebody writes it again",
                        op->path, why.text);
    }
    return ZK_OK;
}

enum zk_result zk_configs_read(struct zk_store *s, const char *type, struct arena *a,
                               struct zk_config *list, size_t count)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = read_chunk(s, type, a, list + at, MIN(count - at, (size_t)ZK_CHUNK));
    return r;
}

enum zk_result zk_config_look(struct zk_store *s, const char *type, struct arena *a,
                              struct zk_config *ret)
{
    enum zk_result r = zk_configs_read(s, type, a, ret, 1);

    return r == ZK_OK ? ret->result : r;
}

enum zk_result zk_config_read(struct zk_store *s, const char *type, struct str name,
                              struct arena *a, struct node_config *ret)
{
    struct zk_config one = {.name = name};
    enum zk_result r = zk_config_look(s, type, a, &one);

    if (r == ZK_OK)
        *ret = one.node;
    return r;
}

enum zk_result zk_configs_list(struct zk_store *s, const char *type, struct arena *a,
                               struct zk_names *ret)
{
    return zk_store_children(s, arena_printf(a, ZK_PATH_CONFIG "/%s", type).p, false, a, ret);
}

/* Version of /controller, against which the write is checked. */
enum zk_result zk_config_fence(struct zk_store *s, int32_t *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_controller c;
    struct node_why why;
    struct slice data;
    struct zk_stat stat;
    enum zk_result r = zk_store_get(s, ZK_PATH_CONTROLLER, &a, &data, &stat);

    if (r != ZK_OK)
        return r == ZK_NO_NODE ? ZK_CONTROLLER_MOVED : r;
    if (node_controller_decode(data, &why, &c) < 0)
        return zk_malformed(ZK_PATH_CONTROLLER, &why);
    if (c.kraft_epoch > 0) {
        say_limited(SAY_ERROR, 5,
                    "the cluster is led by KRaft controller %d: its metadata is not to be written "
                    "through ZooKeeper any more",
                    c.broker_id);
        return ZK_REFUSED;
    }
    *ret = stat.version;
    return ZK_OK;
}

static enum zk_result set_checked(struct zk_store *s, const char *path, struct slice data,
                                  int32_t fence, int32_t version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    zk_batch_multi_begin(&b);
    zk_batch_check(&b, ZK_PATH_CONTROLLER, fence);
    size_t at = zk_batch_set(&b, path, data, version);
    zk_batch_multi_end(&b);
    zk_store_run(s, &b);
    /* A vanished /controller counts as an absent config node: the create below is not checked, in
     * Kafka neither. */
    return zk_batch_result(&b, at);
}

static enum zk_result write_as_read(struct zk_store *s, const char *path, struct slice data,
                                    int32_t fence, int32_t version)
{
    enum zk_result r = version == ZK_CONFIG_ABSENT ? zk_store_create_deep(s, path, data)
                                                   : set_checked(s, path, data, fence, version);

    return r == ZK_NODE_EXISTS || r == ZK_NO_NODE ? ZK_BAD_VERSION : r;
}

enum zk_result zk_config_set(struct zk_store *s, const char *type, struct str name,
                             const struct node_config *config)
{
    return zk_config_update(s, type, name, config, ZK_ANY_VERSION);
}

enum zk_result zk_config_update(struct zk_store *s, const char *type, struct str name,
                                const struct node_config *config, int32_t version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_config(&a, type, name);
    struct slice data = node_config_encode(&a, config);
    int32_t fence;
    enum zk_result r = zk_config_fence(s, &fence);

    if (r != ZK_OK)
        return r;
    if (version != ZK_ANY_VERSION)
        return write_as_read(s, path, data, fence, version);
    for (int round = 0; round < 3; round++) {
        r = set_checked(s, path, data, fence, version);
        if (r != ZK_NO_NODE)
            return r;
        r = zk_store_create_deep(s, path, data);
        if (r != ZK_NODE_EXISTS)
            return r;
    }
    return r;
}

/* "u/clients/c": when the pair is gone, an empty "clients" and then an empty user go too. */
static enum zk_result delete_empty_parents(struct zk_store *s, struct arena *a, const char *path)
{
    for (int up = 0; up < 2; up++) {
        struct slice data;

        path = zk_path_parent(a, path);
        enum zk_result r = zk_store_get(s, path, a, &data, NULL);
        struct node_config config = {0};

        if (r == ZK_OK && node_config_decode(data, a, NULL, &config) == 0 && config.count == 0)
            r = zk_store_delete(s, path, ZK_ANY_VERSION);
        else
            return r == ZK_NO_NODE ? ZK_OK : r;
        if (r == ZK_NOT_EMPTY)
            return ZK_OK;
        if (r != ZK_OK && r != ZK_NO_NODE)
            return r;
    }
    return ZK_OK;
}

enum zk_result zk_config_delete(struct zk_store *s, const char *type, struct str name,
                                int32_t version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_config(&a, type, name);
    enum zk_result r = version == ZK_CONFIG_ABSENT ? ZK_NO_NODE : zk_store_delete(s, path, version);

    if (r != ZK_OK && r != ZK_NO_NODE)
        return r;
    if (name.len && memmem(name.p, name.len, "/clients/", 9))
        return delete_empty_parents(s, &a, path);
    return ZK_OK;
}

enum zk_result zk_config_notify(struct zk_store *s, const char *type, struct str name)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_config_change change = {str_of(type), name};

    return zk_store_create(s, ZK_PREFIX_CONFIG_CHANGE, node_config_change_encode(&a, &change),
                           ZK_SEQUENTIAL);
}

enum write_kind { WRITE_SET, WRITE_CREATE, WRITE_DELETE };

/* The write and its notification: the result of the write. */
static enum zk_result write_notified(struct zk_store *s, enum write_kind kind, const char *path,
                                     struct slice data, const struct node_config_change *change)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t at;

    zk_batch_multi_begin(&b);
    if (kind == WRITE_SET)
        at = zk_batch_set(&b, path, data, ZK_ANY_VERSION);
    else if (kind == WRITE_CREATE)
        at = zk_batch_create(&b, path, data, 0);
    else
        at = zk_batch_delete(&b, path, ZK_ANY_VERSION);
    zk_batch_create(&b, ZK_PREFIX_CONFIG_CHANGE, node_config_change_encode(&b.arena, change),
                    ZK_SEQUENTIAL);
    zk_batch_multi_end(&b);
    zk_store_run(s, &b);
    return b.ops[at].result;
}

static enum zk_result delete_notified(struct zk_store *s, const char *path, struct str name,
                                      const char *type)
{
    const struct node_config_change change = {str_of(type), name};
    enum zk_result r = write_notified(s, WRITE_DELETE, path, (struct slice){0}, &change);

    return r == ZK_NO_NODE ? zk_config_notify(s, type, name) : r;
}

enum zk_result zk_config_bootstrap(struct zk_store *s, const char *type, struct str name,
                                   const struct node_config *config)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct node_config_change change = {str_of(type), name};
    const char *path = zk_path_config(&a, type, name);
    struct slice data = node_config_encode(&a, config);
    const char *const changes = ZK_PATH_CONFIG_CHANGES, *const parent = zk_path_parent(&a, path);
    enum zk_result r = zk_store_exists(s, "/", NULL);

    r = r == ZK_OK ? zk_store_ensure_paths(s, &changes, 1) : r;
    if (r != ZK_OK)
        return r;
    if (config->count == 0 && strcmp(type, "users") == 0) {
        r = delete_notified(s, path, name, type);
        if (r != ZK_NOT_EMPTY)
            return r;
    }
    for (int round = 0; round < 3; round++) {
        r = write_notified(s, WRITE_SET, path, data, &change);
        if (r != ZK_NO_NODE)
            return r;
        r = zk_store_ensure_paths(s, &parent, 1);
        if (r == ZK_OK)
            r = write_notified(s, WRITE_CREATE, path, data, &change);
        if (r != ZK_NODE_EXISTS)
            return r;
    }
    return r;
}

/* The number at the end of "config_change_0000000012"; -1 for another name. */
static int64_t change_number(struct str name)
{
    struct str prefix = STR("config_change_"), rest = name;
    int64_t n;

    if (!str_starts_with(name, prefix))
        return -1;
    rest.p += prefix.len;
    rest.len -= prefix.len;
    return str_to_i64(rest, 0, INT64_MAX, &n) == 0 ? n : -1;
}

static void handle_change(const struct zk_op *op, struct arena *a, zk_config_change_fn fn,
                          void *ctx)
{
    struct node_config_change change;
    struct node_why why;
    int r = op->ret_data.p ? node_config_change_decode(op->ret_data, a, &why, &change) : -ENODATA;

    if (r == -EBADMSG)
        zk_malformed(op->path, &why);
    else if (r == 0)
        fn(&change, ctx);
}

/* Reads them all: a new one is handled, and the age of each tells whether it may go. */
static enum zk_result run_chunk(struct zk_store *s, struct zk_config_changes *c,
                                const struct zk_names *names, zk_config_change_fn fn, void *ctx)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    int64_t now = clock_wall_ms(s->clock);
    struct zk_names old = {arena_new_array(&b.arena, struct str, names->count), 0};

    for (size_t i = 0; i < names->count; i++)
        zk_batch_get(&b, zk_path_child(&b.arena, ZK_PATH_CONFIG_CHANGES, names->list[i]));
    zk_store_run(s, &b);
    for (size_t i = 0; i < names->count; i++) {
        const struct zk_op *op = &b.ops[i];
        int64_t n = change_number(names->list[i]);

        if (op->result != ZK_OK && op->result != ZK_NO_NODE)
            return op->result;
        if (op->result == ZK_NO_NODE || n < 0)
            continue;
        if (n >= c->next) {
            handle_change(op, &b.arena, fn, ctx);
            c->next = n + 1;
        }
        if (op->ret_data.p && now - op->stat.ctime_ms > KEEP_CHANGES_MS)
            old.list[old.count++] = names->list[i];
    }
    /* Whether another broker was quicker, or this fails, makes no difference: the next pass sees
     * what is left. */
    zk_store_delete_children(s, ZK_PATH_CONFIG_CHANGES, &old, ZK_NO_FENCE);
    return ZK_OK;
}

enum zk_result zk_config_changes_run(struct zk_store *s, struct zk_config_changes *c,
                                     zk_config_change_fn fn, void *ctx)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names names;
    enum zk_result r = zk_store_children(s, ZK_PATH_CONFIG_CHANGES, true, &a, &names);

    for (size_t at = 0; r == ZK_OK && at < names.count; at += ZK_CHUNK) {
        struct zk_names chunk = {names.list + at, MIN(names.count - at, (size_t)ZK_CHUNK)};

        r = run_chunk(s, c, &chunk, fn, ctx);
    }
    return r;
}
