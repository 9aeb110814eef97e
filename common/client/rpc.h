/*
 * rpc.h - one request and its answer, for threads that may block: tools, the controlled shutdown
 *
 * Wraps a peer on a reactor of its own, or on one that is given. Versions are negotiated: the one
 * in the request is the highest wanted. Thread: any but a reactor's; calls of several threads are
 * pipelined.
 */
#pragma once

#include "common/client/peer.h"

struct rpc;

/* r: NULL for a thread of its own. -errno where there is none to be had. */
int rpc_open(struct reactor *r, const struct peer_opts *opts, struct rpc **ret) MUST_CHECK;
/* Not during a call. NULL-safe, returns NULL. */
struct rpc *rpc_close(struct rpc *rpc);
void rpc_close_p(struct rpc **rpc);

struct rpc_request {
    int16_t api_key;
    int16_t version; /* the one used, afterwards */
    const void *message;
    int64_t timeout_us; /* 0 = the connection's */
};

/* The decoded answer lives in *a, which has to be empty. Errors as of a peer_call. */
int rpc_call(struct rpc *rpc, struct rpc_request *q, struct arena *a, const void **ret_response)
    MUST_CHECK;
