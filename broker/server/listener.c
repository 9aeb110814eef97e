#include "broker/server/listener.h"

#include "broker/server/conn.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <unistd.h>

enum { ACCEPTS_PER_TURN = 64, PAUSE_US = 20000 };

struct listener {
    char *name;
    struct listener_opts opts;
    int fd;
    int port;
    uint64_t files_max;      /* descriptors that connections may leave open in all */
    struct reactor *reactor; /* where it accepts: that of its first set */
    struct io_event event;
    struct timer pause; /* while no more may connect */
    unsigned next_set;
    _Atomic int64_t connections;
    struct accept_rate rate; /* on its reactor, but for the limit */
    /* Of struct listener_limits. */
    _Atomic int set_count;
    _Atomic bool is_inter_broker;
    _Atomic int64_t max_connections;
};

/* An accepted socket on its way to the reactor of its set. */
struct arrival {
    struct message message;
    struct conn_set *set;
    struct conn_opts conn;
};

static void on_ready(struct io_event *ev, uint32_t mask);
static void on_pause_over(struct timer *t);

void listener_set_limits(struct listener *l, const struct listener_limits *limits)
{
    l->set_count = limits->set_count;
    l->is_inter_broker = limits->is_inter_broker;
    l->max_connections = limits->max_connections;
    l->rate.limit = limits->max_rate;
}

int listener_open(const struct listener_opts *opts, const struct listener_limits *limits,
                  struct strbuf *why, struct listener **ret)
{
    struct listener *l = xnew(struct listener);

    l->name = xstrdup(opts->name);
    l->opts = *opts;
    l->opts.name = l->opts.host = NULL;
    accept_rate_init(&l->rate, opts->window_count, opts->window_ms, limits->max_rate);
    listener_set_limits(l, limits);
    l->reactor = conn_set_reactor(opts->sets[0]);
    l->event.fd = -1;
    l->fd = -1;
    l->files_max = file_limit() / 8 * 7;
    int r = sock_listen(opts->host, opts->port, &opts->sock, &l->fd);
    if (r < 0) {
        strbuf_addf(why, "listener %s cannot bind %s:%d: %s", opts->name,
                    opts->host && *opts->host ? opts->host : "*", opts->port, err_name(r));
        listener_free(l);
        return r;
    }
    l->port = sock_port(l->fd);
    l->pause.fire = on_pause_over;
    *ret = l;
    return 0;
}

/* A call that is made on the listener's reactor, while the caller waits. */
struct errand {
    struct message message;
    struct inbox done;
    struct listener *listener;
};

static void run_errand(struct listener *l, void (*run)(struct message *))
{
    struct errand e = {.message.run = run, .listener = l};

    assert(!reactor_current());
    inbox_init(&e.done);
    reactor_post(l->reactor, &e.message);
    inbox_take(&e.done, INT64_MAX);
    inbox_deinit(&e.done);
}

static void run_start(struct message *m)
{
    struct errand *e = container_of(m, struct errand, message);
    struct listener *l = e->listener;

    l->event = (struct io_event){.fd = l->fd, .mask = EPOLLIN, .ready = on_ready};
    int r = reactor_add(l->reactor, &l->event);
    assert(r == 0);
    inbox_post(&e->done, &e->message);
}

static void run_stop(struct message *m)
{
    struct errand *e = container_of(m, struct errand, message);
    struct listener *l = e->listener;

    if (l->event.fd >= 0)
        reactor_remove(l->reactor, &l->event);
    l->event.fd = -1;
    timer_cancel(l->reactor, &l->pause);
    close(l->fd);
    l->fd = -1;
    inbox_post(&e->done, &e->message);
}

void listener_start(struct listener *l)
{
    run_errand(l, run_start);
}

void listener_stop(struct listener *l)
{
    if (l->fd >= 0)
        run_errand(l, run_stop);
}

struct listener *listener_free(struct listener *l)
{
    if (!l)
        return NULL;
    if (l->fd >= 0)
        close(l->fd);
    free(l->name);
    free(l);
    return NULL;
}

const char *listener_name(const struct listener *l)
{
    return l->name;
}

bool listener_is_privileged(const struct listener *l)
{
    return l->opts.is_privileged;
}

int listener_port(const struct listener *l)
{
    return l->port;
}

int64_t listener_connections(const struct listener *l)
{
    return l->connections;
}

