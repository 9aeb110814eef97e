/*
 * sock.h - TCP sockets: listen, accept, connect, and addresses as text
 *
 * All sockets are non-blocking, closed on exec, and send without delay. Errors are -errno. Thread:
 * any.
 */
#pragma once

#include "common/base/base.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct sock_addr {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t len;
};

struct sock_opts {
    int backlog;
    int send_buffer_bytes; /* -1 leaves the system's */
    int receive_buffer_bytes;
};

/*
 * Binds and listens. No host, or an empty one: every address of both families. A host name is
 * looked up, which may block; -ENOENT where it is unknown. Port 0 takes a free one.
 */
int sock_listen(const char *host, int port, const struct sock_opts *opts, int *ret_fd) MUST_CHECK;
/* -EAGAIN where nobody waits. */
int sock_accept(int listen_fd, int *ret_fd, struct sock_addr *ret_peer) MUST_CHECK;
/* Begins to connect; when the socket can be written, sock_error() tells how it ended. */
int sock_connect(const struct sock_addr *to, int *ret_fd) MUST_CHECK;
/* 0, or the socket's pending error as -errno. */
int sock_error(int fd) MUST_CHECK;
/* The local port, 0 where there is none. */
int sock_port(int fd);

/* A literal address; -EINVAL for anything else, so that host names cost nothing here. */
int sock_addr_parse(const char *host, int port, struct sock_addr *ret) MUST_CHECK;
/* Looks the host up; may block for many seconds. At most max addresses; -ENOENT where there is
 * none. */
int sock_addr_lookup(const char *host, int port, struct sock_addr *ret, int max, int *ret_count)
    MUST_CHECK;

enum { SOCK_ADDR_TEXT = 64 };

/* Without the port and as Java prints it: IPv6 with all its groups, an IPv4 address in IPv6 clothes
 * as IPv4. */
void sock_addr_text(const struct sock_addr *a, char ret[static SOCK_ADDR_TEXT]);
/* Whether both are the same host; the port does not count. */
bool sock_addr_same_host(const struct sock_addr *a, const struct sock_addr *b);
