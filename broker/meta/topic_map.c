#include "broker/meta/topic_map.h"

#include "common/base/mem.h"

#include <stdatomic.h>

enum { FANOUT = 64 };

struct bucket {
    _Atomic unsigned refs;
    int32_t count;
    struct topic_entry *v[];
};

struct branch {
    _Atomic unsigned refs;
    struct bucket *v[FANOUT];
};

struct topic_map_root {
    _Atomic unsigned refs;
    struct branch *v[FANOUT];
};

static bool drop_ref(_Atomic unsigned *refs)
{
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

static void add_ref(_Atomic unsigned *refs)
{
    atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
}

static bool is_mine(_Atomic unsigned *refs)
{
    return atomic_load_explicit(refs, memory_order_acquire) == 1;
}

struct topic_entry *topic_entry_ref(struct topic_entry *e)
{
    add_ref(&e->refs);
    return e;
}

struct topic_entry *topic_entry_unref(struct topic_entry *e)
{
    if (e && drop_ref(&e->refs))
        free(e);
    return NULL;
}

static void bucket_unref(struct bucket *b)
{
    if (!b || !drop_ref(&b->refs))
        return;
    for (int32_t i = 0; i < b->count; i++)
        topic_entry_unref(b->v[i]);
    free(b);
}

static void branch_unref(struct branch *n)
{
    if (!n || !drop_ref(&n->refs))
        return;
    for (int i = 0; i < FANOUT; i++)
        bucket_unref(n->v[i]);
    free(n);
}

void topic_map_deinit(struct topic_map *m)
{
    struct topic_map_root *root = TAKE(m->root);

    m->count = 0;
    if (!root || !drop_ref(&root->refs))
        return;
    for (int i = 0; i < FANOUT; i++)
        branch_unref(root->v[i]);
    free(root);
}

struct topic_map topic_map_share(const struct topic_map *m)
{
    if (m->root)
        add_ref(&m->root->refs);
    return *m;
}

/* FNV-1a, its halves folded so that the low bits depend on all of it. */
static uint32_t hash_bytes(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return (uint32_t)(h ^ (h >> 29));
}

static uint32_t hash_of(enum topic_key key, const struct meta_topic *t)
{
    return key == TOPIC_BY_NAME ? hash_bytes(t->name.p, t->name.len)
                                : hash_bytes(t->id.b, sizeof t->id.b);
}

static bool same_key(enum topic_key key, const struct meta_topic *a, const struct meta_topic *b)
{
    return key == TOPIC_BY_NAME ? str_eq(a->name, b->name) : uuid_eq(a->id, b->id);
}

static int32_t bucket_find(const struct bucket *b, enum topic_key key, const struct meta_topic *t)
{
    for (int32_t i = 0; b && i < b->count; i++)
        if (same_key(key, &b->v[i]->topic, t))
            return i;
    return -1;
}

static struct bucket *bucket_at(const struct topic_map *m, uint32_t hash)
{
    if (!m->root || !m->root->v[hash % FANOUT])
        return NULL;
    return m->root->v[hash % FANOUT]->v[hash / FANOUT % FANOUT];
}

struct topic_entry *topic_map_find(const struct topic_map *m, const struct meta_topic *key)
{
    struct bucket *b = bucket_at(m, hash_of(m->key, key));
    int32_t at = bucket_find(b, m->key, key);

    return at < 0 ? NULL : b->v[at];
}

/* The root as one that only this map has: made, copied or as it is. */
static struct topic_map_root *own_root(struct topic_map *m)
{
    struct topic_map_root *old = m->root;

    if (old && is_mine(&old->refs))
        return old;
    struct topic_map_root *mine = xnew(struct topic_map_root);
    mine->refs = 1;
    for (int i = 0; old && i < FANOUT; i++) {
        mine->v[i] = old->v[i];
        if (mine->v[i])
            add_ref(&mine->v[i]->refs);
    }
    int32_t count = m->count;
    topic_map_deinit(m);
    m->count = count;
    return m->root = mine;
}

static struct branch *own_branch(struct branch **at)
{
    struct branch *old = *at;

    if (old && is_mine(&old->refs))
        return old;
    struct branch *mine = xnew(struct branch);
    mine->refs = 1;
    for (int i = 0; old && i < FANOUT; i++) {
        mine->v[i] = old->v[i];
        if (mine->v[i])
            add_ref(&mine->v[i]->refs);
    }
    branch_unref(old);
    return *at = mine;
}

/* Always a fresh bucket: its size changes with nearly every use. Leaves out the entry at skip (-1:
 * none). */
static struct bucket *bucket_copy(const struct bucket *b, int32_t skip, struct topic_entry *add)
{
    int32_t old = b ? b->count : 0;
    struct bucket *n = xcalloc(1, sizeof *n + (size_t)(old + 1) * sizeof n->v[0]);

    n->refs = 1;
    for (int32_t i = 0; i < old; i++)
        if (i != skip)
            n->v[n->count++] = topic_entry_ref(b->v[i]);
    if (add)
        n->v[n->count++] = topic_entry_ref(add);
    return n;
}

static void put_bucket(struct topic_map *m, uint32_t hash, struct bucket *b)
{
    struct branch *branch = own_branch(&own_root(m)->v[hash % FANOUT]);
    struct bucket **at = &branch->v[hash / FANOUT % FANOUT];

    bucket_unref(*at);
    *at = b;
}

void topic_map_set(struct topic_map *m, struct topic_entry *e)
{
    uint32_t hash = hash_of(m->key, &e->topic);
    struct bucket *b = bucket_at(m, hash);
    int32_t at = bucket_find(b, m->key, &e->topic);

    put_bucket(m, hash, bucket_copy(b, at, e));
    if (at < 0)
        m->count++;
}

void topic_map_remove(struct topic_map *m, const struct meta_topic *key)
{
    uint32_t hash = hash_of(m->key, key);
    struct bucket *b = bucket_at(m, hash);
    int32_t at = bucket_find(b, m->key, key);

    if (at < 0)
        return;
    put_bucket(m, hash, b->count == 1 ? NULL : bucket_copy(b, at, NULL));
    m->count--;
}

static bool each_in_bucket(const struct bucket *b, meta_topic_fn each, void *ctx)
{
    for (int32_t i = 0; b && i < b->count; i++)
        if (!each(&b->v[i]->topic, ctx))
            return false;
    return true;
}

bool topic_map_each(const struct topic_map *m, meta_topic_fn each, void *ctx)
{
    for (int i = 0; m->root && i < FANOUT; i++) {
        const struct branch *branch = m->root->v[i];
        for (int k = 0; branch && k < FANOUT; k++)
            if (!each_in_bucket(branch->v[k], each, ctx))
                return false;
    }
    return true;
}
