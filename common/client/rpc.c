#include "common/client/rpc.h"

#include "common/base/mem.h"

struct rpc {
    struct reactor *reactor;
    bool owns_reactor;
    struct peer *peer;
};

/* What the caller waits for; on its stack. */
struct waiter {
    struct message message; /* to the reactor, and back */
    struct inbox inbox;
    struct rpc *rpc;
    struct peer_call call;
    struct arena *arena;
    const void *response;
    int r;
};

static void run_close(struct message *m)
{
    struct waiter *w = container_of(m, struct waiter, message);

    w->rpc->peer = peer_free(w->rpc->peer);
    inbox_post(&w->inbox, &w->message);
}

static void on_done(struct peer_call *call, int r, const void *response)
{
    struct waiter *w = container_of(call, struct waiter, call);

    w->r = r;
    w->response = response;
    if (r == 0)
        *w->arena = MOVE(*call->arena);
    inbox_post(&w->inbox, &w->message);
}

static void run_call(struct message *m)
{
    struct waiter *w = container_of(m, struct waiter, message);

    peer_send(w->rpc->peer, &w->call);
}

static void send_and_wait(struct waiter *w, void (*run)(struct message *))
{
    assert(!reactor_current());
    inbox_init(&w->inbox);
    w->message.run = run;
    reactor_post(w->rpc->reactor, &w->message);
    inbox_take(&w->inbox, INT64_MAX);
    inbox_deinit(&w->inbox);
}

int rpc_open(struct reactor *r, const struct peer_opts *opts, struct rpc **ret)
{
    struct rpc *rpc = xnew(struct rpc);
    int rc = 0;

    rpc->reactor = r;
    rpc->owns_reactor = !r;
    if (!r)
        rc = reactor_new("rpc", &clock_system, &rpc->reactor);
    if (rc == 0 && rpc->owns_reactor)
        rc = reactor_start(rpc->reactor);
    if (rc < 0) {
        if (rpc->owns_reactor)
            reactor_free(rpc->reactor);
        free(rpc);
        return rc;
    }
    rpc->peer = peer_new(rpc->reactor, opts);
    peer_negotiate(rpc->peer);
    *ret = rpc;
    return 0;
}

struct rpc *rpc_close(struct rpc *rpc)
{
    struct waiter w = {.rpc = rpc};

    if (!rpc)
        return NULL;
    send_and_wait(&w, run_close);
    if (rpc->owns_reactor) {
        reactor_stop(rpc->reactor);
        reactor_free(rpc->reactor);
    }
    free(rpc);
    return NULL;
}

void rpc_close_p(struct rpc **rpc)
{
    *rpc = rpc_close(*rpc);
}

int rpc_call(struct rpc *rpc, struct rpc_request *q, struct arena *a, const void **ret_response)
{
    struct waiter w = {
        .rpc = rpc,
        .arena = a,
        .call = {.api_key = q->api_key,
                 .version = q->version,
                 .request = q->message,
                 .timeout_us = q->timeout_us,
                 .done = on_done},
    };

    send_and_wait(&w, run_call);
    if (w.r == 0) {
        q->version = w.call.version;
        *ret_response = w.response;
    }
    return w.r;
}
