/*
 * orders.c - LeaderAndIsr, StopReplica, UpdateMetadata: handed to a worker
 */
#include "broker/api/handlers.h"

#include "broker/replica/orders.h"

/* One of the controller's orders on a worker: it makes and deletes logs, and asks ZooKeeper. The
 * controller has one request in flight, so orders keep their order. */
struct order_call {
    struct job job;
    struct broker *b;
    struct request *req;
};

static void on_leader_and_isr(struct job *j)
{
    struct order_call *c = container_of(j, struct order_call, job);
    struct leader_and_isr_response *resp =
        arena_new(&c->req->arena, struct leader_and_isr_response);

    orders_leader_and_isr(c->b->replicas, c->req->body, c->req->version, &c->req->arena, resp);
    request_reply(c->req, resp);
}

static void on_stop_replica(struct job *j)
{
    struct order_call *c = container_of(j, struct order_call, job);
    struct stop_replica_response *resp = arena_new(&c->req->arena, struct stop_replica_response);

    orders_stop_replica(c->b->replicas, c->req->body, &c->req->arena, resp);
    request_reply(c->req, resp);
}

static void on_update_metadata(struct job *j)
{
    struct order_call *c = container_of(j, struct order_call, job);
    struct update_metadata_response *resp =
        arena_new(&c->req->arena, struct update_metadata_response);

    orders_update_metadata(c->b->replicas, c->req->body, resp);
    request_reply(c->req, resp);
}

static void submit(struct broker *b, struct request *req, void (*work)(struct job *j))
{
    struct order_call *c = arena_new(&req->arena, struct order_call);

    c->job.work = work;
    c->b = b;
    c->req = req;
    workq_submit(b->workq, &c->job);
}

void handle_leader_and_isr(struct broker *b, struct request *req)
{
    submit(b, req, on_leader_and_isr);
}

void handle_stop_replica(struct broker *b, struct request *req)
{
    submit(b, req, on_stop_replica);
}

void handle_update_metadata(struct broker *b, struct request *req)
{
    submit(b, req, on_update_metadata);
}
