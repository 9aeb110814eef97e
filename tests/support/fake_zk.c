#include "tests/support/fake_zk.h"

#include "tests/support/fake_tree.h"

/* An armed one-shot watch of one client. */
struct armed {
    UT_hash_handle hh;
    uint8_t kinds; /* BIT(enum zk_watch_kind) */
    char path[];
};

/* An event on its way to a client. */
struct delivery {
    struct fake_zk *to;
    struct fake_event *event;
    struct delivery *next;
};

struct fake_zk {
    struct zk_store store;
    struct fake_zk_server *server;
    struct zk_watches watches;
    struct armed *armed;
    int64_t session; /* 0: expired */
    bool stopped;
    int lose_in;
    int fail_in;
    enum zk_result failure;
    fake_zk_hook_fn hook;
    void *hook_ctx;
    fake_zk_pause_fn on_pause;
    void *pause_ctx;
    uint64_t requests, rounds;
    struct fake_zk *next;
};

struct fake_zk_server {
    struct mutex lock;
    struct fake_tree tree;
    struct fake_zk *clients;
    int64_t last_session;
    bool hold;
    struct delivery *deliveries;
};

struct fake_zk_server *fake_zk_server_new(const struct clock *clock)
{
    struct fake_zk_server *server = xnew(struct fake_zk_server);

    mutex_init(&server->lock, LOCK_ZK);
    fake_tree_init(&server->tree, clock);
    server->last_session = 0x100;
    return server;
}

static void drop_deliveries(struct fake_zk_server *server, const struct fake_zk *to)
{
    struct delivery *d, *next;

    LL_FOREACH_SAFE (server->deliveries, d, next) {
        if (to && d->to != to)
            continue;
        LL_DELETE(server->deliveries, d);
        fake_event_free(d->event);
        free(d);
    }
}

void fake_zk_server_free(struct fake_zk_server *server)
{
    assert(!server->clients);
    drop_deliveries(server, NULL);
    fake_tree_deinit(&server->tree);
    mutex_deinit(&server->lock);
    free(server);
}

static void disarm_all(struct fake_zk *z)
{
    struct armed *w, *next;

    HASH_ITER (hh, z->armed, w, next) {
        HASH_DEL(z->armed, w);
        free(w);
    }
}

static void arm(struct fake_zk *z, const char *path, enum zk_watch_kind kind)
{
    struct armed *w;

    HASH_FIND_STR(z->armed, path, w);
    if (!w) {
        size_t len = strlen(path);

        w = xcalloc(1, sizeof *w + len + 1);
        memcpy(w->path, path, len + 1);
        HASH_ADD_KEYPTR(hh, z->armed, w->path, len, w);
    }
    w->kinds |= (uint8_t)BIT(kind);
}

static bool disarm(struct fake_zk *z, const char *path, enum zk_watch_kind kind)
{
    struct armed *w;

    HASH_FIND_STR(z->armed, path, w);
    if (!w || !(w->kinds & BIT(kind)))
        return false;
    w->kinds &= (uint8_t)~BIT(kind);
    if (!w->kinds) {
        HASH_DEL(z->armed, w);
        free(w);
    }
    return true;
}

static void queue_event(struct fake_zk_server *server, struct fake_zk *to,
                        const struct fake_event *e)
{
    struct delivery *d = xnew(struct delivery);

    d->to = to;
    d->event = xnew(struct fake_event);
    *d->event = (struct fake_event){.event = e->event, .path = xstrdup(e->path)};
    LL_APPEND(server->deliveries, d);
}

