/*
 * dispatch.c - a frame becomes a request: header, version, handler, body
 */
#include "broker/server/conn_internal.h"

#include "common/base/err.h"
#include "common/base/say.h"
#include "common/wire/header.h"

/* An ApiVersions request of a version from the future is answered in version 0 with what there is, so that the client can
 * choose again (protocol.md 4.1). */
static void answer_unknown_version(struct request *req)
{
    struct api_versions_response *resp = arena_new(&req->arena, struct api_versions_response);
    const struct api_msgs *msgs = api_messages_find(API_API_VERSIONS);

    msg_init(&api_versions_response_desc, resp);
    resp->error_code = UNSUPPORTED_VERSION;
    resp->api_keys = arena_new(&req->arena, struct api_versions_response_api_key);
    resp->api_keys_count = 1;
    resp->api_keys[0] = (struct api_versions_response_api_key){
        .api_key = API_API_VERSIONS,
        .min_version = msgs->min_version,
        .max_version = msgs->max_version,
    };
    req->version = 0;
    request_reply(req, resp);
}

static void fill(struct conn *c, struct request *req, const struct request_header *h)
{
    req->api_key = h->request_api_key;
    req->version = h->request_api_version;
    req->correlation_id = h->correlation_id;
    req->client_id = str_is_null(h->client_id) ? STR("") : h->client_id;
    req->listener_name = str_of(c->listener->conf->name);
    req->principal = str_of(c->principal);
    req->client_host = str_of(c->host);
    req->is_privileged = c->listener->is_privileged;
}

static int refuse(const struct conn *c, const struct request_header *h, const char *what)
{
    char buf[16];

    say_limited(SAY_WARN, 10, "connection of %s to listener %s is closed: %s v%d: %s", c->host,
                c->listener->conf->name, api_name(h->request_api_key, buf), h->request_api_version,
                what);
    return -EBADMSG;
}

static int decode_body(struct conn *c, struct request *req, const struct request_header *h,
                       struct slice body)
{
    const struct msg_desc *desc = api_messages_find(req->api_key)->request;
    void *msg = arena_alloc(&req->arena, desc->root.size);

    if (codec_decode(desc, req->version, body, &req->arena, msg) < 0)
        return refuse(c, h, "the body cannot be decoded");
    req->body = msg;
    return 0;
}

int dispatch_frame(struct conn *c, struct buf *buf, struct slice frame)
{
    const struct gate_opts *opts = gate_opts(c->listener->gate);
    struct request_header h;
    struct slice body;

    if (request_header_decode(frame, &h, &body) < 0) {
        say_limited(
            SAY_WARN, 10,
            "connection of %s to listener %s is closed: a frame of %zu bytes has no request header",
            c->host, c->listener->conf->name, frame.len);
        buf_unref(buf);
        return -EBADMSG;
    }
    api_handler handler = api_table_find(opts->apis, h.request_api_key);
    bool is_known = handler && api_has_version(h.request_api_key, h.request_api_version);
    bool is_from_the_future = handler && !is_known && h.request_api_key == API_API_VERSIONS;
    struct request *req = conn_request_new(c);
    req->frame_buf = buf;
    req->frame = frame;
    fill(c, req, &h);
    int r = is_known || is_from_the_future ? 0 : refuse(c, &h, "not served in this version");
    if (r == 0 && is_known)
        r = decode_body(c, req, &h, body);
    if (r < 0) {
        conn_request_drop(c, req);
        return r;
    }
    conn_started(c, req);
    if (is_known)
        handler(opts->broker, req);
    else
        answer_unknown_version(req);
    return 0;
}
