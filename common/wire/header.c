#include "common/wire/header.h"

#include <errno.h>
#include <stdio.h>

enum { HEADER_WITHOUT_CLIENT_ID, HEADER_CLASSIC, HEADER_FLEXIBLE };

const struct api_msgs *api_messages_find(int16_t key)
{
    if (key < 0 || key >= API_KEY_COUNT || !api_messages[key].name)
        return NULL;
    return &api_messages[key];
}

const char *api_name(int16_t key, char ret_buf[static 16])
{
    const struct api_msgs *api = api_messages_find(key);

    if (api)
        return api->name;
    snprintf(ret_buf, 16, "api %d", key);
    return ret_buf;
}

bool api_has_version(int16_t key, int16_t version)
{
    const struct api_msgs *api = api_messages_find(key);
    return api && msg_has_version(api->request, version);
}

int16_t request_header_version(int16_t key, int16_t version)
{
    const struct api_msgs *api = api_messages_find(key);

    if (key == API_CONTROLLED_SHUTDOWN && version == 0)
        return HEADER_WITHOUT_CLIENT_ID;
    if (key == API_API_VERSIONS && version > api->max_version)
        return HEADER_FLEXIBLE; /* from a newer client: it would use the newest header */
    return api && version >= api->flexible_since ? HEADER_FLEXIBLE : HEADER_CLASSIC;
}

int16_t response_header_version(int16_t key, int16_t version)
{
    const struct api_msgs *api = api_messages_find(key);

    if (key == API_API_VERSIONS)
        return 0; /* the client cannot know yet whether we are flexible (KIP-511) */
    return api && version >= api->flexible_since ? 1 : 0;
}

int request_header_decode(struct slice frame, struct request_header *ret, struct slice *ret_body)
{
    struct reader peek = reader_on(frame), r = peek;
    int16_t key = reader_i16(&peek), version = reader_i16(&peek);

    msg_init(&request_header_desc, ret);
    ret->request_api_key = key;
    ret->request_api_version = version;
    if (peek.bad)
        return -EBADMSG;
    if (key != API_API_VERSIONS && !api_has_version(key, version))
        return -EPROTONOSUPPORT;
    /* No arrays in it, so no arena is needed. */
    int e = codec_read(&request_header_desc, request_header_version(key, version), &r, NULL, ret);
    *ret_body = slice_of(r.p, reader_left(&r));
    return e;
}

int response_header_decode(const struct request_header *request, struct slice frame,
                           int32_t *ret_correlation_id, struct slice *ret_body)
{
    struct reader r = reader_on(frame);
    struct response_header h;
    int16_t version =
        response_header_version(request->request_api_key, request->request_api_version);
    int e = codec_read(&response_header_desc, version, &r, NULL, &h);

    *ret_correlation_id = h.correlation_id;
    *ret_body = slice_of(r.p, reader_left(&r));
    return e;
}

/* Writes the size of what was written since the 4 bytes at size were reserved. */
static int end_frame(struct writer *w, uint8_t *size, size_t before)
{
    writer_end(w);
    if (w->err)
        return w->err;
    if (w->total - before > INT32_MAX)
        return -EMSGSIZE;
    be32_write(size, (uint32_t)(w->total - before));
    return 0;
}

int request_encode(const struct request_header *h, const void *body, struct writer *w)
{
    int16_t key = h->request_api_key, version = h->request_api_version;
    const struct api_msgs *api = api_messages_find(key);

    if (!api)
        return -EPROTONOSUPPORT;
    uint8_t *size = writer_room(w, 4);
    size_t before = writer_len(w);
    int r = codec_encode(&request_header_desc, request_header_version(key, version), h, w);
    if (r == 0)
        r = codec_encode(api->request, version, body, w);
    return r < 0 ? r : end_frame(w, size, before);
}

int response_encode(int16_t key, int16_t version, int32_t correlation_id, const void *body,
                    struct writer *w)
{
    const struct api_msgs *api = api_messages_find(key);
    struct response_header h = {.correlation_id = correlation_id};

    if (!api)
        return -EPROTONOSUPPORT;
    uint8_t *size = writer_room(w, 4);
    size_t before = writer_len(w);
    int r = codec_encode(&response_header_desc, response_header_version(key, version), &h, w);
    if (r == 0)
        r = codec_encode(api->response, version, body, w);
    return r < 0 ? r : end_frame(w, size, before);
}
