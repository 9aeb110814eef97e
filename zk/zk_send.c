/*
 * zk_send.c - the way of a request: queue, at most max_in_flight with the library, answer, caller
 *
 * Queue and retry list are guarded by zk->lock. Answers come on the library's completion thread,
 * which copies them into the batch's arena. A request whose connection was lost goes to the retry
 * list, ahead of all that has not been sent.
 */
#include "common/base/fault.h"
#include "zk/zk_private.h"

enum {
    /* jute.maxbuffer is 1 MB by default; an operator may have raised it. */
    BIG_REQUEST_BYTES = 900000,
    MAX_LOSSES_OF_BIG = 4,
};

static _Thread_local int in_callback;

void zk_enter_callback(void)
{
    in_callback++;
}

void zk_leave_callback(void)
{
    in_callback--;
}

static void runs_add(struct zk_runs *runs, struct zk_run *run)
{
    run->next_run = NULL;
    if (runs->tail)
        runs->tail->next_run = run;
    else
        runs->head = run;
    runs->tail = run;
}

static struct zk_run *runs_take(struct zk_runs *runs)
{
    struct zk_run *run = runs->head;

    if (run) {
        runs->head = run->next_run;
        if (!runs->head)
            runs->tail = NULL;
    }
    return run;
}

void zk_runs_done(struct zk_runs *done)
{
    struct zk_run *run;

    while ((run = runs_take(done))) {
        run->batch->run = NULL;
        run->done(run->batch, run->ctx);
        free(run);
    }
}

static size_t request_ops(const struct zk_batch *b, size_t at)
{
    return b->ops[at].multi_count ? b->ops[at].multi_count : 1;
}

static size_t request_count(const struct zk_batch *b)
{
    size_t n = 0;

    for (size_t at = 0; at < b->count; at += request_ops(b, at))
        n++;
    return n;
}

static void req_free(struct zk_req *req)
{
    free(req->ops);
    free(req);
}

/* One request fewer to wait for. */
static void run_step(struct zk_run *run, struct zk_runs *done)
{
    assert(run->left > 0);
    if (--run->left == 0)
        runs_add(done, run);
}

static void retry_add(struct zk *zk, struct zk_req *req) REQUIRES(zk->lock)
{
    req->next = NULL;
    if (zk->retry_tail)
        zk->retry_tail->next = req;
    else
        zk->retry = req;
    zk->retry_tail = req;
}

static struct zk_req *retry_take(struct zk *zk) REQUIRES(zk->lock)
{
    struct zk_req *req = zk->retry;

    if (req) {
        zk->retry = req->next;
        if (!zk->retry)
            zk->retry_tail = NULL;
    }
    return req;
}

static void sent_add(struct zk *zk, struct zk_req *req) REQUIRES(zk->lock)
{
    req->prev = NULL;
    req->next = zk->sent;
    if (zk->sent)
        zk->sent->prev = req;
    zk->sent = req;
    zk->in_flight++;
}

static void sent_remove(struct zk *zk, struct zk_req *req) REQUIRES(zk->lock)
{
    if (req->prev)
        req->prev->next = req->next;
    else
        zk->sent = req->next;
    if (req->next)
        req->next->prev = req->prev;
    if (--zk->in_flight == 0)
        cond_broadcast(&zk->changed);
}

/* The next request that has never been sent. */
static struct zk_req *queue_take(struct zk *zk) REQUIRES(zk->lock)
{
    struct zk_run *run = zk->queue.head;

    if (!run)
        return NULL;
    struct zk_req *req = xnew(struct zk_req);

    req->zk = zk;
    req->run = run;
    req->at = run->next;
    req->count = (int)request_ops(run->batch, run->next);
    req->multi = run->batch->ops[run->next].multi_count != 0;
    run->next += (size_t)req->count;
    if (run->next == run->batch->count)
        runs_take(&zk->queue);
    return req;
}

static struct zk_op *op_of(const struct zk_req *req)
{
    return &req->run->batch->ops[req->at];
}

