#include "controller/brokers.h"

#include "controller/partition_sm.h"
#include "controller/reassign.h"
#include "controller/replica_sm.h"
#include "controller/topic_delete.h"
#include "zk/zk_brokers.h"
#include "zk/zk_paths.h"

/* Watches. */

static void on_broker_node(enum zk_event event UNUSED, const char *path, void *ctx)
{
    int32_t id;

    if (str_to_i32(str_of(zk_path_name(path)), 0, INT32_MAX, &id) == 0)
        controller_post_named(ctx, EVENT_BROKER_MODIFICATION, id, STR_NULL);
}

static void watch(struct controller *c, int32_t id)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct node_ids watched = {c->watched_brokers, c->watched_count};

    zk_store_watch_data(c->store, zk_path_broker(&a, id), on_broker_node, c);
    if (node_ids_has(&watched, id))
        return;
    xgrow(c->watched_brokers, c->watched_cap, c->watched_count + 1);
    c->watched_brokers[c->watched_count++] = id;
}

static void unwatch(struct controller *c, int32_t id)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    zk_store_unwatch_data(c->store, zk_path_broker(&a, id));
    for (int32_t i = 0; i < c->watched_count; i++) {
        if (c->watched_brokers[i] == id)
            c->watched_brokers[i--] = c->watched_brokers[--c->watched_count];
    }
}

void brokers_unwatch_all(struct controller *c)
{
    while (c->watched_count)
        unwatch(c, c->watched_brokers[0]);
}

/* Which registrations count. */

static const char *channel_listener(const struct controller *c)
{
    return c->control_listener ? c->control_listener : c->inter_broker_listener;
}

/* Does the broker support everything that has been finalized? Nothing has, in a 3.9 cluster. */
static bool has_features(const struct controller *c, const struct node_broker *b)
{
    for (int32_t i = 0; i < c->finalized.count; i++) {
        const struct node_finalized *f = &c->finalized.list[i];
        bool is_supported = false;
        for (int32_t j = 0; j < b->feature_count; j++)
            is_supported |= str_eq(b->features[j].name, f->name) &&
                            b->features[j].min_version <= f->max_version &&
                            f->max_version <= b->features[j].max_version;
        if (!is_supported)
            return false;
    }
    return true;
}

static bool is_usable(const struct controller *c, const struct zk_broker *b)
{
    const char *wanted[] = {c->inter_broker_listener, channel_listener(c)};

    if (b->result != ZK_OK) {
        say_error("controller: broker %d is left out: its registration /brokers/ids/%d cannot be "
                  "read (%s); it comes in once that broker has registered anew",
                  b->id, b->id, zk_result_name(b->result));
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        if (!node_broker_endpoint(&b->node, str_of(wanted[i]))) {
            say_error("controller: broker %d is left out: its registration has no listener %s, by "
                      "which the other brokers would reach it; set advertised.listeners there",
                      b->id, wanted[i]);
            return false;
        }
    }
    if (!has_features(c, &b->node)) {
        say_error("controller: broker %d is left out: it does not support all finalized features "
                  "of this cluster",
                  b->id);
        return false;
    }
    return true;
}

static void open_channel(struct controller *c, const struct zk_broker *b)
{
    const struct node_endpoint *ep = node_broker_endpoint(&b->node, str_of(channel_listener(c)));

    if (ep)
        c->opts.channels->ops->add(c->opts.channels, b->id, ep);
}

void brokers_open_channels(struct controller *c)
{
    for (int32_t i = 0; i < c->x.broker_count; i++) {
        const struct ctl_broker *b = c->x.brokers[i];
        open_channel(c, &(struct zk_broker){.id = b->id, .node = b->node});
    }
}

enum zk_result brokers_load(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(free_p) int32_t *ids = NULL;
    struct zk_brokers all;
    enum zk_result r = zk_brokers_read(c->store, true, &a, &all);

    if (r != ZK_OK)
        return r;
    ids = xcalloc(all.count + 1, sizeof *ids);
    for (size_t i = 0; i < all.count; i++) {
        const struct zk_broker *b = &all.list[i];
        watch(c, b->id);
        ids[i] = b->id;
        if (is_usable(c, b))
            context_broker_put(&c->x, b->id, b->epoch, &b->node);
    }
    return zk_brokers_arm(c->store, ids, all.count);
}

void brokers_replicas(const struct controller *c, const struct node_ids *ids,
                      struct replica_list *ret)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        TOPIC_EACH_PARTITION(t, p)
        {
            for (int i = 0; i < p->replica_count; i++) {
                if (node_ids_has(ids, p->ids[i]))
                    replica_list_add(ret, p, p->ids[i]);
            }
        }
    }
}

/* Coming. */

