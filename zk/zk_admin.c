#include "zk/zk_admin.h"

#include "common/base/mem.h"
#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum zk_result zk_notifications_list(struct zk_store *s, const char *dir, bool watch,
                                     struct arena *a, struct zk_names *ret)
{
    return zk_store_children(s, dir, watch, a, ret);
}

enum zk_result zk_notifications_delete(struct zk_store *s, const char *dir,
                                       const struct zk_names *names, int32_t epoch_version)
{
    return zk_store_delete_children(s, dir, names, epoch_version);
}

/* Reads all children named, with one batch. */
static enum zk_result read_all(struct zk_store *s, const char *dir, const struct zk_names *names,
                               struct zk_batch *b)
{
    for (size_t i = 0; i < names->count; i++)
        zk_batch_get(b, zk_path_child(&b->arena, dir, names->list[i]));
    zk_store_run(s, b);
    for (size_t i = 0; i < b->count; i++) {
        if (b->ops[i].result != ZK_OK && b->ops[i].result != ZK_NO_NODE)
            return b->ops[i].result;
    }
    return ZK_OK;
}

/* All lists one after the other. */
static struct node_partition_names join(struct arena *a, const struct node_partition_names *lists,
                                        size_t count)
{
    struct node_partition_names all = {0};
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += (size_t)lists[i].count;
    all.list = arena_new_array(a, struct node_partition_name, total);
    for (size_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < lists[i].count; j++)
            all.list[all.count++] = lists[i].list[j];
    }
    return all;
}

enum zk_result zk_isr_changes_read(struct zk_store *s, const struct zk_names *names,
                                   struct arena *a, struct node_partition_names *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct node_partition_names *lists =
        arena_new_array(a, struct node_partition_names, names->count);
    enum zk_result r = read_all(s, ZK_PATH_ISR_CHANGES, names, &b);

    for (size_t i = 0; r == ZK_OK && i < b.count; i++) {
        struct node_why why;

        if (b.ops[i].result == ZK_OK &&
            node_partition_names_decode(b.ops[i].ret_data, a, &why, &lists[i]) < 0)
            zk_malformed(b.ops[i].path, &why);
    }
    if (r == ZK_OK)
        *ret = join(a, lists, names->count);
    return r;
}

enum zk_result zk_isr_change_notify(struct zk_store *s, const struct node_partition_names *changed)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return zk_store_create(s, ZK_PREFIX_ISR_CHANGE, node_partition_names_encode(&a, changed),
                           ZK_SEQUENTIAL);
}

enum zk_result zk_log_dir_events_read(struct zk_store *s, const struct zk_names *names,
                                      struct arena *a, struct node_ids *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct node_ids all = {arena_new_array(a, int32_t, names->count), 0};
    enum zk_result r = read_all(s, ZK_PATH_LOG_DIR_EVENTS, names, &b);

    for (size_t i = 0; r == ZK_OK && i < b.count; i++) {
        struct node_why why;
        int32_t id;

        if (b.ops[i].result != ZK_OK)
            continue;
        if (node_log_dir_event_decode(b.ops[i].ret_data, &why, &id) < 0)
            zk_malformed(b.ops[i].path, &why);
        else if (!node_ids_has(&all, id))
            all.list[all.count++] = id;
    }
    if (r == ZK_OK)
        *ret = all;
    return r;
}

enum zk_result zk_log_dir_event_notify(struct zk_store *s, int32_t broker_id)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return zk_store_create(s, ZK_PREFIX_LOG_DIR_EVENT, node_log_dir_event_encode(&a, broker_id),
                           ZK_SEQUENTIAL);
}

enum zk_result zk_reassign_read(struct zk_store *s, struct arena *a, struct node_reassign *ret)
{
    struct slice data;
    struct node_why why;
    enum zk_result r = zk_store_get_armed(s, ZK_PATH_REASSIGN, a, &data, NULL);

    if (r == ZK_OK && node_reassign_decode(data, a, &why, ret) < 0)
        r = zk_malformed(ZK_PATH_REASSIGN, &why);
    return r;
}

/* The result of a batch of one, fenced or not. */
static enum zk_result run_one(struct zk_store *s, struct zk_batch *b, size_t at)
{
    zk_store_run(s, b);
    return zk_batch_result(b, at);
}

static enum zk_result delete_fenced(struct zk_store *s, const char *path, int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t at = zk_batch_delete_fenced(&b, epoch_version, path, ZK_ANY_VERSION);
    enum zk_result r = run_one(s, &b, at);

    return r == ZK_NO_NODE ? ZK_OK : r;
}

enum zk_result zk_reassign_write(struct zk_store *s, const struct node_reassign *r,
                                 int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch set = {0};
    CLEANUP(zk_batch_deinit) struct zk_batch create = {0};

    if (r->count == 0)
        return delete_fenced(s, ZK_PATH_REASSIGN, epoch_version);
    size_t at = zk_batch_set_fenced(&set, epoch_version, ZK_PATH_REASSIGN,
                                    node_reassign_encode(&set.arena, r), ZK_ANY_VERSION);
    enum zk_result result = run_one(s, &set, at);

    if (result != ZK_NO_NODE)
        return result;
    at = zk_batch_create_fenced(&create, epoch_version, ZK_PATH_REASSIGN,
                                node_reassign_encode(&create.arena, r));
    return run_one(s, &create, at);
}

enum zk_result zk_preferred_read(struct zk_store *s, struct arena *a,
                                 struct node_partition_names *ret)
{
    struct slice data;
    struct node_why why;
    enum zk_result r = zk_store_get_armed(s, ZK_PATH_PREFERRED_ELECTION, a, &data, NULL);

    if (r == ZK_OK && node_partition_names_decode(data, a, &why, ret) < 0)
        r = zk_malformed(ZK_PATH_PREFERRED_ELECTION, &why);
    return r;
}

enum zk_result zk_preferred_delete(struct zk_store *s, int32_t epoch_version)
{
    return delete_fenced(s, ZK_PATH_PREFERRED_ELECTION, epoch_version);
}
