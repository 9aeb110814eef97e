/*
 * zk_live.c - the session of zk/ against a real ZooKeeper server
 *
 * zk-live PORT: the port of a server on 127.0.0.1 with a tickTime of at most 500 ms (sessions of 1
 * s are asked for). Each test has a chroot of its own. test_zookeeper.py starts the server and runs
 * this.
 */
#include "common/base/fault.h"
#include "common/base/say.h"
#include "common/base/thread.h"
#include "tests/support/tcp_proxy.h"
#include "tests/support/test_main.h"
#include "zk/zk.h"
#include "zk/zk_cluster.h"
#include "zk/zk_election.h"
#include "zk/zk_paths.h"
#include "zk/zk_register.h"
#include "zk/zk_states.h"

#include <stdatomic.h>
#include <unistd.h>

enum { SESSION_MS = 1000, PATIENCE_MS = 20000 };

static uint16_t server_port;

/* A client behind a proxy, with counters of what its listeners and watches heard. */
struct client {
    struct tcp_proxy *proxy;
    struct zk *zk;
    struct zk_store *s;
    _Atomic int befores, afters, connects, disconnects, events;
    _Atomic int last_event;
};

static bool eventually(_Atomic int *value, int at_least)
{
    for (int64_t end = clock_mono_ms(&clock_system) + PATIENCE_MS; *value < at_least;) {
        if (clock_mono_ms(&clock_system) > end)
            return false;
        usleep(2000);
    }
    return true;
}

static void count_before(void *ctx)
{
    ((struct client *)ctx)->befores++;
}

static void count_after(void *ctx, int64_t session UNUSED)
{
    ((struct client *)ctx)->afters++;
}

static void count_connect(void *ctx)
{
    ((struct client *)ctx)->connects++;
}

static void count_disconnect(void *ctx)
{
    ((struct client *)ctx)->disconnects++;
}

static void count_event(enum zk_event event, const char *path UNUSED, void *ctx)
{
    struct client *c = ctx;

    c->last_event = (int)event;
    c->events++;
}

/* Another one for each test, also when they run in one process: clients are ended last. */
static int generation;

static const char *chroot_of_test(void)
{
    static char chroot[64];

    snprintf(chroot, sizeof chroot, "/live-%d-%d/deep", (int)getpid(), generation);
    return chroot;
}

static struct zk_conf conf_to(const char *connect)
{
    return (struct zk_conf){
        .connect = connect,
        .session_timeout_ms = SESSION_MS,
        .connection_timeout_ms = PATIENCE_MS,
        .max_in_flight = 10,
    };
}

static void client_new(struct client *c)
{
    char connect[128];

    *c = (struct client){.proxy = tcp_proxy_new(server_port)};
    snprintf(connect, sizeof connect, "127.0.0.1:%d%s", tcp_proxy_port(c->proxy), chroot_of_test());
    struct zk_conf conf = conf_to(connect);
    c->zk = zk_new(&conf);
    c->s = zk_as_store(c->zk);
}

static void client_start(struct client *c)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct zk_listener l = {count_before, count_after, count_connect, count_disconnect, c};

    client_new(c);
    zk_add_listener(c->zk, &l);
    ck_assert_msg(zk_start(c->zk, &why) == 0, "%s", why.s);
}

static void client_end(struct client *c)
{
    c->zk = zk_free(c->zk);
    tcp_proxy_free(c->proxy);
    generation++;
}

static struct slice bytes(const char *text)
{
    return slice_of(text, strlen(text));
}

/* Nothing passes until the server has ended the session. */
static void expire(struct client *c)
{
    int before = c->afters;

    tcp_proxy_set(c->proxy, PROXY_CUT);
    usleep(4 * SESSION_MS * 1000);
    tcp_proxy_set(c->proxy, PROXY_PASS);
    ck_assert(eventually(&c->afters, before + 1));
}

