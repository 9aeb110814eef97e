/*
 * api_versions.c - ApiVersions: what this broker serves, in which versions (protocol.md 4.1)
 */
#include "broker/api/handlers.h"

#include "common/base/err.h"
#include "common/wire/header.h"

#include <ctype.h>

/* Letters and digits, with '-' and '.' allowed inside. */
static bool is_software_name(struct str s)
{
    if (s.len == 0 || !isalnum((unsigned char)s.p[0]) || !isalnum((unsigned char)s.p[s.len - 1]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '-' && s.p[i] != '.')
            return false;
    }
    return true;
}

static void list_apis(struct api_versions_response *resp, struct arena *a)
{
    resp->api_keys =
        arena_new_array(a, struct api_versions_response_api_key, (size_t)api_table.count);
    for (int16_t key = 0; key < api_table.count; key++) {
        const struct api_msgs *msgs = api_messages_find(key);

        if (!api_table_find(&api_table, key))
            continue;
        resp->api_keys[resp->api_keys_count++] = (struct api_versions_response_api_key){
            .api_key = key,
            .min_version = msgs->min_version,
            .max_version = msgs->max_version,
        };
    }
}

void handle_api_versions(struct broker *b, struct request *req)
{
    const struct api_versions_request *body = req->body;
    struct api_versions_response *resp = arena_new(&req->arena, struct api_versions_response);

    msg_init(&api_versions_response_desc, resp);
    if (req->version >= 3 && (!is_software_name(body->client_software_name) ||
                              !is_software_name(body->client_software_version)))
        resp->error_code = INVALID_REQUEST;
    else
        list_apis(resp, &req->arena);
    if (!resp->error_code && b->features_epoch)
        resp->finalized_features_epoch = *b->features_epoch;
    request_reply(req, resp);
}
