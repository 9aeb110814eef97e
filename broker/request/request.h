/*
 * request.h - one request on its way through the broker, and its one answer
 *
 * Made by broker/server/dispatch on the reactor that read the frame. Decoded structs, the answer and whatever a handler
 * needs live in its arena. A handler either replies before it returns, or parks the request; request_reply() is then
 * called exactly once, from any thread, and the answer finds its way back to the connection in the order of the requests.
 *
 * Owner: whoever will reply. After request_reply() the request must not be touched.
 */
#pragma once

#include "common/base/arena.h"
#include "common/io/reactor.h"
#include "common/wire/messages.h"
#include "common/wire/writer.h"

struct conn;

enum request_state { REQUEST_RUNNING, REQUEST_ANSWERED, REQUEST_NO_ANSWER, REQUEST_CLOSE };

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

    /* The server's own: */
    struct conn *conn;
    struct request *next; /* order of the connection */
    enum request_state state;
    struct writer answer; /* encoded, in the arena */
    struct buf *frame_buf;
    struct message message; /* run: tells the connection that state has changed */
};

/*
 * Sends response (the message that belongs to api_key, in the request's arena). File ranges in it must be held through the
 * arena (arena_hold with file_unref). Thread: any.
 */
void request_reply(struct request *req, void *response);
/* Produce with acks=0: no answer, the next request goes on. Thread: any. */
void request_no_reply(struct request *req);
/* Closes the connection without an answer, as Kafka does where an answer cannot be made. Thread: any. */
void request_close(struct request *req);
