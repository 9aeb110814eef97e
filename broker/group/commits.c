/*
 * commits.c - topics by name, and in each a sorted array of slots
 *
 * A slot is 64 bytes: what is committed, and how many appends are under way. It exists as long as
 * there is either. A transaction's offsets are a table of the same kind, in which nothing is ever
 * pending.
 */
#include "broker/group/commits.h"

/* Most groups read one topic or a few: uthash's own 32 buckets would be larger than all the rest of
 * such a table. It grows by itself. */
#undef HASH_INITIAL_NUM_BUCKETS
#undef HASH_INITIAL_NUM_BUCKETS_LOG2
#define HASH_INITIAL_NUM_BUCKETS      2U
#define HASH_INITIAL_NUM_BUCKETS_LOG2 1U

struct slot {
    struct committed c; /* metadata is null where there is none */
    int32_t partition;
    uint32_t pending : 31;
    /* The commit was removed, and no append has begun since: those under way are not kept. */
    uint32_t is_removed : 1;
};

struct commits_topic {
    struct slot *slots; /* ascending; never empty between calls */
    int32_t count;
    int32_t cap;
    UT_hash_handle hh;
    size_t name_len;
    char name[];
};

struct commits_txn {
    int64_t producer_id;
    struct commits_topic *topics; /* never empty between calls */
    UT_hash_handle hh;
};

static bool has_commit(const struct slot *s)
{
    return !str_is_null(s->c.metadata);
}

static void clear_commit(struct slot *s)
{
    if (s->c.metadata.len)
        free((char *)s->c.metadata.p);
    s->c = (struct committed){.metadata = STR_NULL};
}

static void set_commit(struct slot *s, const struct committed *c)
{
    struct str metadata = STR("");

    assert(!str_is_null(c->metadata));
    /* Clients tend to repeat their text; and c may be this very slot's. */
    if (has_commit(s) && str_eq(s->c.metadata, c->metadata)) {
        metadata = s->c.metadata;
    } else {
        if (c->metadata.len)
            metadata = (struct str){str_dup(c->metadata), c->metadata.len};
        clear_commit(s);
    }
    s->c = *c;
    s->c.metadata = metadata;
}

static struct str topic_name(const struct commits_topic *t)
{
    return (struct str){t->name, t->name_len};
}

static struct commits_topic *topic_find(const struct commits_topic *topics, struct str name)
{
    struct commits_topic *t;

    HASH_FIND(hh, topics, name.p, name.len, t);
    return t;
}

static struct commits_topic *topic_get(struct commits_topic **topics, struct str name)
{
    struct commits_topic *t = topic_find(*topics, name);

    if (t)
        return t;
    t = xmalloc(sizeof *t + name.len);
    *t = (struct commits_topic){.name_len = name.len};
    if (name.len)
        memcpy(t->name, name.p, name.len);
    HASH_ADD_KEYPTR(hh, *topics, t->name, t->name_len, t);
    return t;
}

static void topic_free(struct commits_topic **topics, struct commits_topic *t)
{
    HASH_DEL(*topics, t);
    for (int32_t i = 0; i < t->count; i++)
        clear_commit(&t->slots[i]);
    free(t->slots);
    free(t);
}

static void topics_free(struct commits_topic **topics)
{
    struct commits_topic *t, *next;

    HASH_ITER (hh, *topics, t, next)
        topic_free(topics, t);
}

