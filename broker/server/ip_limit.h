/*
 * ip_limit.h - how many connections each address has, and may have (max.connections.per.ip and its
 * overrides)
 *
 * Guarded by a lock of its own (LOCK_CONNECTIONS). Thread: any.
 */
#pragma once

#include "common/base/strbuf.h"
#include "common/io/sock.h"

struct ip_limit;

/* overrides: "host:count,...", names are looked up now, which may block. -EINVAL with the reason in
 * why. */
int ip_limit_new(int64_t max, const char *overrides, struct strbuf *why, struct ip_limit **ret)
    MUST_CHECK;
/* Other limits, for connections to come; as ip_limit_new(), and nothing changes where it fails. */
int ip_limit_set(struct ip_limit *l, int64_t max, const char *overrides, struct strbuf *why)
    MUST_CHECK;
/* NULL-safe, returns NULL. */
struct ip_limit *ip_limit_free(struct ip_limit *l);

/* Counts a connection; false, and not counted, where the address has as many as it may. */
bool ip_limit_take(struct ip_limit *l, const struct sock_addr *peer);
void ip_limit_release(struct ip_limit *l, const struct sock_addr *peer);
