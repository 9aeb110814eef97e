/*
 * why_zk_read.c - what is taken from ZooKeeper, by reads alone; what cannot be read is left out
 */
#include "common/base/mem.h"
#include "tools/why/why.h"
#include "zk/node_broker.h"
#include "zk/node_cluster.h"
#include "zk/node_controller.h"
#include "zk/node_state.h"
#include "zk/zk_admin.h"
#include "zk/zk_configs.h"
#include "zk/zk_paths.h"
#include "zk/zk_topics.h"

enum { CHUNK = 1024 };

/* What could not be read is not to be taken for absent: nothing of it counts. */
static bool is_read(struct why_facts *f, enum zk_result r, const char *path)
{
    if (r == ZK_OK || r == ZK_NO_NODE)
        return true;
    f->zk.answers = WHY_NO;
    f->zk.silence = arena_printf(f->arena, "reading %s failed: %s", path, zk_result_name(r));
    return false;
}

static bool is_all_read(struct why_facts *f, const struct zk_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (!is_read(f, b->ops[i].result, b->ops[i].path))
            return false;
    }
    return true;
}

/* ---- the cluster ---- */

static void add_bad(struct why_facts *f, const struct zk_op *op, const struct node_why *why)
{
    why_add_bad(f, str_of(op->path), why->text);
}

static void take_controller(struct why_facts *f, const struct zk_op *op)
{
    struct why_zk_facts *z = &f->zk;
    struct node_controller node;
    struct node_why why;

    z->controller = -1;
    if (op->result != ZK_OK)
        return;
    z->is_controller_garbled = node_controller_decode(op->ret_data, &why, &node) < 0;
    if (z->is_controller_garbled) {
        add_bad(f, op, &why);
        return;
    }
    z->controller = node.broker_id;
    z->controller_since_ms = op->stat.ctime_ms;
    z->controller_session = op->stat.ephemeral_owner;
    z->is_kraft = node.kraft_epoch > 0;
}

static void take_epoch(struct why_facts *f, const struct zk_op *op)
{
    struct node_why why;

    f->zk.controller_epoch = -1;
    if (op->result == ZK_OK && node_epoch_decode(op->ret_data, &why, &f->zk.controller_epoch) < 0)
        add_bad(f, op, &why);
}

static void take_cluster_id(struct why_facts *f, const struct zk_op *op)
{
    struct node_why why;

    if (op->result == ZK_OK &&
        node_cluster_id_decode(op->ret_data, f->arena, &why, &f->zk.cluster_id) < 0)
        add_bad(f, op, &why);
}

static bool read_cluster(struct why_facts *f, struct zk_store *s)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t root = zk_batch_exists(&b, "/"), id = zk_batch_get(&b, ZK_PATH_CLUSTER_ID);
    size_t controller = zk_batch_get(&b, ZK_PATH_CONTROLLER);
    size_t epoch = zk_batch_get(&b, ZK_PATH_CONTROLLER_EPOCH);

    zk_store_run(s, &b);
    if (!is_all_read(f, &b))
        return false;
    f->zk.has_no_chroot = b.ops[root].result == ZK_NO_NODE;
    take_cluster_id(f, &b.ops[id]);
    take_controller(f, &b.ops[controller]);
    take_epoch(f, &b.ops[epoch]);
    return true;
}

/* ---- brokers ---- */

static struct str address_of(struct arena *a, const struct node_broker *node)
{
    const struct node_endpoint *best = NULL;

    for (int32_t i = 0; i < node->endpoint_count; i++) {
        if (!best ||
            (best->protocol != NODE_PLAINTEXT && node->endpoints[i].protocol == NODE_PLAINTEXT))
            best = &node->endpoints[i];
    }
    return best ? arena_printf(a, "%.*s:%d", STR_ARG(best->host), best->port) : STR_NULL;
}

static void take_broker(struct why_facts *f, int32_t id, const struct zk_op *op)
{
    struct node_broker *node = arena_new(f->arena, struct node_broker);
    struct node_why why;

    if (op->result != ZK_OK)
        return;
    struct why_broker *b = why_add_broker(f, id);
    b->registered = WHY_YES;
    b->session = op->stat.ephemeral_owner;
    b->registered_ms = op->stat.ctime_ms;
    b->is_garbled = node_broker_decode(op->ret_data, f->arena, &why, node) < 0;
    if (b->is_garbled) {
        add_bad(f, op, &why);
        return;
    }
    b->node = node;
    b->address = address_of(f->arena, node);
}