static void req_result(struct zk_req *req, enum zk_result result)
{
    for (int i = 0; i < req->count; i++)
        req->run->batch->ops[req->at + (size_t)i].result = result;
}

/* The connection went while this was under way: whether it was done is not known, and it is sent
 * again. */
static bool is_loss(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONMOVED ||
           rc == ZRUNTIMEINCONSISTENCY || rc == ZSYSTEMERROR;
}

static size_t req_bytes(const struct zk_req *req)
{
    size_t n = 0;

    for (int i = 0; i < req->count; i++)
        n += req->run->batch->ops[req->at + (size_t)i].data.len;
    return n;
}

/* Servers end the connection on a request above their jute.maxbuffer. Sent again and again it would
 * keep all others from ever being answered. */
static bool is_undeliverable(struct zk_req *req)
{
    return ++req->losses >= MAX_LOSSES_OF_BIG && req_bytes(req) > BIG_REQUEST_BYTES;
}

/* The connection was lost: true if the request waits to be sent again, otherwise it has its result.
 * */
static bool req_lost(struct zk *zk, struct zk_req *req) REQUIRES(zk->lock)
{
    if (zk->state == ZK_STATE_EXPIRED || zk->state == ZK_STATE_STOPPED) {
        req_result(req, zk->stopping ? ZK_CLOSING : ZK_SESSION_EXPIRED);
        return false;
    }
    if (is_undeliverable(req)) {
        req_result(req, ZK_REFUSED);
        return false;
    }
    retry_add(zk, req);
    return true;
}

/* An answer has come; results have been taken out of it where there are any. Thread: the library's.
 * */
static void req_answered(struct zk_req *req, int rc)
{
    struct zk *zk = req->zk;
    struct zk_runs done = {0};
    size_t refused = 0;

    if (fault_hit("zk.reply").kind != FAULT_NONE)
        rc = ZCONNECTIONLOSS;
    WITH_LOCK(&zk->lock)
    {
        sent_remove(zk, req);
        if (rc == ZCLOSING)
            req_result(req, zk->stopping ? ZK_CLOSING : ZK_SESSION_EXPIRED);
        else if (!is_loss(rc) && (!req->multi || rc == ZSESSIONEXPIRED || rc == ZAUTHFAILED))
            req_result(req, zk_result_of(rc));
        if (!is_loss(rc) || !req_lost(zk, req)) {
            if (op_of(req)->result == ZK_REFUSED)
                refused = req_bytes(req);
            run_step(req->run, &done);
            req_free(req);
        }
        zk_send_pump(zk, &done);
    }
    if (refused)
        say_error("a request of %zu bytes was given up: the ZooKeeper servers drop the connection "
                  "on it; raise jute.maxbuffer there",
                  refused);
    zk_enter_callback();
    zk_runs_done(&done);
    zk_leave_callback();
}

static void take_stat(struct zk_op *op, const struct Stat *stat)
{
    op->stat = (struct zk_stat){
        .czxid = stat->czxid,
        .mzxid = stat->mzxid,
        .ctime_ms = stat->ctime,
        .mtime_ms = stat->mtime,
        .ephemeral_owner = stat->ephemeralOwner,
        .version = stat->version,
        .cversion = stat->cversion,
        .child_count = stat->numChildren,
    };
}

/* A batch's arena is touched by nobody else while the batch is under way, and answers come on one
 * thread. */
