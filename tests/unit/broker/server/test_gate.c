#include "broker/server/gate.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/sock.h"
#include "tests/support/certs.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct api_table no_apis;

struct door {
    struct broker_conf *conf;
    struct broker broker;
    struct reactor *reactor;
    struct reactor_pool pool;
    struct gate *gate;
};

static struct broker_conf *load(const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(free_p) char *path = xasprintf("%s/server.properties", test_tmpdir());
    struct broker_conf *conf = NULL;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, "zookeeper.connect=127.0.0.1:1\nbroker.id=1\n%s", text);
    fclose(f);
    if (broker_conf_load(path, NULL, 0, &conf, &why) < 0)
        ck_abort_msg("%s", why.s);
    return conf;
}

static int open_door(struct door *d, const char *text, struct strbuf *why)
{
    *d = (struct door){.conf = load(text)};
    ck_assert_int_eq(reactor_new("net", &clock_system, &d->reactor), 0);
    ck_assert_int_eq(reactor_start(d->reactor), 0);
    d->pool = (struct reactor_pool){.v = &d->reactor, .count = 1};
    const struct gate_opts opts = {
        .conf = d->conf, .broker = &d->broker, .apis = &no_apis, .reactors = &d->pool};
    return gate_open(&opts, &d->gate, why);
}

static void close_door(struct door *d)
{
    if (d->gate) {
        gate_shut(d->gate);
        gate_close_all(d->gate);
    }
    reactor_stop(d->reactor);
    gate_free(d->gate);
    reactor_free(d->reactor);
    broker_conf_free(d->conf);
}

static int connect_to(const struct door *d, int listener)
{
    const struct timeval wait = {.tv_sec = 20};
    struct sock_addr to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(
        sock_addr_parse("127.0.0.1", gate_port(d->gate, d->conf->listener.v[listener].name), &to),
        0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ck_assert_int_eq(connect(fd, &to.any, to.len), 0);
    return fd;
}

static bool is_closed(int fd)
{
    char c;
    ssize_t n = recv(fd, &c, 1, 0);

    ck_assert(n >= 0 || errno == ECONNRESET);
    return true;
}

#define TWO_LISTENERS                                                                              \
    "listeners=INTERNAL://127.0.0.1:0,CLIENTS://127.0.0.1:0\n"                                     \
    "advertised.listeners=INTERNAL://127.0.0.1:1,CLIENTS://127.0.0.1:2\n"                          \
    "listener.security.protocol.map=INTERNAL:PLAINTEXT,CLIENTS:PLAINTEXT\n"                        \
    "inter.broker.listener.name=INTERNAL\n"

START_TEST(brokers_find_room_where_clients_have_taken_it_all)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door d;

    ck_assert_int_eq(open_door(&d, TWO_LISTENERS "max.connections=1\n", &why), 0);
    gate_start(d.gate);
    int client = connect_to(&d, 1), broker = connect_to(&d, 0);
    ck_assert(is_closed(client));
    /* And it is served: an API that is not there closes. */
    ck_assert_int_eq(send(broker, "\0\0\0\10\0\22\0\0\0\0\0\1", 12, 0), 12);
    ck_assert(is_closed(broker));
    close(client), close(broker);
    close_door(&d);
}
END_TEST

START_TEST(a_port_in_use_is_named)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door first, second;

    ck_assert_int_eq(open_door(&first,
                               "listeners=PLAINTEXT://127.0.0.1:0\n"
                               "advertised.listeners=PLAINTEXT://127.0.0.1:1\n",
                               &why),
                     0);
    CLEANUP(free_p)
    char *text =
        xasprintf("listeners=PLAINTEXT://127.0.0.1:%d\n", gate_port(first.gate, "PLAINTEXT"));
    ck_assert_int_eq(open_door(&second, text, &why), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(why.s, "PLAINTEXT"));
    close_door(&second);
    close_door(&first);
}
END_TEST

START_TEST(an_ssl_listener_without_a_key_is_refused)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door d;

    ck_assert_int_eq(
        open_door(&d,
                  "listeners=SSL://127.0.0.1:0\nadvertised.listeners=SSL://127.0.0.1:1\n"
                  "security.inter.broker.protocol=SSL\n",
                  &why),
        -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "ssl.keystore.location"));
    ck_assert_ptr_nonnull(strstr(why.s, "(listener SSL)"));
    close_door(&d);
}
END_TEST

