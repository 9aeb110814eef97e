/*
 * fetcher_pool.h - which fetcher replicates which partition: one for each leader and slot
 * (controller.md B5.1)
 *
 * The slot is |31 * hash(topic) + partition| mod num.replica.fetchers. A fetcher is made with its
 * first partition and ended by fetcher_pool_drop_idle(). Orders are messages to the fetcher's
 * reactor; that a fetcher has not heard of a change yet does no harm, as a partition takes records
 * and truncation only in the leader epoch that it follows in.
 *
 * Lock: LOCK_FETCHERS, never held with a partition's. Thread: any.
 */
#pragma once

#include "broker/replica/partition.h"
#include "common/conf/ibp.h"
#include "common/io/reactor.h"

struct fetcher_pool;
struct repl_quota;
struct tls_client;

struct fetcher_conf {
    const struct clock *clock;
    struct reactor_pool *reactors;
    struct metadata *metadata;
    int32_t broker_id;
    _Atomic int64_t *broker_epoch;
    enum ibp ibp;
    const char *listener; /* of the leaders; outlives the pool */
    struct tls_client *tls;
    int32_t fetchers_per_leader;
    int32_t wait_max_ms;
    int32_t min_bytes;
    int32_t max_bytes;
    int32_t response_max_bytes;
    int64_t backoff_ms;
    struct repl_quota *quota; /* of throttled replicas; outlives the pool */
    int64_t connect_timeout_ms;
    int64_t request_timeout_ms;
};

struct fetcher_pool *fetcher_pool_new(const struct fetcher_conf *conf);
/* Ends all fetchers; none starts any more. Their reactors end after it. */
void fetcher_pool_stop(struct fetcher_pool *pool);
/* After the reactors have stopped. NULL-safe, returns NULL. */
struct fetcher_pool *fetcher_pool_free(struct fetcher_pool *pool);

/* Fetches each from the leader it follows now, as its role, epoch and topic id say. Those of one
 * call begin together. */
void fetcher_pool_add(struct fetcher_pool *pool, struct partition *const *parts, size_t count);
void fetcher_pool_remove(struct fetcher_pool *pool, struct partition *const *parts, size_t count);
/* The topic id has become known, or unknown; part stays where it is. */
void fetcher_pool_renew(struct fetcher_pool *pool, struct partition *part);
void fetcher_pool_drop_idle(struct fetcher_pool *pool);
/* Spreads everything anew, if that is another number. */
void fetcher_pool_resize(struct fetcher_pool *pool, int32_t fetchers_per_leader);

/* Partitions given up until the next LeaderAndIsr. */
int32_t fetcher_pool_failed(struct fetcher_pool *pool);
/* The largest distance to a leader's end seen in the last answers, in records. */
int64_t fetcher_pool_max_lag(struct fetcher_pool *pool);
int32_t fetcher_pool_count(struct fetcher_pool *pool);
