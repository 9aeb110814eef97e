#include "controller/context.h"

enum { STATE_MASK = 7, OFFLINE_DIR = 8, AWAY = 16 };

/* A byte per replica of RS: its state, and whether its directory is offline. */
static uint8_t *replica_bytes(const struct ctl_partition *p)
{
    return (uint8_t *)(p->ids + p->replica_count + p->adding_count + p->removing_count);
}

static int replica_at(const struct ctl_partition *p, int32_t broker)
{
    for (int i = 0; i < p->replica_count; i++) {
        if (p->ids[i] == broker)
            return i;
    }
    return -1;
}

/* Where id stands, or would stand, among the brokers. */
static int32_t broker_at(const struct context *x, int32_t id)
{
    int32_t lo = 0, hi = x->broker_count;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (x->brokers[mid]->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct ctl_broker *context_broker(const struct context *x, int32_t id)
{
    int32_t at = broker_at(x, id);

    return at < x->broker_count && x->brokers[at]->id == id ? x->brokers[at] : NULL;
}

struct ctl_broker *context_broker_put(struct context *x, int32_t id, int64_t epoch,
                                      const struct node_broker *node)
{
    int32_t at = broker_at(x, id);
    struct ctl_broker *b = xnew(struct ctl_broker);

    b->id = id;
    b->epoch = epoch;
    b->node = node_broker_copy(&b->arena, node);
    if (at < x->broker_count && x->brokers[at]->id == id) {
        arena_deinit(&x->brokers[at]->arena);
        free(x->brokers[at]);
    } else {
        xgrow(x->brokers, x->broker_cap, x->broker_count + 1);
        memmove(x->brokers + at + 1, x->brokers + at,
                (size_t)(x->broker_count - at) * sizeof *x->brokers);
        x->broker_count++;
    }
    x->brokers[at] = b;
    return b;
}

void context_broker_remove(struct context *x, int32_t id)
{
    int32_t at = broker_at(x, id);

    if (at == x->broker_count || x->brokers[at]->id != id)
        return;
    arena_deinit(&x->brokers[at]->arena);
    free(x->brokers[at]);
    x->broker_count--;
    memmove(x->brokers + at, x->brokers + at + 1,
            (size_t)(x->broker_count - at) * sizeof *x->brokers);
}

bool context_is_live(const struct context *x, int32_t id)
{
    const struct ctl_broker *b = context_broker(x, id);

    return b && !b->is_shutting_down;
}

struct ctl_topic *context_topic(const struct context *x, struct str name)
{
    struct ctl_topic *t = NULL;

    HASH_FIND(hh, x->topics, name.p, name.len, t);
    return t;
}

struct ctl_topic *context_topic_by_id(const struct context *x, struct uuid id)
{
    struct ctl_topic *t = NULL;

    HASH_FIND(hh_id, x->topics_by_id, id.b, sizeof id.b, t);
    return t;
}

struct ctl_topic *context_topic_add(struct context *x, struct str name)
{
    assert(name.len <= UINT16_MAX && !context_topic(x, name));
    struct ctl_topic *t = xcalloc(1, sizeof *t + name.len + 1);

    memcpy(t->name, name.p, name.len);
    t->name_len = (uint16_t)name.len;
    HASH_ADD_KEYPTR(hh, x->topics, t->name, t->name_len, t);
    x->topic_count++;
    return t;
}

void context_topic_set_id(struct context *x, struct ctl_topic *t, struct uuid id)
{
    if (t->is_hashed_by_id)
        HASH_DELETE(hh_id, x->topics_by_id, t);
    t->is_hashed_by_id = false;
    t->id = id;
    if (!uuid_is_zero(id) && !context_topic_by_id(x, id)) {
        HASH_ADD(hh_id, x->topics_by_id, id, sizeof t->id, t);
        t->is_hashed_by_id = true;
    }
}

static void partition_free(struct ctl_partition *p)
{
    assert(!p->fan);
    free(p->ids);
    free(p->isr);
    free(p);
}

/* Counts, or stops counting, p as one whose leader is not its first replica. */
static void partition_weigh(struct context *x, struct ctl_partition *p)
{
    bool is_imbalanced =
        p->has_leadership && p->replica_count > 0 && p->leader != p->ids[0] && !p->topic->is_queued;

    if (is_imbalanced != p->is_imbalanced)
        x->preferred_imbalance += is_imbalanced ? 1 : -1;
    p->is_imbalanced = is_imbalanced;
}

static void partition_count_state(struct context *x, const struct ctl_partition *p, int by)
{
    if (p->state == PARTITION_OFFLINE)
        x->offline_partitions += by;
    else if (p->state == PARTITION_NEW)
        x->new_partitions += by;
}

void context_topic_remove(struct context *x, struct ctl_topic *t)
{
    for (int32_t i = 0; i < t->count; i++) {
        struct ctl_partition *p = t->partitions[i];
        x->preferred_imbalance -= p->is_imbalanced;
        if (!t->is_queued)
            partition_count_state(x, p, -1);
        partition_free(p);
    }
    x->partition_count -= t->count;
    if (t->is_queued) {
        DL_DELETE2(x->queued, t, prev_queued, next_queued);
        x->queued_count--;
    }
    if (t->is_hashed_by_id)
        HASH_DELETE(hh_id, x->topics_by_id, t);
    HASH_DELETE(hh, x->topics, t);
    x->topic_count--;
    free(t->partitions);
    free(t);
}

void context_topic_queue(struct context *x, struct ctl_topic *t)
{
    if (t->is_queued)
        return;
    TOPIC_EACH_PARTITION(t, p)
    partition_count_state(x, p, -1);
    t->is_queued = true;
    DL_APPEND2(x->queued, t, prev_queued, next_queued);
    x->queued_count++;
    TOPIC_EACH_PARTITION(t, p)
    partition_weigh(x, p);
}

int32_t topic_replica_count(const struct ctl_topic *t)
{
    int32_t n = 0;

    for (int i = 0; i < REPLICA_STATE_COUNT; i++)
        n += t->in_state[i];
    return n;
}

static int32_t partition_at(const struct ctl_topic *t, int32_t id)
{
    int32_t lo = 0, hi = t->count;

    if (id >= 0 && id < t->count && t->partitions[id]->id == id)
        return id; /* without gaps, as usual */
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (t->partitions[mid]->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct ctl_partition *topic_partition(const struct ctl_topic *t, int32_t id)
{
    int32_t at = partition_at(t, id);

    return at < t->count && t->partitions[at]->id == id ? t->partitions[at] : NULL;
}

struct ctl_partition *context_partition(const struct context *x, struct str topic, int32_t id)
{
    const struct ctl_topic *t = context_topic(x, topic);

    return t ? topic_partition(t, id) : NULL;
}

bool partition_is_reassigning(const struct ctl_partition *p)
{
    return p->adding_count > 0 || p->removing_count > 0;
}

static void ids_put(int32_t **at, const struct node_ids *ids)
{
    if (ids->count)
        memcpy(*at, ids->list, (size_t)ids->count * sizeof **at);
    *at += ids->count;
}

/* The ids of an assignment with fresh replica bytes; duplicates and lengths were checked where the
 * node was decoded. */
static int32_t *ids_new(const struct node_partition *a)
{
    size_t count = (size_t)(a->replicas.count + a->adding.count + a->removing.count);
    int32_t *ids = xmalloc(count * sizeof *ids + (size_t)a->replicas.count + 1);
    int32_t *at = ids;

    ids_put(&at, &a->replicas);
    ids_put(&at, &a->adding);
    ids_put(&at, &a->removing);
    memset(at, REPLICA_NONE, (size_t)a->replicas.count);
    return ids;
}

static void partition_use_ids(struct ctl_partition *p, int32_t *ids, const struct node_partition *a)
{
    p->ids = ids;
    p->replica_count = (uint16_t)a->replicas.count;
    p->adding_count = (uint16_t)a->adding.count;
    p->removing_count = (uint16_t)a->removing.count;
}

struct ctl_partition *context_partition_add(struct context *x, struct ctl_topic *t, int32_t id,
                                            const struct node_partition *assignment)
{
    int32_t at = partition_at(t, id);
    struct ctl_partition *p = xnew(struct ctl_partition);

    assert(at == t->count || t->partitions[at]->id != id);
    p->topic = t;
    p->id = id;
    p->leader = NO_LEADER;
    p->leader_epoch = NO_EPOCH;
    p->state = PARTITION_NONE;
    partition_use_ids(p, ids_new(assignment), assignment);
    t->in_state[REPLICA_NONE] += p->replica_count;
    t->reassigning += partition_is_reassigning(p);
    xgrow(t->partitions, t->cap, t->count + 1);
    memmove(t->partitions + at + 1, t->partitions + at,
            (size_t)(t->count - at) * sizeof *t->partitions);
    t->partitions[at] = p;
    t->count++;
    x->partition_count++;
    return p;
}

void context_assign(struct context *x, struct ctl_partition *p,
                    const struct node_partition *assignment)
{
    struct ctl_partition old = *p;
    struct ctl_topic *t = p->topic;

    partition_use_ids(p, ids_new(assignment), assignment);
    uint8_t *bytes = replica_bytes(p);
    for (int i = 0; i < old.replica_count; i++) {
        uint8_t byte = replica_bytes(&old)[i];
        int at = replica_at(p, old.ids[i]);
        t->in_state[byte & STATE_MASK]--;
        if (at >= 0)
            bytes[at] = byte;
    }
    for (int i = 0; i < p->replica_count; i++)
        t->in_state[bytes[i] & STATE_MASK]++;
    t->reassigning += (int)partition_is_reassigning(p) - (int)partition_is_reassigning(&old);
    free(old.ids);
    partition_weigh(x, p);
}

void context_set_partition_state(struct context *x, struct ctl_partition *p,
                                 enum partition_state state)
{
    if (!p->topic->is_queued)
        partition_count_state(x, p, -1);
    p->state = (uint8_t)state;
    if (!p->topic->is_queued)
        partition_count_state(x, p, 1);
}

void context_set_leadership(struct context *x, struct ctl_partition *p, const struct node_state *st,
                            int32_t partition_epoch, int32_t controller_epoch)
{
    size_t bytes = (size_t)st->isr.count * sizeof *p->isr;

    assert(st->isr.count <= UINT16_MAX);
    p->isr = xrealloc(p->isr, bytes ? bytes : 1);
    if (bytes)
        memmove(p->isr, st->isr.list, bytes);
    p->isr_count = (uint16_t)st->isr.count;
    p->leader = st->leader;
    p->leader_epoch = st->leader_epoch;
    p->recovery_state = st->leader_recovery_state;
    p->partition_epoch = partition_epoch;
    p->controller_epoch = controller_epoch;
    p->has_leadership = true;
    partition_weigh(x, p);
}

void context_drop_leadership(struct context *x, struct ctl_partition *p)
{
    p->has_leadership = false;
    p->leader = NO_LEADER;
    p->leader_epoch = NO_EPOCH;
    p->isr_count = 0;
    partition_weigh(x, p);
}

struct node_partition partition_assignment(const struct ctl_partition *p)
{
    return (struct node_partition){
        .id = p->id,
        .replicas = partition_replicas(p),
        .adding = partition_adding(p),
        .removing = partition_removing(p),
    };
}

int32_t partition_stop_epoch(const struct ctl_partition *p)
{
    if (p->topic->is_queued)
        return EPOCH_DURING_DELETE;
    return p->has_leadership ? p->leader_epoch : NO_EPOCH;
}

enum replica_state replica_state(const struct ctl_partition *p, int32_t broker)
{
    int at = replica_at(p, broker);

    return at < 0 ? REPLICA_NONE : (enum replica_state)(replica_bytes(p)[at] & STATE_MASK);
}

void replica_set_state(struct ctl_partition *p, int32_t broker, enum replica_state state)
{
    int at = replica_at(p, broker);

    if (at < 0)
        return;
    uint8_t *byte = &replica_bytes(p)[at];
    p->topic->in_state[*byte & STATE_MASK]--;
    p->topic->in_state[state]++;
    *byte = (uint8_t)((*byte & ~STATE_MASK) | state);
}

/* Takes broker out of ids; returns how many were taken out. */
static int32_t ids_drop(int32_t *ids, int32_t count, int32_t broker)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < count; i++) {
        if (ids[i] != broker)
            ids[kept++] = ids[i];
    }
    return count - kept;
}

void replica_remove(struct context *x, struct ctl_partition *p, int32_t broker)
{
    struct node_partition a = partition_assignment(p);
    int32_t *old =
        xmalloc((size_t)(a.replicas.count + a.adding.count + a.removing.count + 1) * sizeof *old);
    int32_t *at = old;

    ids_put(&at, &a.replicas);
    ids_put(&at, &a.adding);
    ids_put(&at, &a.removing);
    a.replicas.list = old;
    a.adding.list = old + a.replicas.count;
    a.removing.list = a.adding.list + a.adding.count;
    a.replicas.count -= ids_drop(a.replicas.list, a.replicas.count, broker);
    a.adding.count -= ids_drop(a.adding.list, a.adding.count, broker);
    a.removing.count -= ids_drop(a.removing.list, a.removing.count, broker);
    context_assign(x, p, &a);
    free(old);
}

static bool has_flag(const struct ctl_partition *p, int32_t broker, uint8_t flag)
{
    int at = replica_at(p, broker);

    return at >= 0 && (replica_bytes(p)[at] & flag);
}

static void set_flag(struct ctl_partition *p, int32_t broker, uint8_t flag, bool is_set)
{
    int at = replica_at(p, broker);

    if (at < 0)
        return;
    uint8_t *byte = &replica_bytes(p)[at];
    *byte = (uint8_t)(is_set ? *byte | flag : *byte & ~flag);
}

bool replica_on_offline_dir(const struct ctl_partition *p, int32_t broker)
{
    return has_flag(p, broker, OFFLINE_DIR);
}

void replica_set_offline_dir(struct ctl_partition *p, int32_t broker, bool is_offline)
{
    set_flag(p, broker, OFFLINE_DIR, is_offline);
}

bool replica_is_away(const struct ctl_partition *p, int32_t broker)
{
    return has_flag(p, broker, AWAY);
}

void replica_set_away(struct ctl_partition *p, int32_t broker, bool is_away)
{
    set_flag(p, broker, AWAY, is_away);
}

bool replica_is_restarted(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    const struct ctl_broker *b = context_broker(x, broker);

    return b && b->epoch > p->written_zxid;
}

bool replica_is_online(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    return context_is_live(x, broker) && !has_flag(p, broker, OFFLINE_DIR | AWAY);
}

bool replica_is_reachable(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    return context_broker(x, broker) && !has_flag(p, broker, OFFLINE_DIR | AWAY);
}

void context_clear(struct context *x)
{
    while (x->topics)
        context_topic_remove(x, x->topics);
    while (x->broker_count)
        context_broker_remove(x, x->brokers[0]->id);
    free(x->brokers);
    *x = (struct context){0};
}
