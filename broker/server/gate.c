#include "broker/server/gate.h"

#include "broker/server/listener.h"
#include "broker/server/tls_options.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <ctype.h>
#include <strings.h>

/* The arrays are as long as the configuration has listeners, and the pool reactors. */
struct gate {
    struct gate_opts opts;
    struct net net;
    struct conn_set **sets;
    struct tls_server **tls;
    struct listener **listeners;
};

static int listener_count(const struct gate *g)
{
    return g->opts.conf->listener.count;
}

static enum tls_client_auth client_auth_of(const char *text)
{
    return strcasecmp(text, "required") == 0    ? TLS_CLIENT_AUTH_REQUIRED
           : strcasecmp(text, "requested") == 0 ? TLS_CLIENT_AUTH_REQUESTED
                                                : TLS_CLIENT_AUTH_NONE;
}

static int make_tls(const struct broker_conf *c, const char *name, struct tls_server **ret,
                    struct strbuf *why)
{
    struct tls_conf tls = tls_conf_of_listener(c, name);

    tls.client_auth = client_auth_of(broker_conf_text(c, "ssl.client.auth", name));
    int r = tls_server_new(&tls, why, ret);
    if (r < 0)
        strbuf_addf(why, " (listener %s)", name);
    return r;
}

/* Files are read again even where no setting has changed: that is how certificates are renewed. */
static void renew_tls(struct gate *g, int i, const struct broker_conf *now)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct tls_server *next = NULL;

    if (make_tls(now, listener_name(g->listeners[i]), &next, &why) == 0)
        tls_server_renew(g->tls[i], next);
    else
        say_error("the key and certificates of a listener stay as they were: %s", why.s);
}

/* listener.name.<listener>.max.connections; unlike most such keys it does not fall back on the
 * broker's, which counts apart. */
static int64_t max_connections_of(const struct broker_conf *c, const char *name)
{
    CLEANUP(free_p) char *key = xasprintf("listener.name.%s.max.connections", name);
    int32_t max = INT32_MAX;

    for (char *p = key; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    const char *text = props_get(&c->props, key);
    if (text && str_to_i32(str_trim(str_of(text)), 0, INT32_MAX, &max) < 0)
        say_warn("%s=%s is no number of connections; the listener is not limited", key, text);
    return max;
}

static int open_listener(struct gate *g, int i, struct strbuf *why)
{
    const struct broker_conf *c = g->opts.conf;
    const struct listener_conf *l = &c->listener.v[i];
    bool has_control_plane = listeners_control_plane(&c->listener) != NULL;
    int r = l->protocol == PROTO_SSL ? make_tls(g->opts.now, l->name, &g->tls[i], why) : 0;

    if (r < 0)
        return r;
    return listener_open(
        &(struct listener_opts){
            .name = l->name,
            .host = l->host,
            .port = l->port,
            .sock = {.backlog = c->socket_listen_backlog_size,
                     .send_buffer_bytes = c->socket_send_buffer_bytes,
                     .receive_buffer_bytes = c->socket_receive_buffer_bytes},
            .tls = g->tls[i],
            .is_privileged = has_control_plane ? l->is_control_plane : l->is_inter_broker,
            .is_inter_broker = l->is_inter_broker && c->listener.count > 1,
            .max_connections = max_connections_of(g->opts.now, l->name),
            .net = &g->net,
            .sets = g->sets,
            .set_count = g->opts.reactors->count,
        },
        why, &g->listeners[i]);
}

int gate_open(const struct gate_opts *opts, struct gate **ret, struct strbuf *why)
{
    const struct broker_conf *c = opts->conf;
    struct gate *g = xnew(struct gate);

    g->opts = *opts;
    g->net = (struct net){
        .broker = opts->broker,
        .apis = opts->apis,
        .workq = opts->workq,
        .max_frame_bytes = (uint32_t)c->socket_request_max_bytes,
        .max_idle_us = c->connections_max_idle_ms * 1000,
        .max_request_bytes = c->queued_max_request_bytes,
        .max_connections = opts->now->max_connections,
    };
    g->sets = xnew_array(struct conn_set *, (size_t)opts->reactors->count);
    g->tls = xnew_array(struct tls_server *, (size_t)c->listener.count);
    g->listeners = xnew_array(struct listener *, (size_t)c->listener.count);
    for (int i = 0; i < opts->reactors->count; i++)
        g->sets[i] = conn_set_new(opts->reactors->v[i], &g->net);
    int r = ip_limit_new(opts->now->max_connections_per_ip,
                         opts->now->max_connections_per_ip_overrides, why, &g->net.ip_limit);
    for (int i = 0; r == 0 && i < c->listener.count; i++)
        r = open_listener(g, i, why);
    g->opts.now = NULL;
    if (r < 0)
        gate_free(g);
    else
        *ret = g;
    return r;
}

int gate_check_tls(const struct broker_conf *next, struct strbuf *why)
{
    int r = 0;

    for (int i = 0; i < next->listener.count && r == 0; i++) {
        struct tls_server *made = NULL;

        if (next->listener.v[i].protocol == PROTO_SSL)
            r = make_tls(next, next->listener.v[i].name, &made, why);
        tls_server_free(made);
    }
    return r;
}

void gate_reconfigure(struct gate *g, const struct broker_conf *now)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    g->net.max_connections = now->max_connections;
    for (int i = 0; i < listener_count(g); i++) {
        const char *name = listener_name(g->listeners[i]);

        listener_set_max(g->listeners[i], max_connections_of(now, name));
        if (g->tls[i])
            renew_tls(g, i, now);
    }
    if (ip_limit_set(g->net.ip_limit, now->max_connections_per_ip,
                     now->max_connections_per_ip_overrides, &why) < 0)
        say_error("the limits of connections per address stay as they were: %s", why.s);
}

void gate_start(struct gate *g)
{
    for (int i = 0; i < listener_count(g); i++)
        listener_start(g->listeners[i]);
}

void gate_shut(struct gate *g)
{
    for (int i = 0; i < listener_count(g); i++)
        listener_stop(g->listeners[i]);
}

void gate_close_all(struct gate *g)
{
    for (int i = 0; i < g->opts.reactors->count; i++)
        conn_set_stop(g->sets[i], 0);
}

struct gate *gate_free(struct gate *g)
{
    if (!g)
        return NULL;
    for (int i = 0; i < g->opts.reactors->count; i++)
        conn_set_free(g->sets[i]);
    for (int i = 0; i < listener_count(g); i++) {
        listener_free(g->listeners[i]);
        tls_server_free(g->tls[i]);
    }
    ip_limit_free(g->net.ip_limit);
    free(g->listeners);
    free(g->tls);
    free(g->sets);
    free(g);
    return NULL;
}

int gate_port(const struct gate *g, int listener)
{
    return listener_port(g->listeners[listener]);
}
