#include "controller/channel.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/client/peer.h"
#include "common/wire/messages.h"

#include <stdio.h>

enum { RETRY_US = 100 * 1000 };

struct item {
    struct item *next;
    struct control_message *m;
    int64_t broker_epoch;
};

/* To one broker. Thread: the reactor's. */
struct channel {
    struct channel *prev, *next;
    struct channel_set *set;
    struct peer *peer;
    struct item *queue; /* the head is under way, or waits for its next try */
    struct item **tail;
    struct timer retry;
    struct peer_call call;
    int32_t broker_id;
    bool is_closing;
    uint32_t failures; /* in a row */
    char at[300];      /* host:port, for the log */
};

struct channel_set {
    struct channels channels;
    struct channel_opts opts;
    char client_id[16];
    struct channel *list; /* the reactor's */
    _Atomic int32_t queued;
    void (*on_answer)(void *ctx, struct control_answer *a);
    void *ctx;
};

/* What the controller asks for, on its way to the reactor. */
struct order {
    struct message message;
    struct channel_set *set;
    int32_t broker_id;
    struct item *item;
    int32_t port;
    enum node_protocol protocol;
    char host[256];
};

static struct channel_set *set_of(struct channels *ch)
{
    return container_of(ch, struct channel_set, channels);
}

static struct channel *channel_find(struct channel_set *set, int32_t broker_id)
{
    struct channel *c;

    DL_FOREACH (set->list, c) {
        if (c->broker_id == broker_id)
            return c;
    }
    return NULL;
}

static void item_free(struct channel_set *set, struct item *i)
{
    atomic_fetch_sub(&set->queued, 1);
    control_message_unref(i->m);
    free(i);
}

/* The head of the queue is done with. */
static void queue_shift(struct channel *c)
{
    struct item *i = c->queue;

    c->queue = i->next;
    if (!c->queue)
        c->tail = &c->queue;
    item_free(c->set, i);
}

static void send_head(struct channel *c)
{
    union {
        struct leader_and_isr_request leader_and_isr;
        struct update_metadata_request update_metadata;
        struct stop_replica_request stop_replica;
    } copy;
    const struct item *i = c->queue;

    if (!i)
        return;
    /* The message is shared by all brokers it goes to: only a shallow copy gets this one's
     * epoch. */
    memcpy(&copy, i->m->body, control_message_body_size(i->m->api_key));
    control_message_set_broker_epoch(i->m->api_key, &copy, i->broker_epoch);
    c->call.api_key = i->m->api_key;
    c->call.version = i->m->version;
    c->call.request = &copy;
    peer_send(c->peer, &c->call);
    c->call.request = NULL;
}

static void retry_fired(struct timer *t)
{
    send_head(container_of(t, struct channel, retry));
}

static void answered(struct channel *c, const void *response)
{
    struct control_answer *a = xnew(struct control_answer);

    if (c->failures)
        say_info("controller: broker %d at %s takes requests again after failures=%u", c->broker_id,
                 c->at, c->failures);
    c->failures = 0;
    a->message = control_message_ref(c->queue->m);
    a->broker_id = c->broker_id;
    a->response = response;
    a->arena = MOVE(*c->call.arena);
    queue_shift(c);
    send_head(c);
    c->set->on_answer(c->set->ctx, a);
}

static void failed(struct channel *c, int r)
{
    if (r == -EINVAL) {
        say_error("controller: a request to broker %d cannot be encoded and is left out api=%d "
                  "version=%d: its data in ZooKeeper has a name that is too long",
                  c->broker_id, c->queue->m->api_key, c->queue->m->version);
        queue_shift(c);
        send_head(c);
        return;
    }
    if (c->failures++ == 0)
        say_warn(
            "controller: broker %d at %s does not take requests: %s; repeated each %d ms until "
            "it answers, or its registration goes",
            c->broker_id, c->at, err_name(r), RETRY_US / 1000);
    peer_disconnect(c->peer);
    timer_arm(c->set->opts.reactor, &c->retry, reactor_now_us(c->set->opts.reactor) + RETRY_US);
}

static void call_done(struct peer_call *call, int r, const void *response)
{
    struct channel *c = container_of(call, struct channel, call);

    if (c->is_closing)
        return;
    if (r == 0)
        answered(c, response);
    else
        failed(c, r);
}

