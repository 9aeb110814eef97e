/*
 * zk_direct.h - one session with ZooKeeper for a command-line tool: blocking calls, any node, any
 * ACL
 *
 * Beside zk.h, which is what a broker needs: no queue, no watches, no new session after an expired
 * one. A result is ZooKeeper's own code, 0 or negative, for zk_direct_name(). Thread: one at a
 * time.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/strbuf.h"

struct zk_direct;

struct zk_direct_conf {
    const char *connect; /* host:port[,...][/chroot] */
    int32_t session_timeout_ms;
    /* TLS, PEM files; refused where the library has none */
    bool ssl;
    const char *ssl_truststore;
    const char *ssl_keystore;
    const char *ssl_key_password;
};

enum zk_direct_code {
    ZK_DIRECT_CONNECTION_LOSS = -4,
    ZK_DIRECT_UNIMPLEMENTED = -6,
    ZK_DIRECT_TIMEOUT = -7,
    ZK_DIRECT_BAD_ARGUMENTS = -8,
    ZK_DIRECT_NO_NODE = -101,
    ZK_DIRECT_NO_AUTH = -102,
    ZK_DIRECT_BAD_VERSION = -103,
    ZK_DIRECT_NO_CHILDREN_FOR_EPHEMERALS = -108,
    ZK_DIRECT_NODE_EXISTS = -110,
    ZK_DIRECT_NOT_EMPTY = -111,
    ZK_DIRECT_SESSION_EXPIRED = -112,
    ZK_DIRECT_INVALID_ACL = -114,
    ZK_DIRECT_AUTH_FAILED = -115,
};

struct zk_direct_stat {
    int64_t czxid, mzxid, pzxid;
    int64_t ctime_ms, mtime_ms;
    int64_t ephemeral_owner;
    int32_t version, cversion, aversion;
    int32_t data_length, num_children;
};

enum {
    ZK_PERM_READ = 1,
    ZK_PERM_WRITE = 2,
    ZK_PERM_CREATE = 4,
    ZK_PERM_DELETE = 8,
    ZK_PERM_ADMIN = 16,
    ZK_PERM_ALL = 31
};

struct zk_direct_acl {
    const char *scheme, *id;
    int32_t perms;
};

struct zk_direct_names {
    struct str *v; /* sorted */
    size_t count;
};

struct zk_direct_acls {
    struct zk_direct_acl *v;
    size_t count;
};

enum zk_create_mode {
    ZK_CREATE_PERSISTENT,
    ZK_CREATE_EPHEMERAL,
    ZK_CREATE_SEQUENTIAL,
    ZK_CREATE_EPHEMERAL_SEQUENTIAL,
    ZK_CREATE_CONTAINER,
    ZK_CREATE_TTL,
    ZK_CREATE_TTL_SEQUENTIAL,
};

struct zk_direct_node {
    const char *path;
    struct slice data;          /* p == NULL: null, which is not the same as empty */
    struct zk_direct_acls acls; /* none: everybody may do everything */
    enum zk_create_mode mode;
    int64_t ttl_ms;
};

/* 0 once connected. -ETIMEDOUT, -ENOENT (no such host), -ENOTSUP, -EINVAL: the reason in why. */
int zk_direct_open(const struct zk_direct_conf *conf, int64_t timeout_ms, struct zk_direct **ret,
                   struct strbuf *why) MUST_CHECK;
/* Ends the session. NULL-safe, returns NULL. */
struct zk_direct *zk_direct_close(struct zk_direct *zk);
/* "ConnectionLoss", "NoNode": as in KeeperErrorCode = X. */
const char *zk_direct_name(int code);

/* What they give lives in a. */
int zk_direct_get(struct zk_direct *zk, const char *path, struct arena *a, struct slice *ret,
                  struct zk_direct_stat *ret_stat) MUST_CHECK;
int zk_direct_exists(struct zk_direct *zk, const char *path, struct zk_direct_stat *ret) MUST_CHECK;
int zk_direct_children(struct zk_direct *zk, const char *path, struct arena *a,
                       struct zk_direct_names *ret, struct zk_direct_stat *ret_stat) MUST_CHECK;
int zk_direct_create(struct zk_direct *zk, const struct zk_direct_node *node, struct arena *a,
                     const char **ret_path) MUST_CHECK;
/* version -1: whatever it is. */
int zk_direct_set(struct zk_direct *zk, const char *path, struct slice data, int32_t version,
                  struct zk_direct_stat *ret) MUST_CHECK;
int zk_direct_delete(struct zk_direct *zk, const char *path, int32_t version) MUST_CHECK;
int zk_direct_get_acl(struct zk_direct *zk, const char *path, struct arena *a,
                      struct zk_direct_acls *ret, struct zk_direct_stat *ret_stat) MUST_CHECK;
int zk_direct_set_acl(struct zk_direct *zk, const char *path, int32_t version,
                      const struct zk_direct_acls *acls) MUST_CHECK;
int zk_direct_sync(struct zk_direct *zk, const char *path) MUST_CHECK;
int zk_direct_add_auth(struct zk_direct *zk, const char *scheme, struct slice auth) MUST_CHECK;
