/*
 * peer.h - one connection to one broker: requests pipelined, answers in order
 *
 * The controller's channels, replica fetchers, the way to the controller, and the tools all speak
 * through this. A peer belongs to one reactor. It connects when the first request is sent, and
 * again after a failure; what was in flight then fails with -ECONNRESET (or the error of
 * connecting) and is the caller's to repeat.
 *
 * Versions are the caller's choice, as on Kafka's controller and fetcher connections;
 * peer_negotiate() asks ApiVersions first.
 */
#pragma once

#include "common/base/arena.h"
#include "common/io/reactor.h"

struct peer;
struct tls_client; /* common/io/tls.h; NULL = plain TCP */

struct peer_opts {
    const char *host;
    int port;
    const char *client_id;
    struct tls_client *tls;
    int64_t connect_timeout_us;
    int64_t request_timeout_us;
    int64_t idle_timeout_us; /* 0 = never */
};

/* The host and client id are copied. Thread: any. */
struct peer *peer_new(struct reactor *r, const struct peer_opts *opts);
/* Outstanding calls fail with -ECANCELED, at once, in order. NULL-safe, returns NULL. Thread: the
 * reactor's. */
struct peer *peer_free(struct peer *p);

/*
 * One request. Owned by the caller until done() runs, which happens exactly once, on the reactor,
 * never inside peer_send(); the peer does not touch it any more once done() has been called. With r
 * == 0 response is the decoded message; it, and the frame it points into, live in *call->arena,
 * which is reset after done() unless it was taken: MOVE(*call->arena). r < 0: -ETIMEDOUT,
 * -ECONNREFUSED, -ECONNRESET, -EBADMSG, -EINVAL (it cannot be encoded), ...
 */
struct peer_call {
    int16_t api_key;
    int16_t version;
    const void *request; /* encoded inside peer_send(), not needed afterwards */
    int64_t timeout_us;  /* 0 = the peer's request_timeout_us */
    void (*done)(struct peer_call *call, int r, const void *response);
    struct arena *arena; /* the response's, during done() */

    /* The peer's own: */
    struct peer_call *next;
    int32_t correlation_id;
    int64_t deadline_us;
};

/* Thread: the reactor's. */
void peer_send(struct peer *p, struct peer_call *call);
/* Drops the connection; a later send connects anew. */
void peer_disconnect(struct peer *p);
bool peer_is_connected(const struct peer *p);
/* Asks for ApiVersions on connecting from now on: a call's version is then the highest one wanted,
 * and is lowered to what the broker has; -EPROTONOSUPPORT where it has none up to that. done()
 * finds the version used in call->version. */
void peer_negotiate(struct peer *p);