void listener_lost(struct listener *l, const struct sock_addr *peer)
{
    ip_limit_release(l->opts.net->ip_limit, peer);
    l->connections--;
    l->opts.net->connections--;
}

static void pause_accepting(struct listener *l, int64_t us)
{
    reactor_modify(l->reactor, &l->event, 0);
    timer_arm(l->reactor, &l->pause, reactor_now_us(l->reactor) + us);
}

static void on_pause_over(struct timer *t)
{
    struct listener *l = container_of(t, struct listener, pause);

    reactor_modify(l->reactor, &l->event, EPOLLIN);
}

/* Whether one more may come. The listener between brokers makes room where it has to. */
static bool has_room(struct listener *l)
{
    const struct net *net = l->opts.net;

    if (l->connections >= l->max_connections)
        return false;
    if (net->connections < net->max_connections)
        return true;
    if (l->is_inter_broker)
        conn_set_evict(l->opts.sets[l->next_set % (unsigned)l->set_count], l);
    return l->is_inter_broker;
}

/* One more has come: whether the next one has to wait, as too many have of late. */
static bool is_too_fast(struct listener *l)
{
    int64_t now_ms = reactor_now_us(l->reactor) / 1000 + 1;
    int64_t wait_ms = accept_rate_record(&l->rate, now_ms);

    if (!l->is_inter_broker)
        wait_ms = MAX(wait_ms, accept_rate_record(&l->opts.net->accept_rate, now_ms));
    if (wait_ms > 0)
        pause_accepting(l, wait_ms * 1000);
    return wait_ms > 0;
}

static void run_arrival(struct message *m)
{
    struct arrival *a = container_of(m, struct arrival, message);

    conn_open(a->set, &a->conn);
    free(a);
}

static void welcome(struct listener *l, int fd, const struct sock_addr *peer)
{
    struct conn_set *set = l->opts.sets[l->next_set++ % (unsigned)l->set_count];
    char text[SOCK_ADDR_TEXT];

    if (!ip_limit_take(l->opts.net->ip_limit, peer)) {
        sock_addr_text(peer, text);
        say_limited(SAY_INFO, 5,
                    "too many connections from one address, closing listener=%s client=%s", l->name,
                    text);
        close(fd);
        return;
    }
    l->connections++;
    l->opts.net->connections++;
    const struct conn_opts opts = {.listener = l, .fd = fd, .peer = *peer, .tls = l->opts.tls};
    if (reactor_is_current(conn_set_reactor(set))) {
        conn_open(set, &opts);
        return;
    }
    struct arrival *a = xnew(struct arrival);
    *a = (struct arrival){{.run = run_arrival}, set, opts};
    reactor_post(conn_set_reactor(set), &a->message);
}

/* The lowest free number is what a descriptor gets: whether there are too few left for the logs,
 * whose dirs would fail without. */
static bool is_one_too_many(struct listener *l, int fd)
{
    if ((uint64_t)fd < l->files_max)
        return false;
    close(fd);
    say_limited(SAY_ERROR, 1,
                "a connection was closed as this broker may have %" PRIu64 " open files and keeps "
                "the last eighth for its logs (ulimit -n, LimitNOFILE=; max.connections, "
                "max.connections.per.ip) listener=%s connections=%" PRId64,
                file_limit(), l->name, l->connections);
    pause_accepting(l, PAUSE_US);
    return true;
}

static void on_ready(struct io_event *ev, uint32_t mask UNUSED)
{
    struct listener *l = container_of(ev, struct listener, event);

    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sock_addr peer;
        int fd = -1;

        if (!has_room(l)) {
            say_limited(
                SAY_WARN, 1,
                "no more connections accepted until one ends listener=%s connections=%" PRId64,
                l->name, l->connections);
            pause_accepting(l, PAUSE_US);
            return;
        }
        int r = sock_accept(l->fd, &fd, &peer);
        if (r == -EAGAIN)
            return;
        if (r == 0 && is_one_too_many(l, fd))
            return;
        if (r == 0) {
            welcome(l, fd, &peer);
            if (is_too_fast(l))
                return;
        } else if (r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM) {
            say_limited(SAY_ERROR, 1,
                        "cannot accept, trying again until it works listener=%s reason=%s", l->name,
                        err_name(r));
            pause_accepting(l, PAUSE_US);
            return;
        }
    }
}
