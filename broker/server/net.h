/*
 * net.h - what all connections of a broker share: the parts behind them, and the limits
 *
 * Filled in before the first listener starts, constant from then on but for the atomics.
 */
#pragma once

#include "broker/request/api.h"
#include "broker/server/accept_rate.h"
#include "broker/server/ip_limit.h"

struct net {
    struct broker *broker;
    const struct api_table *apis;
    struct workq *workq;       /* reads what is not in the page cache */
    uint32_t max_frame_bytes;  /* socket.request.max.bytes */
    int64_t max_idle_us;       /* connections.max.idle.ms */
    int64_t max_request_bytes; /* queued.max.request.bytes; <= 0: no limit */
    struct ip_limit *ip_limit;
    _Atomic int64_t max_connections; /* of all listeners together; may change */
    /* Of all listeners but a protected one. Thread: the reactor on which all of them accept. */
    struct accept_rate accept_rate;
    _Atomic int64_t request_bytes; /* held by requests that are not answered yet */
    _Atomic int64_t connections;
};

/* Whether requests hold as much memory as they may: nobody reads on meanwhile. */
static inline bool net_is_full(const struct net *net)
{
    return net->max_request_bytes > 0 && net->request_bytes >= net->max_request_bytes;
}
