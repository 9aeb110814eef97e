/*
 * delayed_fetch.h - Fetch: reads many partitions within the limits, and waits while there is too
 * little (controller.md B6, B10, B11; protocol.md 11.2)
 *
 * The handler gives the decoded request and gets done() once with the answer built: inside
 * fetch_start(), or later on the same reactor. All memory is the request's arena, which also holds
 * the files that the answer's records lie in. Thread: the reactor's.
 */
#pragma once

#include "broker/replica/delayed.h"
#include "broker/replica/fetch_session.h"

struct replica_manager;
struct fetch;

/* One partition in one round of reading. */
struct fetch_item {
    struct fetch_want want;
    int refused; /* known before reading: topic or id unknown, not authorized */
    struct partition *part;
    int error; /* not hosted here */
    struct fetch_got got;
    /* Its own: */
    struct session_part *session_part; /* of an incremental fetch */
    struct fetch *fetch;
    struct partition_watch watch;
    bool is_watching;
};

struct fetch {
    const struct fetch_request *req;
    struct fetch_who who; /* but for moves_replica */
    struct reactor *reactor;
    struct arena *arena;
    int32_t broker_max_bytes; /* fetch.max.bytes */
    /* Whether a topic may be read; NULL: all may. */
    bool (*may_read)(struct fetch *f, struct str topic);
    void (*done)(struct fetch *f);
    void *ctx;
    /* Out. An error that concerns the whole request is in its error_code. */
    struct fetch_response response;
    /* The partitions in the answer, in its order; the same pointers as in response.responses. */
    struct fetch_item *answered;
    int32_t answered_count;
    /* Its own: */
    struct replica_manager *m;
    enum fetch_kind kind;
    struct fetch_session *session;
    struct fetch_item *items;
    int32_t item_count;
    struct arena scratch; /* one round's work on a session */
    int32_t max_bytes;
    int32_t min_bytes;
    bool is_held; /* the quota of throttled followers left something out */
    struct delayed delayed;
};

void fetch_start(struct replica_manager *m, struct fetch *f);
