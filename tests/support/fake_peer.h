/*
 * fake_peer.h - common/client/peer.h without sockets: requests go to functions of the test, in the
 * same process and under the same fake clock
 *
 * A test that links this has no real peers. Every message goes through the codec both ways, in the
 * version asked for. A broker is known by its port. What is in flight is the test's to deliver,
 * late, or never: a broker that is cut off or stopped lets calls time out or breaks them.
 */
#pragma once

#include "common/client/peer.h"
#include "common/wire/messages.h"

/* A request that has arrived. Answered by fake_call_reply(), at once or later; the arena lives
 * until then. */
struct fake_call {
    int16_t api_key;
    int16_t version;
    const void *request;
    struct arena arena;
    void *owner; /* the broker's ctx */
    struct peer *peer;
    struct peer_call *call; /* NULL: nobody waits for it any more */
    struct fake_call *prev, *next;
};

typedef void (*fake_serve_fn)(void *ctx, struct fake_call *fc);

/* Serves a port; ctx comes back with each call. */
void fake_broker_open(int port, fake_serve_fn serve, void *ctx);
/* Gone: what is in flight breaks with -ECONNRESET, new calls with -ECONNREFUSED. */
void fake_broker_close(int port);
/* Calls to it that come from a client with this id get nowhere and time out; also those in flight.
 * "" all. */
void fake_broker_cut(int port, const char *client_id_prefix, bool is_cut);
void fake_call_reply(struct fake_call *fc, const void *response);
/* Every connection breaks: what is in flight fails with -ECONNRESET. */
void fake_peers_break(void);
/* Requests seen since the start, of one key. */
int fake_peer_count(int16_t api_key);
