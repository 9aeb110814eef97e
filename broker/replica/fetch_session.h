/*
 * fetch_session.h - incremental fetch sessions, the server's side (KIP-227; controller.md B11.1)
 *
 * A session remembers the partitions that a client or follower fetches and what it was told of each
 * last, so that requests and answers carry changes only. It also watches its partitions: an append
 * or a move of the high watermark puts a partition on the session's list of those with news, and a
 * fetch looks at nothing else. A partition leaves the list when it was read up to its end and all
 * is told; an error keeps it there, as errors are told each time.
 *
 * Locks: the session's own (LOCK_FETCH_SESSION) over one request's work on it; LOCK_FETCH_NEWS for
 * the list, which watches take under a partition's lock; a shard's (LOCK_FETCH_SESSIONS) for
 * finding and evicting. Thread: any.
 */
#pragma once

#include "broker/replica/delayed.h"
#include "broker/replica/partition_fetch.h"
#include "common/base/containers.h"

struct fetch_session;
struct fetch_sessions;

enum session_place { PLACE_SETTLED, PLACE_NEWS, PLACE_WORK };

struct session_part {
    struct fetch_want want; /* texts are its own */
    struct fetch_session *session;
    struct partition *part; /* NULL: not hosted, or not looked up yet */
    struct partition_watch watch;
    int64_t told_hw;
    int64_t told_start;
    /* Under LOCK_FETCH_NEWS: */
    enum session_place place;
    bool came_again; /* news while it was worked on */
    struct session_part *prev, *next;
    /* Its key in the session: name or id, then the partition. */
    UT_hash_handle hh;
    uint32_t key_len;
    uint8_t key[];
};

struct fetch_session {
    struct mutex lock; /* LOCK_FETCH_SESSION: epoch, parts */
    int32_t id;
    int32_t epoch; /* expected next */
    bool uses_ids;
    int32_t replica_id; /* -1: a consumer's */
    struct session_part *parts;
    struct mutex news_lock; /* LOCK_FETCH_NEWS: news, parked */
    struct session_part *news;
    struct delayed *parked; /* poked by news */
    _Atomic int64_t last_fetch_ms;
    _Atomic int32_t size;
    _Atomic unsigned refs;
    int64_t created_ms;
    UT_hash_handle hh; /* in its shard, by id */
};

struct fetch_sessions *fetch_sessions_new(const struct clock *clock, int32_t slots);
struct fetch_sessions *fetch_sessions_free(struct fetch_sessions *c);
int32_t fetch_sessions_count(struct fetch_sessions *c);

enum fetch_kind {
    FETCH_SESSIONLESS, /* full, and nothing is remembered */
    FETCH_FULL,        /* full; a session is made with the answer, where a slot is free */
    FETCH_INCREMENTAL,
};

/*
 * What the session fields of a request mean. Incremental: *ret is the session with a reference; its
 * epoch has moved on and the request's partitions are taken over. FETCH_SESSION_ID_NOT_FOUND,
 * INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR.
 */
int fetch_sessions_begin(struct fetch_sessions *c, const struct fetch_request *req,
                         const struct fetch_who *who, enum fetch_kind *ret_kind,
                         struct fetch_session **ret) MUST_CHECK;
struct fetch_session *fetch_session_unref(struct fetch_session *s);

/* What a full fetch was told; becomes a new session's memory. */
struct fetch_told {
    const struct fetch_want *want;
    struct partition *part; /* may be NULL */
    const struct fetch_response_partition *data;
};

/* A session for a full fetch that has been answered: its id, or 0 where there is no room. */
int32_t fetch_sessions_create(struct fetch_sessions *c, const struct fetch_who *who,
                              const struct fetch_told *told, int32_t count);

/* ---- work on one session; its lock is held ---- */

/* The epoch that the request under way left behind; another one means that the session was used
 * twice. */
bool fetch_session_is_at(const struct fetch_session *s, int32_t request_epoch) REQUIRES(s->lock);
/* Takes the partitions with news off their list, in order; *ret_count of them, in the arena. */
struct session_part **fetch_session_take_work(struct fetch_session *s, struct arena *a,
                                              int32_t *ret_count) REQUIRES(s->lock);
/* Puts one back: to the list's end, or away where it is settled and had no news meanwhile. */
void fetch_session_put_work(struct session_part *sp, bool is_settled);
/* Watches the partition from now on, and no longer the one before; takes over the reference. */
void fetch_session_attach(struct session_part *sp, struct partition *part);
/* Whether the answer has to name the partition; remembers what it tells. */
bool fetch_session_tell(struct session_part *sp, const struct fetch_response_partition *d);
/* News poke d; NULL ends that where it was `was`. */
void fetch_session_park(struct fetch_session *s, struct delayed *d, const struct delayed *was);
