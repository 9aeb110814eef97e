#include "zk/zk_cluster.h"

#include "common/base/uuid.h"
#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum zk_result zk_cluster_prepare(struct zk_store *s)
{
    return zk_store_ensure_paths(s, zk_persistent_paths, zk_persistent_paths_count);
}

static enum zk_result cluster_id_read(struct zk_store *s, struct arena *a, struct str *ret_id)
{
    struct slice data;
    struct node_why why;
    enum zk_result r = zk_store_get(s, ZK_PATH_CLUSTER_ID, a, &data, NULL);

    if (r == ZK_OK && node_cluster_id_decode(data, a, &why, ret_id) < 0)
        r = zk_malformed(ZK_PATH_CLUSTER_ID, &why);
    return r;
}

enum zk_result zk_cluster_id_get(struct zk_store *s, struct arena *a, struct str *ret_id)
{
    char text[UUID_TEXT_LEN + 1];
    enum zk_result r = cluster_id_read(s, a, ret_id);

    if (r != ZK_NO_NODE)
        return r;
    uuid_to_text(uuid_random(), text);
    r = zk_store_create_deep(s, ZK_PATH_CLUSTER_ID, node_cluster_id_encode(a, str_of(text)));
    /* Read in any case: another broker's may have come first, or our own answer have been lost. */
    return r == ZK_OK || r == ZK_NODE_EXISTS ? cluster_id_read(s, a, ret_id) : r;
}

/* One try; ZK_BAD_VERSION: another broker was quicker. */
static enum zk_result producer_block_try(struct zk_store *s, int32_t broker_id,
                                         struct node_producer_block *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_producer_block last, next = {.broker = broker_id};
    struct node_why why;
    struct slice data;
    struct zk_stat stat;
    enum zk_result r = zk_store_get(s, ZK_PATH_PRODUCER_IDS, &a, &data, &stat);

    if (r != ZK_OK)
        return r;
    int d = node_producer_block_decode(data, &why, &last);

    if (d == -EBADMSG)
        return zk_malformed(ZK_PATH_PRODUCER_IDS, &why);
    if (d == 0 && last.end > INT64_MAX - 1 - NODE_PRODUCER_BLOCK_SIZE)
        return ZK_REFUSED;
    next.start = d == 0 ? last.end + 1 : 0;
    next.end = next.start + NODE_PRODUCER_BLOCK_SIZE - 1;
    r = zk_store_set(s, ZK_PATH_PRODUCER_IDS, node_producer_block_encode(&a, &next), stat.version,
                     NULL);
    if (r == ZK_OK)
        *ret = next;
    return r;
}

/* After a lost answer the block written is nobody's: ids are plenty, and being unique is all that
 * counts. */
enum zk_result zk_producer_block_next(struct zk_store *s, int32_t broker_id,
                                      struct node_producer_block *ret)
{
    enum zk_result r;

    while ((r = producer_block_try(s, broker_id, ret)) == ZK_BAD_VERSION || r == ZK_NO_NODE) {
        static const char *const path = ZK_PATH_PRODUCER_IDS;

        if (r == ZK_NO_NODE && (r = zk_store_ensure_paths(s, &path, 1)) != ZK_OK)
            return r;
    }
    if (r == ZK_REFUSED)
        say_error("all producer ids are used up: " ZK_PATH_PRODUCER_IDS
                  " is at the end of its range");
    return r;
}

enum zk_result zk_features_read(struct zk_store *s, struct arena *a, int32_t *ret_epoch,
                                struct node_features *ret)
{
    struct slice data;
    struct node_why why;
    struct zk_stat stat;
    enum zk_result r = zk_store_get_armed(s, ZK_PATH_FEATURE, a, &data, &stat);

    if (r != ZK_OK)
        return r;
    if (node_features_decode(data, a, &why, ret) < 0)
        return zk_malformed(ZK_PATH_FEATURE, &why);
    *ret_epoch = stat.version;
    return ZK_OK;
}

enum zk_result zk_features_create(struct zk_store *s, const struct node_features *f)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    return zk_store_create(s, ZK_PATH_FEATURE, node_features_encode(&a, f), 0);
}

enum zk_result zk_features_set(struct zk_store *s, const struct node_features *f,
                               int32_t *ret_epoch)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_stat stat;
    enum zk_result r =
        zk_store_set(s, ZK_PATH_FEATURE, node_features_encode(&a, f), ZK_ANY_VERSION, &stat);

    if (r == ZK_OK)
        *ret_epoch = stat.version;
    return r;
}
