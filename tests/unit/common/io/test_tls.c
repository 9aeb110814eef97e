#include "common/io/tls.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"
#include "common/io/outq.h"
#include "tests/support/certs.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct test_certs certs, others;

static void make_certs(void)
{
    signal(SIGPIPE, SIG_IGN); /* as every program that uses streams does */
    test_certs_init(&certs, "broker");
    test_certs_init(&others, "stranger");
}

struct ends {
    struct stream *server;
    struct stream *client;
    struct tls_server *ts;
    struct tls_client *tc;
    int server_r;
    int client_r;
};

/* Lets both sides talk until each is done or has failed. */
static void shake(struct ends *e, const struct tls_conf *sc, const struct tls_conf *cc,
                  const char *host)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    int fd[2];

    ck_assert_int_eq(tls_server_new(sc, &why, &e->ts), 0);
    ck_assert_int_eq(tls_client_new(cc, &why, &e->tc), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    e->server = stream_tls_accept(e->ts, fd[0]);
    e->client = stream_tls_connect(e->tc, fd[1], host);
    e->server_r = e->client_r = -EAGAIN;
    for (int i = 0; i < 20; i++) {
        if (e->client_r == -EAGAIN)
            e->client_r = stream_handshake(e->client);
        if (e->server_r == -EAGAIN)
            e->server_r = stream_handshake(e->server);
    }
}

static void hang_up(struct ends *e)
{
    e->server = stream_close(e->server);
    e->client = stream_close(e->client);
    e->ts = tls_server_free(e->ts);
    e->tc = tls_client_free(e->tc);
}

START_TEST(bytes_and_files_pass_in_both_directions)
{
    enum { LEN = 700000 };
    struct ends e = {0};
    struct outq q = {0};
    CLEANUP(free_p) char *path = NULL;
    CLEANUP(file_unref_p) struct file *f = NULL;
    CLEANUP(free_p) uint8_t *content = xmalloc(LEN), *got = xcalloc(1, LEN + 100);
    static uint8_t scratch[65536];
    struct random_source random = {5};
    size_t n = 0;

    make_certs();
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &conf, &conf, "localhost");
    ck_assert_int_eq(e.client_r, 0);
    ck_assert_int_eq(e.server_r, 0);
    for (size_t i = 0; i < LEN; i++)
        content[i] = (uint8_t)random_next(&random);
    path = xasprintf("%s/content", test_tmpdir());
    ck_assert_int_eq(file_open(path, FILE_CREATE, &f), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of(content, LEN), 0), 0);
    outq_add_mem(&q, slice_of("he", 2));
    outq_add_mem(&q, slice_of("ad", 2));
    outq_add_file(&q, f, 0, LEN);
    outq_add_mem(&q, slice_of("tail", 4));
    for (int i = 0; i < 1000 && n < LEN + 8; i++) {
        int r = outq_send(&q, e.server, scratch, sizeof scratch);
        ck_assert(r == 0 || r == -EAGAIN);
        ssize_t m;
        while ((m = stream_read(e.client, got + n, LEN + 100 - n)) > 0)
            n += (size_t)m;
        ck_assert_int_eq(m, -EAGAIN);
        ck_assert_uint_eq(e.client->wants, EPOLLIN);
    }
    ck_assert_uint_eq(n, LEN + 8);
    ck_assert_mem_eq(got, "head", 4);
    ck_assert_int_eq(memcmp(got + 4, content, LEN), 0);
    ck_assert_mem_eq(got + 4 + LEN, "tail", 4);
    e.server = stream_close(e.server);
    ck_assert_int_eq(stream_read(e.client, got, 10), 0);
    hang_up(&e);
}
END_TEST

/* A record holds 16 KiB; what was read from a file to be written must not be read again for each
 * of them. */
