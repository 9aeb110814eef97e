/*
 * producer_ids.c - InitProducerId, for idempotent producers (protocol.md 11.16)
 */
#include "broker/api/handlers.h"

#include "broker/txn/id_block.h"
#include "common/base/err.h"

/* Idempotent producers only: there is no transaction coordinator here, which is why a transactional
 * id is answered as by a broker that does not coordinate it. */
static int16_t init_producer_id(struct broker *b, const struct init_producer_id_request *body,
                                struct init_producer_id_response *resp)
{
    if ((body->producer_id == -1) != (body->producer_epoch == -1))
        return INVALID_REQUEST;
    if (!str_is_null(body->transactional_id))
        return body->transactional_id.len == 0 ? INVALID_REQUEST : NOT_COORDINATOR;
    int r = id_block_take(b->producer_ids, &resp->producer_id);
    if (r)
        return (int16_t)r;
    resp->producer_epoch = 0;
    return NONE;
}

void handle_init_producer_id(struct broker *b, struct request *req)
{
    struct init_producer_id_response *resp =
        arena_new(&req->arena, struct init_producer_id_response);

    msg_init(&init_producer_id_response_desc, resp);
    resp->producer_epoch = -1;
    resp->error_code = init_producer_id(b, req->body, resp);
    request_reply(req, resp);
}
