#include "common/io/sock.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/lookup.h"
#include "tests/support/test_main.h"

#include <poll.h>
#include <unistd.h>

static const struct sock_opts opts = {
    .backlog = 5, .send_buffer_bytes = -1, .receive_buffer_bytes = -1};

static void wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    ck_assert_int_eq(poll(&p, 1, 10000), 1);
}

static const char *text_of(const char *host)
{
    static char text[SOCK_ADDR_TEXT];
    struct sock_addr a;

    ck_assert_int_eq(sock_addr_parse(host, 1, &a), 0);
    sock_addr_text(&a, text);
    return text;
}

START_TEST(addresses_read_as_in_java)
{
    struct sock_addr a;

    ck_assert_str_eq(text_of("127.0.0.1"), "127.0.0.1");
    ck_assert_str_eq(text_of("::1"), "0:0:0:0:0:0:0:1");
    ck_assert_str_eq(text_of("2001:db8::ff00:42:8329"), "2001:db8:0:0:0:ff00:42:8329");
    ck_assert_str_eq(text_of("::ffff:10.1.2.3"), "10.1.2.3");
    ck_assert_int_eq(sock_addr_parse("localhost", 1, &a), -EINVAL);
    ck_assert_int_eq(sock_addr_parse("", 1, &a), -EINVAL);
}
END_TEST

START_TEST(a_client_connects_and_is_accepted)
{
    const char *hosts[] = {"127.0.0.1", NULL, "localhost"};

    for (int i = 0; i < 3; i++) {
        int listening = -1, client = -1, server = -1;
        struct sock_addr to, peer;
        char text[SOCK_ADDR_TEXT];

        ck_assert_int_eq(sock_listen(hosts[i], 0, &opts, &listening), 0);
        ck_assert_int_eq(sock_accept(listening, &server, &peer), -EAGAIN);
        ck_assert_int_eq(sock_addr_parse("127.0.0.1", sock_port(listening), &to), 0);
        ck_assert_int_eq(sock_connect(&to, &client), 0);
        wait_for(client, POLLOUT);
        ck_assert_int_eq(sock_error(client), 0);
        wait_for(listening, POLLIN);
        ck_assert_int_eq(sock_accept(listening, &server, &peer), 0);
        sock_addr_text(&peer, text);
        ck_assert_str_eq(text, "127.0.0.1");
        close(listening), close(client), close(server);
    }
}
END_TEST

START_TEST(a_refused_connection_shows_as_such)
{
    int listening = -1, client = -1;
    struct sock_addr to;

    ck_assert_int_eq(sock_listen("127.0.0.1", 0, &opts, &listening), 0);
    ck_assert_int_eq(sock_addr_parse("127.0.0.1", sock_port(listening), &to), 0);
    close(listening);
    int r = sock_connect(&to, &client);
    if (r == 0) {
        wait_for(client, POLLOUT);
        r = sock_error(client);
        close(client);
    }
    ck_assert_int_eq(r, -ECONNREFUSED);
}
END_TEST

START_TEST(a_port_in_use_is_refused)
{
    int first = -1, second = -1;

    ck_assert_int_eq(sock_listen("127.0.0.1", 0, &opts, &first), 0);
    ck_assert_int_eq(sock_listen("127.0.0.1", sock_port(first), &opts, &second), -EADDRINUSE);
    ck_assert_int_eq(sock_listen("no such host", 0, &opts, &second), -ENOENT);
    close(first);
}
END_TEST

struct found {
    int r;
    int count;
    bool is_done;
};

static void on_found(void *ctx, int r, const struct sock_addr *addrs UNUSED, int count)
{
    *(struct found *)ctx = (struct found){r, count, true};
}

START_TEST(names_are_looked_up_beside_the_reactor)
{
    struct reactor *r = NULL;
    struct found found = {0}, bad = {0}, cancelled = {0};
    struct lookup *l = NULL, *l2 = NULL, *l3 = NULL;

    ck_assert_int_eq(reactor_new("test", &clock_system, &r), 0);
    const struct lookup_opts good = {"localhost", 80, on_found, &found},
                             wrong = {"no such host", 80, on_found, &bad},
                             unwanted = {"localhost", 80, on_found, &cancelled};
    ck_assert_int_eq(lookup_start(r, &good, &l), 0);
    ck_assert_int_eq(lookup_start(r, &wrong, &l2), 0);
    ck_assert_int_eq(lookup_start(r, &unwanted, &l3), 0);
    lookup_cancel(l3);
    while (!found.is_done || !bad.is_done)
        reactor_turn(r, INT64_MAX);
    ck_assert_int_eq(found.r, 0);
    ck_assert_int_ge(found.count, 1);
    ck_assert_int_lt(bad.r, 0);
    reactor_turn(r, 0);
    ck_assert(!cancelled.is_done);
    reactor_free(r);
}
END_TEST

TEST_MAIN("common/io/sock", addresses_read_as_in_java, a_client_connects_and_is_accepted,
          a_refused_connection_shows_as_such, a_port_in_use_is_refused,
          names_are_looked_up_beside_the_reactor)