/* Where the slot of partition is, or belongs. */
static int32_t slot_index(const struct commits_topic *t, int32_t partition)
{
    int32_t low = 0, high = t->count;

    /* A log that is loaded, or a request, mostly brings them in order. */
    if (high > 0 && t->slots[high - 1].partition < partition)
        return high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (t->slots[middle].partition < partition)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct slot *slot_find(const struct commits_topic *t, int32_t partition)
{
    int32_t i = t ? slot_index(t, partition) : 0;

    return t && i < t->count && t->slots[i].partition == partition ? &t->slots[i] : NULL;
}

/* By a quarter: the array is most of what a table costs. */
static void make_room(struct commits_topic *t)
{
    if (t->count < t->cap)
        return;
    t->cap += t->cap / 4 + 1;
    t->slots = xreallocarray(t->slots, (size_t)t->cap, sizeof *t->slots);
}

static struct slot *slot_get(struct commits_topic **topics, struct str topic, int32_t partition)
{
    struct commits_topic *t = topic_get(topics, topic);
    struct slot *s = slot_find(t, partition);

    if (s)
        return s;
    int32_t i = slot_index(t, partition);
    make_room(t);
    s = &t->slots[i];
    memmove(s + 1, s, (size_t)(t->count - i) * sizeof *s);
    *s = (struct slot){.partition = partition};
    t->count++;
    return s;
}

/* Gives up a slot that says nothing any more, and its topic after the last one. */
static void slot_tidy(struct commits_topic **topics, struct commits_topic *t, struct slot *s)
{
    if (has_commit(s) || s->pending)
        return;
    int32_t i = (int32_t)(s - t->slots);
    t->count--;
    memmove(s, s + 1, (size_t)(t->count - i) * sizeof *s);
    if (t->count == 0)
        topic_free(topics, t);
}

static void txn_free(struct commits *o, struct commits_txn *txn)
{
    HASH_DEL(o->txns, txn);
    topics_free(&txn->topics);
    free(txn);
}

void commits_init(struct commits *o)
{
    *o = (struct commits){0};
}

void commits_deinit(struct commits *o)
{
    struct commits_txn *txn, *next;

    topics_free(&o->topics);
    HASH_ITER (hh, o->txns, txn, next)
        txn_free(o, txn);
    *o = (struct commits){0};
}

const struct committed *commits_find(const struct commits *o, struct str topic, int32_t partition)
{
    const struct slot *s = slot_find(topic_find(o->topics, topic), partition);

    return s && has_commit(s) ? &s->c : NULL;
}

bool commits_is_unstable(const struct commits *o, struct str topic, int32_t partition)
{
    const struct commits_txn *txn, *next;

    HASH_ITER (hh, o->txns, txn, next)
        if (slot_find(topic_find(txn->topics, topic), partition))
            return true;
    return false;
}

bool commits_is_empty(const struct commits *o)
{
    assert((o->committed > 0 || o->pending > 0) == (o->topics != NULL));
    return !o->topics && !o->txns;
}

void commits_begin(struct commits *o, struct str topic, int32_t partition)
{
    struct slot *s = slot_get(&o->topics, topic, partition);

    s->pending++;
    s->is_removed = 0;
    o->pending++;
}

static void slot_put(struct commits *o, struct slot *s, const struct committed *c)
{
    o->committed += !has_commit(s);
    set_commit(s, c);
}

void commits_settle(struct commits *o, struct str topic, int32_t partition,
                    const struct committed *c)
{
    struct commits_topic *t = topic_find(o->topics, topic);
    struct slot *s = slot_find(t, partition);

    assert(s && s->pending > 0 && o->pending > 0);
    if (c && !s->is_removed && (!has_commit(s) || s->c.log_offset < c->log_offset))
        slot_put(o, s, c);
    s->pending--;
    o->pending--;
    slot_tidy(&o->topics, t, s);
}

void commits_put(struct commits *o, struct str topic, int32_t partition, const struct committed *c)
{
    slot_put(o, slot_get(&o->topics, topic, partition), c);
}

bool commits_drop(struct commits *o, struct str topic, int32_t partition)
{
    struct commits_topic *t = topic_find(o->topics, topic);
    struct slot *s = slot_find(t, partition);
    bool had = s && has_commit(s);

    if (!had)
        return false;
    clear_commit(s);
    o->committed--;
    slot_tidy(&o->topics, t, s);
    return true;
}

static void txn_remove(struct commits *o, struct commits_txn *txn, struct str topic,
                       int32_t partition)
{
    struct commits_topic *t = topic_find(txn->topics, topic);
    struct slot *s = slot_find(t, partition);

    if (!s)
        return;
    clear_commit(s);
    slot_tidy(&txn->topics, t, s);
    if (!txn->topics)
        txn_free(o, txn);
}

bool commits_remove(struct commits *o, struct str topic, int32_t partition)
{
    struct slot *s = slot_find(topic_find(o->topics, topic), partition);
    struct commits_txn *txn, *next;
    bool is_pending = s && s->pending > 0 && !s->is_removed;

    if (s)
        s->is_removed = 1;
    HASH_ITER (hh, o->txns, txn, next)
        txn_remove(o, txn, topic, partition);
    return commits_drop(o, topic, partition) || is_pending;
}

void commits_txn_put(struct commits *o, int64_t producer_id, struct str topic, int32_t partition,
                     const struct committed *c)
{
    struct commits_txn *txn;

    HASH_FIND(hh, o->txns, &producer_id, sizeof producer_id, txn);
    if (!txn) {
        txn = xnew(struct commits_txn);
        txn->producer_id = producer_id;
        HASH_ADD(hh, o->txns, producer_id, sizeof producer_id, txn);
    }
    set_commit(slot_get(&txn->topics, topic, partition), c);
}

static void apply(struct commits *o, const struct commits_topic *from)
{
    for (int32_t i = 0; i < from->count; i++) {
        const struct slot *s = &from->slots[i];
        const struct committed *now = commits_find(o, topic_name(from), s->partition);

        if (!now || now->log_offset < s->c.log_offset)
            commits_put(o, topic_name(from), s->partition, &s->c);
    }
}

void commits_txn_end(struct commits *o, int64_t producer_id, bool is_commit)
{
    const struct commits_topic *t, *next;
    struct commits_txn *txn;

    HASH_FIND(hh, o->txns, &producer_id, sizeof producer_id, txn);
    if (!txn)
        return;
    if (is_commit) {
        HASH_ITER (hh, txn->topics, t, next)
            apply(o, t);
    }
    txn_free(o, txn);
}

static bool each_of_topic(const struct commits_topic *t, commits_each_fn each, void *ctx)
{
    for (int32_t i = 0; i < t->count; i++) {
        const struct slot *s = &t->slots[i];

        /* A slot that has neither does not exist. */
        if (!each(ctx, topic_name(t), s->partition, has_commit(s) ? &s->c : NULL, s->pending > 0))
            return false;
    }
    return true;
}

void commits_each(const struct commits *o, commits_each_fn each, void *ctx)
{
    const struct commits_topic *t, *next;

    HASH_ITER (hh, o->topics, t, next)
        if (!each_of_topic(t, each, ctx))
            return;
}
