#include "broker/meta/controller_link.h"

#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/say.h"

enum { RETRY_US = 100 * 1000, SAY_EVERY_US = 10 * 1000 * 1000 };

struct controller_link {
    struct controller_link_opts opts;
    struct peer *peer;
    int32_t peer_id; /* the broker that peer goes to */
    char *peer_host;
    int peer_port;
    struct link_call *calls; /* all that are under way */
    bool is_stopping;
    int64_t failing_since_us; /* 0 = the last try was answered */
    int64_t said_us;
};

struct controller_link *controller_link_new(const struct controller_link_opts *opts)
{
    struct controller_link *l = xnew(struct controller_link);

    l->opts = *opts;
    l->opts.client_id = xstrdup(opts->client_id);
    l->opts.inter_broker_listener = xstrdup(opts->inter_broker_listener);
    l->opts.control_plane_listener =
        opts->control_plane_listener ? xstrdup(opts->control_plane_listener) : NULL;
    l->peer_id = -1;
    return l;
}

struct controller_link *controller_link_free(struct controller_link *l)
{
    if (!l)
        return NULL;
    assert(!l->peer && !l->calls);
    free((void *)(uintptr_t)l->opts.client_id);
    free((void *)(uintptr_t)l->opts.inter_broker_listener);
    free((void *)(uintptr_t)l->opts.control_plane_listener);
    free(l->peer_host);
    free(l);
    return NULL;
}

static void forget_controller(struct controller_link *l)
{
    l->peer = peer_free(l->peer);
    l->peer_id = -1;
}

static void finish(struct link_call *c, int r, const void *response)
{
    DL_DELETE(c->link->calls, c);
    c->done(c, r, response);
}

/* Where the controller of the metadata can be reached; NULL where it is not known now. */
static const struct meta_endpoint *find_endpoint(const struct controller_link *l,
                                                 const struct metadata_snapshot *s, int32_t *ret_id,
                                                 struct tls_client **ret_tls)
{
    const struct meta_broker *b = metadata_broker(s, metadata_controller(s));
    const char *control = l->opts.control_plane_listener;

    if (!b)
        return NULL;
    *ret_id = b->id;
    *ret_tls = control ? l->opts.control_tls : l->opts.tls;
    return meta_broker_endpoint(b, str_of(control ? control : l->opts.inter_broker_listener));
}

static bool connect_controller(struct controller_link *l)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(l->opts.metadata);
    struct tls_client *tls;
    int32_t id;
    const struct meta_endpoint *ep = find_endpoint(l, s, &id, &tls);

    if (!ep)
        return false;
    if (l->peer && l->peer_id == id && l->peer_port == ep->port && str_eqz(ep->host, l->peer_host))
        return true;
    /* Calls on the old peer come back with -ECANCELED, and are tried again on the new one. */
    forget_controller(l);
    free(l->peer_host);
    l->peer_host = str_dup(ep->host);
    l->peer_port = ep->port;
    l->peer_id = id;
    l->peer = peer_new(l->opts.reactor, &(struct peer_opts){
                                            .host = l->peer_host,
                                            .port = ep->port,
                                            .client_id = l->opts.client_id,
                                            .tls = tls,
                                            .connect_timeout_us = l->opts.connect_timeout_us,
                                            .request_timeout_us = l->opts.request_timeout_us,
                                        });
    peer_negotiate(l->peer);
    return true;
}

static void try_call(struct link_call *c);

static void on_retry(struct timer *t)
{
    try_call(container_of(t, struct link_call, retry));
}

static void explain(struct controller_link *l, const struct link_call *c, const char *what)
{
    int64_t now = reactor_now_us(l->opts.reactor);

    if (!l->failing_since_us)
        l->failing_since_us = l->said_us = now;
    if (now - l->said_us < SAY_EVERY_US)
        return;
    l->said_us = now;
    say_warn("waiting for the controller to answer api=%d for %" PRId64
             " s: %s (broker %d by the metadata); goes on when "
             "one is elected and has announced itself",
             c->api_key, (now - l->failing_since_us) / 1000000, what, l->peer_id);
}

static void again_later(struct link_call *c, const char *what)
{
    struct controller_link *l = c->link;
    int64_t now = reactor_now_us(l->opts.reactor);

    if (l->is_stopping) {
        finish(c, -ECANCELED, NULL);
        return;
    }
    if (now >= c->deadline_us) {
        finish(c, -ETIMEDOUT, NULL);
        return;
    }
    explain(l, c, what);
    c->retry.fire = on_retry;
    timer_arm(l->opts.reactor, &c->retry, now + RETRY_US);
}

static void on_response(struct peer_call *call, int r, const void *response)
{
    struct link_call *c = container_of(call, struct link_call, call);
    struct controller_link *l = c->link;

    if (r == -EPROTONOSUPPORT) {
        finish(c, r, NULL);
    } else if (r < 0) {
        again_later(c, strerror(-r));
    } else if (c->error_of(response) == NOT_CONTROLLER) {
        again_later(c, "it is not the controller");
    } else {
        l->failing_since_us = 0;
        finish(c, 0, response);
    }
}

static void try_call(struct link_call *c)
{
    struct controller_link *l = c->link;

    if (l->is_stopping || !connect_controller(l)) {
        again_later(c, "none is known");
        return;
    }
    c->call.api_key = c->api_key;
    c->call.version = c->max_version;
    c->call.request = c->request;
    c->call.done = on_response;
    peer_send(l->peer, &c->call);
}

static void on_send(struct message *m)
{
    struct link_call *c = container_of(m, struct link_call, message);

    DL_APPEND(c->link->calls, c);
    try_call(c);
}

void controller_link_send(struct controller_link *l, struct link_call *c)
{
    c->link = l;
    c->message.run = on_send;
    reactor_post(l->opts.reactor, &c->message);
}

struct stop {
    struct message message;
    struct controller_link *link;
    struct inbox done;
    struct message reply;
};

static void on_stop(struct message *m)
{
    struct stop *stop = container_of(m, struct stop, message);
    struct controller_link *l = stop->link;
    struct link_call *c, *next;

    l->is_stopping = true;
    forget_controller(l);
    /* What the peer had was ended by that; what is left waits for its next try. */
    DL_FOREACH_SAFE (l->calls, c, next) {
        timer_cancel(l->opts.reactor, &c->retry);
        finish(c, -ECANCELED, NULL);
    }
    inbox_post(&stop->done, &stop->reply);
}

void controller_link_stop(struct controller_link *l)
{
    struct stop stop = {.message.run = on_stop, .link = l};

    inbox_init(&stop.done);
    reactor_post(l->opts.reactor, &stop.message);
    inbox_take(&stop.done, INT64_MAX);
    inbox_deinit(&stop.done);
}
