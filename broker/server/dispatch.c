#include "broker/server/dispatch.h"

#include "broker/server/listener.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/wire/header.h"

static void say_refused(const struct conn *c, const struct request_header *h, int r)
{
    char buf[16];

    say_limited(SAY_INFO, 5,
                "request not understood, connection closes listener=%s client=%.*s api=%s "
                "version=%d reason=%s",
                listener_name(conn_listener(c)), STR_ARG(conn_host(c)),
                api_name(h->request_api_key, buf), h->request_api_version, err_name(r));
}

/* Produce and Fetch may wait for long without keeping others from starting. */
static bool is_barrier(int16_t key)
{
    return key != API_PRODUCE && key != API_FETCH;
}

static struct request *new_request(struct conn *c, const struct request_header *h,
                                   struct slice frame)
{
    struct conn_set *set = conn_get_set(c);
    struct arena arena = conn_set_take_arena(set);
    struct request *req = arena_new(&arena, struct request);

    req->arena = arena;
    req->api_key = h->request_api_key;
    req->version = h->request_api_version;
    req->correlation_id = h->correlation_id;
    req->client_id = str_is_null(h->client_id) ? STR("") : h->client_id;
    req->frame = frame;
    req->reactor = conn_set_reactor(set);
    req->received_us = reactor_now_us(req->reactor);
    req->listener_name = str_of(listener_name(conn_listener(c)));
    req->principal = conn_principal(c);
    req->client_host = conn_host(c);
    req->is_privileged = listener_is_privileged(conn_listener(c));
    req->is_barrier = is_barrier(req->api_key);
    req->conn = c;
    return req;
}

static int decode_body(struct request *req, struct slice body)
{
    const struct api_msgs *api = api_messages_find(req->api_key);

    if (!api_has_version(req->api_key, req->version))
        return 0; /* ApiVersions from the future: there is nothing to be learned from it */
    void *message = arena_alloc(&req->arena, api->request->root.size);
    req->body = message;
    return codec_decode(api->request, req->version, body, &req->arena, message);
}

int dispatch_decode(struct conn *c, struct buf *buf, struct slice frame, struct request **ret)
{
    const struct net *net = conn_set_net(conn_get_set(c));
    struct request_header h;
    struct slice body;
    int r = request_header_decode(frame, &h, &body);

    if (r == 0 && !api_table_find(net->apis, h.request_api_key))
        r = -EPROTONOSUPPORT;
    if (r < 0) {
        say_refused(c, &h, r);
        buf_unref(buf);
        return r;
    }
    struct request *req = new_request(c, &h, frame);
    arena_hold_buf(&req->arena, buf);
    r = decode_body(req, body);
    if (r < 0) {
        say_refused(c, &h, r);
        struct arena a = req->arena;
        conn_set_give_arena(conn_get_set(c), &a);
        return r;
    }
    *ret = req;
    return 0;
}

/* In version 0, which everybody can read: the versions of ApiVersions itself (KIP-511). */
static void refuse_version(struct request *req)
{
    const struct api_msgs *api = api_messages_find(API_API_VERSIONS);
    struct api_versions_response *resp = arena_new(&req->arena, struct api_versions_response);
    struct api_versions_response_api_key *key =
        arena_new(&req->arena, struct api_versions_response_api_key);

    msg_init(&api_versions_response_desc, resp);
    *key = (struct api_versions_response_api_key){API_API_VERSIONS, api->min_version,
                                                  api->max_version};
    resp->error_code = UNSUPPORTED_VERSION;
    resp->api_keys = key;
    resp->api_keys_count = 1;
    req->version = 0;
    request_reply(req, resp);
}

void dispatch_run(struct conn *c, struct request *req)
{
    const struct net *net = conn_set_net(conn_get_set(c));

    if (req->body)
        api_table_find(net->apis, req->api_key)(net->broker, req);
    else
        refuse_version(req);
}
