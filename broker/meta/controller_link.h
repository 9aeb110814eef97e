/*
 * controller_link.h - requests of this broker to whoever is controller now
 *
 * Finds the controller in the metadata, connects to its control plane listener where there is one
 * (else to the inter-broker listener), agrees on versions (ApiVersions), and asks again every 100
 * ms while nobody answers or the answer is NOT_CONTROLLER. A call ends only with another answer,
 * with its deadline, or when the link is stopped.
 *
 * Owned by one reactor, where done() runs; controller_link_send() may be called from any thread.
 */
#pragma once

#include "broker/meta/metadata.h"
#include "common/client/peer.h"

struct controller_link;

struct controller_link_opts {
    struct reactor *reactor;
    struct metadata *metadata;
    const char *client_id;
    const char *control_plane_listener; /* NULL: none */
    const char *inter_broker_listener;
    struct tls_client *control_tls;
    struct tls_client *tls;
    int64_t connect_timeout_us;
    int64_t request_timeout_us;
};

/* Owned by the caller until done(). */
struct link_call {
    int16_t api_key;
    int16_t max_version;
    const void *request; /* read again on each try */
    int64_t deadline_us; /* monotonic; INT64_MAX = never */
    /* The error of the whole response, to recognise NOT_CONTROLLER. */
    int16_t (*error_of)(const void *response);
    /* r < 0: -ETIMEDOUT, -ECANCELED, -EPROTONOSUPPORT. The response is in *call.arena, which is
     * reset after done(). */
    void (*done)(struct link_call *c, int r, const void *response);
    struct peer_call call;
    /* Private: */
    struct controller_link *link;
    struct message message;
    struct timer retry;
    struct link_call *prev, *next;
};

/* Copies the names. */
struct controller_link *controller_link_new(const struct controller_link_opts *opts);
/* Ends all calls with -ECANCELED; later ones too. Thread: any but the reactor's; the reactor runs
 * still. */
void controller_link_stop(struct controller_link *l);
/* After the reactor has stopped. NULL-safe, returns NULL. */
struct controller_link *controller_link_free(struct controller_link *l);
/* Thread: any. */
void controller_link_send(struct controller_link *l, struct link_call *c);
