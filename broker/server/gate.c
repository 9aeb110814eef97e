#include "broker/server/gate.h"

#include "broker/server/conn.h"
#include "broker/server/tls_options.h"
#include "common/base/containers.h"
#include "common/base/say.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>
#include <unistd.h>

enum { ACCEPTS_PER_TURN = 64 };

/* Connections of one address. */
struct per_host {
    UT_hash_handle hh;
    char host[SOCK_ADDR_TEXT];
    int connections;
};

struct gate {
    struct gate_opts opts;
    struct gate_listener *listeners;
    int count;
    struct conn_set **sets; /* one per reactor */
    unsigned next_set;      /* accepting reactor only */
    _Atomic int64_t bytes;  /* of requests under way */
    struct mutex lock;      /* LOCK_CONNECTIONS; guards what follows */
    struct per_host *hosts;
    int connections;
    struct message reopen;
    bool is_reopening;
    bool is_shut;
};

const struct gate_opts *gate_opts(const struct gate *g)
{
    return &g->opts;
}

void gate_count_bytes(struct gate *g, int64_t bytes)
{
    if (g->opts.conf->queued_max_request_bytes > 0)
        g->bytes += bytes;
}

bool gate_is_full(const struct gate *g)
{
    return g->opts.conf->queued_max_request_bytes > 0 &&
           g->bytes >= g->opts.conf->queued_max_request_bytes;
}

int gate_port(const struct gate *g, int listener)
{
    return sock_port(g->listeners[listener].fd);
}

static struct reactor *accepting_reactor(const struct gate *g)
{
    return g->opts.reactors->v[0];
}

/* ---- limits ---- */

/* max.connections.per.ip.overrides: "host:count,...". */
static int max_per_host(const struct gate *g, const char *host)
{
    struct str rest = str_of(g->opts.conf->max_connections_per_ip_overrides), item;

    while (str_split(&rest, ',', &item)) {
        const char *colon = item.len ? memrchr(item.p, ':', item.len) : NULL;
        int32_t count;

        if (!colon)
            continue;
        struct str name = str_trim((struct str){item.p, (size_t)(colon - item.p)});
        struct str number =
            str_trim((struct str){colon + 1, item.len - (size_t)(colon + 1 - item.p)});
        if (str_eqz(name, host) && str_to_i32(number, 0, INT32_MAX, &count) == 0)
            return count;
    }
    return g->opts.conf->max_connections_per_ip;
}

/* The inter-broker listener is never closed to other brokers for the sake of clients. */
static bool is_exempt(const struct gate *g, const struct gate_listener *l)
{
    return l->conf->is_inter_broker && g->count > 1;
}

static bool has_room(const struct gate *g, const struct gate_listener *l)
{
    return l->connections < l->max_connections &&
           (is_exempt(g, l) || g->connections < g->opts.conf->max_connections);
}

/* Counts the newcomer in; false where its address has too many already. */
static bool enter(struct gate_listener *l, const char *host)
{
    struct gate *g = l->gate;
    struct per_host *h;

    LOCK_SCOPE(&g->lock);
    HASH_FIND_STR(g->hosts, host, h);
    if ((h ? h->connections : 0) >= max_per_host(g, host))
        return false;
    if (!h) {
        h = xnew(struct per_host);
        memcpy(h->host, host, sizeof h->host);
        HASH_ADD_STR(g->hosts, host, h);
    }
    h->connections++;
    l->connections++;
    g->connections++;
    return true;
}

static void watch_listener(struct gate_listener *l, bool on)
{
    if (on && !l->is_open && reactor_add(accepting_reactor(l->gate), &l->event) < 0)
        say_error("listener %s cannot be watched; nobody is let in", l->conf->name);
    else if (!on && l->is_open)
        reactor_remove(accepting_reactor(l->gate), &l->event);
    l->is_open = on;
}

static void on_reopen(struct message *m)
{
    struct gate *g = container_of(m, struct gate, reopen);

    LOCK_SCOPE(&g->lock);
    g->is_reopening = false;
    for (int i = 0; i < g->count && !g->is_shut; i++) {
        struct gate_listener *l = &g->listeners[i];

        if (!l->is_paused || !has_room(g, l))
            continue;
        l->is_paused = false;
        watch_listener(l, true);
    }
}