/* Which clients the events of the last writes concern. */
static void route_events(struct fake_zk_server *server)
{
    struct fake_event *list = fake_tree_take_events(&server->tree), *e, *next;
    struct fake_zk *z;

    LL_FOREACH_SAFE (list, e, next) {
        enum zk_watch_kind kind = e->event == ZK_EVENT_CHILDREN ? ZK_WATCH_CHILDREN : ZK_WATCH_DATA;

        LL_FOREACH (server->clients, z) {
            if (disarm(z, e->path, kind))
                queue_event(server, z, e);
            if (e->event == ZK_EVENT_DELETED)
                disarm(z, e->path, ZK_WATCH_CHILDREN);
        }
        fake_event_free(e);
    }
}

bool fake_zk_deliver(struct fake_zk_server *server)
{
    bool any = false;

    for (;;) {
        struct delivery *d = NULL;

        WITH_LOCK(&server->lock)
        {
            d = server->deliveries;
            if (d)
                LL_DELETE(server->deliveries, d);
        }
        if (!d)
            return any;
        any = true;
        zk_watches_fire(&d->to->watches, d->event->event, d->event->path);
        fake_event_free(d->event);
        free(d);
    }
}

static void deliver_unless_held(struct fake_zk_server *server)
{
    if (!server->hold)
        fake_zk_deliver(server);
}

void fake_zk_hold_events(struct fake_zk_server *server, bool hold)
{
    server->hold = hold;
}

static bool is_write(const struct zk_op *op)
{
    return op->kind == ZK_OP_CREATE || op->kind == ZK_OP_SET || op->kind == ZK_OP_DELETE ||
           op->kind == ZK_OP_CHECK;
}

static void arm_if_asked(struct fake_zk *z, const struct zk_op *op)
{
    enum zk_watch_kind kind = op->kind == ZK_OP_CHILDREN ? ZK_WATCH_CHILDREN : ZK_WATCH_DATA;
    bool armable = op->result == ZK_OK || (op->result == ZK_NO_NODE && op->kind == ZK_OP_EXISTS);

    if (!is_write(op) && (op->flags & ZK_WATCH) && armable &&
        zk_watches_has(&z->watches, kind, op->path))
        arm(z, op->path, kind);
}

/* What keeps a request from the server, or ZK_OK. */
static enum zk_result obstacle(struct fake_zk *z)
{
    if (z->stopped)
        return ZK_CLOSING;
    if (z->session == 0)
        return ZK_SESSION_EXPIRED;
    if (z->failure != ZK_OK && (z->fail_in <= 1 || --z->fail_in == 0))
        return z->failure;
    return ZK_OK;
}

static void run_request(struct fake_zk *z, struct zk_op *ops, size_t count, struct arena *a)
{
    if (z->hook)
        z->hook(&ops[0], z->hook_ctx);
    WITH_LOCK(&z->server->lock)
    {
        enum zk_result r = obstacle(z);

        z->requests++;
        for (size_t i = 0; r != ZK_OK && i < count; i++)
            ops[i].result = r;
        if (r == ZK_OK) {
            fake_tree_run(&z->server->tree, ops, count, z->session, a);
            if (is_write(&ops[0]) && z->lose_in > 0 && --z->lose_in == 0)
                fake_tree_run(&z->server->tree, ops, count, z->session, a);
            if (count == 1)
                arm_if_asked(z, &ops[0]);
            route_events(z->server);
        }
    }
    deliver_unless_held(z->server);
}

static void fake_run(struct zk_store *s, struct zk_batch *b)
{
    struct fake_zk *z = container_of(s, struct fake_zk, store);

    assert(!b->multi_at);
    z->rounds++;
    for (size_t i = 0; i < b->count;) {
        size_t n = b->ops[i].multi_count ? b->ops[i].multi_count : 1;

        run_request(z, &b->ops[i], n, &b->arena);
        i += n;
    }
}

static void fake_submit(struct zk_store *s, struct zk_batch *b, zk_batch_done_fn done, void *ctx)
{
    fake_run(s, b);
    done(b, ctx);
}

static int64_t fake_session_id(struct zk_store *s)
{
    struct fake_zk *z = container_of(s, struct fake_zk, store);

    LOCK_SCOPE(&z->server->lock);
    return z->session;
}

