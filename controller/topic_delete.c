#include "controller/topic_delete.h"

#include "controller/partition_sm.h"
#include "controller/replica_sm.h"
#include "controller/topics.h"
#include "zk/zk_topics.h"

static bool has_offline_replica(const struct controller *c, const struct ctl_topic *t)
{
    TOPIC_EACH_PARTITION(t, p)
    {
        for (int i = 0; i < p->replica_count; i++) {
            if (!replica_is_online(&c->x, p, p->ids[i]))
                return true;
        }
    }
    return false;
}

static void queue(struct controller *c, struct ctl_topic *t)
{
    if (t->is_queued)
        return;
    context_topic_queue(&c->x, t);
    if (t->reassigning) {
        t->is_ineligible = true;
        say_warn("controller: deletion of topic %s waits until the reassignment of %d of its "
                 "partitions has ended",
                 t->name, t->reassigning);
    }
}

enum zk_result topic_delete_load(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names wishes;
    enum zk_result r = zk_delete_topics_list(c->store, true, &a, &wishes);

    if (r != ZK_OK || wishes.count == 0)
        return r;
    if (!c->opts.delete_topic_enable)
        return zk_delete_topics_remove(c->store, &wishes, c->epoch_version);
    for (size_t i = 0; r == ZK_OK && i < wishes.count; i++) {
        struct ctl_topic *t = context_topic(&c->x, wishes.list[i]);
        if (!t) { /* the controller before us died in the last steps */
            r = zk_topic_delete(c->store, wishes.list[i], c->epoch_version);
            continue;
        }
        queue(c, t);
        t->is_ineligible |= has_offline_replica(c, t);
    }
    say_info("controller: topics to delete count=%d", c->x.queued_count);
    return r;
}

/* Wishes for topics that there are not are taken back. A topic may be so new that its own event
 * still waits behind this one. */
static enum zk_result take_back_unknown(struct controller *c, const struct zk_names *wishes,
                                        struct arena *a)
{
    struct zk_names unknown = {arena_new_array(a, struct str, wishes->count + 1), 0};

    for (size_t i = 0; i < wishes->count; i++) {
        if (!context_topic(&c->x, wishes->list[i]))
            unknown.list[unknown.count++] = wishes->list[i];
    }
    if (unknown.count == 0)
        return ZK_OK;
    enum zk_result r = topics_changed(c);
    if (r != ZK_OK)
        return r;
    size_t n = 0;
    for (size_t i = 0; i < unknown.count; i++) {
        if (context_topic(&c->x, unknown.list[i]))
            continue;
        say_warn("controller: topic %.*s is to be deleted, but does not exist; the wish is dropped",
                 STR_ARG(unknown.list[i]));
        unknown.list[n++] = unknown.list[i];
    }
    unknown.count = n;
    return n ? zk_delete_topics_remove(c->store, &unknown, c->epoch_version) : ZK_OK;
}

enum zk_result topic_delete_requested(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_names wishes;
    enum zk_result r = zk_delete_topics_list(c->store, true, &a, &wishes);

    if (r == ZK_OK)
        r = take_back_unknown(c, &wishes, &a);
    if (r != ZK_OK || wishes.count == 0)
        return r;
    if (!c->opts.delete_topic_enable) {
        say_warn("controller: delete.topic.enable is false: topics asked to be deleted stay "
                 "count=%zu",
                 wishes.count);
        return zk_delete_topics_remove(c->store, &wishes, c->epoch_version);
    }
    for (size_t i = 0; i < wishes.count; i++) {
        struct ctl_topic *t = context_topic(&c->x, wishes.list[i]);
        if (t)
            queue(c, t);
    }
    return topic_delete_resume(c);
}

static void hold_back(struct ctl_topic *t, const char *why)
{
    if (!t->is_ineligible)
        say_warn("controller: deletion of topic %s waits: %s", t->name, why);
    t->is_ineligible = true;
}

/* What is to be done with the replicas of topics whose deletion starts or starts again. */
struct work {
    struct replica_list dead;
    struct replica_list alive;
    struct replica_list alive_again; /* the same: a state machine sorts its list */
};

static void work_deinit(struct work *w)
{
    replica_list_deinit(&w->dead);
    replica_list_deinit(&w->alive);
    replica_list_deinit(&w->alive_again);
}

static void split(const struct controller *c, struct ctl_topic *t, struct work *w)
{
    TOPIC_EACH_PARTITION(t, p)
    {
        for (int i = 0; i < p->replica_count; i++) {
            int32_t broker = p->ids[i];
            if (!replica_is_online(&c->x, p, broker)) {
                replica_list_add(&w->dead, p, broker);
            } else if (replica_state(p, broker) != REPLICA_DELETION_SUCCESSFUL) {
                replica_list_add(&w->alive, p, broker);
                replica_list_add(&w->alive_again, p, broker);
            }
        }
    }
}

