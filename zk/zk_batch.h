/*
 * zk_batch.h - many ZooKeeper requests that are sent without waiting for each other
 *
 *   CLEANUP(zk_batch_deinit) struct zk_batch b = {0};
 *   size_t at = zk_batch_get(&b, "/controller");
 *   zk_store_run(store, &b);
 *   if (b.ops[at].result == ZK_OK) ... b.ops[at].ret_data ...
 *
 * A value, owned by one caller; while it runs (from submit until done) it belongs to the store and
 * nobody else may look at it. Paths are copied; data is borrowed until the batch is done (put it in
 * b.arena). Results, too, live in b.arena. A lost connection is not a result: those requests are
 * repeated in the same session for as long as it lives, so a conditional write may meet its own
 * earlier success (BAD_VERSION, NODE_EXISTS).
 */
#pragma once

#include "common/base/arena.h"
#include "zk/zk_result.h"

struct zk_stat {
    int64_t czxid;
    int64_t mzxid;
    int64_t ctime_ms;
    int64_t mtime_ms;
    int64_t ephemeral_owner;
    int32_t version;
    int32_t cversion;
    int32_t child_count;
};

enum zk_op_kind {
    ZK_OP_GET,
    ZK_OP_EXISTS,
    ZK_OP_CHILDREN,
    ZK_OP_CREATE,
    ZK_OP_SET,
    ZK_OP_DELETE,
    ZK_OP_CHECK, /* in a multi only */
};

enum {
    ZK_EPHEMERAL = BIT(0),
    ZK_SEQUENTIAL = BIT(1),
    ZK_WATCH = BIT(2), /* a read that arms the path's handler, if one is registered */
};

enum { ZK_ANY_VERSION = -1, ZK_NO_FENCE = -1 };

/* Requests in one batch, where there is no end to how many a caller has: bounds its memory, and
 * costs one round trip. */
enum { ZK_CHUNK = 4096 };

struct zk_op {
    enum zk_op_kind kind;
    uint32_t flags;
    int32_t version;      /* expected by set, delete, check */
    uint32_t multi_count; /* first op of a multi: how many ops; all others: 0 */
    bool in_multi;
    enum zk_result result; /* of this op; in a failed multi the one at fault has its reason */
    const char *path;
    struct slice data;      /* p == NULL is null, which is not the same as empty */
    struct slice ret_data;  /* get */
    const char *ret_path;   /* create with ZK_SEQUENTIAL: the name given */
    struct str *ret_names;  /* children, in no order */
    size_t ret_names_count; /* children */
    struct zk_stat stat;    /* get, exists, children, set (alone or in a multi) */
};

struct zk_batch {
    struct arena arena;
    struct zk_op *ops;
    size_t count;
    size_t cap;
    size_t multi_at; /* first op of the multi being built, plus one; 0 = none */
    void *run;       /* the store's, while it runs */
};

typedef void (*zk_batch_done_fn)(struct zk_batch *b, void *ctx);

void zk_batch_deinit(struct zk_batch *b);
/* Empty again, ready for the next use; results are gone. */
void zk_batch_reset(struct zk_batch *b);

/* Each returns the index of its op. get and exists arm the path's data handler, if one is
 * registered. */
size_t zk_batch_get(struct zk_batch *b, const char *path);
size_t zk_batch_exists(struct zk_batch *b, const char *path);
/* watch: arm the path's child handler, if one is registered. */
size_t zk_batch_children(struct zk_batch *b, const char *path, bool watch);
size_t zk_batch_create(struct zk_batch *b, const char *path, struct slice data, uint32_t flags);
size_t zk_batch_set(struct zk_batch *b, const char *path, struct slice data, int32_t version);
size_t zk_batch_delete(struct zk_batch *b, const char *path, int32_t version);
size_t zk_batch_check(struct zk_batch *b, const char *path, int32_t version);

/* The ops added between the two happen all or not at all. */
void zk_batch_multi_begin(struct zk_batch *b);
void zk_batch_multi_end(struct zk_batch *b);

/*
 * One write together with a check of /controller_epoch against epoch_version, the znode version
 * remembered at election; ZK_NO_FENCE leaves the write alone. Each returns the index of the write
 * itself, whose outcome zk_batch_result() tells.
 */
size_t zk_batch_create_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                              struct slice data);
size_t zk_batch_set_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                           struct slice data, int32_t version);
size_t zk_batch_delete_fenced(struct zk_batch *b, int32_t epoch_version, const char *path,
                              int32_t version);
/* Result of an op, or ZK_CONTROLLER_MOVED where the fence in front of it failed. */
enum zk_result zk_batch_result(const struct zk_batch *b, size_t at);
