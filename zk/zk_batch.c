#include "zk/zk_batch.h"

#include "common/base/mem.h"
#include "zk/zk_paths.h"

void zk_batch_deinit(struct zk_batch *b)
{
    assert(!b->run);
    free(b->ops);
    arena_deinit(&b->arena);
    *b = (struct zk_batch){0};
}

void zk_batch_reset(struct zk_batch *b)
{
    assert(!b->run);
    b->count = 0;
    b->multi_at = 0;
    arena_reset(&b->arena);
}

static struct zk_op *add(struct zk_batch *b, enum zk_op_kind kind, const char *path)
{
    assert(!b->run && path[0] == '/');
    xgrow(b->ops, b->cap, b->count + 1);
    struct zk_op *op = &b->ops[b->count++];

    *op = (struct zk_op){
        .kind = kind,
        .path = arena_strz(&b->arena, str_of(path)),
        .in_multi = b->multi_at != 0,
        .result = ZK_OTHER,
    };
    return op;
}

static size_t last(const struct zk_batch *b)
{
    return b->count - 1;
}

size_t zk_batch_get(struct zk_batch *b, const char *path)
{
    add(b, ZK_OP_GET, path)->flags = ZK_WATCH;
    return last(b);
}

size_t zk_batch_exists(struct zk_batch *b, const char *path)
{
    add(b, ZK_OP_EXISTS, path)->flags = ZK_WATCH;
    return last(b);
}

size_t zk_batch_children(struct zk_batch *b, const char *path, bool watch)
{
    add(b, ZK_OP_CHILDREN, path)->flags = watch ? ZK_WATCH : 0;
    return last(b);
}

size_t zk_batch_create(struct zk_batch *b, const char *path, struct slice data, uint32_t flags)
{
    struct zk_op *op = add(b, ZK_OP_CREATE, path);

    op->data = data;
    op->flags = flags;
    return last(b);
}

size_t zk_batch_set(struct zk_batch *b, const char *path, struct slice data, int32_t version)
{
    struct zk_op *op = add(b, ZK_OP_SET, path);

    op->data = data;
    op->version = version;
    return last(b);
}

size_t zk_batch_delete(struct zk_batch *b, const char *path, int32_t version)
{
    add(b, ZK_OP_DELETE, path)->version = version;
    return last(b);
}

size_t zk_batch_check(struct zk_batch *b, const char *path, int32_t version)
{
    assert(b->multi_at);
    add(b, ZK_OP_CHECK, path)->version = version;
    return last(b);
}

void zk_batch_multi_begin(struct zk_batch *b)
{
    assert(!b->multi_at);
    b->multi_at = b->count + 1;
}

void zk_batch_multi_end(struct zk_batch *b)
{
    size_t first = b->multi_at - 1;

    assert(b->multi_at && b->count > first);
    b->ops[first].multi_count = (uint32_t)(b->count - first);
    b->multi_at = 0;
}

/* Any other negative version would be a fence that nobody has. */
static bool fence_begin(struct zk_batch *b, int32_t epoch_version)
{
    assert(epoch_version >= ZK_NO_FENCE);
    if (epoch_version == ZK_NO_FENCE)
        return false;
    zk_batch_multi_begin(b);
    zk_batch_check(b, ZK_PATH_CONTROLLER_EPOCH, epoch_version);
    return true;
}

size_t zk_batch_create_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                              struct slice data)
{
    bool fenced = fence_begin(b, epoch_version);
    size_t at = zk_batch_create(b, path, data, 0);

    if (fenced)
        zk_batch_multi_end(b);
    return at;
}

size_t zk_batch_set_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                           struct slice data, int32_t version)
{
    bool fenced = fence_begin(b, epoch_version);
    size_t at = zk_batch_set(b, path, data, version);

    if (fenced)
        zk_batch_multi_end(b);
    return at;
}

size_t zk_batch_delete_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                              int32_t version)
{
    bool fenced = fence_begin(b, epoch_version);
    size_t at = zk_batch_delete(b, path, version);

    if (fenced)
        zk_batch_multi_end(b);
    return at;
}

/* Where the fence itself failed the write was rolled back: BAD_VERSION is a new controller, NO_NODE
 * a broken cluster. */
enum zk_result zk_batch_result(const struct zk_batch *b, size_t at)
{
    const struct zk_op *op = &b->ops[at];

    if (at == 0 || !op->in_multi || op->result == ZK_OK)
        return op->result;
    const struct zk_op *before = op - 1;

    if (before->kind != ZK_OP_CHECK || before->result == ZK_OK)
        return op->result;
    return before->result == ZK_BAD_VERSION ? ZK_CONTROLLER_MOVED : before->result;
}