void gate_left(struct gate_listener *l, const struct sock_addr *peer)
{
    struct gate *g = l->gate;
    char host[SOCK_ADDR_TEXT];
    bool is_any_paused = false;
    struct per_host *h;

    sock_addr_text(peer, host);
    LOCK_SCOPE(&g->lock);
    HASH_FIND_STR(g->hosts, host, h);
    if (h && --h->connections == 0) {
        HASH_DEL(g->hosts, h);
        free(h);
    }
    l->connections--;
    g->connections--;
    for (int i = 0; i < g->count; i++)
        is_any_paused |= g->listeners[i].is_paused;
    if (!is_any_paused || g->is_reopening)
        return;
    g->is_reopening = true;
    g->reopen.run = on_reopen;
    reactor_post(accepting_reactor(g), &g->reopen);
}

/* ---- accepting ---- */

static void pause_if_full(struct gate_listener *l)
{
    struct gate *g = l->gate;

    LOCK_SCOPE(&g->lock);
    if (has_room(g, l))
        return;
    say_limited(SAY_WARN, 2,
                "listener %s lets nobody in: %d connections of it, %d in all, are as many as "
                "max.connections allows; "
                "goes on when one is closed",
                l->conf->name, l->connections, g->connections);
    l->is_paused = true;
    watch_listener(l, false);
}

static void admit(struct gate_listener *l, int fd, const struct sock_addr *peer)
{
    struct gate *g = l->gate;
    char host[SOCK_ADDR_TEXT];

    sock_addr_text(peer, host);
    if (!enter(l, host)) {
        say_limited(SAY_WARN, 5,
                    "a connection of %s to listener %s is closed: it has as many as "
                    "max.connections.per.ip allows",
                    host, l->conf->name);
        close(fd);
        return;
    }
    conn_set_add(g->sets[g->next_set++ % (unsigned)g->opts.reactors->count], l, fd, peer);
}

static void on_arrivals(struct io_event *ev, uint32_t mask UNUSED)
{
    struct gate_listener *l = container_of(ev, struct gate_listener, event);

    for (int i = 0; i < ACCEPTS_PER_TURN && l->is_open; i++) {
        struct sock_addr peer;
        int fd;
        int r = sock_accept(l->fd, &fd, &peer);

        if (r == -EAGAIN)
            return;
        if (r < 0) {
            say_limited(SAY_ERROR, 2, "listener %s cannot accept a connection: %s%s", l->conf->name,
                        strerror(-r),
                        r == -EMFILE || r == -ENFILE ? "; raise the limit of open files (ulimit -n)"
                                                     : "");
            return;
        }
        admit(l, fd, &peer);
        pause_if_full(l);
    }
}

/* ---- opening ---- */

static enum tls_client_auth client_auth_of(const char *text)
{
    return strcasecmp(text, "required") == 0    ? TLS_CLIENT_AUTH_REQUIRED
           : strcasecmp(text, "requested") == 0 ? TLS_CLIENT_AUTH_REQUESTED
                                                : TLS_CLIENT_AUTH_NONE;
}

static int make_tls(struct gate_listener *l, struct strbuf *why)
{
    const struct broker_conf *c = l->gate->opts.conf;
    const char *name = l->conf->name;
    struct tls_conf tls = tls_conf_of_listener(c, name);

    tls.client_auth = client_auth_of(broker_conf_text(c, "ssl.client.auth", name));
    int r = tls_server_new(&tls, why, &l->tls);
    if (r < 0)
        strbuf_addf(why, " (listener %s)", name);
    return r;
}

