/*
 * lookup.h - host names to addresses, without keeping a reactor waiting
 *
 * The system's resolver blocks, for many seconds where a name server is silent: each lookup has a
 * thread of its own for as long as it takes. Lookups are rare, one for each attempt to connect by
 * name. Thread: the reactor's.
 */
#pragma once

#include "common/io/reactor.h"
#include "common/io/sock.h"

struct lookup;

/* r < 0: no address, -ENOENT or what else the resolver said. The lookup is gone when this is
 * called. */
typedef void (*lookup_fn)(void *ctx, int r, const struct sock_addr *addrs, int count);

struct lookup_opts {
    const char *host; /* copied */
    int port;
    lookup_fn done;
    void *ctx;
};

/* done() runs on the reactor, never inside lookup_start(). -errno where no thread can be had. */
int lookup_start(struct reactor *r, const struct lookup_opts *opts, struct lookup **ret) MUST_CHECK;
/* done() is not called any more. NULL-safe, returns NULL. */
struct lookup *lookup_cancel(struct lookup *l);
