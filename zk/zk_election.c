#include "zk/zk_election.h"

#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum zk_result zk_controller_read(struct zk_store *s, int32_t own_id, struct zk_controller *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_controller c = {.broker_id = -1};
    struct node_controller node;
    struct node_why why;
    struct slice data;
    struct zk_stat stat;
    enum zk_result r = zk_store_get_armed(s, ZK_PATH_CONTROLLER, &a, &data, &stat);

    if (r != ZK_OK && r != ZK_NO_NODE)
        return r;
    if (r == ZK_OK) {
        c.is_present = true;
        c.version = stat.version;
        if (node_controller_decode(data, &why, &node) < 0) {
            zk_malformed(ZK_PATH_CONTROLLER, &why);
        } else {
            c.broker_id = node.broker_id;
            c.is_kraft = node.kraft_epoch > 0;
            c.is_ours = node.broker_id == own_id && stat.ephemeral_owner != 0 &&
                        stat.ephemeral_owner == zk_store_session_id(s);
        }
    }
    *ret = c;
    return ZK_OK;
}

/* The number of elections so far and its znode version. Null or unreadable: nobody can be elected,
 * which is said. */
static enum zk_result read_epoch(struct zk_store *s, int32_t *ret_epoch, int32_t *ret_version)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_why why;
    struct slice data;
    struct zk_stat stat;
    enum zk_result r = zk_store_get(s, ZK_PATH_CONTROLLER_EPOCH, &a, &data, &stat);

    if (r == ZK_NO_NODE) {
        r = zk_store_create(s, ZK_PATH_CONTROLLER_EPOCH, node_epoch_encode(&a, 0), 0);
        if (r == ZK_OK || r == ZK_NODE_EXISTS)
            r = zk_store_get(s, ZK_PATH_CONTROLLER_EPOCH, &a, &data, &stat);
    }
    if (r != ZK_OK)
        return r;
    if (node_epoch_decode(data, &why, ret_epoch) < 0)
        return zk_malformed(ZK_PATH_CONTROLLER_EPOCH, &why);
    *ret_version = stat.version;
    return ZK_OK;
}

/* /controller and the next epoch, both or neither. */
static enum zk_result claim(struct zk_store *s, int32_t own_id, int32_t epoch, int32_t version,
                            int32_t *ret_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct node_controller self = {own_id, clock_wall_ms(s->clock), -1};

    zk_batch_multi_begin(&b);
    size_t create = zk_batch_create(&b, ZK_PATH_CONTROLLER, node_controller_encode(&b.arena, &self),
                                    ZK_EPHEMERAL);
    size_t set =
        zk_batch_set(&b, ZK_PATH_CONTROLLER_EPOCH, node_epoch_encode(&b.arena, epoch + 1), version);
    zk_batch_multi_end(&b);
    zk_store_run(s, &b);
    if (b.ops[create].result != ZK_OK)
        return b.ops[create].result;
    if (b.ops[set].result == ZK_OK)
        *ret_version = b.ops[set].stat.version;
    return b.ops[set].result;
}

/* Somebody has it, or it was our own claim whose answer was lost: then it is in our session and
 * counts one further. */
static enum zk_result look_again(struct zk_store *s, int32_t own_id, int32_t epoch,
                                 struct zk_election *ret)
{
    int32_t now, version;
    enum zk_result r = zk_controller_read(s, own_id, &ret->seen);

    if (r != ZK_OK || !ret->seen.is_ours)
        return r;
    r = read_epoch(s, &now, &version);
    if (r != ZK_OK || now != epoch + 1)
        return r;
    ret->won = true;
    ret->epoch = now;
    ret->epoch_version = version;
    return ZK_OK;
}

/* An earlier round had won without being told. The epoch is ours only if /controller is still there
 * after reading it: no other election can have come in between. */
static enum zk_result take_up(struct zk_store *s, int32_t own_id, struct zk_election *ret)
{
    enum zk_result r = read_epoch(s, &ret->epoch, &ret->epoch_version);

    if (r == ZK_OK)
        r = zk_controller_read(s, own_id, &ret->seen);
    if (r == ZK_OK)
        ret->won = ret->seen.is_ours;
    return r;
}

static enum zk_result stand(struct zk_store *s, int32_t own_id, struct zk_election *ret)
{
    int32_t epoch = 0, version = 0;
    enum zk_result r = read_epoch(s, &epoch, &version);

    if (r != ZK_OK)
        return r;
    r = claim(s, own_id, epoch, version, &ret->epoch_version);
    if (r == ZK_NODE_EXISTS || r == ZK_BAD_VERSION)
        return look_again(s, own_id, epoch, ret);
    ret->won = r == ZK_OK;
    ret->epoch = epoch + 1;
    return r;
}

enum zk_result zk_elect(struct zk_store *s, int32_t own_id, struct zk_election *ret)
{
    struct zk_election e = {.epoch_version = ZK_NO_FENCE};
    enum zk_result r = zk_controller_read(s, own_id, &e.seen);

    if (r == ZK_OK && e.seen.is_ours)
        r = take_up(s, own_id, &e);
    else if (r == ZK_OK && !e.seen.is_present)
        r = stand(s, own_id, &e);
    if (r == ZK_OK)
        *ret = e;
    return r;
}

enum zk_result zk_controller_resign(struct zk_store *s, int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t at = zk_batch_delete_fenced(&b, epoch_version, ZK_PATH_CONTROLLER, ZK_ANY_VERSION);

    zk_store_run(s, &b);
    return zk_batch_result(&b, at) == ZK_NO_NODE ? ZK_OK : zk_batch_result(&b, at);
}
