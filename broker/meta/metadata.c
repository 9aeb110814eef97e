#include "broker/meta/metadata.h"

#include "broker/meta/topic_map.h"
#include "common/base/arena.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/wire/messages.h"

#include <stdatomic.h>

enum { LEADER_DELETED = -2 };

struct metadata_snapshot {
    _Atomic unsigned refs;
    int32_t controller;
    struct topic_map by_name;
    struct topic_map by_id;
    struct meta_broker *brokers; /* by id; they and their texts live in the arena */
    int32_t broker_count;
    bool has_heard_of_topics;
    struct arena arena;
};

struct metadata {
    struct mutex lock; /* LOCK_METADATA: current, for the moment of taking or swapping it */
    struct metadata_snapshot *current;
};

struct metadata *metadata_new(void)
{
    struct metadata *m = xnew(struct metadata);

    mutex_init(&m->lock, LOCK_METADATA);
    m->current = xnew(struct metadata_snapshot);
    m->current->refs = 1;
    m->current->controller = -1;
    m->current->by_name.key = TOPIC_BY_NAME;
    m->current->by_id.key = TOPIC_BY_ID;
    return m;
}

struct metadata *metadata_free(struct metadata *m)
{
    if (m) {
        metadata_put(m->current);
        mutex_deinit(&m->lock);
        free(m);
    }
    return NULL;
}

const struct metadata_snapshot *metadata_get(struct metadata *m)
{
    LOCK_SCOPE(&m->lock);
    atomic_fetch_add_explicit(&m->current->refs, 1, memory_order_relaxed);
    return m->current;
}

void metadata_put(const struct metadata_snapshot *snapshot)
{
    struct metadata_snapshot *s = (struct metadata_snapshot *)(uintptr_t)snapshot;

    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    topic_map_deinit(&s->by_name);
    topic_map_deinit(&s->by_id);
    arena_deinit(&s->arena);
    free(s);
}

void metadata_put_p(const struct metadata_snapshot **s)
{
    metadata_put(*s);
}

/* ---- lookups ---- */

const struct meta_topic *metadata_topic(const struct metadata_snapshot *s, struct str name)
{
    struct meta_topic key = {.name = name};
    struct topic_entry *e = topic_map_find(&s->by_name, &key);

    return e ? &e->topic : NULL;
}

const struct meta_topic *metadata_topic_by_id(const struct metadata_snapshot *s, struct uuid id)
{
    struct meta_topic key = {.id = id};
    struct topic_entry *e = uuid_is_zero(id) ? NULL : topic_map_find(&s->by_id, &key);

    return e ? &e->topic : NULL;
}

static const struct meta_partition *find_partition(const struct meta_topic *t, int32_t index)
{
    int32_t lo = 0, hi = t ? t->partition_count : 0;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (t->partitions[mid].index < index)
            lo = mid + 1;
        else
            hi = mid;
    }
    return t && lo < t->partition_count && t->partitions[lo].index == index ? &t->partitions[lo]
                                                                            : NULL;
}

const struct meta_partition *metadata_partition(const struct metadata_snapshot *s, struct str topic,
                                                int32_t partition)
{
    return find_partition(metadata_topic(s, topic), partition);
}

