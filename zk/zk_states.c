#include "zk/zk_states.h"

#include "common/base/mem.h"
#include "zk/zk_malformed.h"
#include "zk/zk_paths.h"

enum {
    READ_CHUNK = 1024,
    /* Writes in one multi: a server spends nearly all of its time on requests, not on nodes. */
    GROUP = 32,
    GROUP_BYTES = 64 * 1024, /* far below jute.maxbuffer */
};

/* Ends everything: the rest of the array need not be tried. */
static bool is_final(enum zk_result r)
{
    return r == ZK_CONTROLLER_MOVED || r == ZK_SESSION_EXPIRED || r == ZK_CLOSING ||
           r == ZK_AUTH_FAILED;
}

static void take(const struct zk_op *op, struct arena *a, struct zk_partition_state *ret)
{
    struct node_why why;

    ret->result = op->result;
    ret->version = op->stat.version;
    ret->mzxid = op->stat.mzxid;
    if (op->result == ZK_OK && node_state_decode(op->ret_data, a, &why, &ret->state) < 0)
        ret->result = zk_malformed(op->path, &why);
}

static enum zk_result read_chunk(struct zk_store *s, struct arena *a,
                                 struct zk_partition_state **list, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    for (size_t i = 0; i < count; i++)
        zk_batch_get(&b, zk_path_state(&b.arena, list[i]->topic, list[i]->partition));
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        take(&b.ops[i], a, list[i]);
        if (is_final(list[i]->result))
            return list[i]->result;
    }
    return ZK_OK;
}

enum zk_result zk_states_read(struct zk_store *s, struct arena *a, struct zk_partition_state *list,
                              size_t count)
{
    enum zk_result r = ZK_OK;

    struct zk_partition_state *chunk[READ_CHUNK];

    for (size_t at = 0; r == ZK_OK && at < count; at += READ_CHUNK) {
        size_t n = MIN(count - at, (size_t)READ_CHUNK);

        for (size_t i = 0; i < n; i++)
            chunk[i] = &list[at + i];
        r = read_chunk(s, a, chunk, n);
    }
    return r;
}

/* Of creates, each the last op of its request; the requests all have one shape. */
static enum zk_result outcomes(const struct zk_batch *b, struct zk_partition_state *list,
                               size_t count)
{
    size_t stride = count ? b->count / count : 1;
    enum zk_result all = ZK_OK;

    for (size_t i = 0; i < count; i++) {
        size_t at = i * stride + stride - 1;

        list[i].result = zk_batch_result(b, at);
        if (list[i].result == ZK_OK)
            list[i].version = 0;
        if (is_final(list[i].result) && all != ZK_CONTROLLER_MOVED)
            all = list[i].result;
    }
    return all;
}

/* One round of creates of parents; that they are there is as good. */
static enum zk_result create_round(struct zk_store *s, struct zk_batch *b)
{
    enum zk_result all = ZK_OK;

    zk_store_run(s, b);
    for (size_t at = 0; at < b->count; at++) {
        enum zk_result r = zk_batch_result(b, at);

        if (b->ops[at].kind == ZK_OP_CREATE && is_final(r) && all != ZK_CONTROLLER_MOVED)
            all = r;
    }
    return all;
}

/* /partitions once for each run of entries of one topic: callers keep topics together. */
static enum zk_result create_parents(struct zk_store *s, const struct zk_partition_state *list,
                                     size_t count, int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch first = {0};
    CLEANUP(zk_batch_deinit) struct zk_batch second = {0};

    for (size_t i = 0; i < count; i++) {
        struct str topic = list[i].topic;

        if (i == 0 || !str_eq(topic, list[i - 1].topic))
            zk_batch_create_fenced(&first, epoch_version, zk_path_partitions(&first.arena, topic),
                                   (struct slice){0});
        zk_batch_create_fenced(&second, epoch_version,
                               zk_path_partition(&second.arena, topic, list[i].partition),
                               (struct slice){0});
    }
    enum zk_result r = create_round(s, &first);

    return r == ZK_OK ? create_round(s, &second) : r;
}

