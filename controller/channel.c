#include "controller/channel.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/client/peer.h"
#include "common/wire/messages.h"

#include <stdio.h>
#include <unistd.h>

enum { RETRY_US = 100 * 1000 };

struct item {
    struct item *next;
    struct control_message *m;
    int64_t broker_epoch;
};

/* To one broker. */
struct channel {
    struct channel *prev, *next; /* the controller's thread */
    int32_t broker_id;
    struct reactor *reactor;
    struct channel_set *set;
    /* The reactor's from here on. */
    struct peer *peer;
    struct item *queue; /* the head is under way, or waits for its next try */
    struct item **tail;
    struct timer retry;
    struct peer_call call;
    bool is_closing;
    uint32_t failures; /* in a row */
    int32_t port;
    enum node_protocol protocol;
    char host[256];
};

struct channel_set {
    struct channels channels;
    struct channel_opts opts;
    char *client_id;
    struct channel *list; /* the controller's thread */
    struct reactor *own;
    _Atomic int32_t queued;
    void (*on_answer)(void *ctx, struct control_answer *a);
    void *ctx;
};

/* What is to be done with a channel, on its way to the reactor. */
struct order {
    struct message message;
    struct channel *channel;
    struct item *item;
};

static struct channel_set *set_of(struct channels *ch)
{
    return container_of(ch, struct channel_set, channels);
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
        say_info("controller: broker %d at %s:%d takes requests again after failures=%u",
                 c->broker_id, c->host, c->port, c->failures);
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
            "controller: broker %d at %s:%d does not take requests: %s; repeated each %d ms until "
            "it answers, or its registration goes",
            c->broker_id, c->host, c->port, err_name(r), RETRY_US / 1000);
    peer_disconnect(c->peer);
    timer_arm(c->reactor, &c->retry, reactor_now_us(c->reactor) + RETRY_US);
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
    timer_cancel(c->reactor, &c->retry);
    c->peer = peer_free(c->peer);
    while (c->queue)
        queue_shift(c);
    free(c);
}

static void run_open(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);
    struct channel *c = o->channel;
    const struct channel_opts *opts = &c->set->opts;
    bool is_secure = c->protocol == NODE_SSL || c->protocol == NODE_SASL_SSL;

    if (c->protocol == NODE_SASL_PLAINTEXT || c->protocol == NODE_SASL_SSL)
        say_error("controller: broker %d listens with SASL, which control connections do not "
                  "speak: it will not answer",
                  c->broker_id);
    c->peer = peer_new(c->reactor, &(struct peer_opts){
                                       .host = c->host,
                                       .port = c->port,
                                       .client_id = c->set->client_id,
                                       .tls = is_secure ? opts->tls : NULL,
                                       .connect_timeout_us = opts->connect_timeout_us,
                                       .request_timeout_us = opts->request_timeout_us,
                                   });
}

static void run_close(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);

    channel_close(o->channel);
}

static void run_send(struct message *m)
{
    CLEANUP(free_p) struct order *o = container_of(m, struct order, message);
    struct channel *c = o->channel;
    bool was_idle = c->queue == NULL;

    *c->tail = o->item;
    c->tail = &o->item->next;
    if (was_idle)
        send_head(c);
}

static void post(struct channel *c, void (*run)(struct message *m), struct item *item)
{
    struct order *o = xnew(struct order);

    o->channel = c;
    o->item = item;
    o->message.run = run;
    reactor_post(c->reactor, &o->message);
}

static struct channel *find(struct channels *ch, int32_t broker_id)
{
    struct channel *c;

    DL_FOREACH (set_of(ch)->list, c) {
        if (c->broker_id == broker_id)
            return c;
    }
    return NULL;
}

/* Without a reactor the controller could reach nobody: an out-of-descriptors at this moment is
 * tried again for as long as it takes. */
static struct reactor *set_reactor(struct channel_set *set)
{
    struct reactor *r = set->opts.reactor ? set->opts.reactor : set->own;
    int e = 0;

    while (!r) {
        e = reactor_new("channels", &clock_system, &r);
        if (e == 0 && (e = reactor_start(r)) < 0)
            r = reactor_free(r);
        if (e < 0) {
            say_error("controller: the thread for connections to brokers cannot be started: %s; "
                      "tried again each second",
                      err_name(e));
            sleep(1);
        }
        set->own = r;
    }
    return r;
}

static void op_add(struct channels *ch, int32_t broker_id, const struct node_endpoint *ep)
{
    struct channel_set *set = set_of(ch);
    struct channel *c = xnew(struct channel);

    assert(!find(ch, broker_id));
    c->set = set;
    c->broker_id = broker_id;
    c->reactor = set_reactor(set);
    c->tail = &c->queue;
    c->retry.fire = retry_fired;
    c->call.done = call_done;
    c->port = ep->port;
    c->protocol = ep->protocol;
    snprintf(c->host, sizeof c->host, "%.*s", STR_ARG(ep->host));
    DL_APPEND(set->list, c);
    post(c, run_open, NULL);
}

static void op_remove(struct channels *ch, int32_t broker_id)
{
    struct channel *c = find(ch, broker_id);

    if (!c)
        return;
    DL_DELETE(set_of(ch)->list, c);
    post(c, run_close, NULL);
}

static void op_remove_all(struct channels *ch)
{
    while (set_of(ch)->list)
        op_remove(ch, set_of(ch)->list->broker_id);
}

static void op_send(struct channels *ch, int32_t broker_id, int64_t broker_epoch,
                    struct control_message *m)
{
    struct channel *c = find(ch, broker_id);

    if (!c)
        return;
    struct item *i = xnew(struct item);
    i->m = control_message_ref(m);
    i->broker_epoch = broker_epoch;
    atomic_fetch_add(&c->set->queued, 1);
    post(c, run_send, i);
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

struct channels *channel_new(const struct channel_opts *opts)
{
    struct channel_set *set = xnew(struct channel_set);

    set->channels.ops = &wire_ops;
    set->opts = *opts;
    set->client_id = xstrdup(opts->client_id);
    return &set->channels;
}

struct channels *channel_free(struct channels *ch)
{
    if (!ch)
        return NULL;
    assert(!set_of(ch)->list);
    if (set_of(ch)->own) {
        reactor_stop(set_of(ch)->own);
        reactor_free(set_of(ch)->own);
    }
    free(set_of(ch)->client_id);
    free(set_of(ch));
    return NULL;
}

int32_t channel_queued(const struct channels *ch)
{
    return atomic_load(&container_of(ch, const struct channel_set, channels)->queued);
}