START_TEST(chroot_is_made_and_hides_the_rest)
{
    struct client c;
    struct zk_conf conf;
    char connect[128];
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    snprintf(connect, sizeof connect, "localhost:%d%s", server_port, chroot_of_test());
    conf = conf_to(connect);
    conf.only_reads = true; /* who only reads does not make it */
    struct zk *reader = zk_new(&conf);
    ck_assert_msg(zk_start(reader, &why) == 0, "%s", why.s);
    ck_assert_int_eq(zk_store_exists(zk_as_store(reader), "/", NULL), ZK_NO_NODE);
    zk_free(reader);
    client_start(&c);
    ck_assert_int_eq(zk_store_create(c.s, "/inside", bytes("1"), 0), ZK_OK);
    snprintf(connect, sizeof connect, "localhost:%d", server_port);
    conf = conf_to(connect);
    struct zk *root = zk_new(&conf);
    ck_assert_msg(zk_start(root, &why) == 0, "%s", why.s);
    snprintf(connect, sizeof connect, "%s/inside", chroot_of_test());
    ck_assert_int_eq(zk_store_exists(zk_as_store(root), connect, NULL), ZK_OK);
    ck_assert_int_eq(zk_store_exists(zk_as_store(root), "/inside", NULL), ZK_NO_NODE);
    zk_free(root);
    client_end(&c);
}
END_TEST

START_TEST(null_and_empty_stay_apart)
{
    struct client c;
    struct arena a = {0};
    struct slice data;

    client_start(&c);
    zk_store_create(c.s, "/null", (struct slice){0}, 0);
    zk_store_create(c.s, "/empty", slice_of("", 0), 0);
    zk_store_create(c.s, "/text", bytes("text"), 0);
    ck_assert_int_eq(zk_store_get(c.s, "/null", &a, &data, NULL), ZK_OK);
    ck_assert_ptr_null(data.p);
    ck_assert_int_eq(zk_store_get(c.s, "/empty", &a, &data, NULL), ZK_OK);
    ck_assert(data.p && data.len == 0);
    ck_assert_int_eq(zk_store_set(c.s, "/text", (struct slice){0}, 0, NULL), ZK_OK);
    ck_assert_int_eq(zk_store_get(c.s, "/text", &a, &data, NULL), ZK_OK);
    ck_assert_ptr_null(data.p);
    arena_deinit(&a);
    client_end(&c);
}
END_TEST

START_TEST(ten_thousand_requests_in_one_batch)
{
    enum { N = 10000 };
    struct client c;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    char path[32];

    client_start(&c);
    int64_t begun = clock_mono_ms(&clock_system);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%d", i);
        zk_batch_create(&b, path, slice_of_str(arena_str(&b.arena, str_of(path))), 0);
    }
    zk_store_run(c.s, &b);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(b.ops[i].result, ZK_OK);
    int64_t written = clock_mono_ms(&clock_system);
    zk_batch_reset(&b);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%d", i);
        zk_batch_get(&b, path);
    }
    zk_store_run(c.s, &b);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%d", i);
        ck_assert(str_eqz(str_of_slice(b.ops[i].ret_data), path));
    }
    int64_t end = clock_mono_ms(&clock_system);
    printf("# %d creates in %d ms, %d reads in %d ms\n", N, (int)(written - begun), N,
           (int)(end - written));
    ck_assert_int_eq(zk_store_delete_deep(c.s, "/n0", ZK_NO_FENCE), ZK_OK);
    client_end(&c);
}
END_TEST

START_TEST(multi_happens_as_a_whole_or_not_at_all)
{
    struct client c;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    client_start(&c);
    zk_store_create(c.s, ZK_PATH_CONTROLLER_EPOCH, bytes("1"), 0);
    size_t made = zk_batch_create_fenced(&b, 0, "/x", bytes("1"));
    size_t old = zk_batch_create_fenced(&b, 7, "/y", bytes("1"));
    size_t exists = zk_batch_create_fenced(&b, 0, "/x", bytes("1"));
    size_t set = zk_batch_set_fenced(&b, 0, "/x", bytes("2"), 0);
    size_t bad = zk_batch_set_fenced(&b, 0, "/x", bytes("2"), 0);
    zk_batch_multi_begin(&b);
    size_t first = zk_batch_create(&b, "/z", bytes(""), 0);
    size_t none = zk_batch_delete(&b, "/none", -1);
    size_t last = zk_batch_create(&b, "/zz", bytes(""), 0);
    zk_batch_multi_end(&b);
    size_t gone = zk_batch_delete_fenced(&b, 0, "/x", 1);
    zk_store_run(c.s, &b);
    ck_assert_int_eq(zk_batch_result(&b, made), ZK_OK);
    ck_assert_int_eq(zk_batch_result(&b, old), ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_batch_result(&b, exists), ZK_NODE_EXISTS);
    ck_assert_int_eq(zk_batch_result(&b, set), ZK_OK);
    ck_assert_int_eq(b.ops[set].stat.version, 1);
    ck_assert_int_eq(zk_batch_result(&b, bad), ZK_BAD_VERSION);
    ck_assert_int_eq(b.ops[first].result, ZK_OK);
    ck_assert_int_eq(b.ops[none].result, ZK_NO_NODE);
    ck_assert_int_eq(b.ops[last].result, ZK_ROLLED_BACK);
    ck_assert_int_eq(zk_batch_result(&b, gone), ZK_OK);
    ck_assert_int_eq(zk_store_exists(c.s, "/z", NULL), ZK_NO_NODE);
    client_end(&c);
}
END_TEST