/* A node that is there already: our own create, done but not heard of, or somebody else's. */
static enum zk_result look_at_existing(struct zk_store *s, struct arena *a,
                                       struct zk_partition_state *list, size_t count)
{
    CLEANUP(free_p)
    struct zk_partition_state **there = xnew_array(struct zk_partition_state *, count);
    CLEANUP(free_p) int32_t *epochs = xnew_array(int32_t, count);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].result != ZK_NODE_EXISTS)
            continue;
        epochs[n] = list[i].state.controller_epoch;
        there[n++] = &list[i];
    }
    enum zk_result r = n ? read_chunk(s, a, there, n) : ZK_OK;

    for (size_t i = 0; r == ZK_OK && i < n; i++) {
        if (there[i]->result == ZK_OK && there[i]->state.controller_epoch != epochs[i])
            there[i]->result = ZK_NODE_EXISTS;
    }
    return r;
}

static enum zk_result create_chunk(struct zk_store *s, struct arena *a,
                                   struct zk_partition_state *list, size_t count,
                                   int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    enum zk_result r = create_parents(s, list, count, epoch_version);

    for (size_t i = 0; i < count; i++) {
        list[i].result = r;
        zk_batch_create_fenced(&b, epoch_version,
                               zk_path_state(&b.arena, list[i].topic, list[i].partition),
                               node_state_encode(&b.arena, &list[i].state));
    }
    if (r != ZK_OK)
        return r;
    zk_store_run(s, &b);
    r = outcomes(&b, list, count);
    return r == ZK_OK ? look_at_existing(s, a, list, count) : r;
}

static void mark_rest(struct zk_partition_state *list, size_t from, size_t count, enum zk_result r)
{
    for (size_t i = from; i < count; i++)
        list[i].result = r;
}

enum zk_result zk_states_create(struct zk_store *s, struct arena *a,
                                struct zk_partition_state *list, size_t count,
                                int32_t epoch_version)
{
    enum zk_result r = ZK_OK;
    size_t at = 0;

    for (; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = create_chunk(s, a, list + at, MIN(count - at, (size_t)ZK_CHUNK), epoch_version);
    mark_rest(list, MIN(at, count), count, r);
    return r;
}

/* Each write with a check of its own. */
static enum zk_result update_singly(struct zk_store *s, struct zk_partition_state **list,
                                    size_t count, int32_t epoch_version)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    CLEANUP(free_p) size_t *at = xnew_array(size_t, count + 1);
    enum zk_result all = ZK_OK;

    for (size_t i = 0; i < count; i++)
        at[i] = zk_batch_set_fenced(&b, epoch_version,
                                    zk_path_state(&b.arena, list[i]->topic, list[i]->partition),
                                    node_state_encode(&b.arena, &list[i]->state), list[i]->version);
    zk_store_run(s, &b);
    for (size_t i = 0; i < count; i++) {
        list[i]->result = zk_batch_result(&b, at[i]);
        if (list[i]->result == ZK_OK)
            list[i]->version = b.ops[at[i]].stat.version;
        if (is_final(list[i]->result) && all != ZK_CONTROLLER_MOVED)
            all = list[i]->result;
    }
    return all;
}

/* One multi of as many as fit; returns how many. */
static size_t add_group(struct zk_batch *b, const struct zk_partition_state *list, size_t count,
                        int32_t epoch_version)
{
    size_t n = 0, bytes = 0;

    zk_batch_multi_begin(b);
    zk_batch_check(b, ZK_PATH_CONTROLLER_EPOCH, epoch_version);
    while (n < MIN(count, (size_t)GROUP) && bytes < GROUP_BYTES) {
        struct slice data = node_state_encode(&b->arena, &list[n].state);
        zk_batch_set(b, zk_path_state(&b->arena, list[n].topic, list[n].partition), data,
                     list[n].version);
        bytes += data.len;
        n++;
    }
    zk_batch_multi_end(b);
    return n;
}

