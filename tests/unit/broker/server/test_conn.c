#include "broker/server/conn.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/client/peer.h"
#include "common/io/fs.h"
#include "common/io/stream.h"
#include "common/io/tls.h"
#include "tests/support/certs.h"
#include "tests/support/test_main.h"
#include "tests/support/test_server.h"

#include <unistd.h>

static const struct test_server_opts plain;

/* An answer without content. */
static void expect(int fd, int16_t key, int16_t version, int32_t correlation_id)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const void *m;

    ck_assert_int_eq(client_answer(fd, key, version, &a, &m), correlation_id);
}

START_TEST(pipelined_requests_are_answered_in_order)
{
    enum { COUNT = 3000 };
    const struct test_server_opts opts = {.reactors = 2};
    struct test_server *t = test_server_start(&opts);
    int fd[2] = {client_connect(t), client_connect(t)};

    for (int i = 0; i < COUNT; i++)
        client_heartbeat(fd[i % 2], i, i * 7);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(client_beat(fd[i % 2], i), i * 7);
    close(fd[0]), close(fd[1]);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_waiting_fetch_lets_others_start_but_not_overtake)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    client_ask(fd, API_FETCH, 12, 1);
    client_ask(fd, API_FETCH, 12, 2);
    client_heartbeat(fd, 3, 33);
    test_server_started(t, 3);
    test_server_release(t, 1);
    expect(fd, API_FETCH, 12, 1);
    test_server_release(t, 1);
    expect(fd, API_FETCH, 12, 2);
    ck_assert_int_eq(client_beat(fd, 3), 33);
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_barrier_keeps_the_next_from_starting)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t), other = client_connect(t);

    client_ask(fd, API_LIST_GROUPS, 3, 1);
    client_heartbeat(fd, 2, 22);
    client_heartbeat(fd, 3, 23);
    test_server_started(t, 1);
    client_heartbeat(other, 9, 99);
    ck_assert_int_eq(client_beat(other, 9), 99);
    ck_assert_int_eq(test_server_started(t, 2), 2);
    test_server_release(t, 1);
    expect(fd, API_LIST_GROUPS, 3, 1);
    ck_assert_int_eq(client_beat(fd, 2), 22);
    ck_assert_int_eq(client_beat(fd, 3), 23);
    close(fd), close(other);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(waiting_requests_of_a_connection_are_bounded)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t), other = client_connect(t);

    for (int i = 0; i < 100; i++)
        client_ask(fd, API_FETCH, 12, i);
    int started = test_server_started(t, 16);
    client_heartbeat(other, 1, 1);
    ck_assert_int_eq(client_beat(other, 1), 1);
    ck_assert_int_le(started, 17);
    test_server_release(t, 100);
    for (int i = 0; i < 100; i++)
        expect(fd, API_FETCH, 12, i);
    close(fd), close(other);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(answers_may_come_from_another_thread)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    for (int i = 0; i < 500; i++) {
        client_ask(fd, API_LEAVE_GROUP, 4, i);
        client_heartbeat(fd, i, i);
    }
    for (int i = 0; i < 500; i++) {
        expect(fd, API_LEAVE_GROUP, 4, i);
        ck_assert_int_eq(client_beat(fd, i), i);
    }
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_request_without_answer_is_followed_by_the_next)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    client_ask(fd, API_PRODUCE, 9, 1); /* acks is 0 in an empty message */
    client_heartbeat(fd, 2, 5);
    ck_assert_int_eq(client_beat(fd, 2), 5);
    ck_assert_int_eq(test_server_started(t, 2), 2);
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_handler_may_close_the_connection)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    client_heartbeat(fd, 1, 1);
    ck_assert_int_eq(client_beat(fd, 1), 1);
    client_ask(fd, API_FETCH, 12, 2);
    client_ask(fd, API_SYNC_GROUP, 4, 3);
    client_heartbeat(fd, 4, 1);
    test_server_started(t, 3);
    test_server_release(t, 1);
    while (client_beat(fd, 2) >= 0)
        continue;
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(a_client_that_says_no_more_still_gets_its_answers)
{
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    client_ask(fd, API_FETCH, 12, 1);
    client_heartbeat(fd, 2, 3);
    shutdown(fd, SHUT_WR);
    test_server_started(t, 2);
    test_server_release(t, 1);
    expect(fd, API_FETCH, 12, 1);
    ck_assert_int_eq(client_beat(fd, 2), 3);
    ck_assert(client_is_closed(fd));
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(answers_to_a_client_that_has_gone_are_dropped)
{
    struct test_server *t = test_server_start(&plain);
    struct linger abort = {.l_onoff = 1};

    for (int i = 0; i < 20; i++) {
        int fd = client_connect(t);

        client_ask(fd, API_FETCH, 12, 1);
        client_ask(fd, API_LIST_GROUPS, 3, 2);
        test_server_started(t, 2 * i + 2);
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        close(fd);
    }
    test_server_release(t, 40);
    test_server_await_connections(t, 0);
    ck_assert(test_server_stop(t));
}
END_TEST

/* Nothing is read in: the kernel's buffers fill, then the server starts no more requests; nothing
 * is lost. */
START_TEST(a_slow_reader_holds_up_only_itself)
{
    enum { COUNT = 400 };
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t), other = client_connect(t), started = 0, before;

    for (int i = 0; i < COUNT; i++)
        client_ask(fd, API_METADATA, 9, i);
    do {
        before = started;
        for (int i = 0; i < 50; i++) {
            client_heartbeat(other, 1, 7);
            ck_assert_int_eq(client_beat(other, 1), 7);
        }
        started = test_server_started(t, 0) - 50;
    } while (started != before + 50 && started < COUNT);
    for (int i = 0; i < COUNT; i++)
        expect(fd, API_METADATA, 9, i);
    close(fd), close(other);
    ck_assert(test_server_stop(t));
}
END_TEST

