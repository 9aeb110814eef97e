#include "tests/support/tcp_proxy.h"

#include "common/base/mem.h"
#include "common/base/thread.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PAIRS = 32, TURN_MS = 5, CHUNK = 1 << 16 };

struct pair {
    int client, server;
};

struct tcp_proxy {
    int listener;
    uint16_t port, to_port;
    struct pair pairs[MAX_PAIRS];
    size_t count;
    struct thread thread;
    _Atomic int mode;
    atomic_bool drop, stop;
    char buf[CHUNK];
    _Atomic uint64_t bytes;
};

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static void close_pair(struct tcp_proxy *p, size_t i)
{
    close(p->pairs[i].client);
    close(p->pairs[i].server);
    p->pairs[i] = p->pairs[--p->count];
}

static void accept_one(struct tcp_proxy *p)
{
    struct sockaddr_in to = loopback(p->to_port);
    int client = accept(p->listener, NULL, NULL);

    if (client < 0)
        return;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (p->mode == PROXY_CUT || p->count == MAX_PAIRS || server < 0 ||
        connect(server, (struct sockaddr *)&to, sizeof to) < 0) {
        close(client);
        if (server >= 0)
            close(server);
        return;
    }
    p->pairs[p->count++] = (struct pair){client, server};
}

/* False when a side has ended. */
static bool move(struct tcp_proxy *p, int from, int to, size_t *ret_moved)
{
    ssize_t n = recv(from, p->buf, sizeof p->buf, 0);

    if (n <= 0)
        return false;
    *ret_moved = (size_t)n;
    for (ssize_t done = 0; done < n;) {
        ssize_t m = send(to, p->buf + done, (size_t)(n - done), MSG_NOSIGNAL);

        if (m <= 0)
            return false;
        done += m;
    }
    return true;
}

static void serve_pair(struct tcp_proxy *p, size_t i, short client_events, short server_events)
{
    size_t moved = 0, ignored = 0;
    bool alive = true;

    if (client_events)
        alive = move(p, p->pairs[i].client, p->pairs[i].server, &moved);
    if (alive && server_events)
        alive = move(p, p->pairs[i].server, p->pairs[i].client, &ignored);
    p->bytes += moved;
    if (!alive)
        close_pair(p, i);
}

static void turn(struct tcp_proxy *p)
{
    struct pollfd fds[1 + 2 * MAX_PAIRS];
    size_t count = p->mode == PROXY_PASS ? p->count : 0;

    fds[0] = (struct pollfd){.fd = p->listener, .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        fds[1 + 2 * i] = (struct pollfd){.fd = p->pairs[i].client, .events = POLLIN};
        fds[2 + 2 * i] = (struct pollfd){.fd = p->pairs[i].server, .events = POLLIN};
    }
    if (p->mode == PROXY_STALL)
        fds[0].events = 0;
    poll(fds, 1 + 2 * count, TURN_MS);
    for (size_t i = count; i-- > 0;)
        serve_pair(p, i, fds[1 + 2 * i].revents, fds[2 + 2 * i].revents);
    if (fds[0].revents & POLLIN)
        accept_one(p);
}

static void proxy_main(void *arg)
{
    struct tcp_proxy *p = arg;

    while (!p->stop) {
        if (p->drop || p->mode == PROXY_CUT) {
            while (p->count)
                close_pair(p, 0);
            p->drop = false;
        }
        turn(p);
    }
    while (p->count)
        close_pair(p, 0);
}

struct tcp_proxy *tcp_proxy_new(uint16_t to_port)
{
    struct tcp_proxy *p = xnew(struct tcp_proxy);
    struct sockaddr_in at = loopback(0);
    socklen_t len = sizeof at;

    p->to_port = to_port;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(p->listener >= 0);
    if (bind(p->listener, (struct sockaddr *)&at, len) < 0 || listen(p->listener, 16) < 0 ||
        getsockname(p->listener, (struct sockaddr *)&at, &len) < 0)
        abort();
    p->port = ntohs(at.sin_port);
    if (thread_start(&p->thread, "proxy", proxy_main, p) < 0)
        abort();
    return p;
}

void tcp_proxy_free(struct tcp_proxy *p)
{
    if (!p)
        return;
    p->stop = true;
    thread_join(&p->thread);
    close(p->listener);
    free(p);
}

uint16_t tcp_proxy_port(const struct tcp_proxy *p)
{
    return p->port;
}

void tcp_proxy_set(struct tcp_proxy *p, enum tcp_proxy_mode mode)
{
    p->mode = mode;
}

void tcp_proxy_drop(struct tcp_proxy *p)
{
    p->drop = true;
}

uint64_t tcp_proxy_bytes(const struct tcp_proxy *p)
{
    return p->bytes;
}
