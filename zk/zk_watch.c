#include "zk/zk_watch.h"

struct zk_watch_entry {
    UT_hash_handle hh;
    zk_watch_fn fn[2]; /* by enum zk_watch_kind */
    void *ctx[2];
    char path[];
};

void zk_watches_init(struct zk_watches *w)
{
    *w = (struct zk_watches){0};
    mutex_init(&w->lock, LOCK_ZK_WATCHES);
}

void zk_watches_deinit(struct zk_watches *w)
{
    struct zk_watch_entry *e, *next;

    HASH_ITER (hh, w->by_path, e, next) {
        HASH_DEL(w->by_path, e);
        free(e);
    }
    mutex_deinit(&w->lock);
}

static struct zk_watch_entry *find(struct zk_watches *w, const char *path) REQUIRES(w->lock)
{
    struct zk_watch_entry *e;

    HASH_FIND_STR(w->by_path, path, e);
    return e;
}

void zk_watches_add(struct zk_watches *w, enum zk_watch_kind kind, const char *path, zk_watch_fn fn,
                    void *ctx)
{
    LOCK_SCOPE(&w->lock);
    struct zk_watch_entry *e = find(w, path);

    if (!e) {
        size_t len = strlen(path);

        e = xcalloc(1, sizeof *e + len + 1);
        memcpy(e->path, path, len + 1);
        HASH_ADD_KEYPTR(hh, w->by_path, e->path, len, e);
        w->path_bytes += len;
    }
    e->fn[kind] = fn;
    e->ctx[kind] = ctx;
}

void zk_watches_remove(struct zk_watches *w, enum zk_watch_kind kind, const char *path)
{
    LOCK_SCOPE(&w->lock);
    struct zk_watch_entry *e = find(w, path);

    if (!e)
        return;
    e->fn[kind] = NULL;
    if (e->fn[ZK_WATCH_DATA] || e->fn[ZK_WATCH_CHILDREN])
        return;
    w->path_bytes -= strlen(e->path);
    HASH_DEL(w->by_path, e);
    free(e);
}

bool zk_watches_has(struct zk_watches *w, enum zk_watch_kind kind, const char *path)
{
    LOCK_SCOPE(&w->lock);
    const struct zk_watch_entry *e = find(w, path);

    return e && e->fn[kind];
}

size_t zk_watches_bytes(struct zk_watches *w)
{
    LOCK_SCOPE(&w->lock);
    return w->path_bytes + 5 * HASH_COUNT(w->by_path);
}

void zk_watches_fire(struct zk_watches *w, enum zk_event event, const char *path)
{
    enum zk_watch_kind kind = event == ZK_EVENT_CHILDREN ? ZK_WATCH_CHILDREN : ZK_WATCH_DATA;
    zk_watch_fn fn = NULL;
    void *ctx = NULL;

    WITH_LOCK(&w->lock)
    {
        const struct zk_watch_entry *e = find(w, path);

        if (e) {
            fn = e->fn[kind];
            ctx = e->ctx[kind];
        }
    }
    if (fn)
        fn(event, path, ctx);
}
