/*
 * channel.h - channels over the wire: one queue and one connection to each broker
 *
 * One request is under way to a broker at a time; it is repeated every 100 ms, on a new connection,
 * until it is answered or the broker is removed. Versions are not negotiated: they are the
 * message's own.
 *
 * Connections belong to one reactor. What the controller asks for is posted there, in order; the
 * answers are handed over on that reactor's thread.
 */
#pragma once

#include "common/io/reactor.h"
#include "controller/channels.h"

struct tls_client;

struct channel_opts {
    /* Encoding for many partitions takes a while: one that serves no clients is best. */
    struct reactor *reactor;
    int32_t broker_id;      /* its decimal form is the client id */
    struct tls_client *tls; /* for SSL listeners; NULL where there are none */
    int64_t connect_timeout_us;
    int64_t request_timeout_us;
};

struct channels *channel_set_new(const struct channel_opts *opts);
/* After the controller and the reactor have stopped. NULL-safe, returns NULL. */
struct channels *channel_set_free(struct channels *ch);
/* Messages that wait, or are under way. Thread: any. */
int32_t channel_set_queued(const struct channels *ch);
