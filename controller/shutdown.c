#include "controller/shutdown.h"

#include "controller/partition_sm.h"
#include "controller/replica_sm.h"

struct relief {
    struct partition_list led;
    struct replica_list followed;
};

static void relief_deinit(struct relief *f)
{
    partition_list_deinit(&f->led);
    replica_list_deinit(&f->followed);
}

/* Partitions that somebody else could serve. */
static void find(const struct controller *c, int32_t broker, struct relief *ret)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            struct node_ids rs = partition_replicas(p);
            if (rs.count < 2 || !p->has_leadership || !node_ids_has(&rs, broker))
                continue;
            if (p->leader == broker)
                partition_list_add(&ret->led, p);
            else
                replica_list_add(&ret->followed, p, broker);
        }
    }
}

static enum zk_result relieve(struct controller *c, int32_t broker, struct relief *f)
{
    enum zk_result r = partition_sm_elect(c, &f->led, ELECT_SHUTDOWN, false, NULL);

    if (r != ZK_OK || f->followed.count == 0)
        return r;
    fanout_begin(&c->fanout);
    for (size_t i = 0; i < f->followed.count; i++)
        fanout_stop(&c->fanout, broker, f->followed.v[i].p, false);
    fanout_flush(&c->fanout);
    return replica_sm_change(c, &f->followed, REPLICA_OFFLINE);
}

/* What it still leads, although others have replicas of it. */
static void list_remaining(const struct controller *c, int32_t broker, struct arena *a,
                           struct controlled_shutdown_response *resp)
{
    CLEANUP(relief_deinit) struct relief left = {0};

    find(c, broker, &left);
    resp->remaining_partitions =
        arena_array(a, left.led.count + 1, sizeof *resp->remaining_partitions);
    for (size_t i = 0; i < left.led.count; i++) {
        const struct ctl_partition *p = left.led.v[i];
        resp->remaining_partitions[i].topic_name = arena_str(a, topic_name(p->topic));
        resp->remaining_partitions[i].partition_index = p->id;
    }
    resp->remaining_partitions_count = (int32_t)left.led.count;
    say_info("controller: broker %d shuts down partitions_left=%zu", broker, left.led.count);
}

static int check_sender(const struct controller *c, const struct controlled_shutdown_request *req)
{
    const struct ctl_broker *b = context_broker(&c->x, req->broker_id);

    if (!c->is_active)
        return STALE_CONTROLLER_EPOCH;
    if (!b)
        return req->broker_epoch == NO_EPOCH ? BROKER_NOT_AVAILABLE : -EINVAL;
    return req->broker_epoch != NO_EPOCH && req->broker_epoch < b->epoch ? STALE_BROKER_EPOCH : 0;
}

enum zk_result shutdown_relieve(struct controller *c, struct controller_call *call)
{
    CLEANUP(relief_deinit) struct relief f = {0};
    const struct controlled_shutdown_request *req = call->request;
    struct controlled_shutdown_response *resp = arena_zalloc(call->arena, sizeof *resp);
    int error = check_sender(c, req);

    call->response = resp;
    resp->error_code = err_to_wire(error);
    if (error)
        return ZK_OK;
    context_broker(&c->x, req->broker_id)->is_shutting_down = true;
    find(c, req->broker_id, &f);
    enum zk_result r = relieve(c, req->broker_id, &f);
    if (r == ZK_OK)
        list_remaining(c, req->broker_id, call->arena, resp);
    else
        resp->error_code =
            controller_is_over(r) ? STALE_CONTROLLER_EPOCH : err_to_wire(zk_result_err(r));
    return r;
}