START_TEST(sequential_name_comes_back_without_the_chroot)
{
    struct client c;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};

    client_start(&c);
    zk_batch_create(&b, "/seq_", bytes("1"), ZK_SEQUENTIAL);
    zk_store_run(c.s, &b);
    ck_assert_str_eq(b.ops[0].ret_path, "/seq_0000000000");
    client_end(&c);
}
END_TEST

START_TEST(watch_survives_a_lost_connection)
{
    struct client c, other;

    client_start(&c);
    client_start(&other);
    zk_store_create(c.s, "/x", bytes("1"), 0);
    zk_store_watch_data(c.s, "/x", count_event, &c);
    zk_store_exists(c.s, "/x", NULL);
    tcp_proxy_set(c.proxy, PROXY_CUT);
    ck_assert(eventually(&c.disconnects, 1));
    zk_store_set(other.s, "/x", bytes("2"), -1, NULL);
    ck_assert_int_eq(c.events, 0);
    tcp_proxy_set(c.proxy, PROXY_PASS);
    ck_assert(eventually(&c.events, 1));
    ck_assert_int_eq(c.last_event, ZK_EVENT_CHANGED);
    ck_assert(eventually(&c.connects, 1));
    ck_assert_int_eq(c.befores, 0);
    client_end(&other);
    client_end(&c);
}
END_TEST

/* Done, or found done already by the first try, whose answer was lost with the connection. */
START_TEST(request_waits_for_the_connection)
{
    struct client c;

    client_start(&c);
    int64_t session = zk_store_session_id(c.s);
    for (int i = 0; i < 20; i++) {
        tcp_proxy_drop(c.proxy);
        enum zk_result made = zk_store_create(c.s, "/x", bytes(""), 0);
        ck_assert(made == ZK_OK || made == ZK_NODE_EXISTS);
        tcp_proxy_drop(c.proxy);
        enum zk_result gone = zk_store_delete(c.s, "/x", -1);
        ck_assert(gone == ZK_OK || gone == ZK_NO_NODE);
    }
    ck_assert_int_eq(zk_store_exists(c.s, "/x", NULL), ZK_NO_NODE);
    ck_assert_int_eq(zk_store_session_id(c.s), session);
    client_end(&c);
}
END_TEST

START_TEST(expired_session_is_made_anew)
{
    struct client c;
    struct zk_status st;

    client_start(&c);
    int64_t old = zk_store_session_id(c.s);
    zk_store_create(c.s, "/e", bytes(""), ZK_EPHEMERAL);
    expire(&c);
    ck_assert_int_eq(c.befores, 1);
    ck_assert(zk_store_session_id(c.s) != old);
    ck_assert_int_eq(zk_store_exists(c.s, "/e", NULL), ZK_NO_NODE);
    zk_status(c.zk, &st);
    ck_assert_int_eq(st.state, ZK_STATE_CONNECTED);
    ck_assert_uint_eq(st.expirations, 1);
    client_end(&c);
}
END_TEST

/* A thread with a request that cannot be answered; before_new_session waits for that thread (pain
 * 3). */
struct stuck {
    struct client c;
    struct thread thread;
    _Atomic int finished;
    enum zk_result result;
};

static void ask(void *arg)
{
    struct stuck *st = arg;

    st->result = zk_store_set(st->c.s, "/x", bytes("2"), -1, NULL);
    st->finished = 1;
}

static void wait_for_asker(void *ctx)
{
    struct stuck *st = ctx;

    ck_assert(eventually(&st->finished, 1));
    ck_assert_int_eq(zk_store_exists(st->c.s, "/x", NULL), ZK_SESSION_EXPIRED);
    st->c.befores++;
}

