/*
 * tcp_proxy.h - a way between a client and a server that a test can cut, stall and open again
 *
 * Listens on a free port of 127.0.0.1 and passes bytes to another port there, on a thread of its
 * own.
 */
#pragma once

#include "common/base/base.h"

enum tcp_proxy_mode {
    PROXY_PASS,
    PROXY_CUT,   /* connections are closed, new ones are closed at once */
    PROXY_STALL, /* connections stay, nothing moves */
};

struct tcp_proxy;

struct tcp_proxy *tcp_proxy_new(uint16_t to_port);
void tcp_proxy_free(struct tcp_proxy *p);
uint16_t tcp_proxy_port(const struct tcp_proxy *p);
void tcp_proxy_set(struct tcp_proxy *p, enum tcp_proxy_mode mode);
/* Ends the connections there are; new ones pass. */
void tcp_proxy_drop(struct tcp_proxy *p);
/* Bytes of the client that have passed so far. */
uint64_t tcp_proxy_bytes(const struct tcp_proxy *p);