static enum zk_result delete_replicas(struct controller *c, struct ctl_topic *const *topics,
                                      size_t count)
{
    CLEANUP(work_deinit) struct work w = {0};
    enum zk_result r;

    for (size_t i = 0; i < count; i++)
        split(c, topics[i], &w);
    r = replica_sm_change(c, &w.dead, REPLICA_DELETION_INELIGIBLE);
    if (r == ZK_OK)
        r = replica_sm_change(c, &w.alive, REPLICA_OFFLINE);
    if (r == ZK_OK)
        r = replica_sm_change(c, &w.alive_again, REPLICA_DELETION_STARTED);
    for (size_t i = 0; i < w.dead.count; i++)
        hold_back(w.dead.v[i].p->topic,
                  "a replica is on a broker that is down, or on a failed log directory; it goes on "
                  "when that broker starts");
    return r;
}

static enum zk_result start(struct controller *c, struct ctl_topic *const *topics, size_t count)
{
    CLEANUP(partition_list_deinit) struct partition_list all = {0};
    CLEANUP(partition_list_deinit) struct partition_list unseen = {0};

    for (size_t i = 0; i < count; i++) {
        partition_list_add_topic(&all, topics[i]);
        if (!topics[i]->is_started)
            partition_list_add_topic(&unseen, topics[i]);
        topics[i]->is_started = true;
    }
    partition_sm_set(c, &unseen, PARTITION_OFFLINE);
    partition_sm_set(c, &unseen, PARTITION_NONE);
    controller_tell_all(c, &all);
    return delete_replicas(c, topics, count);
}

/* Every replica is gone: so are the topics. */
static enum zk_result complete(struct controller *c, struct ctl_topic *const *topics, size_t count)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(replica_list_deinit) struct replica_list replicas = {0};
    struct zk_names names = {arena_new_array(&a, struct str, count + 1), count};

    for (size_t i = 0; i < count; i++) {
        topic_unwatch(c, topics[i]);
        replica_list_add_topic(&replicas, topics[i], REPLICA_DELETION_SUCCESSFUL);
        names.list[i] = topic_name(topics[i]);
    }
    enum zk_result r = replica_sm_change(c, &replicas, REPLICA_NONE);
    if (r == ZK_OK)
        r = zk_topics_delete(c->store, &names, c->epoch_version);
    if (r != ZK_OK)
        return r;
    say_info("controller: topics deleted count=%zu first=%s", count, topics[0]->name);
    for (size_t i = 0; i < count; i++)
        context_topic_remove(&c->x, topics[i]);
    return ZK_OK;
}

static bool all_deleted(const struct ctl_topic *t)
{
    return t->in_state[REPLICA_DELETION_SUCCESSFUL] == topic_replica_count(t);
}

enum zk_result topic_delete_resume(struct controller *c)
{
    CLEANUP(replica_list_deinit) struct replica_list retry = {0};
    CLEANUP(free_p) struct ctl_topic **eligible = NULL;
    CLEANUP(free_p) struct ctl_topic **deleted = NULL;
    size_t n = 0, deleted_count = 0;

    if (!c->x.queued || !c->opts.delete_topic_enable)
        return ZK_OK;
    eligible = xcalloc((size_t)c->x.queued_count, sizeof(struct ctl_topic *));
    deleted = xcalloc((size_t)c->x.queued_count, sizeof(struct ctl_topic *));
    for (struct ctl_topic *t = c->x.queued; t; t = t->next_queued) {
        if (all_deleted(t)) {
            deleted[deleted_count++] = t;
            continue;
        }
        if (t->in_state[REPLICA_DELETION_STARTED])
            continue; /* answers are awaited */
        if (t->in_state[REPLICA_DELETION_INELIGIBLE])
            replica_list_add_topic(&retry, t, REPLICA_DELETION_INELIGIBLE);
        if (!t->is_ineligible)
            eligible[n++] = t;
    }
    enum zk_result r = deleted_count ? complete(c, deleted, deleted_count) : ZK_OK;
    if (r == ZK_OK)
        r = replica_sm_change(c, &retry, REPLICA_OFFLINE);
    if (r == ZK_OK && n)
        say_info("controller: deletion of topics starts count=%zu first=%s", n, eligible[0]->name);
    return r == ZK_OK && n ? start(c, eligible, n) : r;
}

enum zk_result topic_delete_failed(struct controller *c, struct replica_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        hold_back(list->v[i].p->topic, "a replica could not be deleted; it goes on when a broker "
                                       "that has a replica of it starts");
    enum zk_result r = replica_sm_change(c, list, REPLICA_DELETION_INELIGIBLE);
    return r == ZK_OK ? topic_delete_resume(c) : r;
}

enum zk_result topic_delete_done(struct controller *c, struct replica_list *list)
{
    enum zk_result r = replica_sm_change(c, list, REPLICA_DELETION_SUCCESSFUL);

    return r == ZK_OK ? topic_delete_resume(c) : r;
}