static void after_asker(void *ctx, int64_t session UNUSED)
{
    struct stuck *st = ctx;

    ck_assert_int_eq(zk_store_exists(st->c.s, "/x", NULL), ZK_OK);
    st->c.afters++;
}

START_TEST(expiry_ends_requests_that_a_listener_waits_for)
{
    struct stuck st = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct zk_listener l = {
        .before_new_session = wait_for_asker, .after_new_session = after_asker, .ctx = &st};

    client_new(&st.c);
    zk_add_listener(st.c.zk, &l);
    ck_assert_int_eq(zk_start(st.c.zk, &why), 0);
    zk_store_create(st.c.s, "/x", bytes("1"), 0);
    tcp_proxy_set(st.c.proxy, PROXY_STALL);
    ck_assert_int_eq(thread_start(&st.thread, "asker", ask, &st), 0);
    usleep(4 * SESSION_MS * 1000);
    tcp_proxy_set(st.c.proxy, PROXY_CUT);
    tcp_proxy_set(st.c.proxy, PROXY_PASS);
    ck_assert(eventually(&st.c.afters, 1));
    thread_join(&st.thread);
    ck_assert_int_eq(st.result, ZK_SESSION_EXPIRED);
    client_end(&st.c);
}
END_TEST

START_TEST(new_session_arms_watches_by_reading)
{
    struct client c, other;

    client_start(&c);
    client_start(&other);
    zk_store_watch_data(c.s, "/x", count_event, &c);
    zk_store_exists(c.s, "/x", NULL);
    expire(&c);
    zk_store_create(other.s, "/x", bytes(""), 0);
    zk_store_exists(c.s, "/x", NULL);
    ck_assert_int_eq(c.events, 0);
    zk_store_set(other.s, "/x", bytes("1"), -1, NULL);
    ck_assert(eventually(&c.events, 1));
    client_end(&other);
    client_end(&c);
}
END_TEST

static struct node_endpoint endpoint = {STR("PLAINTEXT"), STR("h1"), 9092, NODE_PLAINTEXT};
static const struct node_broker self = {
    .endpoints = &endpoint, .endpoint_count = 1, .jmx_port = -1};

START_TEST(restart_outwaits_the_earlier_session)
{
    struct client c, again;
    struct zk_register reg;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    client_start(&c);
    zk_cluster_prepare(c.s);
    zk_register_init(&reg, c.s, 1, SESSION_MS);
    ck_assert_int_eq(zk_register_start(&reg, &self, &why), ZK_OK);
    int64_t first = reg.epoch;
    tcp_proxy_set(c.proxy, PROXY_STALL); /* as if killed, with the connection left open */
    client_start(&again);
    zk_register_init(&reg, again.s, 1, SESSION_MS);
    ck_assert_int_eq(zk_register_start(&reg, &self, &why), ZK_OK);
    ck_assert_int_gt(reg.epoch, first);
    client_end(&again);
    tcp_proxy_set(c.proxy, PROXY_CUT);
    client_end(&c);
}
END_TEST

START_TEST(registration_survives_an_expiry)
{
    struct client c;
    struct zk_register reg;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    client_start(&c);
    zk_cluster_prepare(c.s);
    zk_register_init(&reg, c.s, 1, SESSION_MS);
    ck_assert_int_eq(zk_register_start(&reg, &self, &why), ZK_OK);
    int64_t first = reg.epoch;
    expire(&c);
    ck_assert_int_eq(zk_register_again(&reg, &self), ZK_OK);
    ck_assert_int_gt(reg.epoch, first);
    client_end(&c);
}
END_TEST

#ifdef KLAMM_FAULTS
START_TEST(lost_answers_change_nothing)
{
    struct client c;
    struct zk_register reg;
    struct zk_election e;
    struct node_producer_block block;
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    client_start(&c);
    zk_cluster_prepare(c.s);
    zk_register_init(&reg, c.s, 1, SESSION_MS);
    fault_arm("zk.reply", (struct fault){FAULT_ERRNO, 1}, 2, false); /* after the list of brokers */
    ck_assert_int_eq(zk_register_start(&reg, &self, &why), ZK_OK);
    zk_store_create(c.s, ZK_PATH_CONTROLLER_EPOCH, bytes("0"), 0);
    fault_arm("zk.reply", (struct fault){FAULT_ERRNO, 1}, 3,
              false); /* after exists and the epoch */
    ck_assert_int_eq(zk_elect(c.s, 1, &e), ZK_OK);
    ck_assert(e.won && e.epoch == 1 && e.epoch_version == 1);
    fault_arm("zk.reply", (struct fault){FAULT_ERRNO, 1}, 2, false);
    ck_assert_int_eq(zk_producer_block_next(c.s, 1, &block), ZK_OK);
    ck_assert_int_eq(block.start, 1000);
    fault_disarm_all();
    client_end(&c);
}
END_TEST
#endif

