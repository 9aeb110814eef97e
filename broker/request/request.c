#include "broker/request/request.h"

#include "common/base/err.h"
#include "common/base/say.h"
#include "common/wire/header.h"

/* Inline where we are on the connection's thread already: that is the usual way, and costs no
 * message. */
static void tell(struct request *req, enum request_outcome outcome)
{
    assert(req->outcome == REQUEST_OPEN);
    req->outcome = outcome;
    if (reactor_is_current(req->reactor))
        req->message.run(&req->message);
    else
        reactor_post(req->reactor, &req->message);
}

void request_reply(struct request *req, void *response)
{
    struct writer *w = arena_new(&req->arena, struct writer);

    writer_init(w, &req->arena);
    int r = response_encode(req->api_key, req->version, req->correlation_id, response, w);
    if (r < 0) {
        char buf[16];

        say_error(
            "answer cannot be encoded, connection closes api=%s version=%d field=%s reason=%s",
            api_name(req->api_key, buf), req->version, w->err_field ? w->err_field : "",
            err_name(r));
        request_close(req);
        return;
    }
    req->answer = w;
    tell(req, REQUEST_ANSWERED);
}

void request_no_reply(struct request *req)
{
    tell(req, REQUEST_SILENT);
}

void request_close(struct request *req)
{
    tell(req, REQUEST_CLOSES);
}