static void reconfigure(struct door *d, const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    broker_conf_free(d->conf);
    d->conf = load(text);
    if (gate_reconfigure(d->gate, d->conf, &why) < 0)
        ck_abort_msg("%s", why.s);
}

/* An API that is not there closes the connection: somebody has read it. */
static bool is_served(int fd)
{
    ck_assert_int_eq(send(fd, "\0\0\0\10\0\22\0\0\0\0\0\1", 12, 0), 12);
    return is_closed(fd);
}

#define ONE_LISTENER                                                                               \
    "listeners=INTERNAL://127.0.0.1:0\nadvertised.listeners=INTERNAL://127.0.0.1:1\n"              \
    "listener.security.protocol.map=INTERNAL:PLAINTEXT,CLIENTS:PLAINTEXT\n"                        \
    "inter.broker.listener.name=INTERNAL\n"

START_TEST(listeners_come_and_go_while_it_is_open)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door d;

    ck_assert_int_eq(open_door(&d, ONE_LISTENER, &why), 0);
    gate_start(d.gate);
    int port = gate_port(d.gate, "INTERNAL");
    ck_assert_int_eq(gate_port(d.gate, "CLIENTS"), -1);
    reconfigure(&d, TWO_LISTENERS);
    ck_assert_int_eq(gate_port(d.gate, "INTERNAL"), port);
    int stays = connect_to(&d, 0), first = connect_to(&d, 1), second = connect_to(&d, 1);
    ck_assert(is_served(first));
    reconfigure(&d, ONE_LISTENER);
    ck_assert_int_eq(gate_port(d.gate, "CLIENTS"), -1);
    ck_assert(is_closed(second));
    ck_assert(is_served(stays));
    reconfigure(&d, TWO_LISTENERS);
    int again = connect_to(&d, 1);
    ck_assert(is_served(again));
    close(stays), close(first), close(second), close(again);
    close_door(&d);
}
END_TEST

START_TEST(a_listener_that_cannot_be_opened_leaves_the_others)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door d;

    ck_assert_int_eq(open_door(&d, ONE_LISTENER, &why), 0);
    gate_start(d.gate);
    CLEANUP(free_p)
    char *text = xasprintf("listeners=INTERNAL://127.0.0.1:0,CLIENTS://127.0.0.1:%d\n"
                           "advertised.listeners=INTERNAL://127.0.0.1:1,CLIENTS://127.0.0.1:2\n"
                           "listener.security.protocol.map=INTERNAL:PLAINTEXT,CLIENTS:PLAINTEXT\n"
                           "inter.broker.listener.name=INTERNAL\n",
                           gate_port(d.gate, "INTERNAL"));
    broker_conf_free(d.conf);
    d.conf = load(text);
    ck_assert_int_eq(gate_reconfigure(d.gate, d.conf, &why), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(why.s, "CLIENTS"));
    int fd = connect_to(&d, 0);
    ck_assert(is_served(fd));
    close(fd);
    close_door(&d);
}
END_TEST

START_TEST(threads_for_connections_come_and_go)
{
    enum { CONNECTIONS = 12 };
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct door d;
    int fds[CONNECTIONS];

    ck_assert_int_eq(open_door(&d, ONE_LISTENER, &why), 0);
    gate_start(d.gate);
    for (int threads = 4; threads > 0; threads -= 3) {
        CLEANUP(free_p)
        char *text = xasprintf(ONE_LISTENER "num.network.threads=%d\n", threads);

        reconfigure(&d, text);
        for (int i = 0; i < CONNECTIONS; i++)
            fds[i] = connect_to(&d, 0);
        for (int i = 0; i < CONNECTIONS; i++)
            ck_assert(is_served(fds[i]));
        for (int i = 0; i < CONNECTIONS; i++)
            close(fds[i]);
    }
    close_door(&d);
}
END_TEST

TEST_MAIN("broker/server/gate", brokers_find_room_where_clients_have_taken_it_all,
          a_port_in_use_is_named, an_ssl_listener_without_a_key_is_refused,
          listeners_come_and_go_while_it_is_open,
          a_listener_that_cannot_be_opened_leaves_the_others, threads_for_connections_come_and_go)
