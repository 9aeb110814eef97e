/*
 * consumer_groups.c - the group protocol of KIP-848, which no broker speaks on ZooKeeper
 *
 * Kafka 3.9 advertises it all the same and says so in its answer. So clients of that protocol tell
 * their user what to set, and AdminClients ask for a classic group instead.
 */
#include "broker/api/handlers.h"

#include "broker/request/seen.h"
#include "common/base/err.h"

void handle_consumer_group_heartbeat(struct broker *b UNUSED, struct request *req)
{
    struct consumer_group_heartbeat_response *resp =
        arena_new(&req->arena, struct consumer_group_heartbeat_response);

    msg_init(&consumer_group_heartbeat_response_desc, resp);
    resp->error_code = UNSUPPORTED_VERSION;
    request_reply(req, resp);
}

void handle_consumer_group_describe(struct broker *b UNUSED, struct request *req)
{
    const struct consumer_group_describe_request *body = req->body;
    struct consumer_group_describe_response *resp =
        arena_new(&req->arena, struct consumer_group_describe_response);
    struct seen *names = NULL;

    msg_init(&consumer_group_describe_response_desc, resp);
    resp->groups = arena_new_array(&req->arena, struct consumer_group_describe_response_group,
                                   (size_t)body->group_ids_count);
    for (int32_t i = 0; i < body->group_ids_count; i++) {
        struct consumer_group_describe_response_group *to = &resp->groups[resp->groups_count];

        if (seen_add(&names, &req->arena, body->group_ids[i], i) >= 0)
            continue; /* named twice, answered once */
        resp->groups_count++;
        struct_init(&consumer_group_describe_response_group_desc, to);
        to->group_id = body->group_ids[i];
        to->error_code = UNSUPPORTED_VERSION;
    }
    seen_clear(&names);
    request_reply(req, resp);
}