const struct meta_broker *metadata_broker(const struct metadata_snapshot *s, int32_t id)
{
    int32_t lo = 0, hi = s->broker_count;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (s->brokers[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->broker_count && s->brokers[lo].id == id ? &s->brokers[lo] : NULL;
}

const struct meta_endpoint *meta_broker_endpoint(const struct meta_broker *b, struct str listener)
{
    for (int32_t i = 0; i < b->endpoint_count; i++)
        if (str_eq(b->endpoints[i].listener, listener))
            return &b->endpoints[i];
    return NULL;
}

int32_t metadata_controller(const struct metadata_snapshot *s)
{
    return s->controller;
}

int32_t metadata_broker_count(const struct metadata_snapshot *s)
{
    return s->broker_count;
}

const struct meta_broker *metadata_broker_at(const struct metadata_snapshot *s, int32_t i)
{
    assert(i >= 0 && i < s->broker_count);
    return &s->brokers[i];
}

int32_t metadata_topic_count(const struct metadata_snapshot *s)
{
    return s->by_name.count;
}

bool metadata_has_heard_of_topics(const struct metadata_snapshot *s)
{
    return s->has_heard_of_topics;
}

void metadata_each_topic(const struct metadata_snapshot *s, meta_topic_fn each, void *ctx)
{
    topic_map_each(&s->by_name, each, ctx);
}

/* ---- one topic, made anew ---- */

typedef struct update_metadata_request_partition_state partition_state;

/* One changed partition, wherever in the request it stood. */
struct change {
    struct str topic;
    struct uuid id;
    const partition_state *state;
    int32_t order; /* in the request: of two for one partition the later counts */
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    int by_topic = str_cmp(x->topic, y->topic);

    if (by_topic)
        return by_topic;
    if (x->state->partition_index != y->state->partition_index)
        return x->state->partition_index < y->state->partition_index ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static struct meta_partition partition_of(const partition_state *st)
{
    return (struct meta_partition){
        .index = st->partition_index,
        .controller_epoch = st->controller_epoch,
        .leader = st->leader,
        .leader_epoch = st->leader_epoch,
        .partition_epoch = st->zk_version,
        .replicas = st->replicas,
        .replica_count = MAX(st->replicas_count, 0),
        .isr = st->isr,
        .isr_count = MAX(st->isr_count, 0),
        .offline = st->offline_replicas,
        .offline_count = MAX(st->offline_replicas_count, 0),
    };
}

/* Both sides are sorted; a changed partition replaces the old one, or takes it out. Returns how
 * many are left in ret. */
static int32_t merge_partitions(const struct meta_topic *old, const struct change *changes,
                                int32_t count, struct meta_partition *ret)
{
    int32_t old_count = old ? old->partition_count : 0, at = 0, n = 0;

    for (int32_t i = 0; i < count; i++) {
        const partition_state *st = changes[i].state;
        if (i + 1 < count && changes[i + 1].state->partition_index == st->partition_index)
            continue;
        while (at < old_count && old->partitions[at].index < st->partition_index)
            ret[n++] = old->partitions[at++];
        if (at < old_count && old->partitions[at].index == st->partition_index)
            at++;
        if (st->leader != LEADER_DELETED)
            ret[n++] = partition_of(st);
    }
    while (at < old_count)
        ret[n++] = old->partitions[at++];
    return n;
}

static const int32_t *pack_ids(int32_t **at, const int32_t *ids, int32_t count)
{
    int32_t *to = *at;

    if (count)
        memcpy(to, ids, (size_t)count * sizeof *ids);
    *at += count;
    return to;
}

/* Everything copied into one block. */
static struct topic_entry *entry_new(struct str name, struct uuid id,
                                     const struct meta_partition *parts, int32_t count)
{
    size_t ids = 0;

    for (int32_t i = 0; i < count; i++)
        ids += (size_t)parts[i].replica_count + (size_t)parts[i].isr_count +
               (size_t)parts[i].offline_count;
    size_t parts_size = (size_t)count * sizeof *parts, ids_size = ids * sizeof(int32_t);
    struct topic_entry *e = xcalloc(1, sizeof *e + parts_size + ids_size + name.len);
    struct meta_partition *to = (struct meta_partition *)(e + 1);
    int32_t *at = (int32_t *)(void *)((char *)to + parts_size);
    char *text = (char *)at + ids_size;

    memcpy(text, name.p, name.len);
    for (int32_t i = 0; i < count; i++) {
        to[i] = parts[i];
        to[i].replicas = pack_ids(&at, parts[i].replicas, parts[i].replica_count);
        to[i].isr = pack_ids(&at, parts[i].isr, parts[i].isr_count);
        to[i].offline = pack_ids(&at, parts[i].offline, parts[i].offline_count);
    }
    e->refs = 1;
    e->topic = (struct meta_topic){{text, name.len}, id, to, count};
    return e;
}

static void drop_topic(struct metadata_snapshot *s, const struct meta_topic *t)
{
    const struct meta_topic *at_id = metadata_topic_by_id(s, t->id);

    if (at_id && str_eq(at_id->name, t->name))
        topic_map_remove(&s->by_id, t);
    topic_map_remove(&s->by_name, t);
}

static void apply_topic(struct metadata_snapshot *s, const struct change *changes, int32_t count)
{
    const struct meta_topic *old = metadata_topic(s, changes[0].topic);
    int32_t room = count + (old ? old->partition_count : 0);
    struct meta_partition *CLEANUP(free_p) parts = xnew_array(struct meta_partition, (size_t)room);
    int32_t left = merge_partitions(old, changes, count, parts);
    struct topic_entry *e =
        left ? entry_new(changes[0].topic, changes[count - 1].id, parts, left) : NULL;

    if (old)
        drop_topic(s, old);
    if (!e)
        return;
    topic_map_set(&s->by_name, e);
    if (!uuid_is_zero(e->topic.id))
        topic_map_set(&s->by_id, e);
    topic_entry_unref(e);
}

/* ---- a whole update ---- */

static struct change *collect_changes(const struct update_metadata_request *req, int32_t *ret_count)
{
    int32_t total = MAX(req->ungrouped_partition_states_count, 0), n = 0;

    for (int32_t i = 0; i < req->topic_states_count; i++)
        total += MAX(req->topic_states[i].partition_states_count, 0);
    struct change *list = xnew_array(struct change, (size_t)total + 1);
    for (int32_t i = 0; i < req->ungrouped_partition_states_count; i++) {
        const partition_state *st = &req->ungrouped_partition_states[i];
        list[n] = (struct change){.topic = st->topic_name, .state = st, .order = n};
        n++;
    }
    for (int32_t i = 0; i < req->topic_states_count; i++) {
        const struct update_metadata_request_topic_state *t = &req->topic_states[i];
        for (int32_t k = 0; k < t->partition_states_count; k++, n++)
            list[n] = (struct change){t->topic_name, t->topic_id, &t->partition_states[k], n};
    }
    qsort(list, (size_t)n, sizeof *list, compare_changes);
    *ret_count = n;
    return list;
}

static struct str protocol_name(int16_t security_protocol)
{
    static const struct str names[] = {
        {"PLAINTEXT", 9}, {"SSL", 3}, {"SASL_PLAINTEXT", 14}, {"SASL_SSL", 8}};

    return security_protocol >= 0 && security_protocol < (int16_t)ARRAY_LEN(names)
               ? names[security_protocol]
               : (struct str){"", 0};
}

/* Version 0 has one plaintext address; up to version 2 a listener has the name of its protocol. */
static void copy_endpoints(struct metadata_snapshot *s,
                           const struct update_metadata_request_live_broker *from,
                           struct meta_broker *to)
{
    bool is_v0 = from->endpoints_count <= 0;
    int32_t count = is_v0 ? 1 : from->endpoints_count;
    struct meta_endpoint *list = arena_new_array(&s->arena, struct meta_endpoint, (size_t)count);

    for (int32_t i = 0; i < count; i++) {
        if (is_v0) {
            list[i] = (struct meta_endpoint){protocol_name(0), arena_str(&s->arena, from->v0_host),
                                             from->v0_port, 0};
            continue;
        }
        const struct update_metadata_request_endpoint *e = &from->endpoints[i];
        struct str listener = e->listener.len ? e->listener : protocol_name(e->security_protocol);
        list[i] =
            (struct meta_endpoint){arena_str(&s->arena, listener), arena_str(&s->arena, e->host),
                                   e->port, e->security_protocol};
    }
    to->endpoints = list;
    to->endpoint_count = count;
}

static int compare_brokers(const void *a, const void *b)
{
    const struct meta_broker *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static void set_brokers(struct metadata_snapshot *s, const struct update_metadata_request *req)
{
    s->broker_count = MAX(req->live_brokers_count, 0);
    s->brokers = arena_new_array(&s->arena, struct meta_broker, (size_t)s->broker_count);
    for (int32_t i = 0; i < s->broker_count; i++) {
        const struct update_metadata_request_live_broker *from = &req->live_brokers[i];
        s->brokers[i].id = from->id;
        if (!str_is_null(from->rack))
            s->brokers[i].rack = arena_str(&s->arena, from->rack);
        copy_endpoints(s, from, &s->brokers[i]);
    }
    qsort(s->brokers, (size_t)s->broker_count, sizeof *s->brokers, compare_brokers);
}

void metadata_update(struct metadata *m, const struct update_metadata_request *req)
{
    struct metadata_snapshot *s = xnew(struct metadata_snapshot);
    int32_t count;
    struct change *CLEANUP(free_p) changes = collect_changes(req, &count);

    /* Nobody but the one writer replaces current, so it can be read without the lock. */
    s->refs = 1;
    s->by_name = topic_map_share(&m->current->by_name);
    s->by_id = topic_map_share(&m->current->by_id);
    s->controller = req->controller_id;
    s->has_heard_of_topics = m->current->has_heard_of_topics || count;
    set_brokers(s, req);
    for (int32_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && str_eq(changes[to].topic, changes[from].topic);)
            to++;
        apply_topic(s, &changes[from], to - from);
    }
    struct metadata_snapshot *old = m->current;
    WITH_LOCK(&m->lock)
    {
        m->current = s;
    }
    metadata_put(old);
}
