#include "broker/request/request.h"

#include "common/base/say.h"
#include "common/wire/header.h"

/* The connection is told on its own reactor; whoever replies may be anywhere. */
static void finish(struct request *req, enum request_state state)
{
    assert(req->state == REQUEST_RUNNING);
    req->state = state;
    if (reactor_is_current(req->reactor))
        req->message.run(&req->message);
    else
        reactor_post(req->reactor, &req->message);
}

void request_reply(struct request *req, void *response)
{
    char buf[16];

    writer_init(&req->answer, &req->arena);
    int r =
        response_encode(req->api_key, req->version, req->correlation_id, response, &req->answer);
    if (r < 0)
        say_error("the answer to %s v%d of client %.*s cannot be encoded (field %s): %s; its "
                  "connection is closed",
                  api_name(req->api_key, buf), req->version, STR_ARG(req->client_id),
                  req->answer.err_field ? req->answer.err_field : "?", strerror(-r));
    finish(req, r < 0 ? REQUEST_CLOSE : REQUEST_ANSWERED);
}

void request_no_reply(struct request *req)
{
    finish(req, REQUEST_NO_ANSWER);
}

void request_close(struct request *req)
{
    finish(req, REQUEST_CLOSE);
}
