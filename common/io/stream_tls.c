/*
 * stream_tls.c - a stream through TLS, on OpenSSL
 *
 * Small pieces are put together into one record before they are written. Files are read by the
 * caller: there is no send_file.
 */
#include "common/io/stream.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/tls_internal.h"

#include <openssl/err.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    JOIN_BELOW = 4096,
    JOINED = 8192,
    RECORD = 16384,
    AT_ONCE = 256 * 1024, /* a reader that keeps pace must not keep others from their turn */
};

/* OpenSSL wants a record that the socket did not take to be offered again as it was. The caller may
 * not have it any more by then, as where its part of a file has left the page cache. */
struct held {
    size_t len;
    uint8_t bytes[];
};

struct tls_stream {
    struct stream stream;
    SSL *ssl;
    struct held *held; /* NULL: none */
};

static struct tls_stream *tls_of(const struct stream *s)
{
    return (struct tls_stream *)container_of(s, const struct tls_stream, stream);
}

/* Of a call that returned n <= 0. */
static ssize_t failure(struct stream *s, int n)
{
    switch (SSL_get_error(tls_of(s)->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        s->wants = EPOLLIN;
        return -EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        s->wants = EPOLLOUT;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        return errno ? -errno : 0;
    default: {
        unsigned long e = ERR_peek_error();
        const char *reason = e ? ERR_reason_error_string(e) : NULL;

        say_debug("tls failed fd=%d reason=%s", s->fd, reason ? reason : "unknown");
        ERR_clear_error();
        return -EPROTO;
    }
    }
}

static int tls_handshake(struct stream *s)
{
    ERR_clear_error();
    errno = 0;
    int n = SSL_do_handshake(tls_of(s)->ssl);
    if (n == 1)
        return 0;
    ssize_t r = failure(s, n);
    return r == 0 ? -ECONNRESET : (int)r; /* the end of the stream is no agreement */
}

static ssize_t tls_readv(struct stream *s, const struct iovec *iov, int count)
{
    ssize_t total = 0;

    for (int i = 0; i < count; i++) {
        size_t got = 0;

        while (got < iov[i].iov_len) {
            ERR_clear_error();
            errno = 0;
            int n = SSL_read(tls_of(s)->ssl, (uint8_t *)iov[i].iov_base + got,
                             (int)MIN(iov[i].iov_len - got, (size_t)INT_MAX));
            if (n <= 0) {
                ssize_t r = failure(s, n);
                /* What was read comes first; an error shows again next time. */
                return total ? total : r;
            }
            got += (size_t)n;
            total += n;
        }
    }
    return total;
}

static ssize_t write_record(struct stream *s, const uint8_t *p, size_t len)
{
    ERR_clear_error();
    errno = 0;
    int n = SSL_write(tls_of(s)->ssl, p, (int)len);
    if (n > 0)
        return n;
    ssize_t r = failure(s, n);
    return r == 0 ? -EPIPE : r;
}

static void hold(struct tls_stream *t, const uint8_t *p, size_t len)
{
    t->held = xmalloc(sizeof *t->held + len);
    t->held->len = len;
    memcpy(t->held->bytes, p, len);
}

static ssize_t write_held(struct stream *s)
{
    struct tls_stream *t = tls_of(s);
    ssize_t r = write_record(s, t->held->bytes, t->held->len);

    if (r != -EAGAIN) {
        free(t->held);
        t->held = NULL;
    }
    return r;
}

/* SSL_write() ends after each record. The caller may have read those bytes for us and would read
 * what is left of them again, so as many records are written as the socket takes. */
static ssize_t write_records(struct stream *s, const uint8_t *p, size_t len)
{
    size_t sent = 0;

    while (sent < len) {
        size_t n = MIN(len - sent, (size_t)RECORD);
        ssize_t r = write_record(s, p + sent, n);

        if (r == -EAGAIN)
            hold(tls_of(s), p + sent, n);
        /* What was written comes first; an error shows again next time. */
        if (r < 0)
            return sent ? (ssize_t)sent : r;
        sent += (size_t)r;
    }
    return (ssize_t)sent;
}

static ssize_t tls_writev(struct stream *s, const struct iovec *iov, int count, bool more UNUSED)
{
    uint8_t joined[JOINED];
    size_t len = 0;

    if (tls_of(s)->held)
        return write_held(s);
    if (count == 1 || iov[0].iov_len >= JOIN_BELOW)
        return write_records(s, iov[0].iov_base, MIN(iov[0].iov_len, (size_t)AT_ONCE));
    for (int i = 0; i < count && len < JOINED; i++) {
        size_t n = MIN(iov[i].iov_len, JOINED - len);

        memcpy(joined + len, iov[i].iov_base, n);
        len += n;
    }
    return write_records(s, joined, len);
}

static void tls_peer_name(const struct stream *s, struct strbuf *ret)
{
    X509 *cert = SSL_get1_peer_certificate(tls_of(s)->ssl);
    BIO *out = BIO_new(BIO_s_mem());
    char *text = NULL;

    if (cert && out) {
        /* Characters outside of ASCII as they are, as Java prints them. */
        X509_NAME_print_ex(out, X509_get_subject_name(cert), 0,
                           XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB);
        long len = BIO_get_mem_data(out, &text);
        strbuf_add(ret, text, (size_t)MAX(len, 0L));
    }
    BIO_free(out);
    X509_free(cert);
}

static void tls_close(struct stream *s)
{
    struct tls_stream *t = tls_of(s);

    if (SSL_is_init_finished(t->ssl))
        SSL_shutdown(t->ssl); /* says goodbye, and does not wait for an answer */
    ERR_clear_error();
    SSL_free(t->ssl);
    free(t->held);
    close(s->fd);
    free(t);
}

static const struct stream_ops tls_ops = {
    .handshake = tls_handshake,
    .readv = tls_readv,
    .writev = tls_writev,
    .peer_name = tls_peer_name,
    .close = tls_close,
};

static struct stream *new_tls(SSL *ssl, int fd)
{
    struct tls_stream *t = xnew(struct tls_stream);

    assert(ssl);
    t->stream = (struct stream){.ops = &tls_ops, .fd = fd};
    t->ssl = ssl;
    int r = SSL_set_fd(ssl, fd);
    assert(r == 1);
    return &t->stream;
}

struct stream *stream_tls_accept(const struct tls_server *t, int fd)
{
    struct stream *s = new_tls(tls_server_session(t), fd);

    SSL_set_accept_state(tls_of(s)->ssl);
    return s;
}

struct stream *stream_tls_connect(const struct tls_client *t, int fd, const char *host)
{
    struct stream *s = new_tls(tls_client_session(t, host), fd);

    SSL_set_connect_state(tls_of(s)->ssl);
    return s;
}
