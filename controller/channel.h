/*
 * channel.h - channels over the wire: one queue and one connection to each broker
 *
 * One request is under way to a broker at a time; it is repeated every 100 ms, on a new connection,
 * until it is answered or the broker is removed. Versions are not negotiated: they are the
 * message's own.
 *
 * The controller's thread has the list of channels. Each channel's queue and connection belong to
 * one reactor of the pool; what is to be done is posted there, in order, and answers are handed
 * over on that reactor's thread.
 */
#pragma once

#include "common/io/reactor.h"
#include "controller/channels.h"

struct tls_client;

struct channel_opts {
    struct reactor *reactor; /* NULL = one of their own */
    const char *client_id;   /* the controller's broker id, in decimal */
    struct tls_client *tls;  /* for listeners with SSL; NULL where there are none */
    int64_t connect_timeout_us;
    int64_t request_timeout_us;
};

/* Copies the client id. */
struct channels *channel_new(const struct channel_opts *opts);
/* After controller_stop() and before controller_free(): what is under way still answers to it.
 * NULL-safe, returns NULL. */
struct channels *channel_free(struct channels *ch);
/* Messages that wait, or are under way. Thread: any. */
int32_t channel_queued(const struct channels *ch);
