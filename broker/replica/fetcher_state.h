/*
 * fetcher_state.h - the inside of a fetcher, shared by its files: fetcher.c (orders, loop),
 * fetcher_request.c (what is asked), fetcher_answer.c (what came), fetcher_offsets.c (truncation
 * points, out of range)
 *
 * All of it belongs to the fetcher's reactor, but for the orders that are gathered for it.
 */
#pragma once

#include "broker/replica/fetcher.h"

/* What a partition needs next. One that is up to date in the session is on no list. */
enum follow_step {
    STEP_TRUNCATE, /* the leader's end of our latest epoch */
    STEP_LATEST,   /* the leader's end: our offset is out of its range */
    STEP_EARLIEST, /* the leader's start */
    STEP_FETCH,
    STEP_COUNT,
};

struct followed {
    struct fetcher *fetcher;
    struct partition *part; /* a reference; a key */
    struct uuid topic_id;
    uint64_t order;
    int32_t leader_epoch;
    int64_t offset;
    int64_t initial_offset;
    int64_t lag; /* behind the leader's high watermark, -1 unknown */
    enum follow_step step;
    bool is_listed;  /* on the list of its step */
    bool is_delayed; /* on the list of those, and on no other */
    bool in_session;
    /* As sent in the request in flight, or last in the session. */
    int64_t sent_offset;
    int32_t sent_epoch; /* leader epoch */
    int32_t asked_epoch;
    bool in_request;
    int64_t back_off_ms; /* of the next error in a row, 0 after an answer without one */
    struct timer delay;
    struct followed *prev, *next;
    UT_hash_handle hh;      /* by part */
    UT_hash_handle by_name; /* topic and partition */
    UT_hash_handle by_id;   /* topic id and partition, where there is one */
    uint32_t name_len;
    uint8_t id_key[sizeof(struct uuid) + 4];
    uint8_t name_key[];
};

/* A partition that the session has and that is not to be fetched any more. */
struct forgotten {
    struct str topic; /* its own */
    struct uuid topic_id;
    int32_t partition;
    struct forgotten *next;
};

struct fetcher {
    struct fetcher_opts opts;
    struct fetcher_orders *gathered; /* the pool's: orders that were not posted yet */
    char *host;
    char *client_id;
    struct peer *peer;
    struct followed *by_part;
    struct followed *by_name;
    struct followed *by_id;
    struct followed *lists[STEP_COUNT];
    struct followed *delayed;
    struct peer_call call;
    enum follow_step call_step;
    bool in_flight;
    bool is_stopped;
    bool is_step_posted;
    struct message step;
    struct message stop;
    struct timer backoff; /* after a whole request failed */
    /* The session: */
    int32_t session_id;
    int32_t session_epoch; /* 0: the next request is a full one */
    bool uses_ids;
    bool is_full; /* the request in flight */
    int32_t asked_count;
    struct forgotten *forgotten;
    int32_t without_id; /* partitions that have no topic id */
    _Atomic int64_t lag;
};

/* ---- fetcher.c ---- */

/* Puts fo on the list of its step, if it is not delayed, and lets the loop run. */
void followed_next(struct followed *fo, enum follow_step step);
/* Takes it off its list. */
void followed_unlist(struct followed *fo);
/* Leaves it out for so long, then goes on with the same step. */
void followed_delay(struct followed *fo, int64_t ms);
/* The same for the back-off (replica.fetch.backoff.ms). */
void followed_back_off(struct followed *fo);
/* How long until the first one that is delayed can go on, at most `most`. */
int64_t fetcher_until_due_ms(const struct fetcher *f, int64_t most);
/* Gives it up until the next LeaderAndIsr. fo is gone afterwards. */
void followed_fail(struct followed *fo, const char *why);
/* Out of the leader's session, with the next request. */
void followed_forget(struct followed *fo);
struct followed *fetcher_find(struct fetcher *f, struct str topic, struct uuid id,
                              int32_t partition);
/* The whole request failed: everything waits for the back-off, and the session starts over. */
void fetcher_back_off(struct fetcher *f, const char *what, int r);
/* Sends call with this step's answer handler. */
void fetcher_send(struct fetcher *f, enum follow_step step, const void *request);
/* FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH and the rest, the same for every kind of request. fo
 * may be gone afterwards. */
void fetcher_partition_error(struct followed *fo, int error);

/* ---- fetcher_request.c ---- */

/* False where there is nothing to fetch. */
bool fetcher_send_fetch(struct fetcher *f);
void fetcher_new_session(struct fetcher *f);

/* ---- fetcher_answer.c ---- */

void fetcher_on_fetch(struct fetcher *f, const struct fetch_response *resp);

/* ---- fetcher_offsets.c ---- */

/* Cuts those that need not ask; asks for the others. True where a request is in flight. */
bool fetcher_send_epochs(struct fetcher *f);
void fetcher_on_epochs(struct fetcher *f, const struct offset_for_leader_epoch_response *resp);
bool fetcher_send_offsets(struct fetcher *f, enum follow_step step);
void fetcher_on_offsets(struct fetcher *f, enum follow_step step,
                        const struct list_offsets_response *resp);
