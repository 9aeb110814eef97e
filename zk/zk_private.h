/*
 * zk_private.h - what the files of the real session share; the only place that includes zookeeper.h
 *
 * zk.c       the session: its thread, its states, listeners
 * zk_send.c  requests: queue, pipeline, answers
 * zk_open.c  configuration, addresses, handles
 */
#pragma once

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/base/thread.h"
#include "zk/zk.h"

#if defined(KLAMM_ZK_TLS) && !defined(HAVE_OPENSSL_H)
#define HAVE_OPENSSL_H 1
#endif
#if defined(KLAMM_ZK_SASL) && !defined(HAVE_CYRUS_SASL_H)
#define HAVE_CYRUS_SASL_H 1
#endif
#include <zookeeper/zookeeper.h>

/* One handle of the library, for one session. What comes from an older one is passed over. */
struct zk_handle {
    struct zk *zk;
    zhandle_t *zh;
    bool was_connected;
};

/* A batch on its way. */
struct zk_run {
    struct zk_batch *batch;
    zk_batch_done_fn done;
    void *ctx;
    size_t next; /* first op that has not been sent */
    size_t left; /* requests without a result */
    struct zk_run *next_run;
};

/* A request with the library, or one that waits to be sent again. */
struct zk_req {
    struct zk *zk;
    struct zk_run *run;
    size_t at; /* its first op */
    int count;
    int losses; /* how often its connection was lost */
    bool multi;
    zoo_op_t *ops; /* multi: one allocation with the two below */
    zoo_op_result_t *results;
    struct Stat *stats;
    struct zk_req *prev, *next; /* in the list it is in: sent, or retry */
};

struct zk_runs {
    struct zk_run *head;
    struct zk_run *tail;
};

struct zk_listeners {
    struct zk_listener *list;
    size_t count;
    size_t cap;
};

struct zk {
    struct zk_store store;
    struct zk_conf conf; /* texts are ours */
    char *servers;       /* zookeeper.connect without the chroot */
    char *chroot;        /* "/a/b", or NULL */
    struct zk_listeners listeners;
    struct zk_watches watches;
    struct thread thread;

    struct mutex lock; /* LOCK_ZK, for all below */
    struct cond changed;
    struct zk_handle *handle;
    enum zk_state state;
    bool started;
    bool stopping;
    bool auth_failed;
    bool is_read_only; /* the server of now */
    int64_t session_id;
    int32_t negotiated_timeout_ms;
    int64_t since_ms;
    int64_t since_us;
    int short_lives; /* connections in a row that were dropped at once */
    uint64_t expirations;
    uint64_t disconnects;
    struct zk_runs queue; /* batches with requests that have not been sent */
    struct zk_req *retry; /* requests whose connection was lost, in their order */
    struct zk_req *retry_tail;
    struct zk_req *sent; /* requests that are with the library */
    size_t in_flight;    /* how many these are */
    char trouble[160];   /* why there is no connection, as far as known */
};

/* zk.c */
void zk_set_state(struct zk *zk, enum zk_state state) REQUIRES(zk->lock);
/* The library's watcher of all handles. */
void zk_on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);

/* zk_send.c: what is finished by these is collected, and called back by zk_runs_done() with no lock
 * held */
void zk_send_submit(struct zk_store *s, struct zk_batch *b, zk_batch_done_fn done, void *ctx);
void zk_send_run(struct zk_store *s, struct zk_batch *b);
void zk_send_pump(struct zk *zk, struct zk_runs *done) REQUIRES(zk->lock);
void zk_send_fail_all(struct zk *zk, enum zk_result result, struct zk_runs *done)
    REQUIRES(zk->lock);
/* Until nothing is with the library, or then. */
void zk_send_drain(struct zk *zk, int64_t deadline_us);
/* What the library had when its handle was closed, and never answered. */
void zk_send_abandon(struct zk *zk);
void zk_runs_done(struct zk_runs *done);
/* The library's threads may not wait for a request. */
void zk_enter_callback(void);
void zk_leave_callback(void);

/* zk_open.c */
enum zk_result zk_result_of(int rc);
/* "1.2.3.4:2181,..." of all hosts that resolve now; -ENOENT with *ret_why if none does. */
int zk_resolve(const char *servers, struct strbuf *ret_addresses, struct strbuf *ret_why)
    MUST_CHECK;
/* 0 or -errno. Events may come before it returns. */
int zk_handle_open(struct zk_handle *h, const char *addresses) MUST_CHECK;
/* Ends the session if it is connected; waits for the library's threads. NULL-safe, returns NULL. */
struct zk_handle *zk_handle_close(struct zk_handle *h);
const struct ACL_vector *zk_acl_for(const struct zk *zk, const char *path);
