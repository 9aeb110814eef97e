#include "controller/producer_ids.h"

#include "zk/zk_cluster.h"

static int check_sender(const struct controller *c, const struct allocate_producer_ids_request *req)
{
    const struct ctl_broker *b = context_broker(&c->x, req->broker_id);

    if (!c->is_active)
        return NOT_CONTROLLER;
    if (!b)
        return BROKER_ID_NOT_REGISTERED;
    return b->epoch == req->broker_epoch ? 0 : STALE_BROKER_EPOCH;
}

enum zk_result producer_ids_allocate(struct controller *c, struct controller_call *call)
{
    const struct allocate_producer_ids_request *req = call->request;
    struct allocate_producer_ids_response *resp = arena_zalloc(call->arena, sizeof *resp);
    struct node_producer_block block;

    call->response = resp;
    resp->error_code = (int16_t)check_sender(c, req);
    if (resp->error_code)
        return ZK_OK;
    enum zk_result r = zk_producer_block_next(c->store, req->broker_id, &block);
    if (r != ZK_OK) {
        resp->error_code = controller_is_over(r) ? NOT_CONTROLLER : err_to_wire(zk_result_err(r));
        return r == ZK_REFUSED || r == ZK_MALFORMED ? ZK_OK : r;
    }
    resp->producer_id_start = block.start;
    resp->producer_id_len = (int32_t)(block.end - block.start + 1);
    return ZK_OK;
}