static struct file *counted_file(uint32_t len)
{
    CLEANUP(free_p) char *path = xasprintf("%s/records", test_tmpdir());
    CLEANUP(free_p) uint8_t *bytes = xmalloc(len);
    struct file *f = NULL;

    for (uint32_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i * 13 + (i >> 9));
    ck_assert_int_eq(file_open(path, FILE_CREATE, &f), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of(bytes, len), 0), 0);
    return f;
}

START_TEST(ranges_of_files_are_sent_as_records)
{
    static const uint32_t lens[] = {1, 1000, 16384, 100000, 5000000};
    CLEANUP(file_unref_p) struct file *f = counted_file(5001000);
    struct test_server *t = test_server_start(&plain);
    int fd = client_connect(t);

    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        const void *m;

        test_server_set_file(t, f, 777, lens[i]);
        client_ask(fd, API_FETCH, 12, 5);
        test_server_release(t, 1);
        ck_assert_int_eq(client_answer(fd, API_FETCH, 12, &a, &m), 5);
        const struct fetch_response *resp = m;
        struct slice got = resp->responses[0].partitions[0].records.bytes;
        ck_assert_uint_eq(got.len, lens[i]);
        for (uint32_t k = 0; k < got.len; k++) {
            if (got.p[k] != (uint8_t)((k + 777) * 13 + ((k + 777) >> 9)))
                ck_abort_msg("byte %u differs", k);
        }
    }
    close(fd);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(idle_connections_are_closed_and_used_ones_are_not)
{
    const struct test_server_opts opts = {.max_idle_ms = 100};
    struct test_server *t = test_server_start(&opts);
    int idle = client_connect(t), used = client_connect(t);
    int64_t start = clock_mono_ms(&clock_system), last;

    do {
        last = clock_mono_ms(&clock_system);
        client_heartbeat(used, 1, 1);
        ck_assert_int_eq(client_beat(used, 1), 1);
    } while (last - start < 300);
    ck_assert(client_is_closed(idle));
    ck_assert(client_is_closed(used));
    ck_assert_int_ge(clock_mono_ms(&clock_system), last + 99);
    close(idle), close(used);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(connections_are_limited)
{
    const struct test_server_opts opts = {.max_connections = 2};
    struct test_server *t = test_server_start(&opts);
    int a = client_connect(t), b = client_connect(t), c = client_connect(t);

    client_heartbeat(a, 1, 1);
    ck_assert_int_eq(client_beat(a, 1), 1);
    test_server_await_connections(t, 2);
    client_heartbeat(c, 1, 3);
    ck_assert_int_eq(test_server_started(t, 1), 1);
    close(b);
    ck_assert_int_eq(client_beat(c, 1), 3);
    close(a), close(c);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(connections_of_an_address_are_limited)
{
    const struct test_server_opts opts = {.max_per_ip = 2};
    struct test_server *t = test_server_start(&opts);
    int a = client_connect(t), b = client_connect(t), c = client_connect(t);

    ck_assert(client_is_closed(c));
    close(a);
    test_server_await_connections(t, 1);
    int d = client_connect(t);
    client_heartbeat(d, 1, 1);
    ck_assert_int_eq(client_beat(d, 1), 1);
    close(b), close(c), close(d);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(requests_wait_while_memory_is_used_up)
{
    const struct test_server_opts opts = {.max_request_bytes = 80};
    struct test_server *t = test_server_start(&opts);
    int a = client_connect(t), b = client_connect(t);

    client_ask(a, API_FETCH, 12, 1);
    client_ask(a, API_FETCH, 12, 2);
    test_server_started(t, 2);
    client_heartbeat(b, 1, 1);
    client_heartbeat(b, 2, 2);
    ck_assert_int_eq(test_server_started(t, 2), 2);
    test_server_release(t, 2);
    ck_assert_int_eq(client_beat(b, 1), 1);
    ck_assert_int_eq(client_beat(b, 2), 2);
    expect(a, API_FETCH, 12, 1);
    expect(a, API_FETCH, 12, 2);
    close(a), close(b);
    ck_assert(test_server_stop(t));
}
END_TEST

START_TEST(over_tls_the_principal_is_the_subject)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct test_certs certs;
    struct tls_server *ts = NULL;
    struct tls_client *tc = NULL;

    test_certs_init(&certs, "alice");
    struct tls_conf conf = test_tls_conf(&certs, &certs);
    conf.client_auth = TLS_CLIENT_AUTH_REQUIRED;
    ck_assert_int_eq(tls_server_new(&conf, &why, &ts), 0);
    ck_assert_int_eq(tls_client_new(&conf, &why, &tc), 0);
    const struct test_server_opts opts = {.tls = ts};
    struct test_server *t = test_server_start(&opts);
    int fd = client_connect(t);
    struct stream *s = stream_tls_connect(tc, fd, "localhost");
    ck_assert_int_eq(stream_handshake(s), 0); /* the socket blocks */
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct request_header h = {API_HEARTBEAT, 4, 77, STR("tls")};
    struct heartbeat_request message;
    struct writer w;
    uint8_t answer[64];

    msg_init(&heartbeat_request_desc, &message);
    message.generation_id = 9;
    writer_init(&w, &a);
    ck_assert_int_eq(request_encode(&h, &message, &w), 0);
    struct slice frame = writer_flat(&w);
    const struct iovec iov = {(void *)(uintptr_t)frame.p, frame.len};
    ck_assert_int_eq(stream_writev(s, &iov, 1, false), (ssize_t)frame.len);
    ck_assert_int_eq(stream_read(s, answer, 4), 4);
    ck_assert_int_eq(stream_read(s, answer + 4, be32_read(answer)), (ssize_t)be32_read(answer));
    ck_assert_int_eq(be32_read(answer + 4), 77);
    ck_assert_str_eq(test_server_principal(t), "User:CN=alice,O=Klamm,C=DE");
    stream_close(s);
    ck_assert(test_server_stop(t));
    tls_server_free(ts);
    tls_client_free(tc);
    test_certs_deinit(&certs);
}
END_TEST

struct fetched {
    struct peer_call call;
    size_t len;
    bool is_done;
};

static void on_fetched(struct peer_call *call, int r, const void *response)
{
    struct fetched *f = container_of(call, struct fetched, call);
    const struct fetch_response *resp = response;

    ck_assert_int_eq(r, 0);
    f->len = resp->responses[0].partitions[0].records.bytes.len;
    f->is_done = true;
}

/* Of more than a reader's buffer holds, so that decrypted bytes wait inside TLS, where no
 * descriptor shows them. */
START_TEST(a_peer_fetches_large_answers_over_tls)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(file_unref_p) struct file *file = counted_file(5001000);
    struct test_certs certs;
    struct tls_server *ts = NULL;
    struct tls_client *tc = NULL;
    struct reactor *r = NULL;
    struct fetch_request request;

    test_certs_init(&certs, "broker");
    const struct tls_conf conf = test_tls_conf(&certs, &certs);
    ck_assert_int_eq(tls_server_new(&conf, &why, &ts), 0);
    ck_assert_int_eq(tls_client_new(&conf, &why, &tc), 0);
    const struct test_server_opts opts = {.tls = ts};
    struct test_server *t = test_server_start(&opts);
    ck_assert_int_eq(reactor_new("peer", &clock_system, &r), 0);
    struct peer *p = peer_new(r, &(struct peer_opts){.host = "localhost",
                                                     .port = test_server_port(t),
                                                     .tls = tc,
                                                     .connect_timeout_us = 20000000,
                                                     .request_timeout_us = 20000000});
    msg_init(&fetch_request_desc, &request);
    for (uint32_t len = 262000; len < 280000; len += 977) {
        struct fetched f = {.call = {.api_key = API_FETCH, .version = 12, .done = on_fetched}};

        f.call.request = &request;
        test_server_set_file(t, file, len % 1000, len);
        test_server_release_all(t);
        peer_send(p, &f.call);
        while (!f.is_done)
            reactor_turn(r, INT64_MAX);
        ck_assert_uint_eq(f.len, len);
    }
    peer_free(p);
    reactor_turn(r, 0);
    reactor_turn(r, 0);
    reactor_free(r);
    ck_assert(test_server_stop(t));
    tls_server_free(ts);
    tls_client_free(tc);
    test_certs_deinit(&certs);
}
END_TEST

TEST_MAIN("broker/server/conn", pipelined_requests_are_answered_in_order,
          a_waiting_fetch_lets_others_start_but_not_overtake,
          a_barrier_keeps_the_next_from_starting, waiting_requests_of_a_connection_are_bounded,
          answers_may_come_from_another_thread, a_request_without_answer_is_followed_by_the_next,
          a_handler_may_close_the_connection, a_client_that_says_no_more_still_gets_its_answers,
          answers_to_a_client_that_has_gone_are_dropped, a_slow_reader_holds_up_only_itself,
          ranges_of_files_are_sent_as_records, idle_connections_are_closed_and_used_ones_are_not,
          connections_are_limited, connections_of_an_address_are_limited,
          requests_wait_while_memory_is_used_up, over_tls_the_principal_is_the_subject,
          a_peer_fetches_large_answers_over_tls)
