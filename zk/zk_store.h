/*
 * zk_store.h - ZooKeeper as everybody above zk/ sees it, and the seam where tests put a fake one
 *
 * A store runs batches, knows its session and has handlers; the typed functions on top
 * (zk_brokers.h, zk_topics.h, zk_states.h, zk_configs.h, zk_consumers.h, zk_admin.h, zk_cluster.h,
 * zk_election.h, zk_register.h) are the same code for the real store (struct zk, zk_as_store()) and
 * the fake one (tests/support/fake_zk.h).
 *
 * All of them block until ZooKeeper has answered, so they belong on the controller's thread or on a
 * worker, never on a reactor and never under a lock. While the connection is lost they wait; they
 * end with ZK_SESSION_EXPIRED when the session is found expired. Results are put in the caller's
 * arena.
 */
#pragma once

#include "common/base/clock.h"
#include "zk/zk_batch.h"
#include "zk/zk_watch.h"

struct zk_store;

struct zk_store_ops {
    /* Sends the batch; done(b, ctx) is called once every op has its result: on the store's event
     * thread, or at once by the caller when it cannot be sent. done may only post. */
    void (*submit)(struct zk_store *s, struct zk_batch *b, zk_batch_done_fn done, void *ctx);
    /* The same, and waits for it. */
    void (*run)(struct zk_store *s, struct zk_batch *b);
    /* 0 while there is none. */
    int64_t (*session_id)(struct zk_store *s);
    void (*watch)(struct zk_store *s, enum zk_watch_kind kind, const char *path, zk_watch_fn fn,
                  void *ctx);
    void (*unwatch)(struct zk_store *s, enum zk_watch_kind kind, const char *path);
    /* Waits; false at once when the store is being stopped. */
    bool (*pause_ms)(struct zk_store *s, int64_t ms);
};

struct zk_store {
    const struct zk_store_ops *ops;
    const struct clock *clock;
};

static inline void zk_store_run(struct zk_store *s, struct zk_batch *b)
{
    s->ops->run(s, b);
}

static inline void zk_store_submit(struct zk_store *s, struct zk_batch *b, zk_batch_done_fn done,
                                   void *ctx)
{
    s->ops->submit(s, b, done, ctx);
}

static inline int64_t zk_store_session_id(struct zk_store *s)
{
    return s->ops->session_id(s);
}

static inline bool zk_store_pause_ms(struct zk_store *s, int64_t ms)
{
    return s->ops->pause_ms(s, ms);
}

/* See zk_watch.h. */
static inline void zk_store_watch_data(struct zk_store *s, const char *path, zk_watch_fn fn,
                                       void *ctx)
{
    s->ops->watch(s, ZK_WATCH_DATA, path, fn, ctx);
}

static inline void zk_store_watch_children(struct zk_store *s, const char *path, zk_watch_fn fn,
                                           void *ctx)
{
    s->ops->watch(s, ZK_WATCH_CHILDREN, path, fn, ctx);
}

static inline void zk_store_unwatch_data(struct zk_store *s, const char *path)
{
    s->ops->unwatch(s, ZK_WATCH_DATA, path);
}

static inline void zk_store_unwatch_children(struct zk_store *s, const char *path)
{
    s->ops->unwatch(s, ZK_WATCH_CHILDREN, path);
}

/* Names or texts in an arena. */
struct zk_names {
    struct str *list;
    size_t count;
};

/* One op each. ret_* may be NULL where the caller does not care. */
enum zk_result zk_store_get(struct zk_store *s, const char *path, struct arena *a,
                            struct slice *ret_data, struct zk_stat *ret_stat);
enum zk_result zk_store_exists(struct zk_store *s, const char *path, struct zk_stat *ret_stat);
/* The same, and arms the path's data handler even where the node is absent (exists, then get, in
 * one round). */
enum zk_result zk_store_get_armed(struct zk_store *s, const char *path, struct arena *a,
                                  struct slice *ret_data, struct zk_stat *ret_stat);
/* Sorted by name. An absent node has none: ZK_OK and an empty list. */
enum zk_result zk_store_children(struct zk_store *s, const char *path, bool watch, struct arena *a,
                                 struct zk_names *ret);
enum zk_result zk_store_create(struct zk_store *s, const char *path, struct slice data,
                               uint32_t flags);
enum zk_result zk_store_set(struct zk_store *s, const char *path, struct slice data,
                            int32_t version, struct zk_stat *ret_stat);
enum zk_result zk_store_delete(struct zk_store *s, const char *path, int32_t version);

/* Creates missing parents too (null data). NODE_EXISTS is told. */
enum zk_result zk_store_create_deep(struct zk_store *s, const char *path, struct slice data);
/* Makes sure that all are there, null data, missing parents too. One pipelined round when they are.
 * */
enum zk_result zk_store_ensure_paths(struct zk_store *s, const char *const *paths, size_t count);
/* Children first; not atomic; absent is ZK_OK. Each delete is fenced on its own. */
enum zk_result zk_store_delete_deep(struct zk_store *s, const char *path, int32_t epoch_version);
/* Many of them in the round trips of one; paths are absolute. */
enum zk_result zk_store_delete_trees(struct zk_store *s, const struct zk_names *roots,
                                     int32_t epoch_version);
/* These children of dir, pipelined; absent ones are fine. Fenced each on its own, unless
 * ZK_NO_FENCE. */
enum zk_result zk_store_delete_children(struct zk_store *s, const char *dir,
                                        const struct zk_names *names, int32_t epoch_version);
