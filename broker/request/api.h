/*
 * api.h - what a handler is, and the table that finds one by its api key
 *
 * A handler gets the decoded request on the connection's reactor and must not block; it replies, or
 * parks the request for whoever will. The table is made in broker/api and handed to the server,
 * which knows no API by name but ApiVersions. An API without a handler is not advertised, and a
 * request for it closes the connection, as for an unknown key.
 */
#pragma once

#include "broker/request/broker.h"
#include "broker/request/request.h"

typedef void (*api_handler)(struct broker *b, struct request *req);

/* By api key, API_KEY_COUNT entries; NULL: not served. Versions are those of api_messages. */
struct api_table {
    const api_handler *handlers;
    int16_t count;
};

static inline api_handler api_table_find(const struct api_table *t, int16_t key)
{
    return key >= 0 && key < t->count ? t->handlers[key] : NULL;
}
