/*
 * fetcher.h - one connection to one leader: fetches many partitions and appends what comes, on one
 * reactor (controller.md B5; KIP-227 as a client, KIP-101, KIP-279, KIP-595)
 *
 * One request is in flight at a time. Before a partition is fetched its truncation point is found,
 * where that is not left to the fetch itself; one that is out of range asks for the leader's ends.
 * A session's request names only partitions whose position has changed, so an idle partition costs
 * nothing. An error of one partition delays or fails that one only.
 *
 * Owner: the pool, until fetcher_stop(); all state is the reactor's. Orders come in order, and
 * those of one fetcher_go_on() together: a first request that named only the partitions of which it
 * has heard so far would keep all others waiting for as long as the leader holds its answer.
 */
#pragma once

#include "broker/replica/fetcher_pool.h"
#include "common/base/containers.h"
#include "common/client/peer.h"
#include "common/wire/messages.h"

struct fetcher;

struct fetcher_opts {
    const struct fetcher_conf *conf; /* outlives the fetcher */
    struct reactor *reactor;
    int32_t leader;
    int32_t slot;
    struct str host;
    int32_t port;
    /* What was ordered by the order of that number was given up. On the reactor, no lock held. */
    void (*failed)(void *ctx, struct partition *part, uint64_t order);
    void *ctx;
};

struct fetcher *fetcher_new(const struct fetcher_opts *opts);
/* It ends itself on its reactor and must not be used any more. */
void fetcher_stop(struct fetcher *f);

/* How a partition is followed. */
struct follow {
    uint64_t order; /* the pool's number for it, never 0 */
    int32_t leader_epoch;
    struct uuid topic_id;
    int64_t initial_offset; /* the high watermark: where it is cut to if nothing better is known */
};

/* Orders: gathered under the pool's lock, until fetcher_go_on(). */
void fetcher_add(struct fetcher *f, struct partition *part, const struct follow *how);
void fetcher_remove(struct fetcher *f, struct partition *part);
void fetcher_set_topic_id(struct fetcher *f, struct partition *part, struct uuid topic_id);
/* Lets it hear of them. */
void fetcher_go_on(struct fetcher *f);
int64_t fetcher_lag(const struct fetcher *f);