static void announce(struct controller *c, const struct node_ids *ids)
{
    fanout_begin(&c->fanout);
    for (int32_t i = 0; i < c->x.broker_count; i++) {
        if (!node_ids_has(ids, c->x.brokers[i]->id))
            fanout_tell_broker(&c->fanout, c->x.brokers[i]->id);
    }
    fanout_flush(&c->fanout);
    fanout_begin(&c->fanout);
    for (int32_t i = 0; i < ids->count; i++)
        fanout_tell_broker(&c->fanout, ids->list[i]);
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        fanout_tell_about(&c->fanout, p);
    }
    fanout_flush(&c->fanout);
}

/* Topics that wait for deletion and have a replica on a broker that came. */
static enum zk_result resume_deletions(struct controller *c, const struct replica_list *replicas)
{
    bool any = false;

    for (size_t i = 0; i < replicas->count; i++) {
        struct ctl_topic *t = replicas->v[i].p->topic;
        any |= t->is_queued;
        t->is_ineligible &= !t->is_queued;
    }
    return any ? topic_delete_resume(c) : ZK_OK;
}

/* Replicas of the list, in their first order, for later use: the state machine sorts its own. */
static void copy_replicas(struct replica_list *to, const struct replica_list *from)
{
    for (size_t i = 0; i < from->count; i++)
        replica_list_add(to, from->v[i].p, from->v[i].broker);
}

static enum zk_result start_up(struct controller *c, const struct node_ids *ids)
{
    CLEANUP(replica_list_deinit) struct replica_list all = {0};
    CLEANUP(replica_list_deinit) struct replica_list list = {0};

    brokers_replicas(c, ids, &all);
    for (size_t i = 0; i < all.count; i++)
        replica_set_offline_dir(all.v[i].p, all.v[i].broker, false);
    announce(c, ids);
    copy_replicas(&list, &all);
    enum zk_result r = replica_sm_change(c, &list, REPLICA_ONLINE);
    if (r == ZK_OK)
        r = partition_sm_trigger(c, NULL, NULL);
    if (r == ZK_OK)
        r = reassign_resume(c, ids);
    if (r == ZK_OK)
        r = resume_deletions(c, &all);
    if (r != ZK_OK)
        return r;
    for (int32_t i = 0; i < ids->count; i++)
        watch(c, ids->list[i]);
    return zk_brokers_arm(c->store, ids->list, (size_t)ids->count);
}

/* Going. */

/* Partitions whose leader has gone become offline. */
static void leaders_offline(struct controller *c)
{
    CLEANUP(partition_list_deinit) struct partition_list list = {0};

    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            if (p->has_leadership && !replica_is_online(&c->x, p, p->leader))
                partition_list_add(&list, p);
        }
    }
    partition_sm_set(c, &list, PARTITION_OFFLINE);
}

enum zk_result brokers_replicas_offline(struct controller *c, const struct replica_list *list)
{
    CLEANUP(replica_list_deinit) struct replica_list staying = {0};
    CLEANUP(replica_list_deinit) struct replica_list leaving = {0};
    size_t elected = 0;

    for (size_t i = 0; i < list->count; i++) {
        bool is_queued = list->v[i].p->topic->is_queued;
        replica_list_add(is_queued ? &leaving : &staying, list->v[i].p, list->v[i].broker);
    }
    leaders_offline(c);
    enum zk_result r = partition_sm_trigger(c, NULL, &elected);
    if (r == ZK_OK)
        r = replica_sm_change(c, &staying, REPLICA_OFFLINE);
    if (r == ZK_OK)
        r = partition_sm_trigger_again(c);
    if (r == ZK_OK && leaving.count)
        r = topic_delete_failed(c, &leaving);
    if (r == ZK_OK && staying.count == 0 && elected == 0)
        controller_tell_all(c, NULL);
    return r;
}

/* The brokers are out of the context already. */
static enum zk_result fail(struct controller *c, const struct node_ids *ids)
{
    CLEANUP(replica_list_deinit) struct replica_list list = {0};

    brokers_replicas(c, ids, &list);
    for (size_t i = 0; i < list.count; i++)
        replica_set_offline_dir(list.v[i].p, list.v[i].broker, false);
    enum zk_result r = brokers_replicas_offline(c, &list);
    for (int32_t i = 0; i < ids->count; i++)
        unwatch(c, ids->list[i]);
    return r;
}

/* The difference between ZooKeeper and the context. */

struct difference {
    struct node_ids added;
    struct node_ids bounced;
    struct node_ids dead;
};

static const struct zk_broker *find(const struct zk_brokers *all, int32_t id)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].id == id)
            return &all->list[i];
    }
    return NULL;
}

static void ids_add(struct node_ids *ids, int32_t id)
{
    ids->list[ids->count++] = id;
}

