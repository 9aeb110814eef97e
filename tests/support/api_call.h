/*
 * api_call.h - a request to a handler, and its answer read back from its bytes
 *
 *   struct api_call c = {.b = &b, .reactor = reactor};
 *   api_call(&c, API_METADATA, 9, &body, &resp);  api_call_deinit(&c);
 *
 * resp borrows from the call until the next one.
 */
#pragma once

#include "broker/request/request.h"

struct broker;

struct api_call {
    struct broker *b;
    struct reactor *reactor; /* turned until the answer is there */
    struct request req;
    bool is_answered;
};

void api_call(struct api_call *c, int16_t key, int16_t version, const void *body, void *ret);
void api_call_deinit(struct api_call *c);
