#include "controller/failover.h"

#include "controller/balance.h"
#include "controller/brokers.h"
#include "controller/features.h"
#include "controller/partition_sm.h"
#include "controller/reassign_calls.h"
#include "controller/replica_sm.h"
#include "controller/restarts.h"
#include "controller/topic_delete.h"
#include "controller/topics.h"
#include "zk/zk_admin.h"
#include "zk/zk_paths.h"

enum { FIRST_BALANCE_US = 5 * 1000 * 1000 };

/* What a controller watches for as long as it is one. */
static const struct {
    const char *path;
    enum zk_watch_kind kind;
    enum event_kind event;
} watched[] = {
    {ZK_PATH_BROKER_IDS, ZK_WATCH_CHILDREN, EVENT_BROKER_CHANGE},
    {ZK_PATH_TOPICS, ZK_WATCH_CHILDREN, EVENT_TOPIC_CHANGE},
    {ZK_PATH_DELETE_TOPICS, ZK_WATCH_CHILDREN, EVENT_TOPIC_DELETION},
    {ZK_PATH_LOG_DIR_EVENTS, ZK_WATCH_CHILDREN, EVENT_LOG_DIR_CHANGE},
    {ZK_PATH_ISR_CHANGES, ZK_WATCH_CHILDREN, EVENT_ISR_CHANGE},
    {ZK_PATH_PREFERRED_ELECTION, ZK_WATCH_DATA, EVENT_PREFERRED_ELECTION},
    {ZK_PATH_REASSIGN, ZK_WATCH_DATA, EVENT_REASSIGN_LEGACY},
};

static void on_watched(enum zk_event event, const char *path, void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        bool is_asked = watched[i].kind == ZK_WATCH_CHILDREN ? event == ZK_EVENT_CHILDREN
                                                             : event == ZK_EVENT_CREATED;
        if (is_asked && strcmp(path, watched[i].path) == 0)
            controller_post_named(ctx, watched[i].event, 0, STR_NULL);
    }
}

void failover_watch(struct controller *c)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        c->store->ops->watch(c->store, watched[i].kind, watched[i].path, on_watched, c);
}

void failover_unwatch(struct controller *c)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        c->store->ops->unwatch(c->store, watched[i].kind, watched[i].path);
}

/* Old notifications mean nothing: everything is read anew. The list arms the watch. */
static enum zk_result drop_notifications(struct controller *c, const char *dir)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names names;
    enum zk_result r = zk_notifications_list(c->store, dir, true, &a, &names);

    return r == ZK_OK ? zk_notifications_delete(c->store, dir, &names, c->epoch_version) : r;
}

static enum zk_result read_everything(struct controller *c)
{
    enum zk_result r = features_set_up(c);

    if (r != ZK_OK)
        return r;
    failover_watch(c);
    r = drop_notifications(c, ZK_PATH_LOG_DIR_EVENTS);
    if (r == ZK_OK)
        r = drop_notifications(c, ZK_PATH_ISR_CHANGES);
    if (r == ZK_OK)
        r = brokers_load(c);
    if (r == ZK_OK)
        r = topics_load(c);
    return r;
}

enum zk_result failover_run(struct controller *c)
{
    int64_t began_us = clock_mono_us(c->opts.clock);

    context_clear(&c->x);
    enum zk_result r = read_everything(c);
    if (r != ZK_OK)
        return r;
    brokers_open_channels(c);
    r = topic_delete_load(c);
    if (r != ZK_OK)
        return r;
    restarts_begin(c);
    /* Brokers follow no leader that they have not heard of: first of all, who is alive. */
    controller_tell_all(c, NULL);
    r = replica_sm_start(c);
    if (r == ZK_OK)
        r = partition_sm_start(c);
    /* In Kafka before the elections. After them, as where any other broker died, partitions are led
     * again sooner, and those that are led anew are written once. */
    if (r == ZK_OK)
        r = replica_sm_start_offline(c);
    if (r == ZK_OK)
        r = restarts_end(c);
    if (r == ZK_OK)
        r = partition_sm_trigger_again(c);
    if (r == ZK_OK)
        r = reassign_start(c);
    if (r == ZK_OK)
        r = topic_delete_resume(c);
    if (r == ZK_OK)
        r = balance_legacy(c);
    if (r != ZK_OK)
        return r;
    if (c->opts.auto_leader_rebalance_enable)
        c->balance_due_us = clock_mono_us(c->opts.clock) + FIRST_BALANCE_US;
    say_info("controller: broker %d has taken over epoch=%d brokers=%d topics=%d partitions=%d "
             "offline=%d ms=%" PRId64,
             c->opts.broker_id, c->epoch, c->x.broker_count, c->x.topic_count, c->x.partition_count,
             c->x.offline_partitions, (clock_mono_us(c->opts.clock) - began_us) / 1000);
    return ZK_OK;
}
