#include "common/io/sock.h"

#include "common/base/err.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

enum { ONE_HOST = 8 };

static void set_int(int fd, int level, int name, int value)
{
    /* Options make things better; a socket without them still works. */
    int r = setsockopt(fd, level, name, &value, sizeof value);
    (void)r;
}

static int new_socket(int family, int *ret_fd)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    *ret_fd = fd;
    return 0;
}

static int listen_on(const struct sock_addr *at, const struct sock_opts *opts, int *ret_fd)
{
    int fd = -1;
    int r = new_socket(at->any.sa_family, &fd);

    if (r < 0)
        return r;
    set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (at->any.sa_family == AF_INET6)
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, memcmp(&at->v6.sin6_addr, &in6addr_any, 16) != 0);
    /* Accepted sockets inherit the sizes, and the window is agreed on before they are seen here. */
    if (opts->send_buffer_bytes > 0)
        set_int(fd, SOL_SOCKET, SO_SNDBUF, opts->send_buffer_bytes);
    if (opts->receive_buffer_bytes > 0)
        set_int(fd, SOL_SOCKET, SO_RCVBUF, opts->receive_buffer_bytes);
    if (bind(fd, &at->any, at->len) < 0 || listen(fd, opts->backlog) < 0) {
        r = -errno;
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

int sock_listen(const char *host, int port, const struct sock_opts *opts, int *ret_fd)
{
    struct sock_addr at[ONE_HOST];
    int count = 0;

    if (!host || !*host) {
        int r = sock_addr_parse("::", port, &at[0]);
        if (r == 0)
            r = listen_on(&at[0], opts, ret_fd);
        if (r != -EAFNOSUPPORT && r != -EADDRNOTAVAIL)
            return r;
        host = "0.0.0.0"; /* a machine without IPv6 */
    }
    int r = sock_addr_lookup(host, port, at, ONE_HOST, &count);
    if (r < 0)
        return r;
    /* Of a name with both, IPv4, as Java: that is where other brokers and clients would look for
     * it. */
    for (int i = 0; i < count; i++) {
        if (at[i].any.sa_family == AF_INET)
            return listen_on(&at[i], opts, ret_fd);
    }
    return listen_on(&at[0], opts, ret_fd);
}

int sock_accept(int listen_fd, int *ret_fd, struct sock_addr *ret_peer)
{
    struct sock_addr peer = {.len = sizeof peer.v6};
    int fd = accept4(listen_fd, &peer.any, &peer.len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return -errno;
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    *ret_fd = fd;
    *ret_peer = peer;
    return 0;
}

int sock_connect(const struct sock_addr *to, int *ret_fd)
{
    int fd = -1;
    int r = new_socket(to->any.sa_family, &fd);

    if (r < 0)
        return r;
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    if (connect(fd, &to->any, to->len) < 0 && errno != EINPROGRESS) {
        r = -errno;
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

int sock_error(int fd)
{
    int e = 0;
    socklen_t len = sizeof e;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
        return -errno;
    return -e;
}

int sock_port(int fd)
{
    struct sock_addr a = {.len = sizeof a.v6};

    if (getsockname(fd, &a.any, &a.len) < 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int lookup(const char *host, int port, int flags, struct addrinfo **ret)
{
    const struct addrinfo hints = {
        .ai_flags = flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char service[16];

    snprintf(service, sizeof service, "%d", port);
    switch (getaddrinfo(host, service, &hints, ret)) {
    case 0:
        return 0;
    case EAI_AGAIN:
        return -EAGAIN;
    case EAI_SYSTEM:
        return -errno;
    default:
        return -ENOENT;
    }
}

static int take_addrs(const char *host, int port, int flags, struct sock_addr *ret, int max)
{
    struct addrinfo *list = NULL;
    int count = 0;
    int r = lookup(host, port, flags, &list);

    if (r < 0)
        return r;
    for (const struct addrinfo *a = list; a && count < max; a = a->ai_next) {
        if (a->ai_addrlen > sizeof ret->v6)
            continue;
        memcpy(&ret[count].any, a->ai_addr, a->ai_addrlen);
        ret[count++].len = a->ai_addrlen;
    }
    freeaddrinfo(list);
    return count ? count : -ENOENT;
}

int sock_addr_parse(const char *host, int port, struct sock_addr *ret)
{
    return take_addrs(host, port, AI_NUMERICHOST | AI_NUMERICSERV, ret, 1) == 1 ? 0 : -EINVAL;
}

int sock_addr_lookup(const char *host, int port, struct sock_addr *ret, int max, int *ret_count)
{
    int r = take_addrs(host, port, AI_NUMERICSERV, ret, max);

    if (r < 0)
        return r;
    *ret_count = r;
    return 0;
}

static bool is_mapped(const struct sock_addr *a)
{
    return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr);
}

void sock_addr_text(const struct sock_addr *a, char ret[static SOCK_ADDR_TEXT])
{
    const uint8_t *b = a->v6.sin6_addr.s6_addr;
    int n = 0;

    if (a->any.sa_family != AF_INET6 || is_mapped(a)) {
        const void *v4 = is_mapped(a) ? (const void *)(b + 12) : (const void *)&a->v4.sin_addr;

        if (a->any.sa_family == AF_UNSPEC || a->any.sa_family == AF_UNIX ||
            !inet_ntop(AF_INET, v4, ret, SOCK_ADDR_TEXT))
            snprintf(ret, SOCK_ADDR_TEXT, "local");
        return;
    }
    for (int i = 0; i < 16; i += 2)
        n += snprintf(ret + n, (size_t)(SOCK_ADDR_TEXT - n), "%s%x", i ? ":" : "",
                      b[i] << 8 | b[i + 1]);
    if (a->v6.sin6_scope_id) {
        char name[IF_NAMESIZE];

        if (if_indextoname(a->v6.sin6_scope_id, name))
            snprintf(ret + n, (size_t)(SOCK_ADDR_TEXT - n), "%%%s", name);
        else
            snprintf(ret + n, (size_t)(SOCK_ADDR_TEXT - n), "%%%u", a->v6.sin6_scope_id);
    }
}

bool sock_addr_same_host(const struct sock_addr *a, const struct sock_addr *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET6)
        return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
    return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
}
