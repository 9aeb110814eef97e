/*
 * registration.h - what this broker tells of itself in ZooKeeper: made at start, again in a new
 * session, and rewritten when its listeners change
 *
 * Which endpoints are told follows the configuration as it is, with the ports that listeners are
 * bound to. Each content is an immutable snapshot, swapped under LOCK_CONFIG. Thread: as said.
 */
#pragma once

#include "broker/config/broker_conf.h"
#include "broker/server/gate.h"
#include "zk/zk_result.h"

struct registration;
struct zk_store;

struct registration_opts {
    struct zk_store *zk;
    const struct gate *gate; /* bound already; outlives it */
    const struct broker_conf *conf;
    int32_t broker_id;
};

struct registration *registration_new(const struct registration_opts *opts);
/* NULL-safe, returns NULL. */
struct registration *registration_free(struct registration *r);

/* zk_register_start(). Thread: the one that starts the broker. */
enum zk_result registration_start(struct registration *r, struct strbuf *why);
/* zk_register_again(), with what is to be told by then. Thread: the controller's. */
enum zk_result registration_again(struct registration *r);
/* The broker epoch, once one of them was ZK_OK. Thread: who called it. */
int64_t registration_epoch(const struct registration *r);
/*
 * Rewrites the content if a configuration gives other endpoints than before. ZK_REFUSED with the
 * reason: one of them is another broker's. While there is no node, it is told when there is one
 * again. Blocks. Thread: the one that changes settings, which also changes the gate.
 */
enum zk_result registration_update(struct registration *r, const struct broker_conf *conf,
                                   struct strbuf *why);
