/*
 * test_controller.c - the controller as a thread: starting, stopping, sessions that end meanwhile,
 * calls from others
 */
#include "controller/controller.h"

#include "tests/support/fake_channels.h"
#include "tests/support/fake_zk.h"
#include "tests/support/test_main.h"
#include "zk/zk_cluster.h"
#include "zk/zk_register.h"

#include "common/base/say.h"
#include "common/base/thread.h"

#include <sched.h>

struct setup {
    struct fake_zk_server *server;
    struct fake_zk *zk;
    struct zk_register reg;
    struct node_endpoint endpoint;
    struct node_broker node;
    struct fake_channels channels;
    struct controller *c;
};

static enum zk_result register_again(void *ctx)
{
    struct setup *s = ctx;

    return zk_register_again(&s->reg, &s->node);
}

static bool unclean_default(void *ctx UNUSED)
{
    return false;
}

static void setup_init(struct setup *s)
{
    struct strbuf why = {0};

    *s = (struct setup){.server = fake_zk_server_new(&clock_system)};
    s->zk = fake_zk_new(s->server);
    struct zk_store *store = fake_zk_store(s->zk);
    ck_assert_int_eq(zk_cluster_prepare(store), ZK_OK);
    s->endpoint = (struct node_endpoint){STR("PLAINTEXT"), STR("h"), 1, NODE_PLAINTEXT};
    s->node = (struct node_broker){
        .endpoints = &s->endpoint, .endpoint_count = 1, .rack = STR_NULL, .jmx_port = -1};
    zk_register_init(&s->reg, store, 1, 6000);
    ck_assert_int_eq(zk_register_start(&s->reg, &s->node, &why), ZK_OK);
    strbuf_deinit(&why);
    fake_channels_init(&s->channels);
    s->c = controller_new(&(struct controller_opts){.broker_id = 1,
                                                    .ibp = IBP_3_9_IV0,
                                                    .inter_broker_listener = "PLAINTEXT",
                                                    .control_listener = "PLAINTEXT",
                                                    .auto_leader_rebalance_enable = true,
                                                    .leader_imbalance_check_interval_seconds = 300,
                                                    .leader_imbalance_per_broker_percentage = 10,
                                                    .store = store,
                                                    .clock = &clock_system,
                                                    .channels = &s->channels.channels,
                                                    .host = {register_again, unclean_default, s}});
    ck_assert_int_eq(controller_start(s->c), 0);
}

static void setup_deinit(struct setup *s)
{
    controller_stop(s->c);
    s->c = controller_free(s->c);
    fake_zk_free(s->zk);
    fake_zk_server_free(s->server);
    fake_channels_deinit(&s->channels);
}

static void wait_for_epoch(struct setup *s, int32_t epoch)
{
    while (controller_epoch(s->c) != epoch)
        sched_yield();
}

static void note_done(struct controller_call *call)
{
    atomic_fetch_add((atomic_int *)call->ctx, 1);
}

START_TEST(thread_wins_the_election_and_ends_when_told)
{
    struct setup s;
    struct controller_stats stats;

    setup_init(&s);
    wait_for_epoch(&s, 1);
    ck_assert_int_eq(controller_active_id(s.c), 1);
    do
        controller_stats(s.c, &stats);
    while (stats.active_brokers != 1);
    ck_assert(stats.is_active);
    ck_assert_int_ge(stats.events, 1);
    setup_deinit(&s);
}
END_TEST

START_TEST(each_lost_session_ends_a_term_before_the_next_begins)
{
    struct setup s;

    setup_init(&s);
    for (int32_t epoch = 1; epoch <= 20; epoch++) {
        wait_for_epoch(&s, epoch);
        fake_zk_expire(s.zk);
        controller_session_lost(s.c);
        ck_assert_int_eq(controller_active_id(s.c), -1);
        fake_zk_renew(s.zk);
        controller_session_new(s.c, 0);
    }
    wait_for_epoch(&s, 21);
    setup_deinit(&s);
}
END_TEST

struct asker {
    struct thread thread;
    struct setup *s;
    atomic_int done;
    int asked;
};

static void ask_often(void *arg)
{
    struct asker *a = arg;
    struct allocate_producer_ids_request req = {.broker_id = 1, .broker_epoch = 1};

    for (int i = 0; i < 200; i++) {
        CLEANUP(arena_deinit) struct arena arena = {0};
        struct controller_call call = {
            .arena = &arena, .request = &req, .done = note_done, .ctx = &a->done};
        controller_allocate_producer_ids(a->s->c, &call);
        a->asked++;
        while (atomic_load(&a->done) < a->asked)
            sched_yield();
    }
}

START_TEST(every_call_is_answered_once_whatever_happens_to_the_session)
{
    struct setup s;
    struct asker a = {.s = &s};

    say_set_level(SAY_ERROR);
    setup_init(&s);
    ck_assert_int_eq(thread_start(&a.thread, "asker", ask_often, &a), 0);
    for (int i = 0; i < 30; i++) {
        fake_zk_expire(s.zk);
        controller_session_lost(s.c);
        fake_zk_renew(s.zk);
        controller_session_new(s.c, 0);
        controller_unclean_enabled(s.c, STR_NULL);
    }
    thread_join(&a.thread);
    ck_assert_int_eq(atomic_load(&a.done), 200);
    setup_deinit(&s);
}
END_TEST

START_TEST(stop_answers_what_still_waits)
{
    struct setup s;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct allocate_producer_ids_request req = {.broker_id = 1, .broker_epoch = 1};
    struct controller_call calls[50];
    atomic_int done = 0;

    setup_init(&s);
    for (int i = 0; i < 50; i++) {
        calls[i] =
            (struct controller_call){.arena = &a, .request = &req, .done = note_done, .ctx = &done};
        controller_allocate_producer_ids(s.c, &calls[i]);
    }
    controller_stop(s.c);
    ck_assert_int_eq(atomic_load(&done), 50);
    s.c = controller_free(s.c);
    fake_zk_free(s.zk);
    fake_zk_server_free(s.server);
    fake_channels_deinit(&s.channels);
}
END_TEST

TEST_MAIN("controller/controller", thread_wins_the_election_and_ends_when_told,
          each_lost_session_ends_a_term_before_the_next_begins,
          every_call_is_answered_once_whatever_happens_to_the_session,
          stop_answers_what_still_waits)
