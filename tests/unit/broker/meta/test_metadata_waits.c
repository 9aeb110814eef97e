#include "broker/meta/metadata_waits.h"

#include "common/base/arena.h"
#include "common/wire/messages.h"
#include "tests/support/test_main.h"

struct waiting {
    struct metadata_wait wait;
    int wanted_brokers;
    int done;
    bool is_timed_out;
};

static struct clock_fake fake;
static struct metadata *metadata;
static struct metadata_waits *waits;
static struct reactor *reactor;

static bool has_brokers(struct metadata_wait *w, const struct metadata_snapshot *s)
{
    return metadata_broker_count(s) >= container_of(w, struct waiting, wait)->wanted_brokers;
}

static void on_done(struct metadata_wait *w, bool is_timed_out)
{
    struct waiting *x = container_of(w, struct waiting, wait);

    x->done++;
    x->is_timed_out = is_timed_out;
}

static void set_brokers(int n)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct update_metadata_request req;

    msg_init(&update_metadata_request_desc, &req);
    req.live_brokers = arena_new_array(&a, struct update_metadata_request_live_broker, (size_t)n);
    req.live_brokers_count = n;
    for (int i = 0; i < n; i++) {
        struct_init(&update_metadata_request_live_broker_desc, &req.live_brokers[i]);
        req.live_brokers[i].id = i;
    }
    metadata_update(metadata, &req);
    metadata_waits_look(waits);
}

static void start(void)
{
    clock_fake_init(&fake, 0);
    metadata = metadata_new();
    waits = metadata_waits_new(metadata);
    ck_assert_int_eq(reactor_new("test", &fake.clock, &reactor), 0);
}

static void park(struct waiting *x, int brokers)
{
    *x = (struct waiting){
        .wait = {.reactor = reactor,
                 .deadline_us = clock_mono_us(&fake.clock) + 1000000,
                 .is_over = has_brokers,
                 .done = on_done},
        .wanted_brokers = brokers,
    };
    metadata_waits_park(waits, &x->wait);
}

START_TEST(what_is_there_already_ends_the_wait)
{
    struct waiting x;

    start();
    park(&x, 0);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(x.done, 1);
    ck_assert(!x.is_timed_out);
}
END_TEST

START_TEST(an_update_ends_the_waits_that_it_fulfils)
{
    struct waiting one, two;

    start();
    park(&one, 1);
    park(&two, 2);
    set_brokers(1);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(one.done, 1);
    ck_assert_int_eq(two.done, 0);
    set_brokers(2);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(one.done, 1);
    ck_assert_int_eq(two.done, 1);
    ck_assert(!two.is_timed_out);
}
END_TEST

START_TEST(the_deadline_ends_a_wait_once)
{
    struct waiting x;

    start();
    park(&x, 1);
    clock_fake_advance(&fake, 1001);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(x.done, 1);
    ck_assert(x.is_timed_out);
    set_brokers(1);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(x.done, 1);
}
END_TEST

START_TEST(cancelling_ends_all_as_timed_out)
{
    struct waiting x;

    start();
    park(&x, 1);
    metadata_waits_cancel(waits);
    reactor_turn(reactor, 0);
    ck_assert_int_eq(x.done, 1);
    ck_assert(x.is_timed_out);
}
END_TEST

TEST_MAIN("broker/meta/metadata_waits", what_is_there_already_ends_the_wait,
          an_update_ends_the_waits_that_it_fulfils, the_deadline_ends_a_wait_once,
          cancelling_ends_all_as_timed_out)