START_TEST(successor_of_a_stalled_controller_fences_it)
{
    struct client a, b;
    struct zk_election first, second;
    struct zk_partition_state state = {.topic = STR("t"), .partition = 0};
    struct arena arena = {0};

    client_start(&a);
    client_start(&b);
    zk_cluster_prepare(a.s);
    ck_assert_int_eq(zk_elect(a.s, 1, &first), ZK_OK);
    ck_assert(first.won);
    zk_store_watch_data(b.s, ZK_PATH_CONTROLLER, count_event, &b);
    ck_assert_int_eq(zk_elect(b.s, 2, &second), ZK_OK);
    ck_assert(!second.won && second.seen.broker_id == 1);
    tcp_proxy_set(a.proxy, PROXY_CUT);
    ck_assert(eventually(&b.events, 1));
    ck_assert_int_eq(b.last_event, ZK_EVENT_DELETED);
    ck_assert_int_eq(zk_elect(b.s, 2, &second), ZK_OK);
    ck_assert(second.won && second.epoch == 2);
    tcp_proxy_set(a.proxy, PROXY_PASS);
    ck_assert(eventually(&a.afters, 1));
    zk_store_create(a.s, ZK_PATH_TOPICS "/t", bytes("{}"), 0);
    ck_assert_int_eq(zk_states_create(a.s, &arena, &state, 1, first.epoch_version),
                     ZK_CONTROLLER_MOVED);
    ck_assert_int_eq(zk_states_create(b.s, &arena, &state, 1, second.epoch_version), ZK_OK);
    arena_deinit(&arena);
    client_end(&b);
    client_end(&a);
}
END_TEST

/* Two ways to the server stand for two servers: the session moves from the one that dies to the
 * other. */
START_TEST(session_moves_to_another_server)
{
    struct client c;
    char connect[128];
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    client_new(&c);
    zk_free(c.zk);
    struct tcp_proxy *second = tcp_proxy_new(server_port);
    snprintf(connect, sizeof connect, "127.0.0.1:%d,127.0.0.1:%d%s", tcp_proxy_port(c.proxy),
             tcp_proxy_port(second), chroot_of_test());
    struct zk_conf conf = conf_to(connect);
    c.zk = zk_new(&conf);
    c.s = zk_as_store(c.zk);
    ck_assert_int_eq(zk_start(c.zk, &why), 0);
    int64_t session = zk_store_session_id(c.s);
    ck_assert_int_eq(zk_store_create(c.s, "/e", bytes(""), ZK_EPHEMERAL), ZK_OK);
    for (int i = 0; i < 6; i++) {
        tcp_proxy_set(i % 2 ? second : c.proxy, PROXY_CUT);
        ck_assert_int_eq(zk_store_exists(c.s, "/e", NULL), ZK_OK);
        tcp_proxy_set(i % 2 ? second : c.proxy, PROXY_PASS);
    }
    ck_assert_int_eq(zk_store_session_id(c.s), session);
    client_end(&c);
    tcp_proxy_free(second);
}
END_TEST

START_TEST(absent_server_is_named)
{
    struct zk_conf conf = conf_to("127.0.0.1:1");
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    conf.connection_timeout_ms = 300;
    struct zk *zk = zk_new(&conf);
    ck_assert_int_eq(zk_start(zk, &why), -ETIMEDOUT);
    ck_assert_msg(strstr(why.s, "127.0.0.1:1") != NULL, "%s", why.s);
    zk_free(zk);
    conf.connect = "no-such-host.invalid:2181";
    strbuf_reset(&why);
    zk = zk_new(&conf);
    ck_assert_int_eq(zk_start(zk, &why), -ETIMEDOUT);
    ck_assert_msg(strstr(why.s, "no-such-host") != NULL, "%s", why.s);
    zk_free(zk);
}
END_TEST

