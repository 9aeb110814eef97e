/*
 * stream.h - bytes to and from a connected socket, plain or through TLS
 *
 * Every call is non-blocking. -EAGAIN: try again when the descriptor has what wants says (TLS may
 * have to write in order to read, and the other way round). Other negatives: the stream is dead.
 * Thread: the reactor's of its owner.
 *
 * After a read that filled the whole of dst there may be more inside the stream that the descriptor
 * does not show: read again before waiting for it.
 */
#pragma once

#include "common/base/strbuf.h"

#include <sys/types.h>
#include <sys/uio.h>

struct stream;
struct tls_server;
struct tls_client;

struct stream_ops {
    int (*handshake)(struct stream *s);
    ssize_t (*readv)(struct stream *s, const struct iovec *iov, int count);
    ssize_t (*writev)(struct stream *s, const struct iovec *iov, int count, bool more);
    ssize_t (*send_file)(struct stream *s, int fd, uint64_t pos, size_t len);
    void (*peer_name)(const struct stream *s, struct strbuf *ret);
    void (*close)(struct stream *s);
};

struct stream {
    const struct stream_ops *ops;
    int fd;
    uint32_t wants; /* EPOLLIN or EPOLLOUT, after -EAGAIN */
};

/* These own fd from now on. */
struct stream *stream_plain_new(int fd);
struct stream *stream_tls_accept(const struct tls_server *t, int fd);
/* host: the name that the server's certificate must bear. */
struct stream *stream_tls_connect(const struct tls_client *t, int fd, const char *host);

/* 0 once both sides agree. */
static inline int stream_handshake(struct stream *s)
{
    return s->ops->handshake(s);
}

/* Bytes read, 0 at the end of the stream. */
static inline ssize_t stream_readv(struct stream *s, const struct iovec *iov, int count)
{
    return s->ops->readv(s, iov, count);
}

static inline ssize_t stream_read(struct stream *s, void *dst, size_t max)
{
    const struct iovec iov = {dst, max};

    return s->ops->readv(s, &iov, 1);
}

/* Bytes written. more: further bytes follow at once, so that it need not leave as a packet of its
 * own. After -EAGAIN the next call may report more than it is offered: what the earlier one was. */
static inline ssize_t stream_writev(struct stream *s, const struct iovec *iov, int count, bool more)
{
    return s->ops->writev(s, iov, count, more);
}

/* From the page cache to the socket; only where stream_can_send_file(). 0: the file ends before
 * pos. */
static inline ssize_t stream_send_file(struct stream *s, int fd, uint64_t pos, size_t len)
{
    return s->ops->send_file(s, fd, pos, len);
}

static inline bool stream_can_send_file(const struct stream *s)
{
    return s->ops->send_file != NULL;
}

/* The subject of the certificate that the other side proved, in the form of RFC 2253; nothing where
 * there is none. */
static inline void stream_peer_name(const struct stream *s, struct strbuf *ret)
{
    s->ops->peer_name(s, ret);
}

/* Closes the descriptor and frees s. NULL-safe, returns NULL. */
static inline struct stream *stream_close(struct stream *s)
{
    if (s)
        s->ops->close(s);
    return NULL;
}
