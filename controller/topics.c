#include "controller/topics.h"

#include "controller/partition_sm.h"
#include "controller/reassign.h"
#include "controller/replica_sm.h"
#include "zk/zk_paths.h"
#include "zk/zk_states.h"
#include "zk/zk_topics.h"

enum { TOPIC_CHUNK = 1024, STATE_CHUNK = 4096, MAX_REPLICAS = 1024, NAME_MAX_LEN = 249 };

/* Watches. */

static void on_topic_node(enum zk_event event, const char *path, void *ctx)
{
    if (event == ZK_EVENT_CHANGED)
        controller_post_named(ctx, EVENT_PARTITION_MODIFICATION, 0, str_of(zk_path_name(path)));
}

static void topic_watch(struct controller *c, const struct ctl_topic *t)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    zk_store_watch_data(c->store, zk_path_topic(&a, topic_name(t)), on_topic_node, c);
}

void topic_unwatch(struct controller *c, const struct ctl_topic *t)
{
    CLEANUP(arena_deinit) struct arena a = {0};

    zk_store_unwatch_data(c->store, zk_path_topic(&a, topic_name(t)));
    reassign_unwatch(c, t);
}

void topics_unwatch_all(struct controller *c)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    topic_unwatch(c, t);
}

/* Assignments. */

static bool has_duplicates(const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++) {
        for (int32_t j = 0; j < i; j++) {
            if (ids->list[i] == ids->list[j])
                return true;
        }
    }
    return false;
}

/* What the context can hold, and what makes sense; the codec has looked at types only. */
static bool is_sane(const struct ctl_topic *t, const struct node_partition *p)
{
    const char *why = NULL;

    if (p->replicas.count == 0)
        why = "has no replicas";
    else if (p->replicas.count > MAX_REPLICAS || p->adding.count > MAX_REPLICAS ||
             p->removing.count > MAX_REPLICAS)
        why = "has too many replicas";
    else if (has_duplicates(&p->replicas))
        why = "has a replica twice";
    if (why)
        say_error("controller: partition %s-%d is left out: its assignment in /brokers/topics/%s "
                  "%s; it comes in once that node is mended",
                  t->name, p->id, t->name, why);
    return !why;
}

/* Adds the partitions that the context does not have; *added may be NULL. */
static void add_partitions(struct controller *c, struct ctl_topic *t, const struct node_topic *node,
                           struct partition_list *added)
{
    for (int32_t i = 0; i < node->count; i++) {
        const struct node_partition *np = &node->partitions[i];
        if (topic_partition(t, np->id) || !is_sane(t, np))
            continue;
        struct ctl_partition *p = context_partition_add(&c->x, t, np->id, np);
        if (added)
            partition_list_add(added, p);
    }
}

/* The rest is about topics that are read for the first time. */

struct fresh {
    struct controller *c;
    struct arena arena;
    struct zk_topic *topics;
    size_t count;
};

static enum zk_result fresh_read(struct fresh *f, const struct str *names, size_t count)
{
    arena_reset(&f->arena);
    f->topics = arena_array(&f->arena, count + 1, sizeof *f->topics);
    f->count = count;
    for (size_t i = 0; i < count; i++) {
        f->topics[i].name = names[i];
        topic_watch(f->c, context_topic_add(&f->c->x, names[i]));
    }
    return zk_topics_read(f->c->store, &f->arena, f->topics, count);
}

/* Gives ids to topics that have none; with an older protocol only ids found are kept. */
static enum zk_result fresh_ids(struct fresh *f)
{
    struct controller *c = f->c;
    struct zk_topic *without = arena_array(&f->arena, f->count + 1, sizeof *without);
    size_t n = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct zk_topic *t = &f->topics[i];
        if (t->result != ZK_OK)
            continue;
        if (uuid_is_zero(t->node.id) && c->opts.ibp >= IBP_2_8_IV0) {
            t->node.id = uuid_random();
            without[n++] = *t;
        }
        context_topic_set_id(&c->x, context_topic(&c->x, t->name), t->node.id);
    }
    return n ? zk_topics_set(c->store, without, n, c->epoch_version) : ZK_OK;
}