START_TEST(a_write_goes_on_over_many_records)
{
    enum { LEN = 64 * 1024 };
    struct ends e = {0};
    CLEANUP(free_p) uint8_t *content = xcalloc(1, LEN), *got = xcalloc(1, LEN);
    size_t sent = LEN, n = 0;
    int writes = 0;

    make_certs();
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &conf, &conf, "localhost");
    const struct iovec all = {content, LEN};
    ck_assert_int_eq(stream_writev(e.server, &all, 1, false), LEN);
    /* Until the socket is full: what went is told, and the rest is offered again. */
    while (sent == LEN && writes++ < 1000) {
        ssize_t r = stream_writev(e.server, &all, 1, false);
        ck_assert(r > 0 || r == -EAGAIN);
        sent = (size_t)MAX(r, 0);
    }
    ck_assert_uint_lt(sent, LEN);
    while (sent < LEN && writes++ < 2000) {
        ssize_t m = stream_read(e.client, got, LEN);
        n += (size_t)MAX(m, 0);
        const struct iovec rest = {content + sent, LEN - sent};
        ssize_t r = stream_writev(e.server, &rest, 1, false);
        ck_assert(r > 0 || r == -EAGAIN);
        sent += (size_t)MAX(r, 0);
    }
    ck_assert_uint_eq(sent, LEN);
    for (ssize_t m; (m = stream_read(e.client, got, LEN)) > 0;)
        n += (size_t)m;
    ck_assert_uint_eq(n % LEN, 0);
    ck_assert_uint_gt(n, 0);
    hang_up(&e);
}
END_TEST

/* What was offered from the pages of a file may be less the next time. */
START_TEST(a_write_that_waits_needs_no_second_offer)
{
    enum { LEN = 3000, PIECES = 600, TOTAL = PIECES * (LEN + 100) };
    struct ends e = {0};
    struct outq q = {0};
    CLEANUP(free_p) char *path = NULL;
    CLEANUP(file_unref_p) struct file *f = NULL;
    CLEANUP(free_p) uint8_t *content = xmalloc(TOTAL), *got = xcalloc(1, TOTAL + 1);
    static uint8_t scratch[65536];
    struct random_source random = {6};
    size_t n = 0;

    make_certs();
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &conf, &conf, "localhost");
    for (size_t i = 0; i < TOTAL; i++)
        content[i] = (uint8_t)random_next(&random);
    path = xasprintf("%s/pieces", test_tmpdir());
    ck_assert_int_eq(file_open(path, FILE_CREATE, &f), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of(content, TOTAL), 0), 0);
    for (size_t at = 0; at < TOTAL; at += LEN + 100) {
        outq_add_mem(&q, slice_of(content + at, 100));
        outq_add_file(&q, f, at + 100, LEN);
    }
    for (size_t room = sizeof scratch; n < TOTAL; room = room == 500 ? sizeof scratch : 500) {
        int r = outq_send(&q, e.server, scratch, room);
        ck_assert_msg(r == 0 || r == -EAGAIN, "%s", err_name(r));
        ssize_t m = stream_read(e.client, got + n, TOTAL + 1 - n);
        ck_assert(m > 0 || m == -EAGAIN);
        n += (size_t)MAX(m, 0);
    }
    ck_assert_uint_eq(n, TOTAL);
    ck_assert_int_eq(memcmp(got, content, TOTAL), 0);
    outq_add_mem(&q, slice_of(content, TOTAL));
    ck_assert_int_eq(outq_send(&q, e.server, scratch, sizeof scratch), -EAGAIN);
    outq_deinit(&q);
    hang_up(&e); /* while some waits */
}
END_TEST

START_TEST(a_long_piece_leaves_others_their_turn)
{
    enum { LEN = 1 << 20, ROOM = 1 << 19 };
    struct ends e = {0};
    CLEANUP(free_p) uint8_t *content = xcalloc(1, LEN);
    const struct iovec all = {content, LEN};

    make_certs();
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &conf, &conf, "localhost");
    ck_assert_int_eq(setsockopt(e.server->fd, SOL_SOCKET, SO_SNDBUF, &(int){ROOM}, sizeof(int)), 0);
    ck_assert_int_eq(stream_writev(e.server, &all, 1, false), 256 << 10);
    hang_up(&e);
}
END_TEST

START_TEST(a_stranger_is_not_trusted)
{
    struct ends e = {0};

    make_certs();
    const struct tls_conf server = test_tls_conf(&others, &others),
                          client = test_tls_conf(&certs, &certs);
    shake(&e, &server, &client, "localhost");
    ck_assert_int_eq(e.client_r, -EPROTO);
    ck_assert_int_lt(e.server_r, 0);
    hang_up(&e);
}
END_TEST