static void channel_close(struct channel *c)
{
    c->is_closing = true;
    timer_cancel(c->set->opts.reactor, &c->retry);
    c->peer = peer_free(c->peer);
    while (c->queue)
        queue_shift(c);
    DL_DELETE(c->set->list, c);
    free(c);
}

static void run_add(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);
    struct channel_set *set = o->set;
    struct channel *c = xnew(struct channel);
    struct peer_opts po = {
        .host = o->host,
        .port = o->port,
        .client_id = set->client_id,
        .tls = o->protocol == NODE_SSL ? set->opts.tls : NULL,
        .connect_timeout_us = set->opts.connect_timeout_us,
        .request_timeout_us = set->opts.request_timeout_us,
    };

    if (channel_find(set, o->broker_id))
        channel_close(channel_find(set, o->broker_id));
    if (o->protocol == NODE_SASL_PLAINTEXT || o->protocol == NODE_SASL_SSL)
        say_error(
            "controller: broker %d listens with SASL, which control connections do not speak: "
            "it will not answer",
            o->broker_id);
    snprintf(c->at, sizeof c->at, "%s:%d", o->host, o->port);
    c->set = set;
    c->broker_id = o->broker_id;
    c->tail = &c->queue;
    c->retry.fire = retry_fired;
    c->call.done = call_done;
    c->peer = peer_new(set->opts.reactor, &po);
    DL_APPEND(set->list, c);
}

static void run_remove(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);
    struct channel *c = channel_find(o->set, o->broker_id);

    if (c)
        channel_close(c);
}

static void run_remove_all(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);

    while (o->set->list)
        channel_close(o->set->list);
}

static void run_send(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);
    struct channel *c = channel_find(o->set, o->broker_id);

    if (!c) {
        item_free(o->set, o->item);
        return;
    }
    bool was_idle = c->queue == NULL;
    *c->tail = o->item;
    c->tail = &o->item->next;
    if (was_idle)
        send_head(c);
}

static struct order *order_new(struct channels *ch, int32_t broker_id,
                               void (*run)(struct message *))
{
    struct order *o = xnew(struct order);

    o->set = set_of(ch);
    o->broker_id = broker_id;
    o->message.run = run;
    return o;
}

static void op_add(struct channels *ch, int32_t broker_id, const struct node_endpoint *ep)
{
    struct order *o = order_new(ch, broker_id, run_add);

    snprintf(o->host, sizeof o->host, "%.*s", STR_ARG(ep->host));
    o->port = ep->port;
    o->protocol = ep->protocol;
    reactor_post(o->set->opts.reactor, &o->message);
}

static void op_remove(struct channels *ch, int32_t broker_id)
{
    struct order *o = order_new(ch, broker_id, run_remove);

    reactor_post(o->set->opts.reactor, &o->message);
}

static void op_remove_all(struct channels *ch)
{
    struct order *o = order_new(ch, -1, run_remove_all);

    reactor_post(o->set->opts.reactor, &o->message);
}

static void op_send(struct channels *ch, int32_t broker_id, int64_t broker_epoch,
                    struct control_message *m)
{
    struct order *o = order_new(ch, broker_id, run_send);

    o->item = xnew(struct item);
    o->item->m = control_message_ref(m);
    o->item->broker_epoch = broker_epoch;
    atomic_fetch_add(&o->set->queued, 1);
    reactor_post(o->set->opts.reactor, &o->message);
}

static void op_on_answer(struct channels *ch, void (*fn)(void *ctx, struct control_answer *a),
                         void *ctx)
{
    set_of(ch)->on_answer = fn;
    set_of(ch)->ctx = ctx;
}

static const struct channels_ops wire_ops = {
    .add = op_add,
    .remove = op_remove,
    .remove_all = op_remove_all,
    .send = op_send,
    .on_answer = op_on_answer,
};

struct channels *channel_set_new(const struct channel_opts *opts)
{
    struct channel_set *set = xnew(struct channel_set);

    set->channels.ops = &wire_ops;
    set->opts = *opts;
    snprintf(set->client_id, sizeof set->client_id, "%d", opts->broker_id);
    return &set->channels;
}

struct channels *channel_set_free(struct channels *ch)
{
    if (!ch)
        return NULL;
    struct channel_set *set = set_of(ch);
    while (set->list)
        channel_close(set->list);
    free(set);
    return NULL;
}

int32_t channel_set_queued(const struct channels *ch)
{
    return atomic_load(&container_of(ch, const struct channel_set, channels)->queued);
}