static void fresh_take(struct fresh *f, struct partition_list *added)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct zk_topic *zt = &f->topics[i];
        struct ctl_topic *t = context_topic(&f->c->x, zt->name);
        if (zt->result == ZK_OK) {
            add_partitions(f->c, t, &zt->node, added);
        } else if (zt->result == ZK_NO_NODE) {
            topic_unwatch(f->c, t);
            context_topic_remove(&f->c->x, t);
        } else {
            say_error("controller: topic %s has no partitions as long as its node "
                      "/brokers/topics/%s cannot be read (%s)",
                      t->name, t->name, zk_result_name(zt->result));
        }
    }
}

/* Leaves out what no request could name. */
static void drop_illegal(struct zk_names *names)
{
    size_t n = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (names->list[i].len <= NAME_MAX_LEN)
            names->list[n++] = names->list[i];
        else
            say_limited(SAY_ERROR, 1,
                        "controller: a child of /brokers/topics is left out: its name of %zu bytes "
                        "is longer than a topic's can be; delete it",
                        names->list[i].len);
    }
    names->count = n;
}

/* Reads topics by their names into the context. */
static enum zk_result take_in(struct controller *c, const struct str *names, size_t count,
                              struct partition_list *added)
{
    struct fresh f = {.c = c};
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < count; at += TOPIC_CHUNK) {
        r = fresh_read(&f, names + at, MIN(count - at, (size_t)TOPIC_CHUNK));
        if (r == ZK_OK)
            r = fresh_ids(&f);
        if (r == ZK_OK)
            fresh_take(&f, added);
    }
    arena_deinit(&f.arena);
    return r;
}

static enum zk_result refresh_chunk(struct controller *c, struct ctl_partition *const *v,
                                    size_t count)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zk_partition_state *states = arena_array(&a, count + 1, sizeof *states);

    for (size_t i = 0; i < count; i++)
        states[i] =
            (struct zk_partition_state){.topic = topic_name(v[i]->topic), .partition = v[i]->id};
    enum zk_result r = zk_states_read(c->store, &a, states, count);
    for (size_t i = 0; r == ZK_OK && i < count; i++) {
        const struct zk_partition_state *st = &states[i];
        v[i]->written_zxid = st->mzxid;
        if (st->result == ZK_OK && st->state.isr.count <= UINT16_MAX)
            context_set_leadership(&c->x, v[i], &st->state, st->version,
                                   st->state.controller_epoch);
        else if (st->result != ZK_NO_NODE)
            say_error("controller: partition %s-%d: its state node cannot be read (%s), so it has "
                      "no known leader",
                      v[i]->topic->name, v[i]->id, zk_result_name(st->result));
    }
    return r;
}

enum zk_result topics_refresh(struct controller *c, const struct partition_list *list)
{
    enum zk_result r = ZK_OK;

    for (size_t at = 0; r == ZK_OK && at < list->count; at += STATE_CHUNK)
        r = refresh_chunk(c, list->v + at, MIN(list->count - at, (size_t)STATE_CHUNK));
    return r;
}

enum zk_result topics_load(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(partition_list_deinit) struct partition_list added = {0};
    struct zk_names names;
    enum zk_result r = zk_topics_list(c->store, true, &a, &names);

    if (r == ZK_OK) {
        drop_illegal(&names);
        r = take_in(c, names.list, names.count, &added);
    }
    return r == ZK_OK ? topics_refresh(c, &added) : r;
}

/* Partitions come to life: one batch of messages leaves, that of their first leaders. */
static enum zk_result create(struct controller *c, const struct partition_list *added)
{
    CLEANUP(replica_list_deinit) struct replica_list replicas = {0};

    for (size_t i = 0; i < added->count; i++) {
        const struct ctl_partition *p = added->v[i];
        for (int j = 0; j < p->replica_count; j++)
            replica_list_add(&replicas, added->v[i], p->ids[j]);
    }
    partition_sm_set(c, added, PARTITION_NEW);
    enum zk_result r = replica_sm_change(c, &replicas, REPLICA_NEW);
    if (r == ZK_OK)
        r = partition_sm_elect(c, added, ELECT_OFFLINE, false, NULL);
    return r == ZK_OK ? replica_sm_change(c, &replicas, REPLICA_ONLINE) : r;
}

