/*
 * fake_zk.h - a ZooKeeper in memory, behind the same struct zk_store as the real one
 *
 *   struct fake_zk_server *server = fake_zk_server_new(&clock.clock);
 *   struct fake_zk *a = fake_zk_new(server), *b = fake_zk_new(server);   -- two clients, one
 *   session each zk_cluster_prepare(fake_zk_store(a));
 *   fake_zk_expire(a);   -- its ephemeral nodes vanish, b's watches fire; a's requests end with
 *   ZK_SESSION_EXPIRED fake_zk_renew(a);    -- the next session
 *
 * As in zk.c a lost connection is never a result, since the request is repeated: what a caller can
 * notice is a request that was done twice (fake_zk_lose_reply). Watch handlers are called at the
 * end of the write that fires them, on its thread, with no lock held; or, after
 * fake_zk_hold_events(), by fake_zk_deliver(). Thread: any.
 */
#pragma once

#include "zk/zk_store.h"

struct fake_zk_server;
struct fake_zk;

struct fake_zk_server *fake_zk_server_new(const struct clock *clock);
/* After its clients. */
void fake_zk_server_free(struct fake_zk_server *server);

/* Has a session at once. */
struct fake_zk *fake_zk_new(struct fake_zk_server *server);
void fake_zk_free(struct fake_zk *z);
struct zk_store *fake_zk_store(struct fake_zk *z);

void fake_zk_expire(struct fake_zk *z);
/* Returns the new session's id. */
int64_t fake_zk_renew(struct fake_zk *z);
/* The connection goes, the session lives on at the server until fake_zk_server_forget() is called
 * with its id. A new session begins: what a restarted process finds. Returns the old id. */
int64_t fake_zk_restart(struct fake_zk *z);
void fake_zk_server_forget(struct fake_zk_server *server, int64_t session);
/* Requests end with ZK_CLOSING, pauses at once. */
void fake_zk_stop(struct fake_zk *z);

/* The nth write from now (1 = the next) is done, its answer is lost, and it is done again: the
 * caller sees the second answer. */
void fake_zk_lose_reply(struct fake_zk *z, int nth);
/* The nth request from now and all later ones end with result (an ill ensemble); ZK_OK heals it. */
void fake_zk_fail(struct fake_zk *z, int nth, enum zk_result result);
/* Before each request: a place for a test to let others act in between. */
typedef void (*fake_zk_hook_fn)(const struct zk_op *op, void *ctx);
void fake_zk_hook(struct fake_zk *z, fake_zk_hook_fn fn, void *ctx);
/* On each pause: usually moves a fake clock. Without one a pause only returns true. */
typedef void (*fake_zk_pause_fn)(int64_t ms, void *ctx);
void fake_zk_on_pause(struct fake_zk *z, fake_zk_pause_fn fn, void *ctx);

void fake_zk_hold_events(struct fake_zk_server *server, bool hold);
/* Calls the handlers that were held back; true if there was any. */
bool fake_zk_deliver(struct fake_zk_server *server);

/* Requests run so far, a multi being one: for tests of costs. */
uint64_t fake_zk_requests(const struct fake_zk *z);
/* Batches run so far: round trips of a pipelined client. */
uint64_t fake_zk_rounds(const struct fake_zk *z);
