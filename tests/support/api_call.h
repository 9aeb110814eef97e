/*
 * api_call.h - a request to a handler, and its answer read back from its bytes
 *
 *   struct api_call c = {.b = &b, .reactor = reactor};
 *   api_call(&c, API_METADATA, 9, &body, &resp);  api_call_deinit(&c);
 *
 * One that waits for something: api_call_start(), what it waits for, api_call_end(). resp borrows
 * from the call until the next one.
 */
#pragma once

#include "broker/request/request.h"

struct broker;

struct api_call {
    struct broker *b;
    struct reactor *reactor; /* turned until the answer is there */
    /* What else has work to do meanwhile, such as a controller; NULL: nothing. */
    void (*others)(void *ctx);
    void *ctx;
    struct request req;
    bool is_answered;
};

/* Calls the handler, and lets everybody do what is to be done at once. */
void api_call_start(struct api_call *c, int16_t key, int16_t version, const void *body);
/* Waits for the answer. */
void api_call_end(struct api_call *c, void *ret);
/* Both. */
void api_call(struct api_call *c, int16_t key, int16_t version, const void *body, void *ret);
void api_call_deinit(struct api_call *c);