static int name_cmp(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Topics that ZooKeeper does not have any more; nobody is told, as in Kafka. */
static void drop_vanished(struct controller *c, const struct zk_names *names)
{
    struct ctl_topic *next;

    for (struct ctl_topic *t = c->x.topics; t; t = next) {
        struct str name = topic_name(t);
        next = t->hh.next;
        if (names->count && bsearch(&name, names->list, names->count, sizeof name, name_cmp))
            continue;
        say_info("controller: topic %s has gone from ZooKeeper", t->name);
        topic_unwatch(c, t);
        context_topic_remove(&c->x, t);
    }
}

enum zk_result topics_changed(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(partition_list_deinit) struct partition_list added = {0};
    struct zk_names names;
    enum zk_result r = zk_topics_list(c->store, true, &a, &names);

    if (r != ZK_OK)
        return r;
    drop_illegal(&names);
    struct str *fresh = arena_new_array(&a, struct str, names.count + 1);
    size_t n = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (!context_topic(&c->x, names.list[i]))
            fresh[n++] = names.list[i];
    }
    drop_vanished(c, &names);
    r = take_in(c, fresh, n, &added);
    if (n)
        say_info("controller: new topics=%zu partitions=%zu first=%.*s", n, added.count,
                 STR_ARG(fresh[0]));
    return r == ZK_OK ? create(c, &added) : r;
}

/* Somebody added partitions to a topic that is being deleted: the node gets back those that were
 * there before. */
static enum zk_result restore(struct controller *c, const struct ctl_topic *t)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_ids existing;
    enum zk_result r = zk_topic_partition_ids(c->store, topic_name(t), &a, &existing);

    if (r != ZK_OK)
        return r;
    struct node_topic node = {
        .id = t->id,
        .partitions = arena_array(&a, (size_t)t->count + 1, sizeof(struct node_partition))};
    TOPIC_EACH_PARTITION(t, p)
    {
        if (node_ids_has(&existing, p->id))
            node.partitions[node.count++] = partition_assignment(p);
    }
    say_warn("controller: topic %s is being deleted: partitions added to it are taken back",
             t->name);
    return zk_topic_set(c->store, topic_name(t), &node, c->epoch_version);
}

static bool adds_partitions(const struct ctl_topic *t, const struct node_topic *node)
{
    for (int32_t i = 0; i < node->count; i++) {
        if (!topic_partition(t, node->partitions[i].id))
            return true;
    }
    return false;
}

enum zk_result topic_modified(struct controller *c, struct str name)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(partition_list_deinit) struct partition_list added = {0};
    struct ctl_topic *t = context_topic(&c->x, name);
    struct zk_topic now = {.name = name};

    if (!t)
        return ZK_OK;
    enum zk_result r = zk_topics_read(c->store, &a, &now, 1);
    if (r != ZK_OK || now.result != ZK_OK)
        return r; /* absent: the event for the children tells; malformed: said */
    if (!adds_partitions(t, &now.node))
        return ZK_OK;
    if (t->is_queued)
        return restore(c, t);
    if (uuid_is_zero(t->id))
        context_topic_set_id(&c->x, t, now.node.id);
    add_partitions(c, t, &now.node, &added);
    say_info("controller: topic %s gets partitions=%zu", t->name, added.count);
    return create(c, &added);
}

/* Writes the node as the caller composed it, provided that nobody has touched it since. */
static enum zk_result set_node(struct controller *c, const struct controller_set_partitions *call)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t at = zk_batch_set_fenced(&b, c->epoch_version, zk_path_topic(&b.arena, call->topic),
                                    node_topic_encode(&b.arena, &call->node), call->node_version);

    zk_store_run(c->store, &b);
    return zk_batch_result(&b, at);
}

enum zk_result topics_set_partitions(struct controller *c, struct controller_set_partitions *call)
{
    const struct ctl_topic *t = context_topic(&c->x, call->topic);

    if (t && t->is_queued)
        call->error = INVALID_TOPIC_EXCEPTION;
    else if (t && t->reassigning)
        call->error = REASSIGNMENT_IN_PROGRESS;
    if (call->error)
        return ZK_OK;
    enum zk_result r = set_node(c, call);
    call->error = r == ZK_NO_NODE ? UNKNOWN_TOPIC_OR_PARTITION : zk_result_err(r);
    return controller_is_over(r) ? r : ZK_OK;
}