static bool read_brokers(struct why_facts *f, struct zk_store *s)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_names names = {0};

    if (!is_read(f, zk_store_children(s, ZK_PATH_BROKER_IDS, false, f->arena, &names),
                 ZK_PATH_BROKER_IDS))
        return false;
    for (size_t i = 0; i < names.count; i++)
        zk_batch_get(&b, zk_path_child(&b.arena, ZK_PATH_BROKER_IDS, names.list[i]));
    zk_store_run(s, &b);
    if (!is_all_read(f, &b))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        int32_t id;
        if (str_to_i32(names.list[i], 0, INT32_MAX, &id) == 0)
            take_broker(f, id, &b.ops[i]);
        else
            why_add_bad(f, str_of(b.ops[i].path), "its name is no broker id");
    }
    return true;
}

/* ---- topics ---- */

static struct why_ids ids_of(const struct node_ids *from)
{
    return (struct why_ids){from->list, from->count};
}

static void take_nodes(struct why_facts *f, const struct zk_topic *from, struct why_topic *t)
{
    *t = (struct why_topic){.name = from->name, .min_isr = -1, .id = from->node.id};
    t->v = arena_new_array(f->arena, struct why_partition, (size_t)from->node.count + 1);
    for (int32_t i = 0; i < from->node.count; i++)
        t->v[t->count++] = (struct why_partition){
            .topic = t,
            .partition = from->node.partitions[i].id,
            .leader = -1,
            .replicas = ids_of(&from->node.partitions[i].replicas),
            .adding = ids_of(&from->node.partitions[i].adding),
            .removing = ids_of(&from->node.partitions[i].removing),
        };
}

static bool read_deletions(struct why_facts *f, struct zk_store *s)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_names names = {0};

    if (!is_read(f, zk_store_children(s, ZK_PATH_DELETE_TOPICS, false, f->arena, &names),
                 ZK_PATH_DELETE_TOPICS))
        return false;
    if (names.count == 0)
        return true;
    struct zk_topic *topics = arena_new_array(f->arena, struct zk_topic, names.count);
    f->zk.deletions = arena_new_array(f->arena, struct why_deletion, names.count);
    f->zk.deletions_count = names.count;
    for (size_t i = 0; i < names.count; i++) {
        topics[i].name = names.list[i];
        zk_batch_exists(&b, zk_path_delete_topic(&b.arena, names.list[i]));
    }
    zk_store_run(s, &b);
    if (!is_all_read(f, &b) ||
        !is_read(f, zk_topics_read(s, f->arena, topics, names.count), ZK_PATH_TOPICS))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        struct why_deletion *d = &f->zk.deletions[i];
        *d = (struct why_deletion){.topic = names.list[i]};
        d->since_ms = b.ops[i].result == ZK_OK ? b.ops[i].stat.ctime_ms : 0;
        d->is_there = topics[i].result == ZK_OK;
        if (d->is_there)
            take_nodes(f, &topics[i], &d->nodes);
    }
    return true;
}

static void read_legacy_moves(struct why_facts *f, struct zk_store *s)
{
    struct node_reassign moves = {0};
    enum zk_result r = zk_reassign_read(s, f->arena, &moves);

    f->zk.has_legacy = r == ZK_OK || r == ZK_MALFORMED;
    f->zk.legacy_count = moves.count;
    if (r == ZK_MALFORMED)
        why_add_bad(f, STR(ZK_PATH_REASSIGN), "it is no list of partitions and their replicas");
}

/* Names are numbered: the first is the oldest. */
static struct why_notices read_notices(struct why_facts *f, struct zk_store *s, const char *path)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    struct zk_names names = {0};
    struct why_notices n = {0};

    if (zk_notifications_list(s, path, false, f->arena, &names) != ZK_OK || names.count == 0)
        return n;
    n.count = names.count;
    zk_batch_exists(&b, zk_path_child(&b.arena, path, names.list[0]));
    zk_store_run(s, &b);
    n.since_ms = b.ops[0].result == ZK_OK ? b.ops[0].stat.ctime_ms : 0;
    return n;
}

/* ---- states ---- */

static void take_state(struct why_facts *f, const struct zk_op *op, struct why_partition *p)
{
    struct node_state node;
    struct node_why why;

    if (op->result != ZK_OK)
        return;
    p->changed_ms = op->stat.mtime_ms;
    p->is_garbled = node_state_decode(op->ret_data, f->arena, &why, &node) < 0;
    if (p->is_garbled) {
        add_bad(f, op, &why);
        return;
    }
    if (f->brokers_answer == WHY_YES)
        return;
    p->leader = node.leader;
    p->isr = ids_of(&node.isr);
}