static int listener_max(const struct broker_conf *c, const char *name)
{
    int32_t max = INT32_MAX;
    CLEANUP(free_p) char *key = xasprintf("listener.name.%s.max.connections", name);

    for (char *p = key; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    const char *text = props_get(&c->props, key);
    if (text && str_to_i32(str_trim(str_of(text)), 0, INT32_MAX, &max) < 0)
        say_warn("%s=%s is no number of connections; the listener is not limited", key, text);
    return max;
}

static int open_listener(struct gate_listener *l, struct strbuf *why)
{
    const struct broker_conf *c = l->gate->opts.conf;
    const struct sock_opts opts = {
        .backlog = c->socket_listen_backlog_size,
        .send_buffer_bytes = c->socket_send_buffer_bytes,
        .receive_buffer_bytes = c->socket_receive_buffer_bytes,
    };
    int r = l->conf->protocol == PROTO_SSL ? make_tls(l, why) : 0;

    if (r < 0)
        return r;
    l->max_connections = listener_max(c, l->conf->name);
    r = sock_listen(l->conf->host, l->conf->port, &opts, &l->fd);
    if (r < 0) {
        l->fd = -1;
        strbuf_addf(why, "listener %s cannot listen on %s:%d: %s%s", l->conf->name,
                    *l->conf->host ? l->conf->host : "*", l->conf->port, strerror(-r),
                    r == -EADDRINUSE
                        ? "; another process has this port: stop it, or change listeners"
                        : "");
        return r;
    }
    l->event = (struct io_event){.fd = l->fd, .mask = EPOLLIN, .ready = on_arrivals};
    return 0;
}

int gate_open(const struct gate_opts *opts, struct gate **ret, struct strbuf *why)
{
    struct gate *g = xnew(struct gate);
    const struct listeners *ls = &opts->conf->listener;
    bool has_control_plane = listeners_control_plane(ls) != NULL;
    int r = 0;

    g->opts = *opts;
    mutex_init(&g->lock, LOCK_CONNECTIONS);
    g->count = ls->count;
    g->listeners = xnew_array(struct gate_listener, (size_t)ls->count);
    g->sets = xnew_array(struct conn_set *, (size_t)opts->reactors->count);
    for (int i = 0; i < opts->reactors->count; i++)
        g->sets[i] = conn_set_new(g, opts->reactors->v[i]);
    for (int i = 0; i < ls->count; i++)
        g->listeners[i] = (struct gate_listener){
            .gate = g,
            .conf = &ls->v[i],
            .fd = -1,
            .is_privileged =
                has_control_plane ? ls->v[i].is_control_plane : ls->v[i].is_inter_broker,
        };
    for (int i = 0; i < ls->count && r == 0; i++)
        r = open_listener(&g->listeners[i], why);
    if (r < 0)
        g = gate_free(g);
    *ret = g;
    return r;
}

struct gate *gate_free(struct gate *g)
{
    struct per_host *h, *next;

    if (!g)
        return NULL;
    for (int i = 0; i < g->count; i++) {
        if (g->listeners[i].fd >= 0)
            close(g->listeners[i].fd);
        tls_server_free(g->listeners[i].tls);
    }
    for (int i = 0; i < g->opts.reactors->count; i++)
        conn_set_free(g->sets[i]);
    HASH_ITER (hh, g->hosts, h, next) {
        HASH_DEL(g->hosts, h);
        free(h);
    }
    mutex_deinit(&g->lock);
    free(g->listeners);
    free(g->sets);
    free(g);
    return NULL;
}

/* ---- from other threads ---- */

/* Something done on a reactor while another thread waits. */
struct errand {
    struct message message;
    struct message over;
    struct inbox done;
    struct gate *gate;
    int set;
    void (*fn)(struct errand *e);
};

static void run_errand(struct message *m)
{
    struct errand *e = container_of(m, struct errand, message);

    e->fn(e);
    inbox_post(&e->done, &e->over);
}

static void send_on_errand(struct gate *g, struct reactor *r, int set, void (*fn)(struct errand *e))
{
    struct errand e = {.message.run = run_errand, .gate = g, .set = set, .fn = fn};

    inbox_init(&e.done);
    reactor_post(r, &e.message);
    inbox_take(&e.done, INT64_MAX);
    inbox_deinit(&e.done);
}

static void open_all(struct errand *e)
{
    for (int i = 0; i < e->gate->count; i++)
        watch_listener(&e->gate->listeners[i], true);
}

void gate_start(struct gate *g)
{
    send_on_errand(g, accepting_reactor(g), 0, open_all);
}

static void shut_all(struct errand *e)
{
    struct gate *g = e->gate;

    LOCK_SCOPE(&g->lock);
    g->is_shut = true;
    for (int i = 0; i < g->count; i++) {
        watch_listener(&g->listeners[i], false);
        close(g->listeners[i].fd);
        g->listeners[i].fd = -1;
    }
}

void gate_shut(struct gate *g)
{
    send_on_errand(g, accepting_reactor(g), 0, shut_all);
}

static void close_set(struct errand *e)
{
    conn_set_close_all(e->gate->sets[e->set]);
}

void gate_close_all(struct gate *g)
{
    for (int i = 0; i < g->opts.reactors->count; i++)
        send_on_errand(g, g->opts.reactors->v[i], i, close_set);
}
