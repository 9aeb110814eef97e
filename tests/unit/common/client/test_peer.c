#include "common/client/peer.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/sock.h"
#include "tests/support/fake_broker.h"
#include "tests/support/test_main.h"

#include <unistd.h>

enum { SECOND = 1000000 };

struct asked {
    struct peer_call call;
    struct heartbeat_request request;
    int r;
    int throttle;
    bool is_done;
};

static struct reactor *reactor;
static int done_count;

static void on_done(struct peer_call *call, int r, const void *response)
{
    struct asked *a = container_of(call, struct asked, call);
    const struct heartbeat_response *h = response;

    ck_assert(!a->is_done);
    a->is_done = true;
    a->r = r;
    a->throttle = r == 0 ? h->throttle_time_ms : -1;
    done_count++;
}

/* The generation comes back as the throttle time. */
static void ask(struct peer *p, struct asked *a, int generation)
{
    *a = (struct asked){.call = {.api_key = API_HEARTBEAT, .version = 4, .done = on_done}};
    msg_init(&heartbeat_request_desc, &a->request);
    a->request.generation_id = generation;
    a->call.request = &a->request;
    peer_send(p, &a->call);
    ck_assert(!a->is_done);
}

static enum fake_action echo(void *ctx, const struct fake_request *q, void **ret_response)
{
    const struct heartbeat_request *in = q->body;
    struct heartbeat_response *out = arena_new(q->arena, struct heartbeat_response);

    msg_init(&heartbeat_response_desc, out);
    out->throttle_time_ms = in->generation_id;
    *ret_response = out;
    if (ctx)
        *(int16_t *)ctx = q->header.request_api_version;
    if (in->generation_id < 0)
        return (enum fake_action)(-in->generation_id);
    return FAKE_ANSWER;
}

static struct peer *connect_to(const char *host, int port)
{
    const struct peer_opts opts = {.host = host,
                                   .port = port,
                                   .client_id = "test",
                                   .connect_timeout_us = 10 * SECOND,
                                   .request_timeout_us = 10 * SECOND};

    if (!reactor) {
        done_count = 0;
        ck_assert_int_eq(reactor_new("test", &clock_system, &reactor), 0);
    }
    return peer_new(reactor, &opts);
}

static void run_until_done(int count)
{
    while (done_count < count)
        reactor_turn(reactor, INT64_MAX);
}

static void finish(struct peer *p)
{
    peer_free(p);
    reactor_turn(reactor, 0);
    reactor_turn(reactor, 0);
    reactor = reactor_free(reactor);
}

START_TEST(pipelined_calls_are_answered_in_order)
{
    enum { CALLS = 500 };
    static struct asked asked[CALLS];
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));

    for (int i = 0; i < CALLS; i++)
        ask(p, &asked[i], i);
    run_until_done(CALLS);
    for (int i = 0; i < CALLS; i++) {
        ck_assert_int_eq(asked[i].r, 0);
        ck_assert_int_eq(asked[i].throttle, i);
    }
    ck_assert(peer_is_connected(p));
    ck_assert_int_eq(fake_broker_accepted(f), 1);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(a_host_name_is_looked_up)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("localhost", fake_broker_port(f));
    struct asked a;

    ask(p, &a, 7);
    run_until_done(1);
    ck_assert_int_eq(a.r, 0);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(a_lost_connection_fails_what_is_in_flight_and_the_next_call_connects_anew)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked a, b, c;

    ask(p, &a, 1);
    ask(p, &b, -FAKE_CLOSE);
    ask(p, &c, 3);
    run_until_done(3);
    ck_assert_int_eq(a.r, 0);
    ck_assert(b.r == -ECONNRESET || b.r == -EPIPE);
    ck_assert_int_eq(c.r, b.r);
    ck_assert(!peer_is_connected(p));
    ask(p, &a, 4);
    run_until_done(4);
    ck_assert_int_eq(a.r, 0);
    ck_assert_int_eq(fake_broker_accepted(f), 2);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(silence_times_out)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked late, behind;

    late = (struct asked){.call = {.api_key = API_HEARTBEAT, .version = 4, .done = on_done}};
    msg_init(&heartbeat_request_desc, &late.request);
    late.request.generation_id = -FAKE_SILENCE;
    late.call.request = &late.request;
    late.call.timeout_us = 20000;
    peer_send(p, &late.call);
    ask(p, &behind, -FAKE_SILENCE);
    run_until_done(2);
    ck_assert_int_eq(late.r, -ETIMEDOUT);
    ck_assert_int_eq(behind.r, -ECONNRESET);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(nobody_there_is_said)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked a, b;

    fake_broker_stop(f);
    ask(p, &a, 1);
    run_until_done(1);
    ck_assert_int_eq(a.r, -ECONNREFUSED);
    struct peer *unknown = connect_to("no such host", 1);
    ask(unknown, &b, 1);
    run_until_done(2);
    ck_assert_int_lt(b.r, 0);
    peer_free(unknown);
    finish(p);
}
END_TEST