static void compare(struct controller *c, const struct zk_brokers *all, struct arena *a,
                    struct difference *ret)
{
    size_t max = all->count + (size_t)c->x.broker_count + 1;

    ret->added.list = arena_new_array(a, int32_t, max);
    ret->bounced.list = arena_new_array(a, int32_t, max);
    ret->dead.list = arena_new_array(a, int32_t, max);
    for (size_t i = 0; i < all->count; i++) {
        const struct zk_broker *b = &all->list[i];
        const struct ctl_broker *known = context_broker(&c->x, b->id);
        if (known && b->epoch <= known->epoch)
            continue; /* a change of its data is another event's */
        bool usable = is_usable(c, b);
        if (usable)
            ids_add(known ? &ret->bounced : &ret->added, b->id);
        else if (known)
            ids_add(&ret->dead, b->id);
    }
    for (int32_t i = 0; i < c->x.broker_count; i++) {
        if (!find(all, c->x.brokers[i]->id))
            ids_add(&ret->dead, c->x.brokers[i]->id);
    }
}

static void say_difference(const char *what, const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++)
        say_info("controller: broker %d %s", ids->list[i], what);
}

static void put_all(struct controller *c, const struct node_ids *ids, const struct zk_brokers *all)
{
    for (int32_t i = 0; i < ids->count; i++) {
        const struct zk_broker *b = find(all, ids->list[i]);
        assert(b);
        context_broker_put(&c->x, b->id, b->epoch, &b->node);
    }
}

static void remove_all(struct controller *c, const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++)
        context_broker_remove(&c->x, ids->list[i]);
}

static void change_channels(struct controller *c, const struct difference *d,
                            const struct zk_brokers *all)
{
    struct channels *ch = c->opts.channels;

    for (int32_t i = 0; i < d->added.count; i++)
        open_channel(c, find(all, d->added.list[i]));
    for (int32_t i = 0; i < d->bounced.count; i++) {
        ch->ops->remove(ch, d->bounced.list[i]);
        open_channel(c, find(all, d->bounced.list[i]));
    }
    for (int32_t i = 0; i < d->dead.count; i++)
        ch->ops->remove(ch, d->dead.list[i]);
}

/* Those that are left out are watched too: their data may be mended. */
static enum zk_result watch_left_out(struct controller *c, const struct zk_brokers *all,
                                     struct arena *a)
{
    struct node_ids ids = {arena_new_array(a, int32_t, all->count + 1), 0};

    for (size_t i = 0; i < all->count; i++) {
        if (context_broker(&c->x, all->list[i].id))
            continue;
        watch(c, all->list[i].id);
        ids_add(&ids, all->list[i].id);
    }
    return ids.count ? zk_brokers_arm(c->store, ids.list, (size_t)ids.count) : ZK_OK;
}

enum zk_result brokers_changed(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_brokers all;
    struct difference d;
    enum zk_result r = zk_brokers_read(c->store, true, &a, &all);

    if (r != ZK_OK)
        return r;
    compare(c, &all, &a, &d);
    say_difference("came", &d.added);
    say_difference("came back", &d.bounced);
    say_difference("has gone", &d.dead);
    change_channels(c, &d, &all);
    if (d.added.count) {
        put_all(c, &d.added, &all);
        r = start_up(c, &d.added);
    }
    if (r == ZK_OK && d.bounced.count) {
        remove_all(c, &d.bounced);
        r = fail(c, &d.bounced);
        if (r == ZK_OK) {
            put_all(c, &d.bounced, &all);
            r = start_up(c, &d.bounced);
        }
    }
    if (r == ZK_OK && d.dead.count) {
        remove_all(c, &d.dead);
        r = fail(c, &d.dead);
    }
    return r == ZK_OK ? watch_left_out(c, &all, &a) : r;
}

enum zk_result brokers_modified(struct controller *c, int32_t id)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct ctl_broker *known = context_broker(&c->x, id);
    struct zk_broker now = {.id = id};

    if (!known)
        return brokers_changed(c); /* one that was left out may have been mended */
    enum zk_result r = zk_broker_read(c->store, id, &a, &now);
    if (r != ZK_OK && r != ZK_MALFORMED)
        return r == ZK_NO_NODE ? ZK_OK : r; /* its death is another event's */
    now.result = r;
    if (now.epoch != known->epoch || !is_usable(c, &now) ||
        node_broker_same(&now.node, &known->node))
        return ZK_OK;
    say_info("controller: broker %d listens elsewhere now", id);
    bool is_shutting_down = known->is_shutting_down;
    known = context_broker_put(&c->x, id, now.epoch, &now.node);
    known->is_shutting_down = is_shutting_down;
    controller_tell_all(c, NULL);
    return ZK_OK;
}