/* ops: the check, then the writes of list. */
static enum zk_result take_group(const struct zk_op *ops, struct zk_partition_state *list)
{
    size_t n = ops->multi_count - 1;
    enum zk_result r = ops->result == ZK_BAD_VERSION ? ZK_CONTROLLER_MOVED : ops->result;

    for (size_t i = 0; r == ZK_OK && i < n; i++)
        r = ops[1 + i].result;
    for (size_t i = 0; i < n; i++) {
        list[i].result = r;
        if (r == ZK_OK)
            list[i].version = ops[1 + i].stat.version;
    }
    return r;
}

struct refused {
    struct zk_partition_state **v;
    size_t count;
};

/* Many in one multi, which is done as a whole or not at all. */
static enum zk_result update_groups(struct zk_store *s, struct zk_partition_state *list,
                                    size_t count, int32_t epoch_version, struct refused *ret)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    enum zk_result all = ZK_OK;

    for (size_t i = 0; i < count;)
        i += add_group(&b, list + i, count - i, epoch_version);
    zk_store_run(s, &b);
    for (size_t i = 0, at = 0; at < b.count; at += b.ops[at].multi_count) {
        enum zk_result r = take_group(&b.ops[at], list + i);
        size_t end = i + b.ops[at].multi_count - 1;
        if (is_final(r) && all != ZK_CONTROLLER_MOVED)
            all = r;
        for (; i < end; i++)
            if (r != ZK_OK)
                ret->v[ret->count++] = &list[i];
    }
    return all;
}

/* A write whose answer was lost with the connection is sent again, and meets its own success. */
static void tell_own(struct zk_store *s, struct zk_partition_state **list, size_t count)
{
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i]->result != ZK_BAD_VERSION)
            continue;
        list[n++] = list[i];
        zk_batch_get(&b, zk_path_state(&b.arena, list[i]->topic, list[i]->partition));
    }
    if (n)
        zk_store_run(s, &b);
    for (size_t i = 0; i < n; i++) {
        const struct zk_op *op = &b.ops[i];
        struct slice ours = node_state_encode(&b.arena, &list[i]->state), there = op->ret_data;
        if (op->result != ZK_OK || op->stat.version != list[i]->version + 1 ||
            there.len != ours.len || memcmp(there.p, ours.p, ours.len) != 0)
            continue;
        list[i]->result = ZK_OK;
        list[i]->version = op->stat.version;
    }
}

/* Where a multi was refused, each of it tries on its own. */
static enum zk_result update_chunk(struct zk_store *s, struct zk_partition_state *list,
                                   size_t count, int32_t epoch_version)
{
    CLEANUP(free_p)
    struct zk_partition_state **v = xnew_array(struct zk_partition_state *, count);
    struct refused refused = {v, 0};
    enum zk_result r = ZK_OK;

    if (epoch_version == ZK_NO_FENCE)
        while (refused.count < count) {
            v[refused.count] = &list[refused.count];
            refused.count++;
        }
    else
        r = update_groups(s, list, count, epoch_version, &refused);
    if (r != ZK_OK || refused.count == 0)
        return r;
    r = update_singly(s, v, refused.count, epoch_version);
    if (r == ZK_OK)
        tell_own(s, v, refused.count);
    return r;
}

enum zk_result zk_states_update(struct zk_store *s, struct zk_partition_state *list, size_t count,
                                int32_t epoch_version)
{
    enum zk_result r = ZK_OK;
    size_t at = 0;

    for (; r == ZK_OK && at < count; at += ZK_CHUNK)
        r = update_chunk(s, list + at, MIN(count - at, (size_t)ZK_CHUNK), epoch_version);
    mark_rest(list, MIN(at, count), count, r);
    return r;
}