static void on_data(int rc, const char *value, int len, const struct Stat *stat, const void *data)
{
    struct zk_req *req = (struct zk_req *)data;
    struct zk_op *op = op_of(req);

    if (rc == ZOK) {
        take_stat(op, stat);
        op->ret_data = (struct slice){0};
        if (len >= 0) {
            uint8_t *copy = arena_alloc(&req->run->batch->arena, (size_t)len + 1);

            if (len > 0)
                memcpy(copy, value, (size_t)len);
            op->ret_data = slice_of(copy, (size_t)len);
        }
    }
    req_answered(req, rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct zk_req *req = (struct zk_req *)data;

    if (rc == ZOK && stat)
        take_stat(op_of(req), stat);
    req_answered(req, rc);
}

static void on_names(int rc, const struct String_vector *names, const struct Stat *stat,
                     const void *data)
{
    struct zk_req *req = (struct zk_req *)data;
    struct zk_op *op = op_of(req);
    struct arena *a = &req->run->batch->arena;

    if (rc == ZOK) {
        take_stat(op, stat);
        op->ret_names_count = (size_t)names->count;
        op->ret_names = arena_new_array(a, struct str, op->ret_names_count);
        for (size_t i = 0; i < op->ret_names_count; i++)
            op->ret_names[i] = arena_str(a, str_of(names->data[i]));
    }
    req_answered(req, rc);
}

static void on_created(int rc, const char *path, const void *data)
{
    struct zk_req *req = (struct zk_req *)data;

    if (rc == ZOK && path)
        op_of(req)->ret_path = arena_strz(&req->run->batch->arena, str_of(path));
    req_answered(req, rc);
}

static void on_void(int rc, const void *data)
{
    req_answered((struct zk_req *)data, rc);
}

static void on_multi(int rc, const void *data)
{
    struct zk_req *req = (struct zk_req *)data;

    for (int i = 0; i < req->count && !is_loss(rc); i++) {
        struct zk_op *op = op_of(req) + i;

        op->result = zk_result_of(req->results[i].err);
        if (op->result == ZK_OK && op->kind == ZK_OP_SET)
            take_stat(op, &req->stats[i]);
    }
    req_answered(req, rc);
}

static int create_mode(const struct zk_op *op)
{
    return (op->flags & ZK_EPHEMERAL ? ZOO_EPHEMERAL : 0) |
           (op->flags & ZK_SEQUENTIAL ? ZOO_SEQUENCE : 0);
}

static int data_len(const struct zk_op *op)
{
    return op->data.p ? (int)op->data.len : -1;
}

static void fill_multi_op(struct zk_req *req, int i)
{
    const struct zk_op *op = op_of(req) + i;
    const char *data = (const char *)op->data.p;
    zoo_op_t *out = &req->ops[i];

    switch (op->kind) {
    case ZK_OP_CREATE:
        zoo_create_op_init(out, op->path, data, data_len(op), zk_acl_for(req->zk, op->path),
                           create_mode(op), NULL, 0);
        break;
    case ZK_OP_SET:
        zoo_set_op_init(out, op->path, data, data_len(op), op->version, &req->stats[i]);
        break;
    case ZK_OP_DELETE:
        zoo_delete_op_init(out, op->path, op->version);
        break;
    default:
        assert(op->kind == ZK_OP_CHECK);
        zoo_check_op_init(out, op->path, op->version);
        break;
    }
}

static int send_multi(struct zk_req *req, zhandle_t *zh)
{
    size_t n = (size_t)req->count;

    free(req->ops);
    req->ops = xcalloc(n, sizeof *req->ops + sizeof *req->stats + sizeof *req->results);
    req->stats = (struct Stat *)(req->ops + n);
    req->results = (zoo_op_result_t *)(req->stats + n);
    for (int i = 0; i < req->count; i++)
        fill_multi_op(req, i);
    return zoo_amulti(zh, req->count, req->ops, req->results, on_multi, req);
}

static int send_one(struct zk_req *req, zhandle_t *zh)
{
    const struct zk_op *op = op_of(req);
    const char *data = (const char *)op->data.p;
    enum zk_watch_kind kind = op->kind == ZK_OP_CHILDREN ? ZK_WATCH_CHILDREN : ZK_WATCH_DATA;
    int watch = (op->flags & ZK_WATCH) && op->kind <= ZK_OP_CHILDREN &&
                zk_watches_has(&req->zk->watches, kind, op->path);

    switch (op->kind) {
    case ZK_OP_GET:
        return zoo_aget(zh, op->path, watch, on_data, req);
    case ZK_OP_EXISTS:
        return zoo_aexists(zh, op->path, watch, on_stat, req);
    case ZK_OP_CHILDREN:
        return zoo_aget_children2(zh, op->path, watch, on_names, req);
    case ZK_OP_CREATE:
        return zoo_acreate(zh, op->path, data, data_len(op), zk_acl_for(req->zk, op->path),
                           create_mode(op), on_created, req);
    case ZK_OP_SET:
        return zoo_aset(zh, op->path, data, data_len(op), op->version, on_stat, req);
    default:
        assert(op->kind == ZK_OP_DELETE);
        return zoo_adelete(zh, op->path, op->version, on_void, req);
    }
}

static bool can_send(const struct zk *zk)
{
    return zk->state == ZK_STATE_CONNECTED && zk->handle && zk->handle->zh &&
           zk->in_flight < (size_t)zk->conf.max_in_flight;
}

void zk_send_pump(struct zk *zk, struct zk_runs *done)
{
    struct zk_req *req;

    while (can_send(zk) && ((req = retry_take(zk)) || (req = queue_take(zk)))) {
        sent_add(zk, req);
        int rc = req->multi ? send_multi(req, zk->handle->zh) : send_one(req, zk->handle->zh);

        if (rc == ZOK)
            continue;
        sent_remove(zk, req);
        if (rc == ZINVALIDSTATE || rc == ZCLOSING) {
            /* The session has ended; the event that says so is on its way and fails all that waits.
             * */
            retry_add(zk, req);
            return;
        }
        req_result(req, zk_result_of(rc));
        run_step(req->run, done);
        req_free(req);
    }
}

void zk_send_fail_all(struct zk *zk, enum zk_result result, struct zk_runs *done)
{
    struct zk_req *req;

    while ((req = retry_take(zk)) || (req = queue_take(zk))) {
        req_result(req, result);
        run_step(req->run, done);
        req_free(req);
    }
}

void zk_send_drain(struct zk *zk, int64_t deadline_us)
{
    LOCK_SCOPE(&zk->lock);
    while (zk->in_flight > 0 && cond_wait_until(&zk->changed, &zk->lock, deadline_us))
        ;
}

void zk_send_abandon(struct zk *zk)
{
    struct zk_runs done = {0};
    struct zk_req *req;

    WITH_LOCK(&zk->lock)
    {
        while ((req = zk->sent)) {
            sent_remove(zk, req);
            req_result(req, zk->stopping ? ZK_CLOSING : ZK_SESSION_EXPIRED);
            run_step(req->run, &done);
            req_free(req);
        }
    }
    zk_runs_done(&done);
}

void zk_send_submit(struct zk_store *s, struct zk_batch *b, zk_batch_done_fn done, void *ctx)
{
    struct zk *zk = container_of(s, struct zk, store);
    struct zk_run *run = xnew(struct zk_run);
    struct zk_runs finished = {0};

    assert(!b->run && !b->multi_at);
    *run = (struct zk_run){.batch = b, .done = done, .ctx = ctx, .left = request_count(b)};
    b->run = run;
    WITH_LOCK(&zk->lock)
    {
        if (run->left == 0)
            runs_add(&finished, run);
        else
            runs_add(&zk->queue, run);
        if (zk->state == ZK_STATE_STOPPED)
            zk_send_fail_all(zk, ZK_CLOSING, &finished);
        else if (zk->state == ZK_STATE_EXPIRED)
            zk_send_fail_all(zk, zk->auth_failed ? ZK_AUTH_FAILED : ZK_SESSION_EXPIRED, &finished);
        else
            zk_send_pump(zk, &finished);
    }
    zk_runs_done(&finished);
}

struct waiter {
    struct zk *zk;
    bool done;
};

static void on_done(struct zk_batch *b UNUSED, void *ctx)
{
    struct waiter *w = ctx;
    struct zk *zk = w->zk;

    WITH_LOCK(&zk->lock)
    {
        w->done = true;
        cond_broadcast(&zk->changed);
    }
}

void zk_send_run(struct zk_store *s, struct zk_batch *b)
{
    struct waiter w = {container_of(s, struct zk, store), false};

    assert(in_callback == 0);
    zk_send_submit(s, b, on_done, &w);
    LOCK_SCOPE(&w.zk->lock);
    while (!w.done)
        cond_wait(&w.zk->changed, &w.zk->lock);
}
