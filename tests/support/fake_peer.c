/*
 * fake_peer.c - see fake_peer.h
 */
#include "tests/support/fake_peer.h"

#include "common/base/containers.h"
#include "common/io/fs.h"
#include "common/wire/header.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_BROKERS = 16, MAX_CUTS = 16 };

struct cut {
    bool is_used;
    char prefix[32];
};

static struct fake_broker {
    int port; /* 0: free */
    bool is_open;
    fake_serve_fn serve;
    void *ctx;
    struct cut cuts[MAX_CUTS];
} brokers[MAX_BROKERS];

struct peer {
    struct reactor *reactor;
    int port;
    char *client_id;
    int64_t request_timeout_us;
    struct fake_call *calls; /* in flight */
    struct delivery *deliveries;
    struct peer_call *waiting;
    struct timer timer;
    struct peer *prev, *next;
};

static struct peer *peers;

/* done() comes from the reactor, never from inside peer_send(). */
struct delivery {
    struct message message;
    struct peer *peer;
    struct peer_call *call; /* NULL: cancelled */
    int r;
    void *response;
    struct arena arena;
    struct delivery *prev, *next;
};

static int seen[API_KEY_COUNT];

int fake_peer_count(int16_t api_key)
{
    return seen[api_key];
}

/* ---- brokers ---- */

static struct fake_broker *find_broker(int port)
{
    for (int i = 0; i < MAX_BROKERS; i++)
        if (brokers[i].port == port)
            return &brokers[i];
    return NULL;
}

static struct fake_broker *broker_at(int port)
{
    struct fake_broker *b = find_broker(port);

    if (!b)
        b = find_broker(0);
    if (!b)
        abort();
    b->port = port;
    return b;
}

void fake_broker_open(int port, fake_serve_fn serve, void *ctx)
{
    struct fake_broker *b = broker_at(port);

    b->is_open = true;
    b->serve = serve;
    b->ctx = ctx;
}

static struct fake_call *all_calls; /* answered later: found by their broker */

void fake_broker_cut(int port, const char *client_id_prefix, bool is_cut)
{
    struct fake_broker *b = broker_at(port);

    for (int i = 0; i < MAX_CUTS; i++)
        if (b->cuts[i].is_used && strcmp(b->cuts[i].prefix, client_id_prefix) == 0)
            b->cuts[i].is_used = false;
    for (int i = 0; is_cut && i < MAX_CUTS; i++) {
        if (b->cuts[i].is_used)
            continue;
        b->cuts[i].is_used = true;
        snprintf(b->cuts[i].prefix, sizeof b->cuts[i].prefix, "%s", client_id_prefix);
        return;
    }
}

static bool is_cut(const struct fake_broker *b, const struct peer *p)
{
    for (int i = 0; i < MAX_CUTS; i++)
        if (b->cuts[i].is_used &&
            strncmp(p->client_id, b->cuts[i].prefix, strlen(b->cuts[i].prefix)) == 0)
            return true;
    return false;
}

/* ---- deliveries ---- */

static void take_off(struct peer *p, struct peer_call *call)
{
    struct peer_call **at = &p->waiting;

    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        *at = call->next;
}

static void on_delivery(struct message *m)
{
    struct delivery *d = container_of(m, struct delivery, message);
    struct peer_call *call = d->call;

    if (call) { /* the peer is still there, too */
        DL_DELETE(d->peer->deliveries, d);
        call->arena = &d->arena;
        call->done(call, d->r, d->response);
    }
    arena_deinit(&d->arena);
    free(d);
}

static struct delivery *deliver(struct peer *p, struct peer_call *call, int r)
{
    struct delivery *d = xnew(struct delivery);

    take_off(p, call);
    d->message.run = on_delivery;
    d->peer = p;
    d->call = call;
    d->r = r;
    DL_APPEND(p->deliveries, d);
    reactor_post(p->reactor, &d->message);
    return d;
}

static void fail_call(struct peer *p, struct peer_call *call, int r)
{
    struct fake_call *fc;

    DL_FOREACH (all_calls, fc) {
        if (fc->call == call)
            fc->call = NULL;
    }
    deliver(p, call, r);
}

void fake_broker_close(int port)
{
    struct fake_broker *b = broker_at(port);
    struct fake_call *fc;

    b->is_open = false;
    DL_FOREACH (all_calls, fc) {
        if (fc->owner == b->ctx && fc->call) {
            struct peer_call *call = fc->call;
            fc->call = NULL;
            deliver(fc->peer, call, -ECONNRESET);
        }
    }
}

/* ---- answers ---- */

static struct slice flatten(const struct writer *w, struct arena *a)
{
    uint8_t *bytes = arena_alloc(a, w->total + 1);
    size_t at = 0;

