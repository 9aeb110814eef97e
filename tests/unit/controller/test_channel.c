#include "controller/channel.h"

#include "common/base/mem.h"
#include "common/wire/messages.h"
#include "tests/support/fake_broker.h"
#include "tests/support/test_main.h"

#include <sched.h>

enum { SECOND = 1000000 };

/* What the broker got, in order. */
struct got {
    int32_t controller_epoch;
    int64_t broker_epoch;
    int16_t version;
    char client_id[8];
};

static struct got got[16];
static _Atomic int got_count;
static _Atomic int hang_ups; /* how many requests the broker still answers by hanging up */
static struct reactor *reactor;
static int32_t answered[16];
static int answered_count;

static enum fake_action answer(void *ctx UNUSED, const struct fake_request *q, void **ret_response)
{
    const struct update_metadata_request *r = q->body;
    struct update_metadata_response *resp = arena_new(q->arena, struct update_metadata_response);

    got[got_count] = (struct got){.controller_epoch = r->controller_epoch,
                                  .broker_epoch = r->broker_epoch,
                                  .version = q->header.request_api_version};
    snprintf(got[got_count].client_id, sizeof got[0].client_id, "%.*s",
             STR_ARG(q->header.client_id));
    got_count++;
    if (hang_ups > 0) {
        hang_ups--;
        return FAKE_CLOSE;
    }
    *ret_response = resp;
    return FAKE_ANSWER;
}

static void on_answer(void *ctx UNUSED, struct control_answer *a)
{
    answered[answered_count++] =
        ((struct update_metadata_request *)a->message->body)->controller_epoch;
    control_answer_free(a);
}

static struct channels *channels_to(struct fake_broker *f, int32_t broker_id)
{
    struct node_endpoint ep = {STR("PLAINTEXT"), STR("127.0.0.1"), fake_broker_port(f),
                               NODE_PLAINTEXT};

    got_count = answered_count = hang_ups = 0;
    ck_assert_int_eq(reactor_new("test", &clock_system, &reactor), 0);
    struct channels *ch = channel_new(&(struct channel_opts){.reactor = reactor,
                                                             .client_id = "7",
                                                             .connect_timeout_us = 10 * SECOND,
                                                             .request_timeout_us = 10 * SECOND});
    ch->ops->on_answer(ch, on_answer, NULL);
    ch->ops->add(ch, broker_id, &ep);
    return ch;
}

static void send(struct channels *ch, int32_t broker_id, int32_t number)
{
    struct control_message *m = control_message_new(API_UPDATE_METADATA, 8);
    struct update_metadata_request *r = arena_zalloc(&m->arena, sizeof *r);

    r->controller_epoch = number;
    m->body = r;
    ch->ops->send(ch, broker_id, 100 + number, m);
    control_message_unref(m);
}

static void finish(struct channels *ch, struct fake_broker *f)
{
    ch->ops->remove_all(ch);
    for (int i = 0; i < 4; i++)
        reactor_turn(reactor, 0);
    ck_assert_int_eq(channel_queued(ch), 0);
    channel_free(ch);
    reactor = reactor_free(reactor);
    fake_broker_stop(f);
}

START_TEST(requests_go_out_in_order_with_the_brokers_epoch)
{
    struct fake_broker *f = fake_broker_start(answer, NULL);
    struct channels *ch = channels_to(f, 3);

    for (int i = 1; i <= 5; i++)
        send(ch, 3, i);
    while (answered_count < 5)
        reactor_turn(reactor, INT64_MAX);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(got[i].controller_epoch, i + 1);
        ck_assert_int_eq(got[i].broker_epoch, 101 + i);
        ck_assert_int_eq(got[i].version, 8);
        ck_assert_str_eq(got[i].client_id, "7");
        ck_assert_int_eq(answered[i], i + 1);
    }
    ck_assert_int_eq(fake_broker_accepted(f), 1);
    finish(ch, f);
}
END_TEST

START_TEST(an_unanswered_request_is_repeated_before_the_next)
{
    struct fake_broker *f = fake_broker_start(answer, NULL);
    struct channels *ch = channels_to(f, 3);

    hang_ups = 2;
    send(ch, 3, 1);
    send(ch, 3, 2);
    while (answered_count < 2)
        reactor_turn(reactor, INT64_MAX);
    ck_assert_int_eq(got_count, 4);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(got[i].controller_epoch, 1);
    ck_assert_int_eq(got[3].controller_epoch, 2);
    ck_assert_int_eq(fake_broker_accepted(f), 3);
    finish(ch, f);
}
END_TEST

START_TEST(channels_have_a_thread_of_their_own)
{
    struct fake_broker *f = fake_broker_start(answer, NULL);
    struct node_endpoint ep = {STR("PLAINTEXT"), STR("127.0.0.1"), fake_broker_port(f),
                               NODE_PLAINTEXT};
    struct channels *ch = channel_new(&(struct channel_opts){
        .client_id = "7", .connect_timeout_us = 10 * SECOND, .request_timeout_us = 10 * SECOND});

    got_count = answered_count = hang_ups = 0;
    ch->ops->on_answer(ch, on_answer, NULL);
    ch->ops->add(ch, 3, &ep);
    send(ch, 3, 1);
    while (channel_queued(ch))
        sched_yield();
    ck_assert_int_eq(got_count, 1);
    ch->ops->remove_all(ch);
    channel_free(ch);
    fake_broker_stop(f);
}
END_TEST

START_TEST(a_removed_broker_gets_nothing_more)
{
    struct fake_broker *f = fake_broker_start(answer, NULL);
    struct channels *ch = channels_to(f, 3);

    send(ch, 3, 1);
    send(ch, 3, 2);
    send(ch, 4, 3);
    ck_assert_int_eq(channel_queued(ch), 2);
    ch->ops->remove(ch, 3);
    ch->ops->remove(ch, 4);
    send(ch, 3, 4);
    for (int i = 0; i < 4; i++)
        reactor_turn(reactor, 0);
    ck_assert_int_eq(channel_queued(ch), 0);
    ck_assert_int_eq(answered_count, 0);
    finish(ch, f);
}
END_TEST

TEST_MAIN("controller/channel", requests_go_out_in_order_with_the_brokers_epoch,
          an_unanswered_request_is_repeated_before_the_next, channels_have_a_thread_of_their_own,
          a_removed_broker_gets_nothing_more)