START_TEST(host_that_does_not_resolve_does_not_hinder_the_others)
{
    char connect[128];
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    snprintf(connect, sizeof connect, "no-such-host.invalid:2181,localhost:%d", server_port);
    struct zk_conf conf = conf_to(connect);
    struct zk *zk = zk_new(&conf);
    ck_assert_msg(zk_start(zk, &why) == 0, "%s", why.s);
    zk_free(zk);
}
END_TEST

START_TEST(guarded_nodes_are_closed_to_others)
{
    struct client other;
    char connect[128];
    struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    client_start(&other);
    snprintf(connect, sizeof connect, "127.0.0.1:%d%s", server_port, chroot_of_test());
    struct zk_conf conf = conf_to(connect);
    conf.digest_auth = "klamm:secret";
    conf.set_acl = true;
    struct zk *zk = zk_new(&conf);
    ck_assert_msg(zk_start(zk, &why) == 0, "%s", why.s);
    struct zk_store *s = zk_as_store(zk);
    ck_assert_int_eq(zk_store_create(s, "/guarded", bytes("1"), 0), ZK_OK);
    ck_assert_int_eq(zk_store_create_deep(s, "/config/users/u", bytes("1")), ZK_OK);
    ck_assert_int_eq(zk_store_set(s, "/guarded", bytes("2"), -1, NULL), ZK_OK);
    ck_assert_int_eq(zk_store_get(other.s, "/guarded", &a, NULL, NULL), ZK_OK);
    ck_assert_int_eq(zk_store_set(other.s, "/guarded", bytes("3"), -1, NULL), ZK_NO_AUTH);
    ck_assert_int_eq(zk_store_get(other.s, "/config/users/u", &a, NULL, NULL), ZK_NO_AUTH);
    ck_assert_int_eq(zk_store_delete_deep(s, "/guarded", ZK_NO_FENCE), ZK_OK);
    ck_assert_int_eq(zk_store_delete_deep(s, "/config", ZK_NO_FENCE), ZK_OK);
    zk_free(zk);
    arena_deinit(&a);
    client_end(&other);
}
END_TEST

START_TEST(stop_ends_requests_that_wait)
{
    struct stuck st = {0};

    client_start(&st.c);
    tcp_proxy_set(st.c.proxy, PROXY_CUT);
    ck_assert(eventually(&st.c.disconnects, 1));
    ck_assert_int_eq(thread_start(&st.thread, "asker", ask, &st), 0);
    struct zk_status status;
    do
        zk_status(st.c.zk, &status);
    while (status.queued == 0);
    zk_stop(st.c.zk);
    thread_join(&st.thread);
    ck_assert_int_eq(st.result, ZK_CLOSING);
    ck_assert_int_eq(zk_store_exists(st.c.s, "/x", NULL), ZK_CLOSING);
    client_end(&st.c);
}
END_TEST

START_TEST(stop_ends_the_session_at_once)
{
    struct client c, other;

    client_start(&c);
    client_start(&other);
    zk_store_create(c.s, "/e", bytes(""), ZK_EPHEMERAL);
    zk_store_watch_data(other.s, "/e", count_event, &other);
    ck_assert_int_eq(zk_store_exists(other.s, "/e", NULL), ZK_OK);
    int64_t begun = clock_mono_ms(&clock_system);
    zk_stop(c.zk);
    ck_assert(eventually(&other.events, 1));
    ck_assert_int_lt(clock_mono_ms(&clock_system) - begun, SESSION_MS);
    client_end(&c);
    client_end(&other);
}
END_TEST

/* More watches than a server takes in one message (1 MB): the session cannot be kept, and must not
 * be tried for ever. */
START_TEST(too_many_watches_cost_the_session_not_the_broker)
{
    enum { N = 9000 };
    struct client c;
    CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
    char path[160];

    client_start(&c);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/%0128d", i);
        zk_store_watch_data(c.s, path, count_event, &c);
        zk_batch_exists(&b, path);
    }
    zk_store_run(c.s, &b);
    tcp_proxy_drop(c.proxy);
    ck_assert(eventually(&c.afters, 1));
    ck_assert_int_eq(zk_store_exists(c.s, "/", NULL), ZK_OK);
    client_end(&c);
}
END_TEST

