#include "zk/zk_brokers.h"

#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

static int by_id(const void *a, const void *b)
{
    const struct zk_broker *ba = a, *bb = b;

    return (ba->id > bb->id) - (ba->id < bb->id);
}

static void take(const struct zk_op *op, struct arena *a, struct zk_broker *ret)
{
    struct node_why why;

    ret->result = op->result;
    ret->epoch = op->stat.czxid;
    ret->version = op->stat.version;
    if (op->result == ZK_OK && node_broker_decode(op->ret_data, a, &why, &ret->node) < 0)
        ret->result = zk_malformed(op->path, &why);
}

static enum zk_result read_ids(struct zk_store *s, const struct zk_names *names, struct arena *a,
                               struct zk_brokers *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_brokers all = {arena_new_array(a, struct zk_broker, names->count), 0};
    size_t n = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (str_to_i32(names->list[i], 0, INT32_MAX, &all.list[n].id) == 0) {
            zk_batch_get(&b, zk_path_broker(&b.arena, all.list[n].id));
            n++;
        }
    }
    zk_store_run(s, &b);
    for (size_t i = 0; i < n; i++) {
        if (b.ops[i].result == ZK_NO_NODE)
            continue;
        struct zk_broker broker = {.id = all.list[i].id};

        take(&b.ops[i], a, &broker);
        if (broker.result != ZK_OK && broker.result != ZK_MALFORMED)
            return broker.result;
        all.list[all.count++] = broker;
    }
    qsort(all.list, all.count, sizeof *all.list, by_id);
    *ret = all;
    return ZK_OK;
}

enum zk_result zk_brokers_read(struct zk_store *s, bool watch, struct arena *a,
                               struct zk_brokers *ret)
{
    struct zk_names names;
    enum zk_result r = zk_store_children(s, ZK_PATH_BROKER_IDS, watch, a, &names);

    return r == ZK_OK ? read_ids(s, &names, a, ret) : r;
}

enum zk_result zk_brokers_arm(struct zk_store *s, const int32_t *ids, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_exists(&b, zk_path_broker(&b.arena, ids[i]));
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        if (b.ops[i].result != ZK_OK && b.ops[i].result != ZK_NO_NODE)
            return b.ops[i].result;
    }
    return ZK_OK;
}

enum zk_result zk_broker_read(struct zk_store *s, int32_t id, struct arena *a,
                              struct zk_broker *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_broker broker = {.id = id};

    zk_batch_get(&b, zk_path_broker(&b.arena, id));
    zk_store_run(s, &b);
    take(&b.ops[0], a, &broker);
    if (broker.result == ZK_OK || broker.result == ZK_MALFORMED)
        *ret = broker;
    return broker.result;
}

enum zk_result zk_broker_id_generate(struct zk_store *s, int32_t reserved_max, int32_t *ret_id)
{
    struct zk_stat stat;
    struct slice empty = slice_of("", 0);
    enum zk_result r = zk_store_set(s, ZK_PATH_BROKER_SEQID, empty, ZK_ANY_VERSION, &stat);

    if (r == ZK_NO_NODE) {
        r = zk_store_create_deep(s, ZK_PATH_BROKER_SEQID, empty);
        if (r != ZK_OK && r != ZK_NODE_EXISTS)
            return r;
        r = zk_store_set(s, ZK_PATH_BROKER_SEQID, empty, ZK_ANY_VERSION, &stat);
    }
    if (r != ZK_OK)
        return r;
    if (add_overflows(reserved_max, stat.version, ret_id)) {
        say_error("no broker id is left: " ZK_PATH_BROKER_SEQID " has version %d; set broker.id",
                  stat.version);
        return ZK_REFUSED;
    }
    return ZK_OK;
}
