#include "tests/support/fake_tree.h"

#include <stdio.h>

/* How a multi that fails half-way is taken back. */
struct undo {
    enum zk_op_kind kind;
    char *path;
    struct fake_node before; /* data owned; of the node itself */
    struct zk_stat parent;
    struct undo *next;
};

static char *parent_path(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

struct fake_node *fake_tree_find(struct fake_tree *t, const char *path)
{
    struct fake_node *n;

    HASH_FIND_STR(t->by_path, path, n);
    return n;
}

static struct fake_node *find_parent(struct fake_tree *t, const char *path)
{
    CLEANUP(free_p) char *up = parent_path(path);

    return fake_tree_find(t, up);
}

static uint8_t *copy_bytes(const uint8_t *p, size_t len)
{
    uint8_t *c = p ? xmalloc(len + 1) : NULL;

    if (c)
        memcpy(c, p, len);
    return c;
}

static struct fake_node *link_node(struct fake_tree *t, struct fake_node *parent, const char *path)
{
    struct fake_node *n = xnew(struct fake_node);

    n->path = xstrdup(path);
    n->parent = parent;
    HASH_ADD_KEYPTR(hh, t->by_path, n->path, strlen(n->path), n);
    if (parent)
        DL_APPEND(parent->children, n);
    return n;
}

static void unlink_node(struct fake_tree *t, struct fake_node *n)
{
    HASH_DEL(t->by_path, n);
    if (n->parent)
        DL_DELETE(n->parent->children, n);
    free(n->path);
    free(n->data);
    free(n);
}

void fake_tree_init(struct fake_tree *t, const struct clock *clock)
{
    *t = (struct fake_tree){.clock = clock};
    link_node(t, NULL, "/");
}

void fake_event_free(struct fake_event *e)
{
    free(e->path);
    free(e);
}

static void drop_events(struct fake_tree *t)
{
    struct fake_event *e, *next;

    LL_FOREACH_SAFE (t->events, e, next)
        fake_event_free(e);
    t->events = NULL;
}

void fake_tree_deinit(struct fake_tree *t)
{
    struct fake_node *n, *next;

    HASH_ITER (hh, t->by_path, n, next) {
        HASH_DEL(t->by_path, n);
        free(n->path);
        free(n->data);
        free(n);
    }
    drop_events(t);
}

struct fake_event *fake_tree_take_events(struct fake_tree *t)
{
    return TAKE(t->events);
}

static void event(struct fake_tree *t, enum zk_event kind, const char *path)
{
    struct fake_event *e = xnew(struct fake_event);

    *e = (struct fake_event){.event = kind, .path = xstrdup(path)};
    LL_APPEND(t->events, e);
}

static void touch_parent(struct fake_tree *t, struct fake_node *parent, int by)
{
    parent->stat.cversion++;
    parent->stat.child_count += by;
    event(t, ZK_EVENT_CHILDREN, parent->path);
}

static enum zk_result do_create(struct fake_tree *t, struct zk_op *op, int64_t session,
                                struct arena *a)
{
    struct fake_node *parent = find_parent(t, op->path);
    const char *path = op->path;

    if (!parent)
        return ZK_NO_NODE;
    if (parent->stat.ephemeral_owner)
        return ZK_OTHER;
    if (op->flags & ZK_SEQUENTIAL)
        path = arena_printf(a, "%s%010d", op->path, parent->stat.cversion).p;
    if (fake_tree_find(t, path))
        return ZK_NODE_EXISTS;
    struct fake_node *n = link_node(t, parent, path);
    int64_t now = clock_wall_ms(t->clock);

    n->data = copy_bytes(op->data.p, op->data.len);
    n->len = op->data.len;
    n->stat = (struct zk_stat){.czxid = t->zxid, .mzxid = t->zxid, .ctime_ms = now};
    n->stat.mtime_ms = now;
    n->stat.ephemeral_owner = op->flags & ZK_EPHEMERAL ? session : 0;
    op->ret_path = path;
    event(t, ZK_EVENT_CREATED, path);
    touch_parent(t, parent, 1);
    return ZK_OK;
}

static bool version_is(const struct fake_node *n, int32_t version)
{
    return version == ZK_ANY_VERSION || version == n->stat.version;
}

static enum zk_result do_set(struct fake_tree *t, struct zk_op *op)
{
    struct fake_node *n = fake_tree_find(t, op->path);

    if (!n)
        return ZK_NO_NODE;
    if (!version_is(n, op->version))
        return ZK_BAD_VERSION;
    free(n->data);
    n->data = copy_bytes(op->data.p, op->data.len);
    n->len = op->data.len;
    n->stat.version++;
    n->stat.mzxid = t->zxid;
    n->stat.mtime_ms = clock_wall_ms(t->clock);
    op->stat = n->stat;
    event(t, ZK_EVENT_CHANGED, op->path);
    return ZK_OK;
}

static void remove_node(struct fake_tree *t, struct fake_node *n)
{
    struct fake_node *parent = n->parent;

    event(t, ZK_EVENT_DELETED, n->path);
    unlink_node(t, n);
    touch_parent(t, parent, -1);
}

static enum zk_result do_delete(struct fake_tree *t, struct zk_op *op)
{
    struct fake_node *n = fake_tree_find(t, op->path);

    if (!n || !n->parent)
        return ZK_NO_NODE;
    if (!version_is(n, op->version))
        return ZK_BAD_VERSION;
    if (n->children)
        return ZK_NOT_EMPTY;
    remove_node(t, n);
    return ZK_OK;
}

static enum zk_result do_read(struct fake_tree *t, struct zk_op *op, struct arena *a)
{
    struct fake_node *n = fake_tree_find(t, op->path);
    struct fake_node *child;

    if (!n)
        return ZK_NO_NODE;
    if (op->kind == ZK_OP_CHECK)
        return version_is(n, op->version) ? ZK_OK : ZK_BAD_VERSION;
    op->stat = n->stat;
    if (op->kind == ZK_OP_GET && n->data) {
        uint8_t *p = arena_alloc(a, n->len + 1);

        memcpy(p, n->data, n->len);
        op->ret_data = slice_of(p, n->len);
    } else if (op->kind == ZK_OP_CHILDREN && n->children) {
        op->ret_names = arena_new_array(a, struct str, (size_t)n->stat.child_count);
        DL_FOREACH (n->children, child)
            op->ret_names[op->ret_names_count++] =
                arena_str(a, str_of(strrchr(child->path, '/') + 1));
    }
    return ZK_OK;
}

static enum zk_result do_op(struct fake_tree *t, struct zk_op *op, int64_t session, struct arena *a)
{
    op->ret_data = (struct slice){0};
    op->ret_names = NULL;
    op->ret_names_count = 0;
    switch (op->kind) {
    case ZK_OP_CREATE:
        return do_create(t, op, session, a);
    case ZK_OP_SET:
        return do_set(t, op);
    case ZK_OP_DELETE:
        return do_delete(t, op);
    default:
        return do_read(t, op, a);
    }
}

static struct undo *undo_note(struct fake_tree *t, const struct zk_op *op, struct undo *next)
{
    struct undo *u = xnew(struct undo);
    struct fake_node *n = fake_tree_find(t, op->path);

    u->kind = op->kind;
    u->path = xstrdup(op->path);
    u->next = next;
    if (n) {
        u->before = *n;
        u->before.data = copy_bytes(n->data, n->len);
        if (n->parent)
            u->parent = n->parent->stat;
    }
    struct fake_node *parent = find_parent(t, op->path);
    if (parent)
        u->parent = parent->stat;
    return u;
}

static void undo_one(struct fake_tree *t, const struct zk_op *op, struct undo *u)
{
    struct fake_node *parent = find_parent(t, u->path);
    struct fake_node *n = fake_tree_find(t, u->kind == ZK_OP_CREATE ? op->ret_path : u->path);

    if (u->kind == ZK_OP_CREATE) {
        unlink_node(t, n);
    } else if (u->kind == ZK_OP_SET || u->kind == ZK_OP_DELETE) {
        if (!n)
            n = link_node(t, parent, u->path);
        free(n->data);
        n->data = TAKE(u->before.data);
        n->len = u->before.len;
        n->stat = u->before.stat;
    }
    if (parent)
        parent->stat = u->parent;
}

static void undo_free(struct undo *u)
{
    free(u->before.data);
    free(u->path);
    free(u);
}

static void fail_multi(struct zk_op *ops, size_t count, size_t culprit)
{
    for (size_t i = 0; i < count; i++) {
        if (i != culprit)
            ops[i].result = i < culprit ? ZK_OK : ZK_ROLLED_BACK;
    }
}

void fake_tree_run(struct fake_tree *t, struct zk_op *ops, size_t count, int64_t session,
                   struct arena *a)
{
    struct undo *undo = NULL, *next;
    struct fake_event *before = TAKE(t->events), *after;
    size_t done = 0;

    t->zxid++;
    for (; done < count; done++) {
        struct undo *u = undo_note(t, &ops[done], undo);

        ops[done].result = do_op(t, &ops[done], session, a);
        if (ops[done].result != ZK_OK) {
            undo_free(u);
            break;
        }
        undo = u;
    }
    size_t failed = done;
    for (; undo; undo = next) {
        next = undo->next;
        done--;
        if (failed < count)
            undo_one(t, &ops[done], undo);
        undo_free(undo);
    }
    if (failed < count) {
        fail_multi(ops, count, failed);
        drop_events(t);
    }
    after = TAKE(t->events);
    LL_CONCAT(before, after);
    t->events = before;
}

void fake_tree_end_session(struct fake_tree *t, int64_t session)
{
    struct fake_node *n, *next;

    t->zxid++;
    HASH_ITER (hh, t->by_path, n, next) {
        if (n->stat.ephemeral_owner == session)
            remove_node(t, n);
    }
}
