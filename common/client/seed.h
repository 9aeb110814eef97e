/*
 * seed.h - a cluster found from a list of some of its brokers: who is there, who is controller, who
 * leads what
 *
 * For tools. Connections are opened as they are needed, and kept. Blocking; one thread at a time.
 *
 *   r = seed_open(&opts, &why, &seed);
 *   r = seed_call(seed, SEED_CONTROLLER, &request, &arena, &response);
 */
#pragma once

#include "common/base/strbuf.h"
#include "common/client/rpc.h"
#include "common/wire/messages.h"

enum { SEED_ANY = -1, SEED_CONTROLLER = -2 };

struct seed;

struct seed_opts {
    const char *bootstrap; /* "host:port,host:port", "[::1]:9092" */
    const char *client_id;
    struct tls_client *tls; /* NULL: plain TCP */
    int64_t timeout_us;     /* of connecting, and of each request */
};

/* Asks the first of the list that answers for the brokers of the cluster. Errors with the reason in
 * why: -EINVAL for a malformed list, else of the last one tried. */
int seed_open(const struct seed_opts *opts, struct strbuf *why, struct seed **ret) MUST_CHECK;
/* NULL-safe, returns NULL. */
struct seed *seed_close(struct seed *s);
void seed_close_p(struct seed **s);

/* broker: an id, SEED_ANY, SEED_CONTROLLER. -EHOSTUNREACH where it is not known; otherwise as
 * rpc_call(). */
int seed_call(struct seed *s, int32_t broker, struct rpc_request *q, struct arena *a,
              const void **ret_response) MUST_CHECK;
/* Asks again who is there, after NOT_CONTROLLER or a lost connection. */
int seed_refresh(struct seed *s) MUST_CHECK;
/* -1 where none is known. */
int32_t seed_controller(const struct seed *s);
/* The ids known, ascending; *ret_count of them. */
const int32_t *seed_brokers(const struct seed *s, int32_t *ret_count);
/* The metadata of these topics, or of all where count is -1. Unknown ones have their error. No
 * topic is created. */
int seed_metadata(struct seed *s, const struct str *topics, int32_t count, struct arena *a,
                  const struct metadata_response **ret) MUST_CHECK;
/* "host:port" of the list, for messages: of the broker that answered first. */
const char *seed_address(const struct seed *s);