static bool read_states(struct why_facts *f, struct zk_store *s, struct why_partition **v, size_t n)
{
    for (size_t at = 0; at < n; at += CHUNK) {
        CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
        size_t count = MIN(n - at, (size_t)CHUNK);
        for (size_t i = 0; i < count; i++)
            zk_batch_get(&b, zk_path_state(&b.arena, v[at + i]->topic->name, v[at + i]->partition));
        zk_store_run(s, &b);
        if (!is_all_read(f, &b))
            return false;
        for (size_t i = 0; i < count; i++)
            take_state(f, &b.ops[i], v[at + i]);
    }
    return true;
}

/* Settings that a topic has itself: defaults are the brokers'. */
static void read_configs(struct why_facts *f, struct zk_store *s)
{
    struct zk_config *v = arena_new_array(f->arena, struct zk_config, (size_t)f->topics_count + 1);

    for (int32_t i = 0; i < f->topics_count; i++)
        v[i].name = f->topics[i].name;
    if (zk_configs_read(s, "topics", f->arena, v, (size_t)f->topics_count) != ZK_OK)
        return;
    for (int32_t i = 0; i < f->topics_count; i++) {
        f->topics[i].config = &v[i].node;
        if (v[i].result == ZK_MALFORMED || v[i].node.is_unreadable)
            why_add_bad(f, arena_printf(f->arena, "/config/topics/%.*s", STR_ARG(v[i].name)),
                        "it is no JSON object with \"config\" and texts in it");
        struct str min = node_config_get(&v[i].node, "min.insync.replicas");
        struct str unclean = node_config_get(&v[i].node, "unclean.leader.election.enable");
        if (min.len && str_to_i32(min, 1, INT32_MAX, &f->topics[i].min_isr) < 0)
            f->topics[i].min_isr = -1;
        if (unclean.len)
            f->topics[i].unclean = str_eqz(unclean, "true") ? WHY_YES : WHY_NO;
    }
}

/* What is wrong with a topic's node, which is seldom: read again for that. */
static void say_bad_topic(struct why_facts *f, struct zk_store *s, struct str name)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char *path = zk_path_topic(&a, name);
    struct node_topic node;
    struct node_why why;
    struct slice data;

    if (zk_store_get(s, path, &a, &data, NULL) == ZK_OK &&
        node_topic_decode(data, &a, &why, &node) < 0)
        why_add_bad(f, str_of(path), why.text);
}

/* No broker answers: all that is known of partitions is here. */
static void read_topics(struct why_facts *f, struct zk_store *s)
{
    struct zk_names names = {0};

    if (!is_read(f, zk_topics_list(s, false, f->arena, &names), ZK_PATH_TOPICS))
        return;
    struct zk_topic *v = arena_new_array(f->arena, struct zk_topic, names.count + 1);
    for (size_t i = 0; i < names.count; i++)
        v[i].name = names.list[i];
    if (!is_read(f, zk_topics_read(s, f->arena, v, names.count), ZK_PATH_TOPICS))
        return;
    f->topics = arena_new_array(f->arena, struct why_topic, names.count + 1);
    for (size_t i = 0; i < names.count; i++) {
        if (v[i].result == ZK_OK)
            take_nodes(f, &v[i], &f->topics[f->topics_count++]);
        else if (v[i].result == ZK_MALFORMED)
            say_bad_topic(f, s, v[i].name);
    }
    f->source = STR("/brokers/topics");
    read_configs(f, s);
}

void why_zk_states(struct why_facts *f, struct zk_store *s)
{
    size_t n = 0;

    if (f->zk.answers != WHY_YES)
        return;
    if (f->brokers_answer != WHY_YES)
        read_topics(f, s);
    struct why_partition **v =
        arena_new_array(f->arena, struct why_partition *, (size_t)why_partition_count(f) + 1);
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            if (why_is_unwell(&f->topics[i].v[k]))
                v[n++] = &f->topics[i].v[k];
        }
    }
    if (n > WHY_ASKED_MAX && f->brokers_answer == WHY_YES) {
        why_unasked(f, "the states of all partitions: only of the first %d", WHY_ASKED_MAX);
        n = WHY_ASKED_MAX;
    }
    if (read_states(f, s, v, n))
        return;
    why_unasked(f, "the states of partitions: %.*s", STR_ARG(f->zk.silence));
    if (f->brokers_answer != WHY_YES)
        f->topics_count = 0; /* without a state a partition would seem to have no leader */
}

void why_zk_read(struct why_facts *f, struct zk_store *s)
{
    if (!read_cluster(f, s))
        return;
    if (f->zk.has_no_chroot) {
        f->zk.answers = WHY_NO;
        f->zk.silence = STR("its chroot is not there");
    } else if (read_brokers(f, s) && read_deletions(f, s)) {
        read_legacy_moves(f, s);
        f->zk.isr_changes = read_notices(f, s, ZK_PATH_ISR_CHANGES);
        f->zk.dir_events = read_notices(f, s, ZK_PATH_LOG_DIR_EVENTS);
    }
}
