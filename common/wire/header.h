/*
 * header.h - what stands before a request or an answer, and whole frames of both
 *
 * A server: request_header_decode(), decode the body by the API's table, handle it,
 * response_encode(). A client: request_encode(), then response_header_decode() and decode the body.
 * Frames include their 4 bytes of size.
 *
 * Thread: any; no state but the arguments.
 */
#pragma once

#include "common/wire/codec.h"

/* NULL where this broker does not know the API. */
const struct api_msgs *api_messages_find(int16_t key);
/* "Fetch", or "api 77". ret_buf backs the second kind. */
const char *api_name(int16_t key, char ret_buf[static 16]);
bool api_has_version(int16_t key, int16_t version);

int16_t request_header_version(int16_t key, int16_t version);
int16_t response_header_version(int16_t key, int16_t version);

/*
 * body: a frame without its size. client_id (null is possible) and *ret_body borrow from it.
 * -EPROTONOSUPPORT for an API or a version that we do not have (key and version are then set),
 * -EBADMSG for what is no header; both mean to close. ApiVersions passes with any version: where
 * api_has_version() says no, do not decode the body and answer version 0.
 */
int request_header_decode(struct slice frame, struct request_header *ret, struct slice *ret_body)
    MUST_CHECK;
int response_header_decode(const struct request_header *request, struct slice frame,
                           int32_t *ret_correlation_id, struct slice *ret_body) MUST_CHECK;

/* A whole frame, ended (writer_end). Errors of codec_encode(); -EMSGSIZE above 2 GiB. */
int request_encode(const struct request_header *h, const void *body, struct writer *w) MUST_CHECK;
int response_encode(int16_t key, int16_t version, int32_t correlation_id, const void *body,
                    struct writer *w) MUST_CHECK;
