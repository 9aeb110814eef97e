#include "broker/server/gate.h"

#include "broker/config/dynamic_check.h"
#include "broker/config/tls_options.h"
#include "broker/server/listener.h"
#include "common/base/containers.h"
#include "common/base/err.h"
#include "common/base/lock.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <ctype.h>
#include <strings.h>

enum { SETS_MAX = 1024 };

/* One listener, open or taken away: its name is known to requests for as long as they run. */
struct door {
    struct door *next;
    struct listener *listener;
    struct tls_server *tls; /* NULL: plain */
};

/* The sets have the reactors of the pool, and then some of our own where num.network.threads has
 * grown; fewer are used where it has shrunk. */
struct gate {
    struct net net;
    struct conn_set **sets; /* room for SETS_MAX */
    int set_count;
    int pool_count;
    struct reactor *own[SETS_MAX]; /* by the index of the set */
    struct mutex lock;             /* LOCK_CONNECTIONS; guards which doors are open */
    struct door *doors;            /* changed by one thread at a time, which reads without it */
    struct door *closed;
    bool is_started;
};

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
static void renew_tls(const struct door *d, const struct broker_conf *now)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct tls_server *next = NULL;

    if (make_tls(now, listener_name(d->listener), &next, &why) == 0)
        tls_server_renew(d->tls, next);
    else
        say_error("the key and certificates of a listener stay as they were: %s", why.s);
}