static void fake_watch(struct zk_store *s, enum zk_watch_kind kind, const char *path,
                       zk_watch_fn fn, void *ctx)
{
    zk_watches_add(&container_of(s, struct fake_zk, store)->watches, kind, path, fn, ctx);
}

static void fake_unwatch(struct zk_store *s, enum zk_watch_kind kind, const char *path)
{
    zk_watches_remove(&container_of(s, struct fake_zk, store)->watches, kind, path);
}

static bool fake_pause_ms(struct zk_store *s, int64_t ms)
{
    struct fake_zk *z = container_of(s, struct fake_zk, store);

    if (z->on_pause)
        z->on_pause(ms, z->pause_ctx);
    return !z->stopped;
}

static const struct zk_store_ops fake_ops = {
    .submit = fake_submit,
    .run = fake_run,
    .session_id = fake_session_id,
    .watch = fake_watch,
    .unwatch = fake_unwatch,
    .pause_ms = fake_pause_ms,
};

struct fake_zk *fake_zk_new(struct fake_zk_server *server)
{
    struct fake_zk *z = xnew(struct fake_zk);

    z->store = (struct zk_store){&fake_ops, server->tree.clock};
    z->server = server;
    zk_watches_init(&z->watches);
    WITH_LOCK(&server->lock)
    {
        z->session = ++server->last_session;
        LL_APPEND(server->clients, z);
    }
    return z;
}

void fake_zk_free(struct fake_zk *z)
{
    struct fake_zk_server *server = z->server;

    fake_zk_expire(z);
    WITH_LOCK(&server->lock)
    {
        drop_deliveries(server, z);
        LL_DELETE(server->clients, z);
    }
    zk_watches_deinit(&z->watches);
    free(z);
}

struct zk_store *fake_zk_store(struct fake_zk *z)
{
    return &z->store;
}

void fake_zk_server_forget(struct fake_zk_server *server, int64_t session)
{
    WITH_LOCK(&server->lock)
    {
        fake_tree_end_session(&server->tree, session);
        route_events(server);
    }
    deliver_unless_held(server);
}

/* Its watches are gone, and what was on its way to it as well. */
static int64_t leave_session(struct fake_zk *z)
{
    int64_t old;

    LOCK_SCOPE(&z->server->lock);
    old = z->session;
    z->session = 0;
    disarm_all(z);
    drop_deliveries(z->server, z);
    return old;
}

void fake_zk_expire(struct fake_zk *z)
{
    int64_t old = leave_session(z);

    if (old)
        fake_zk_server_forget(z->server, old);
}

int64_t fake_zk_renew(struct fake_zk *z)
{
    LOCK_SCOPE(&z->server->lock);
    assert(z->session == 0);
    return z->session = ++z->server->last_session;
}

int64_t fake_zk_restart(struct fake_zk *z)
{
    int64_t old = leave_session(z);

    fake_zk_renew(z);
    return old;
}

void fake_zk_stop(struct fake_zk *z)
{
    z->stopped = true;
}

void fake_zk_lose_reply(struct fake_zk *z, int nth)
{
    z->lose_in = nth;
}

void fake_zk_fail(struct fake_zk *z, int nth, enum zk_result result)
{
    z->fail_in = nth;
    z->failure = result;
}

void fake_zk_hook(struct fake_zk *z, fake_zk_hook_fn fn, void *ctx)
{
    z->hook = fn;
    z->hook_ctx = ctx;
}

void fake_zk_on_pause(struct fake_zk *z, fake_zk_pause_fn fn, void *ctx)
{
    z->on_pause = fn;
    z->pause_ctx = ctx;
}

uint64_t fake_zk_requests(const struct fake_zk *z)
{
    return z->requests;
}

uint64_t fake_zk_rounds(const struct fake_zk *z)
{
    return z->rounds;
}