/* A listener that is renewed shows its new certificate to whoever comes next. */
START_TEST(a_renewed_context_serves_the_sessions_to_come)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct ends e = {0}, later = {0};
    struct tls_server *next = NULL;

    make_certs();
    const struct tls_conf old = test_tls_conf(&others, &certs);
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &old, &conf, "localhost");
    ck_assert_int_lt(e.client_r, 0); /* the stranger's certificate */
    ck_assert_int_eq(tls_server_new(&conf, &why, &next), 0);
    tls_server_renew(e.ts, next);
    int fd[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    later.server = stream_tls_accept(e.ts, fd[0]);
    later.client = stream_tls_connect(e.tc, fd[1], "localhost");
    later.server_r = later.client_r = -EAGAIN;
    for (int i = 0; i < 20; i++) {
        if (later.client_r == -EAGAIN)
            later.client_r = stream_handshake(later.client);
        if (later.server_r == -EAGAIN)
            later.server_r = stream_handshake(later.server);
    }
    ck_assert_int_eq(later.client_r, 0);
    ck_assert_int_eq(later.server_r, 0);
    later.server = stream_close(later.server);
    later.client = stream_close(later.client);
    hang_up(&e);
}
END_TEST

/* Words of a 3.9 broker, which also names the entry of the store. */
START_TEST(a_server_keeps_its_name_unless_told_otherwise)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct tls_server *one = NULL, *other = NULL;

    make_certs();
    const struct tls_conf mine = test_tls_conf(&certs, &certs);
    const struct tls_conf strange = test_tls_conf(&others, &others);
    ck_assert_int_eq(tls_server_new(&mine, &why, &one), 0);
    ck_assert_int_eq(tls_server_new(&strange, &why, &other), 0);
    ck_assert_int_eq(tls_server_check_renewal(one, one, &(struct tls_renewal){false, false}, &why),
                     0);
    ck_assert_int_eq(tls_server_check_renewal(one, other, &(struct tls_renewal){true, false}, &why),
                     0);
    ck_assert_int_eq(tls_server_check_renewal(one, other, &(struct tls_renewal){false, true}, &why),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "DistinguishedName does not match: existing={DN=CN="));
    tls_server_free(one);
    tls_server_free(other);
}
END_TEST

START_TEST(the_host_name_is_checked_unless_told_otherwise)
{
    struct ends e = {0};

    make_certs();
    struct tls_conf conf = test_tls_conf(&certs, &certs);
    shake(&e, &conf, &conf, "elsewhere");
    ck_assert_int_eq(e.client_r, -EPROTO);
    hang_up(&e);
    shake(&e, &conf, &conf, "127.0.0.1");
    ck_assert_int_eq(e.client_r, 0);
    hang_up(&e);
    conf.endpoint_identification = "";
    shake(&e, &conf, &conf, "elsewhere");
    ck_assert_int_eq(e.client_r, 0);
    hang_up(&e);
}
END_TEST

START_TEST(a_required_certificate_is_required)
{
    CLEANUP(strbuf_deinit) struct strbuf name = {0};
    struct ends e = {0};

    make_certs();
    struct tls_conf server = test_tls_conf(&certs, &certs), client = server;
    client.keystore = (struct tls_store_conf){0};
    client.key = NULL;
    server.client_auth = TLS_CLIENT_AUTH_REQUIRED;
    shake(&e, &server, &client, "localhost");
    ck_assert_int_eq(e.server_r, -EPROTO);
    hang_up(&e);
    server.client_auth = TLS_CLIENT_AUTH_REQUESTED;
    shake(&e, &server, &client, "localhost");
    ck_assert_int_eq(e.server_r, 0);
    stream_peer_name(e.server, &name);
    ck_assert_uint_eq(name.len, 0);
    hang_up(&e);
    client = test_tls_conf(&certs, &certs);
    shake(&e, &server, &client, "localhost");
    ck_assert_int_eq(e.server_r, 0);
    stream_peer_name(e.server, &name);
    ck_assert_str_eq(name.s, "CN=broker,O=Klamm,C=DE");
    hang_up(&e);
}
END_TEST