/* listener.name.<listener>.KEY, which does not fall back on the broker's KEY: that counts apart. */
static int64_t own_limit(const struct broker_conf *c, const char *name, const char *of,
                         int64_t or_else)
{
    CLEANUP(free_p) char *key = xasprintf("listener.name.%s.%s", name, of);
    int32_t max = 0;

    for (char *p = key; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    const char *text = props_get(&c->props, key);
    if (!text)
        return or_else;
    if (str_to_i32(str_trim(str_of(text)), 0, INT32_MAX, &max) == 0)
        return max;
    say_warn("%s=%s is no number of connections, and is passed over", key, text);
    return or_else;
}

/* num.network.threads of one listener; where nobody says how many, those of the pool. */
static int threads_of(const struct gate *g, const struct broker_conf *c, const char *name)
{
    bool is_set = props_get(&c->props, "num.network.threads") != NULL;
    int64_t all = is_set ? c->num_network_threads : g->pool_count;

    return (int)CLAMP(own_limit(c, name, "num.network.threads", all), (int64_t)1,
                      (int64_t)SETS_MAX);
}

/* One more reactor with its set. */
static int add_set(struct gate *g)
{
    CLEANUP(free_p) char *name = xasprintf("reactor-%d", g->set_count);
    struct reactor **at = &g->own[g->set_count];
    int r = reactor_new(name, reactor_clock(conn_set_reactor(g->sets[0])), at);

    if (r == 0)
        r = reactor_start(*at);
    if (r < 0) {
        *at = reactor_free(*at);
        say_error("a thread for connections cannot be started, the %d others go on: %s",
                  g->set_count, err_name(r));
        return r;
    }
    g->sets[g->set_count++] = conn_set_new(*at, &g->net);
    return 0;
}

static struct listener_limits limits_of(struct gate *g, const struct broker_conf *c,
                                        const struct listener_conf *l)
{
    int threads = threads_of(g, c, l->name);

    while (g->set_count < threads && add_set(g) == 0)
        continue;
    return (struct listener_limits){
        .set_count = MIN(threads, g->set_count),
        .is_inter_broker = l->is_inter_broker && c->listener.count > 1,
        .max_connections = own_limit(c, l->name, "max.connections", INT32_MAX),
        .max_rate = own_limit(c, l->name, "max.connection.creation.rate", INT32_MAX),
    };
}

static int open_listener(struct gate *g, const struct broker_conf *c, const struct listener_conf *l,
                         struct door **ret, struct strbuf *why)
{
    struct door *d = xnew(struct door);
    bool has_control_plane = listeners_control_plane(&c->listener) != NULL;
    const struct listener_limits limits = limits_of(g, c, l);

    int r = l->protocol == PROTO_SSL ? make_tls(c, l->name, &d->tls, why) : 0;
    if (r == 0)
        r = listener_open(
            &(struct listener_opts){
                .name = l->name,
                .host = l->host,
                .port = l->port,
                .sock = {.backlog = c->socket_listen_backlog_size,
                         .send_buffer_bytes = c->socket_send_buffer_bytes,
                         .receive_buffer_bytes = c->socket_receive_buffer_bytes},
                .tls = d->tls,
                .is_privileged = has_control_plane ? l->is_control_plane : l->is_inter_broker,
                .net = &g->net,
                .sets = g->sets,
                .window_count = c->quota_window_num,
                .window_ms = c->quota_window_size_seconds * INT64_C(1000),
            },
            &limits, why, &d->listener);
    if (r == 0) {
        WITH_LOCK(&g->lock)
        {
            LL_APPEND(g->doors, d);
        }
        *ret = d;
        return 0;
    }
    tls_server_free(d->tls);
    free(d);
    return r;
}

static void net_init(struct net *net, const struct gate_opts *opts)
{
    const struct broker_conf *c = opts->conf;

    net->broker = opts->broker;
    net->apis = opts->apis;
    net->workq = opts->workq;
    net->max_frame_bytes = (uint32_t)c->socket_request_max_bytes;
    net->max_idle_us = c->connections_max_idle_ms * 1000;
    net->max_request_bytes = c->queued_max_request_bytes;
    net->max_connections = c->max_connections;
    accept_rate_init(&net->accept_rate, c->quota_window_num,
                     c->quota_window_size_seconds * INT64_C(1000), c->max_connection_creation_rate);
}

int gate_open(const struct gate_opts *opts, struct gate **ret, struct strbuf *why)
{
    const struct broker_conf *c = opts->conf;
    struct gate *g = xnew(struct gate);

    mutex_init(&g->lock, LOCK_CONNECTIONS);
    net_init(&g->net, opts);
    g->sets = xnew_array(struct conn_set *, SETS_MAX);
    g->pool_count = MIN(opts->reactors->count, (int)SETS_MAX);
    for (; g->set_count < g->pool_count; g->set_count++)
        g->sets[g->set_count] = conn_set_new(opts->reactors->v[g->set_count], &g->net);
    struct door *d;
    int r = ip_limit_new(c->max_connections_per_ip, c->max_connections_per_ip_overrides, why,
                         &g->net.ip_limit);
    for (int i = 0; r == 0 && i < c->listener.count; i++)
        r = open_listener(g, c, &c->listener.v[i], &d, why);
    if (r < 0)
        gate_free(g);
    else
        *ret = g;
    return r;
}

static struct door *find_door(const struct gate *g, const char *name)
{
    struct door *d;

    LL_FOREACH (g->doors, d) {
        if (strcmp(listener_name(d->listener), name) == 0)
            return d;
    }
    return NULL;
}

/* Of one listener, where it is open with TLS already. */
static int check_renewal(struct gate *g, const struct broker_conf *next, const char *name,
                         const struct tls_server *made, struct strbuf *why)
{
    const struct tls_renewal may = {next->ssl_allow_dn_changes, next->ssl_allow_san_changes};
    LOCK_SCOPE(&g->lock);
    const struct door *d = find_door(g, name);

    return d && d->tls ? tls_server_check_renewal(d->tls, made, &may, why) : 0;
}

static bool is_about(const struct conf_step *step, const struct listener_conf *l)
{
    const struct listener_conf *open = listeners_find(&step->now->listener, str_of(l->name));
    bool is_same = open && listener_has_same_stores(step->now, step->next, l->name);

    return l->protocol == PROTO_SSL && is_same == step->is_reload;
}

int gate_check_tls(void *gate, const struct conf_step *step, struct strbuf *why)
{
    int r = 0;

    for (int i = 0; i < step->next->listener.count && r == 0; i++) {
        const struct listener_conf *l = &step->next->listener.v[i];
        struct tls_server *made = NULL;

        if (!is_about(step, l))
            continue;
        r = make_tls(step->next, l->name, &made, why);
        if (r == 0)
            r = check_renewal(gate, step->next, l->name, made, why);
        tls_server_free(made);
    }
    return r;
}

/* ---- changes ---- */

static void close_door(struct gate *g, struct door *d)
{
    say_info("listener taken away name=%s; its connections are closed", listener_name(d->listener));
    WITH_LOCK(&g->lock)
    {
        LL_DELETE(g->doors, d);
        LL_PREPEND(g->closed, d);
    }
    listener_stop(d->listener);
    for (int i = 0; i < g->set_count; i++)
        conn_set_close_listener(g->sets[i], d->listener);
}

static void close_missing(struct gate *g, const struct broker_conf *now)
{
    struct door *d, *next;

    LL_FOREACH_SAFE (g->doors, d, next) {
        if (!listeners_find(&now->listener, str_of(listener_name(d->listener))))
            close_door(g, d);
    }
}

/* A listener that stays is not bound anew, whatever its address is now: as in Kafka. */
static int renew(struct gate *g, const struct broker_conf *now, const struct listener_conf *l,
                 struct strbuf *why)
{
    struct door *d = find_door(g, l->name);

    if (d) {
        const struct listener_limits limits = limits_of(g, now, l);

        listener_set_limits(d->listener, &limits);
        if (d->tls)
            renew_tls(d, now);
        return 0;
    }
    int r = open_listener(g, now, l, &d, why);
    if (r < 0)
        return r;
    say_info("listener added name=%s port=%d", l->name, listener_port(d->listener));
    if (g->is_started)
        listener_start(d->listener);
    return 0;
}

int gate_reconfigure(struct gate *g, const struct broker_conf *now, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf why_ip = {0};
    int r = 0;

    g->net.max_connections = now->max_connections;
    g->net.accept_rate.limit = now->max_connection_creation_rate;
    if (ip_limit_set(g->net.ip_limit, now->max_connections_per_ip,
                     now->max_connections_per_ip_overrides, &why_ip) < 0)
        say_error("the limits of connections per address stay as they were: %s", why_ip.s);
    close_missing(g, now);
    for (int i = 0; i < now->listener.count; i++) {
        CLEANUP(strbuf_deinit) struct strbuf reason = {0};
        int one = renew(g, now, &now->listener.v[i], &reason);

        if (one < 0 && r == 0)
            strbuf_addz(why, reason.s);
        r = r < 0 ? r : one;
    }
    return r;
}

void gate_start(struct gate *g)
{
    struct door *d;

    g->is_started = true;
    LL_FOREACH (g->doors, d)
        listener_start(d->listener);
}

void gate_shut(struct gate *g)
{
    struct door *d;

    LL_FOREACH (g->doors, d)
        listener_stop(d->listener);
}

void gate_close_all(struct gate *g)
{
    for (int i = 0; i < g->set_count; i++)
        conn_set_stop(g->sets[i], 0);
}

static void free_doors(struct door *list)
{
    struct door *d, *next;

    LL_FOREACH_SAFE (list, d, next) {
        listener_free(d->listener);
        tls_server_free(d->tls);
        free(d);
    }
}

struct gate *gate_free(struct gate *g)
{
    if (!g)
        return NULL;
    for (int i = g->pool_count; i < g->set_count; i++)
        reactor_stop(g->own[i]);
    for (int i = 0; i < g->set_count; i++) {
        conn_set_free(g->sets[i]);
        reactor_free(g->own[i]);
    }
    free_doors(g->doors);
    free_doors(g->closed);
    ip_limit_free(g->net.ip_limit);
    mutex_deinit(&g->lock);
    free(g->sets);
    free(g);
    return NULL;
}

int gate_port(const struct gate *g, const char *name)
{
    const struct door *d = find_door(g, name);

    return d ? listener_port(d->listener) : -1;
}
