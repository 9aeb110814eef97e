/*
 * ctl.c - what the controller answers by itself: AlterPartition, ControlledShutdown,
 * AllocateProducerIds, reassignments, and UpdateFeatures
 *
 * The request is parked while the controller's thread works on it; that thread replies.
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "common/base/err.h"
#include "controller/controller.h"

/* A request that the controller alone answers; parked in its own arena meanwhile. */
struct forwarded {
    struct controller_call call;
    struct request *req;
};

/* On the controller's thread. */
static void forwarded_done(struct controller_call *call)
{
    struct forwarded *f = container_of(call, struct forwarded, call);

    request_reply(f->req, call->response);
}

static struct controller_call *forward(struct request *req)
{
    struct forwarded *f = arena_new(&req->arena, struct forwarded);

    f->req = req;
    f->call = (struct controller_call){.arena = &req->arena,
                                       .request = req->body,
                                       .version = req->version,
                                       .done = forwarded_done};
    return &f->call;
}

void handle_alter_partition(struct broker *b, struct request *req)
{
    controller_alter_partition(b->controller, forward(req));
}

void handle_controlled_shutdown(struct broker *b, struct request *req)
{
    controller_controlled_shutdown(b->controller, forward(req));
}

void handle_alter_partition_reassignments(struct broker *b, struct request *req)
{
    controller_alter_reassignments(b->controller, forward(req));
}

void handle_list_partition_reassignments(struct broker *b, struct request *req)
{
    controller_list_reassignments(b->controller, forward(req));
}

void handle_update_features(struct broker *b, struct request *req)
{
    struct update_features_response *resp;

    if (b->conf->ibp >= IBP_2_7_IV0 || !controller_is_active(b->controller)) {
        controller_update_features(b->controller, forward(req));
        return;
    }
    resp = arena_new(&req->arena, struct update_features_response);
    msg_init(&update_features_response_desc, resp);
    resp->error_code = INVALID_REQUEST;
    resp->error_message = STR("Feature versioning system is disabled.");
    request_reply(req, resp);
}

void handle_allocate_producer_ids(struct broker *b, struct request *req)
{
    controller_allocate_producer_ids(b->controller, forward(req));
}