START_TEST(garbage_is_not_believed)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked a;

    ask(p, &a, -FAKE_GARBAGE);
    run_until_done(1);
    ck_assert_int_eq(a.r, -EBADMSG);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(a_negotiated_version_is_the_highest_of_both)
{
    int16_t seen = -1;
    struct fake_broker *f = fake_broker_start(echo, &seen);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked a, b, c;

    fake_broker_limit(f, API_HEARTBEAT, 2);
    fake_broker_limit(f, API_LIST_GROUPS, -1);
    peer_negotiate(p);
    ask(p, &a, 5);
    struct list_groups_request groups;
    msg_init(&list_groups_request_desc, &groups);
    c = (struct asked){
        .call = {.api_key = API_LIST_GROUPS, .version = 3, .done = on_done, .request = &groups}};
    peer_send(p, &c.call);
    ask(p, &b, 6);
    run_until_done(3);
    ck_assert_int_eq(a.r, 0);
    ck_assert_int_eq(a.throttle, 5);
    ck_assert_int_eq(a.call.version, 2);
    ck_assert_int_eq(seen, 2);
    ck_assert_int_eq(b.throttle, 6);
    ck_assert_int_eq(c.r, -EPROTONOSUPPORT);
    ask(p, &a, 8);
    run_until_done(4);
    ck_assert_int_eq(a.call.version, 2);
    ck_assert_int_eq(fake_broker_accepted(f), 1);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

START_TEST(free_ends_all_calls_at_once)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct peer *p = connect_to("127.0.0.1", fake_broker_port(f));
    struct asked a, b;

    ask(p, &a, -FAKE_SILENCE);
    reactor_turn(reactor, SECOND);
    ask(p, &b, -FAKE_SILENCE);
    peer_free(p);
    ck_assert_int_eq(a.r, -ECANCELED);
    ck_assert_int_eq(b.r, -ECANCELED);
    reactor_turn(reactor, 0);
    reactor_turn(reactor, 0);
    reactor = reactor_free(reactor);
    fake_broker_stop(f);
}
END_TEST

static struct peer *to_free;

static void free_inside(struct peer_call *call, int r, const void *response)
{
    on_done(call, r, response);
    to_free = peer_free(to_free);
}

START_TEST(a_peer_may_be_freed_by_its_own_answer)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    struct asked a, b;

    to_free = connect_to("127.0.0.1", fake_broker_port(f));
    a = (struct asked){.call = {.api_key = API_HEARTBEAT, .version = 4, .done = free_inside}};
    msg_init(&heartbeat_request_desc, &a.request);
    a.call.request = &a.request;
    peer_send(to_free, &a.call);
    ask(to_free, &b, 1);
    run_until_done(2);
    ck_assert_int_eq(a.r, 0);
    ck_assert_int_eq(b.r, -ECANCELED);
    reactor_turn(reactor, 0);
    reactor_turn(reactor, 0);
    reactor = reactor_free(reactor);
    fake_broker_stop(f);
}
END_TEST

START_TEST(an_idle_connection_is_closed)
{
    struct fake_broker *f = fake_broker_start(echo, NULL);
    const struct peer_opts opts = {.host = "127.0.0.1",
                                   .port = fake_broker_port(f),
                                   .connect_timeout_us = SECOND,
                                   .request_timeout_us = SECOND,
                                   .idle_timeout_us = 5000};
    struct asked a;

    done_count = 0;
    ck_assert_int_eq(reactor_new("test", &clock_system, &reactor), 0);
    struct peer *p = peer_new(reactor, &opts);
    ask(p, &a, 1);
    run_until_done(1);
    while (peer_is_connected(p))
        reactor_turn(reactor, INT64_MAX);
    finish(p);
    fake_broker_stop(f);
}
END_TEST

TEST_MAIN("common/client/peer", pipelined_calls_are_answered_in_order, a_host_name_is_looked_up,
          a_lost_connection_fails_what_is_in_flight_and_the_next_call_connects_anew,
          silence_times_out, nobody_there_is_said, garbage_is_not_believed,
          a_negotiated_version_is_the_highest_of_both, free_ends_all_calls_at_once,
          a_peer_may_be_freed_by_its_own_answer, an_idle_connection_is_closed)
