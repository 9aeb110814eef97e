#include "controller/features.h"

#include "zk/zk_cluster.h"

/* What the node should say, given what it says. */
static struct node_features wanted(const struct controller *c, const struct node_features *now)
{
    struct node_features f = {
        .version = c->opts.ibp >= IBP_3_3_IV0 ? 2 : 1,
        .enabled = c->opts.ibp >= IBP_2_7_IV0,
    };

    if (f.enabled && now && now->enabled) {
        f.list = now->list;
        f.count = now->count;
    }
    return f;
}

/* The same but for the list: that is either kept or emptied. */
static bool is_same(const struct node_features *a, const struct node_features *b)
{
    return a->version == b->version && a->enabled == b->enabled && a->count == b->count;
}

enum zk_result features_set_up(struct controller *c)
{
    struct node_features now;
    int32_t epoch;

    arena_reset(&c->finalized_arena);
    c->finalized = (struct node_features){0};
    enum zk_result r = zk_features_read(c->store, &c->finalized_arena, &epoch, &now);
    if (r == ZK_MALFORMED) {
        say_error("controller: /feature cannot be read; Kafka brokers do not start like that. Its "
                  "content should be {\"features\":{},\"version\":%d,\"status\":%d}",
                  c->opts.ibp >= IBP_3_3_IV0 ? 2 : 1, c->opts.ibp >= IBP_2_7_IV0);
        return ZK_OK;
    }
    if (r != ZK_OK && r != ZK_NO_NODE)
        return r;
    bool is_absent = r == ZK_NO_NODE;
    struct node_features f = wanted(c, is_absent ? NULL : &now);
    if (is_absent)
        r = zk_features_create(c->store, &f);
    else if (!is_same(&f, &now))
        r = zk_features_set(c->store, &f, &epoch);
    else
        r = ZK_OK;
    if (r == ZK_NODE_EXISTS) /* our own create, whose answer was lost */
        r = ZK_OK;
    if (r == ZK_OK && f.enabled)
        c->finalized = f;
    return r;
}
