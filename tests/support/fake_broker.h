/*
 * fake_broker.h - the other end of a client's connection: answers as a test tells it to
 *
 * One thread serves all connections, one after the other within a poll. Each request is decoded and
 * handed to answer(), on that thread.
 */
#pragma once

#include "common/wire/header.h"

enum fake_action {
    FAKE_ANSWER,  /* with *ret_response, which is encoded in the request's version */
    FAKE_SILENCE, /* never */
    FAKE_CLOSE,   /* hang up */
    FAKE_GARBAGE, /* bytes that are no answer */
};

struct fake_request {
    struct request_header header;
    const void *body; /* NULL where the version is unknown */
    struct arena *arena;
};

struct fake_broker;

typedef enum fake_action (*fake_answer_fn)(void *ctx, const struct fake_request *q,
                                           void **ret_response);

/* Listens on loopback. ApiVersions is answered by itself, for versions min..max of every API. */
struct fake_broker *fake_broker_start(fake_answer_fn answer, void *ctx);
int fake_broker_port(const struct fake_broker *f);
/* How many connections have been accepted so far. */
int fake_broker_accepted(const struct fake_broker *f);
/* The highest version that ApiVersions admits, of this API; -1: it is not there. Before the first
 * connection. */
void fake_broker_limit(struct fake_broker *f, int16_t api_key, int16_t max_version);
struct fake_broker *fake_broker_stop(struct fake_broker *f);
