/*
 * request.h - one request on its way through the broker, and its one answer
 *
 * Made by broker/server/dispatch on the reactor that read the frame. Decoded structs, the answer
 * and whatever a handler needs live in its arena. A handler either replies before it returns, or
 * parks the request; request_reply() is then called exactly once, from any thread, and the answer
 * finds its way back to the connection in the order of the requests.
 *
 * Owner: whoever will reply. After request_reply() the request must not be touched.
 */
#pragma once

#include "common/base/arena.h"
#include "common/io/reactor.h"
#include "common/wire/messages.h"

struct conn;
struct writer;

enum request_outcome { REQUEST_OPEN, REQUEST_ANSWERED, REQUEST_SILENT, REQUEST_CLOSES };

struct request {
    struct arena arena;
    int16_t api_key;
    int16_t version;
    int32_t correlation_id;
    struct str client_id;
    const void *body; /* the decoded request message */
    struct slice
        frame; /* the bytes it was decoded from; a handler may write into them (offsets in place) */
    struct reactor *reactor;  /* where the connection lives; timers of waiting requests go there */
    int64_t received_us;      /* monotonic */
    struct str listener_name; /* of the listener that it came in by */
    struct str principal;     /* "User:ANONYMOUS" */
    struct str client_host;   /* "/127.0.0.1", as Kafka prints it */
    bool is_privileged; /* control plane listener, or inter-broker listener where there is none */
    /* While it waits for its answer, the next request of the connection does not start. False for
     * Produce and Fetch; a handler sets it before it returns where the order of effects would be
     * lost, as when it hands the work to another thread. */
    bool is_barrier;

    /* The server's own: */
    struct conn *conn;
    struct request *next;         /* order of the connection */
    enum request_outcome outcome; /* set by whoever replies */
    bool is_done;                 /* the reactor knows the outcome */
    struct writer *answer;        /* encoded, in the arena */
    size_t cost;                  /* bytes that count against queued.max.request.bytes */
    struct message message;       /* runs on the reactor when there is an outcome */
};

/*
 * Encodes, and sends in its turn, response (the message that belongs to api_key, in the request's
 * arena). File ranges in it must be held through the arena (arena_hold with file_unref). Where it
 * cannot be encoded the connection is closed. Thread: any.
 */
void request_reply(struct request *req, void *response);
/* Produce with acks=0: no answer, the next request goes on. Thread: any. */
void request_no_reply(struct request *req);
/* Closes the connection without an answer, as Kafka does where an answer cannot be made. Thread:
 * any. */
void request_close(struct request *req);
