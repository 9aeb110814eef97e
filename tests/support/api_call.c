/*
 * api_call.c - a request to a handler, as api_call.h says
 */
#include "tests/support/api_call.h"

#include "broker/api/handlers.h"
#include "common/wire/header.h"

#include <check.h>

static void on_answer(struct message *m)
{
    container_of(m, struct api_call, req.message)->is_answered = true;
}

static void turn(struct api_call *c, int32_t wait_us)
{
    if (c->others)
        c->others(c->ctx);
    reactor_turn(c->reactor, wait_us);
}

void api_call_start(struct api_call *c, int16_t key, int16_t version, const void *body)
{
    arena_reset(&c->req.arena);
    c->is_answered = false;
    c->req = (struct request){.arena = c->req.arena,
                              .api_key = key,
                              .version = version,
                              .body = body,
                              .reactor = c->reactor,
                              .received_us = c->b->clock ? clock_mono_us(c->b->clock) : 0,
                              .listener_name = STR("INT"),
                              .message = {.run = on_answer}};
    api_table_find(&api_table, key)(c->b, &c->req);
    for (int i = 0; i < 5 && !c->is_answered; i++)
        turn(c, 0);
}

void api_call_end(struct api_call *c, void *ret)
{
    int16_t key = c->req.api_key, version = c->req.version;
    struct request_header h = {.request_api_key = key, .request_api_version = version};
    struct slice left;
    int32_t correlation_id;

    for (int i = 0; i < 1000 && !c->is_answered; i++)
        turn(c, 20000);
    ck_assert(c->is_answered);
    struct slice frame = writer_flat(c->req.answer);
    ck_assert_int_eq(response_header_decode(&h, slice_from(frame, 4), &correlation_id, &left), 0);
    ck_assert_int_eq(
        codec_decode(api_messages_find(key)->response, version, left, &c->req.arena, ret), 0);
}

void api_call(struct api_call *c, int16_t key, int16_t version, const void *body, void *ret)
{
    api_call_start(c, key, version, body);
    api_call_end(c, ret);
}

void api_call_deinit(struct api_call *c)
{
    arena_deinit(&c->req.arena);
}
