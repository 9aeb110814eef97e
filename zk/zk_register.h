/*
 * zk_register.h - this broker's ephemeral /brokers/ids/N
 *
 * A multi creates the node and sets its content, so that a successful registration knows its czxid:
 * the broker epoch. When the node is there already:
 * - its owner is our present session: our own create whose answer was lost; accepted;
 * - its owner is an earlier session of this process: left over from before the expiry, perhaps by a
 *   create whose answer was lost; deleted and created again;
 * - its endpoints name a host of ours: our earlier self (a restart within the session timeout),
 *   waited for with a line in the log every few seconds that counts down;
 * - anything else: another broker with our id; ZK_NODE_EXISTS and a text that names its host.
 * Thread: the controller's, or the one that starts the broker.
 */
#pragma once

#include "common/base/strbuf.h"
#include "zk/node_broker.h"
#include "zk/zk_store.h"

enum { ZK_REGISTER_SESSIONS = 8 };

struct zk_register {
    struct zk_store *store;
    int32_t broker_id;
    int32_t session_timeout_ms; /* the longest that an earlier self can still live */
    /* State, ours. */
    int64_t sessions[ZK_REGISTER_SESSIONS]; /* in which this process has tried, the newest first */
    int64_t epoch; /* czxid of the last registration; -1 = not registered */
};

void zk_register_init(struct zk_register *reg, struct zk_store *store, int32_t broker_id,
                      int32_t session_timeout_ms);

/*
 * Fails if another broker advertises one of our host:port pairs; then registers, waiting for an
 * earlier self until its session must be over. ZK_OK: reg->epoch is the broker epoch.
 * ZK_NODE_EXISTS, ZK_REFUSED (an endpoint is taken): ret_why tells the operator who has it and what
 * to do.
 */
enum zk_result zk_register_start(struct zk_register *reg, const struct node_broker *self,
                                 struct strbuf *ret_why);

/*
 * After a new session: tries until it is registered, however long that takes; another broker in our
 * place is waited for as well, with an error in the log each minute. Ends early with
 * ZK_SESSION_EXPIRED (the next session calls again) or ZK_CLOSING.
 */
enum zk_result zk_register_again(struct zk_register *reg, const struct node_broker *self);

/* Rewrites the node in place (listeners changed): the epoch stays. ZK_REFUSED with the reason:
 * another broker advertises one of our host:port pairs; nothing is written. Thread: any. */
enum zk_result zk_register_update(struct zk_register *reg, const struct node_broker *self,
                                  struct strbuf *ret_why);