/* The server drops the connection on it, however often it is sent. */
START_TEST(request_that_is_too_large_is_given_up)
{
    static char big[2 << 20];
    struct client c;

    client_start(&c);
    int64_t session = zk_store_session_id(c.s);
    ck_assert_int_eq(zk_store_create(c.s, "/big", slice_of(big, sizeof big), 0), ZK_REFUSED);
    ck_assert_int_eq(zk_store_exists(c.s, "/big", NULL), ZK_NO_NODE);
    ck_assert_int_eq(zk_store_create(c.s, "/fits", slice_of(big, 1000000), 0), ZK_OK);
    ck_assert_int_eq(zk_store_session_id(c.s), session);
    client_end(&c);
}
END_TEST

START_TEST(concurrent_callers_share_the_pipeline)
{
    enum { THREADS = 8 };
    struct client c;
    struct stuck st[THREADS] = {0};

    client_start(&c);
    zk_store_create(c.s, "/x", bytes("1"), 0);
    for (int i = 0; i < THREADS; i++) {
        st[i].c.s = c.s;
        ck_assert_int_eq(thread_start(&st[i].thread, "asker", ask, &st[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        thread_join(&st[i].thread);
        ck_assert_int_eq(st[i].result, ZK_OK);
    }
    client_end(&c);
}
END_TEST

/* Asks until it is told that this is over. */
static void ask_for_ever(void *arg)
{
    struct stuck *st = arg;

    do {
        st->result = zk_store_exists(st->c.s, "/", NULL);
        st->finished = 1;
    } while (st->result == ZK_OK);
}

/* The library loses answers that come while a handle is being closed. */
START_TEST(stop_answers_what_is_under_way)
{
    enum { ROUNDS = 40, THREADS = 4 };

    for (int round = 0; round < ROUNDS; round++) {
        struct stuck st[THREADS] = {0};
        struct client c;

        client_start(&c);
        for (int i = 0; i < THREADS; i++) {
            st[i].c.s = c.s;
            ck_assert_int_eq(thread_start(&st[i].thread, "asker", ask_for_ever, &st[i]), 0);
            ck_assert(eventually(&st[i].finished, 1));
        }
        zk_stop(c.zk);
        for (int i = 0; i < THREADS; i++) {
            thread_join(&st[i].thread);
            ck_assert_int_eq(st[i].result, ZK_CLOSING);
        }
        client_end(&c);
    }
}
END_TEST

/* Nothing comes back, so nothing can be waited for. */
START_TEST(stop_answers_what_a_silent_server_has)
{
    struct stuck st = {0};

    client_start(&st.c);
    zk_store_create(st.c.s, "/x", bytes("1"), 0);
    tcp_proxy_set(st.c.proxy, PROXY_STALL);
    ck_assert_int_eq(thread_start(&st.thread, "asker", ask, &st), 0);
    usleep(20000);
    zk_stop(st.c.zk);
    thread_join(&st.thread);
    ck_assert_int_eq(st.result, ZK_CLOSING);
    client_end(&st.c);
}
END_TEST

int main(int argc, char **argv)
{
    int32_t port;
    const TTest *const tests[] = {
        chroot_is_made_and_hides_the_rest,
        null_and_empty_stay_apart,
        ten_thousand_requests_in_one_batch,
        multi_happens_as_a_whole_or_not_at_all,
        sequential_name_comes_back_without_the_chroot,
        watch_survives_a_lost_connection,
        request_waits_for_the_connection,
        expired_session_is_made_anew,
        expiry_ends_requests_that_a_listener_waits_for,
        new_session_arms_watches_by_reading,
        restart_outwaits_the_earlier_session,
        registration_survives_an_expiry,
#ifdef KLAMM_FAULTS
        lost_answers_change_nothing,
#endif
        successor_of_a_stalled_controller_fences_it,
        session_moves_to_another_server,
        absent_server_is_named,
        host_that_does_not_resolve_does_not_hinder_the_others,
        guarded_nodes_are_closed_to_others,
        stop_ends_requests_that_wait,
        stop_ends_the_session_at_once,
        too_many_watches_cost_the_session_not_the_broker,
        request_that_is_too_large_is_given_up,
        concurrent_callers_share_the_pipeline,
        stop_answers_what_is_under_way,
        stop_answers_what_a_silent_server_has,
    };

    if (argc != 2 || str_to_i32(str_of(argv[1]), 1, 65535, &port) < 0) {
        fprintf(stderr, "usage: zk-live PORT (of a ZooKeeper server on 127.0.0.1)\n");
        return 2;
    }
    server_port = (uint16_t)port;
    return test_main_run("zk-live", tests, ARRAY_LEN(tests));
}
