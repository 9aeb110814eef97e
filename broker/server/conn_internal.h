/*
 * conn_internal.h - what conn.c and dispatch.c share
 */
#pragma once

#include "broker/server/conn.h"

enum conn_state { CONN_HANDSHAKE, CONN_OPEN, CONN_CLOSED };

struct conn {
    struct io_event event;
    struct conn_set *set;
    struct gate_listener *listener;
    struct stream *stream;
    struct framer framer;
    struct outq out;
    struct request *first; /* started and not yet queued to be sent, in order */
    struct request **last;
    int running; /* requests of that list */
    int unsent;  /* requests whose answer is in the queue */
    int pins;    /* callers inside */
    enum conn_state state;
    bool is_flush_due;
    bool is_read_due;
    bool is_blocked;   /* the socket takes no more */
    bool is_starved;   /* not read because of queued.max.request.bytes */
    bool is_ending;    /* no more is read; closed when the answers have left */
    bool is_file_cold; /* a job reads ahead for us */
    struct message flush;
    struct message read_again;
    struct timer idle;
    int64_t active_us;
    struct conn *prev, *next;
    struct conn *next_starved;
    struct job cold;
    struct outq_range cold_range;
    struct sock_addr peer;
    char host[SOCK_ADDR_TEXT + 1]; /* "/127.0.0.1" */
    char *principal;
};

/* A request with an empty arena, from the reactor's stock. */
struct request *conn_request_new(struct conn *c);
/* Decodes the frame and starts the request. < 0: the connection is to be closed, which has been said. */
int dispatch_frame(struct conn *c, struct buf *buf, struct slice body) MUST_CHECK;
/* Puts a request at the end of the connection's order; its handler may then run. */
void conn_started(struct conn *c, struct request *req);
/* Gives back one that was never started. */
void conn_request_drop(struct conn *c, struct request *req);
