/*
 * zk.h - the session with ZooKeeper: connect, reconnect, expiry, and the requests under way
 *
 *   struct zk *zk = zk_new(&conf);
 *   zk_add_listener(zk, &listener);
 *   int r = zk_start(zk, &why);      -- connected, chroot made, or a text that says why not
 *   ... zk_as_store(zk) ...
 *   zk_stop(zk);                     -- closes the session: ephemeral nodes vanish now
 *   zk = zk_free(zk);
 *
 * Threads: the library's two (they copy, count and post), and one of our own, the session thread,
 * that opens and closes handles and calls listeners. One lock (LOCK_ZK) guards what they share; it
 * is never held across a call into a listener, a watch handler, a done callback, or the closing of
 * a handle.
 *
 * When a session expires every request under way, and every one submitted from then on, fails at
 * once with ZK_SESSION_EXPIRED, so no caller can be stuck in a request while a listener waits for
 * that caller (pain 3). Then before_new_session of all listeners runs; after that requests are
 * taken again and wait for the new session, which is tried for ever with a back-off, host names
 * being resolved anew each time; with it after_new_session runs.
 */
#pragma once

#include "common/base/strbuf.h"
#include "zk/zk_store.h"

struct zk;

struct zk_conf {
    const char *connect; /* zookeeper.connect: host:port[,host:port...][/chroot] */
    int32_t session_timeout_ms;
    int32_t connection_timeout_ms; /* 0 = the session's */
    int32_t max_in_flight;
    bool finds_chroot; /* which must be there: it is not made */
    bool set_acl;      /* zookeeper.set.acl */
    /* zookeeper.digest.auth (a key of ours): "user:password" for the scheme digest; NULL = none */
    const char *digest_auth;
    /* zookeeper.sasl.* (from the JAAS section Client): refused where the library has no SASL; NULL
     * = none */
    const char *sasl_user;
    const char *sasl_password_file;
    /* For tools that look: no chroot is made, and a server without a quorum is good enough */
    bool only_reads;
    bool ssl;                   /* zookeeper.ssl.client.enable */
    const char *ssl_truststore; /* PEM files: what the C library takes */
    const char *ssl_keystore;   /* certificates and key in one file */
    const char *ssl_key_password;
    const struct clock *clock; /* NULL = the machine's */
};

/* All are called on the session thread, in the order of registration, with no lock held. NULL
 * members are skipped. */
struct zk_listener {
    /* The session is gone. May wait for its owner to take notice; must not wait for a request to
     * ZooKeeper to succeed. */
    void (*before_new_session)(void *ctx);
    void (*after_new_session)(void *ctx, int64_t session_id);
    /* Reconnected within the same session; watches have survived. */
    void (*connected)(void *ctx);
    void (*disconnected)(void *ctx);
    void *ctx;
};

/* 0, or -EINVAL/-ENOTSUP and a text for the operator that names the key and the value that would
 * do. */
int zk_conf_check(const struct zk_conf *conf, struct strbuf *ret_why) MUST_CHECK;

/* Copies the configuration. */
struct zk *zk_new(const struct zk_conf *conf);
/* Stops it if need be. NULL-safe, returns NULL. */
struct zk *zk_free(struct zk *zk);
/* Before zk_start() only. */
void zk_add_listener(struct zk *zk, const struct zk_listener *l);
/* Makes the chroot, unless finds_chroot, and waits for the first connection: 0, -ETIMEDOUT, -EACCES
 * (authentication), -EINVAL, -ENOTSUP. */
int zk_start(struct zk *zk, struct strbuf *ret_why) MUST_CHECK;
/* Ends the session; requests under way end with ZK_CLOSING. Thread: any but the session thread and
 * callbacks. */
void zk_stop(struct zk *zk);

struct zk_store *zk_as_store(struct zk *zk);

enum zk_state { ZK_STATE_CONNECTING, ZK_STATE_CONNECTED, ZK_STATE_EXPIRED, ZK_STATE_STOPPED };

struct zk_status {
    enum zk_state state;
    bool is_read_only; /* the server has no quorum and takes no writes; with only_reads alone */
    int64_t session_id;
    int32_t negotiated_timeout_ms;
    int64_t since_ms; /* wall clock: when this state began */
    uint64_t expirations;
    uint64_t disconnects;
    size_t queued; /* requests that wait to be sent */
    size_t in_flight;
};

void zk_status(struct zk *zk, struct zk_status *ret);
const char *zk_state_name(enum zk_state state);
