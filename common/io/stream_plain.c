/*
 * stream_plain.c - a stream that is just the socket
 */
#include "common/io/stream.h"

#include "common/base/err.h"
#include "common/base/mem.h"

#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

static int plain_handshake(struct stream *s UNUSED)
{
    return 0;
}

static ssize_t result(struct stream *s, ssize_t n, uint32_t wants)
{
    if (n >= 0)
        return n;
    s->wants = wants;
    return errno == EINTR ? -EAGAIN : -errno;
}

static ssize_t plain_readv(struct stream *s, const struct iovec *iov, int count)
{
    return result(s, readv(s->fd, iov, count), EPOLLIN);
}

static ssize_t plain_writev(struct stream *s, const struct iovec *iov, int count, bool more)
{
    const struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)iov,
                             .msg_iovlen = (size_t)count};

    return result(s, sendmsg(s->fd, &m, MSG_NOSIGNAL | (more ? MSG_MORE : 0)), EPOLLOUT);
}

static ssize_t plain_send_file(struct stream *s, int fd, uint64_t pos, size_t len)
{
    off_t at = (off_t)pos;

    return result(s, sendfile(s->fd, fd, &at, len), EPOLLOUT);
}

static void plain_peer_name(const struct stream *s UNUSED, struct strbuf *ret UNUSED)
{
}

static void plain_close(struct stream *s)
{
    close(s->fd);
    free(s);
}

static const struct stream_ops plain_ops = {
    .handshake = plain_handshake,
    .readv = plain_readv,
    .writev = plain_writev,
    .send_file = plain_send_file,
    .peer_name = plain_peer_name,
    .close = plain_close,
};

struct stream *stream_plain_new(int fd)
{
    struct stream *s = xnew(struct stream);

    *s = (struct stream){.ops = &plain_ops, .fd = fd};
    return s;
}