    for (size_t i = 0; i < w->piece_count; i++) {
        const struct piece *pc = &w->pieces[i];
        if (pc->file && file_pread(pc->file, bytes + at, pc->len, pc->pos))
            abort();
        if (!pc->file)
            memcpy(bytes + at, pc->mem.p, pc->len);
        at += pc->len;
    }
    return slice_of(bytes, at);
}

/* Encoded and decoded again, into memory of its own. */
static void *pass(const struct msg_desc *desc, int16_t version, const void *msg, struct arena *a)
{
    struct arena CLEANUP(arena_deinit) scratch = {0};
    struct writer w;

    writer_init(&w, &scratch);
    int r = codec_encode(desc, version, msg, &w);
    if (r) {
        fprintf(stderr, "%s v%d: field %s cannot be encoded\n", desc->name, version, w.err_field);
        abort();
    }
    writer_end(&w);
    void *ret = arena_zalloc(a, desc->root.size);
    r = codec_decode(desc, version, flatten(&w, a), a, ret);
    assert(r == 0);
    return ret;
}

void fake_call_reply(struct fake_call *fc, const void *response)
{
    struct fake_broker *b = fc->peer && fc->call ? find_broker(fc->peer->port) : NULL;

    DL_DELETE(all_calls, fc);
    if (fc->call && b && b->is_open && !is_cut(b, fc->peer)) {
        struct delivery *d = deliver(fc->peer, fc->call, 0);
        d->response = pass(api_messages[fc->api_key].response, fc->version, response, &d->arena);
    }
    arena_deinit(&fc->arena);
    free(fc);
}

/* ---- the peer ---- */

static void arm(struct peer *p)
{
    int64_t first = INT64_MAX;

    for (struct peer_call *c = p->waiting; c; c = c->next)
        first = MIN(first, c->deadline_us);
    if (first != INT64_MAX)
        timer_arm(p->reactor, &p->timer, first);
}

static void on_timeout(struct timer *t)
{
    struct peer *p = container_of(t, struct peer, timer);
    int64_t now_us = reactor_now_us(p->reactor);

    for (struct peer_call *c = p->waiting, *next; c; c = next) {
        next = c->next;
        if (c->deadline_us <= now_us)
            fail_call(p, c, -ETIMEDOUT);
    }
    arm(p);
}

struct peer *peer_new(struct reactor *r, const struct peer_opts *opts)
{
    struct peer *p = xnew(struct peer);

    p->reactor = r;
    p->port = opts->port;
    p->client_id = xstrdup(opts->client_id);
    p->request_timeout_us = opts->request_timeout_us;
    p->timer.fire = on_timeout;
    DL_APPEND(peers, p);
    return p;
}

static void cancel(struct peer_call *call)
{
    struct arena none = {0};

    call->arena = &none;
    call->done(call, -ECANCELED, NULL);
}

struct peer *peer_free(struct peer *p)
{
    struct fake_call *fc;

    if (!p)
        return NULL;
    timer_cancel(p->reactor, &p->timer);
    DL_DELETE(peers, p);
    DL_FOREACH (all_calls, fc) {
        if (fc->peer == p) {
            fc->call = NULL;
            fc->peer = NULL;
        }
    }
    while (p->deliveries) {
        struct delivery *d = p->deliveries;
        struct peer_call *call = d->call;
        DL_DELETE(p->deliveries, d);
        d->call = NULL;
        cancel(call);
    }
    while (p->waiting) {
        struct peer_call *call = p->waiting;
        p->waiting = call->next;
        cancel(call);
    }
    free(p->client_id);
    free(p);
    return NULL;
}

void peer_send(struct peer *p, struct peer_call *call)
{
    struct fake_broker *b = find_broker(p->port);

    seen[call->api_key]++;
    call->deadline_us =
        reactor_now_us(p->reactor) + (call->timeout_us ? call->timeout_us : p->request_timeout_us);
    call->next = p->waiting;
    p->waiting = call;
    if (!b || !b->is_open) {
        deliver(p, call, -ECONNREFUSED);
        return;
    }
    arm(p);
    if (is_cut(b, p))
        return;
    struct fake_call *fc = xnew(struct fake_call);
    fc->api_key = call->api_key;
    fc->version = call->version;
    fc->owner = b->ctx;
    fc->peer = p;
    fc->call = call;
    fc->request =
        pass(api_messages[call->api_key].request, call->version, call->request, &fc->arena);
    DL_APPEND(all_calls, fc);
    b->serve(b->ctx, fc);
}

void peer_disconnect(struct peer *p)
{
    while (p->waiting)
        fail_call(p, p->waiting, -ECONNRESET);
}

void fake_peers_break(void)
{
    struct peer *p;

    DL_FOREACH (peers, p) {
        peer_disconnect(p);
    }
}

bool peer_is_connected(const struct peer *p UNUSED)
{
    return true;
}

void peer_negotiate(struct peer *p UNUSED)
{
}