START_TEST(versions_and_ciphers_are_those_of_the_options)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct tls_server *t = NULL;
    struct ends e = {0};

    make_certs();
    struct tls_conf server = test_tls_conf(&certs, &certs), client = server;
    server.enabled_protocols = "TLSv1.3";
    client.enabled_protocols = "TLSv1.2";
    shake(&e, &server, &client, "localhost");
    ck_assert_int_lt(e.server_r, 0);
    hang_up(&e);
    server.enabled_protocols = "TLSv1.2, TLSv1.3";
    server.cipher_suites = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384";
    shake(&e, &server, &client, "localhost");
    ck_assert_int_eq(e.server_r, 0);
    hang_up(&e);
    server.cipher_suites = "TLS_NO_SUCH_WITH_THING";
    ck_assert_int_eq(tls_server_new(&server, &why, &t), -EINVAL);
    server.cipher_suites = NULL;
    server.enabled_protocols = "SSLv3";
    ck_assert_int_eq(tls_server_new(&server, &why, &t), -EINVAL);
}
END_TEST

START_TEST(pkcs12_stores_serve_as_well)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct tls_server *t = NULL;
    struct ends e = {0};

    make_certs();
    struct tls_conf conf = {
        .keystore = {.type = "PKCS12", .location = certs.keystore, .password = "secret"},
        .truststore = {.type = "JKS", .location = certs.truststore, .password = "secret"},
    };
    const struct tls_conf client = test_tls_conf(&certs, &others);
    shake(&e, &conf, &client, "localhost");
    ck_assert_int_lt(e.client_r, 0);
    hang_up(&e);
    shake(&e, &conf, &conf, "localhost");
    ck_assert_int_eq(e.client_r, 0);
    hang_up(&e);
    conf.keystore.password = "wrong";
    ck_assert_int_eq(tls_server_new(&conf, &why, &t), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "password"));
}
END_TEST

START_TEST(what_cannot_be_used_is_refused_with_the_reason)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(free_p) char *jks = xasprintf("%s/old.jks", test_tmpdir());
    struct tls_server *t = NULL;
    struct tls_conf conf = {.keystore = {.type = "JKS", .location = jks}};

    ck_assert_int_eq(fs_replace_file(jks, STR("\xfe\xed\xfe\xed rest")), 0);
    ck_assert_int_eq(tls_server_new(&conf, &why, &t), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "keytool -importkeystore"));
    strbuf_reset(&why);
    conf.keystore.location = "/nonexistent/store";
    ck_assert_int_eq(tls_server_new(&conf, &why, &t), -ENOENT);
    strbuf_reset(&why);
    conf.keystore = (struct tls_store_conf){0};
    ck_assert_int_eq(tls_server_new(&conf, &why, &t), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "ssl.keystore.location"));
}
END_TEST

/* What does not speak TLS gets nowhere, and harms nothing. */
START_TEST(garbage_ends_the_handshake)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct random_source random = {11};
    struct tls_server *t = NULL;

    make_certs();
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    ck_assert_int_eq(tls_server_new(&conf, &why, &t), 0);
    for (int i = 0; i < 300; i++) {
        uint8_t bytes[600];
        int fd[2];
        size_t len = 1 + random_to(&random, sizeof bytes);

        for (size_t k = 0; k < len; k++)
            bytes[k] = (uint8_t)random_next(&random);
        if (i % 2) {
            static const uint8_t hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
            memcpy(bytes, hello, MIN(len, sizeof hello));
        }
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
        struct stream *s = stream_tls_accept(t, fd[0]);
        ck_assert_int_eq(write(fd[1], bytes, len), (ssize_t)len);
        int r = stream_handshake(s);
        ck_assert_int_lt(r, 0);
        shutdown(fd[1], SHUT_WR);
        if (r == -EAGAIN)
            ck_assert_int_lt(stream_handshake(s), 0);
        stream_close(s);
        close(fd[1]);
    }
    tls_server_free(t);
}
END_TEST

TEST_MAIN("common/io/tls", bytes_and_files_pass_in_both_directions,
          a_write_goes_on_over_many_records, a_write_that_waits_needs_no_second_offer,
          a_long_piece_leaves_others_their_turn, a_stranger_is_not_trusted,
          a_renewed_context_serves_the_sessions_to_come,
          a_server_keeps_its_name_unless_told_otherwise,
          the_host_name_is_checked_unless_told_otherwise, a_required_certificate_is_required,
          versions_and_ciphers_are_those_of_the_options, pkcs12_stores_serve_as_well,
          what_cannot_be_used_is_refused_with_the_reason, garbage_ends_the_handshake)
