/*
 * list_offsets.c - ListOffsets and OffsetForLeaderEpoch (protocol.md 11.3, 11.4)
 */
#include "broker/api/handlers.h"
#include "broker/replica/offsets.h"
#include "broker/request/seen.h"
#include "common/base/err.h"

/* ---- ListOffsets ---- */

struct list_call {
    struct job job;
    struct broker *b;
    struct request *req;
    struct list_offsets_response *resp;
};

static void find_old(struct list_call *c, const struct offsets_query *q, int32_t max,
                     struct list_offsets_response_partition *p)
{
    struct offset_list list = {0};
    int r = q->timestamp < OFFSETS_EARLIEST
                ? UNSUPPORTED_VERSION
                : offsets_find_old(c->b->replicas, q, max, &c->req->arena, &list);

    p->error_code = err_to_wire(r);
    p->old_style_offsets = list.v;
    p->old_style_offsets_count = r ? 0 : list.count;
}

static void find_new(struct list_call *c, const struct offsets_query *q,
                     struct list_offsets_response_partition *p)
{
    struct timestamp_offset found = {-1, -1, -1};
    int r = offsets_knows(q->timestamp, q->version) ? offsets_find(c->b->replicas, q, &found)
                                                    : UNSUPPORTED_VERSION;

    p->error_code = err_to_wire(r);
    if (r)
        return;
    p->timestamp = found.timestamp;
    p->offset = found.offset;
    p->leader_epoch = q->version >= 4 ? found.leader_epoch : -1;
}

/* Whether the same partition stands in the request twice. */
static bool is_twice(const struct list_offsets_request *body, struct seen **names, struct arena *a,
                     int32_t topic, int32_t at)
{
    const struct list_offsets_request_topic *t = &body->topics[topic];
    struct str name =
        arena_printf(a, "%.*s %d", STR_ARG(t->name), t->partitions[at].partition_index);

    return seen_add(names, a, name, at) >= 0;
}

/* A pass over all names first: both of two that are the same are refused. */
static struct seen *find_twice(struct list_call *c, struct seen **ret_all)
{
    const struct list_offsets_request *body = c->req->body;
    struct seen *twice = NULL;

    for (int32_t i = 0; i < body->topics_count; i++)
        for (int32_t k = 0; k < body->topics[i].partitions_count; k++)
            if (is_twice(body, ret_all, &c->req->arena, i, k))
                is_twice(body, &twice, &c->req->arena, i, k);
    return twice;
}

static void find_one(struct list_call *c, const struct list_offsets_request_topic *t,
                     const struct list_offsets_request_partition *q,
                     struct list_offsets_response_partition *p)
{
    const struct list_offsets_request *body = c->req->body;
    struct offsets_query query = {
        .topic = t->name,
        .partition = q->partition_index,
        .replica_id = body->replica_id,
        .is_read_committed = body->isolation_level == 1,
        .current_leader_epoch = q->current_leader_epoch,
        .timestamp = q->timestamp,
        .version = c->req->version,
    };

    if (c->req->version == 0)
        find_old(c, &query, q->max_num_offsets, p);
    else
        find_new(c, &query, p);
}

static void list_all(struct job *j)
{
    struct list_call *c = container_of(j, struct list_call, job);
    const struct list_offsets_request *body = c->req->body;
    struct arena *a = &c->req->arena;
    struct seen *all = NULL;
    struct seen *twice = c->req->version > 0 ? find_twice(c, &all) : NULL;

    c->resp->topics =
        arena_new_array(a, struct list_offsets_response_topic, (size_t)body->topics_count);
    c->resp->topics_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++) {
        const struct list_offsets_request_topic *from = &body->topics[i];
        struct list_offsets_response_topic *t = &c->resp->topics[i];
        t->name = from->name;
        t->partitions_count = from->partitions_count;
        t->partitions = arena_new_array(a, struct list_offsets_response_partition,
                                        (size_t)from->partitions_count);
        for (int32_t k = 0; k < from->partitions_count; k++) {
            struct_init(&list_offsets_response_partition_desc, &t->partitions[k]);
            t->partitions[k].partition_index = from->partitions[k].partition_index;
            if (twice && is_twice(body, &twice, a, i, k))
                t->partitions[k].error_code = INVALID_REQUEST;
            else
                find_one(c, from, &from->partitions[k], &t->partitions[k]);
        }
    }
    seen_clear(&all);
    seen_clear(&twice);
    request_reply(c->req, c->resp);
}

static bool is_slow(const struct list_offsets_request *body, int16_t version)
{
    for (int32_t i = 0; i < body->topics_count; i++)
        for (int32_t k = 0; k < body->topics[i].partitions_count; k++)
            if (version == 0 || offsets_is_slow(body->topics[i].partitions[k].timestamp))
                return true;
    return false;
}

void handle_list_offsets(struct broker *b, struct request *req)
{
    struct list_call *c = arena_new(&req->arena, struct list_call);

    c->b = b;
    c->req = req;
    c->resp = arena_new(&req->arena, struct list_offsets_response);
    c->job.work = list_all;
    msg_init(&list_offsets_response_desc, c->resp);
    if (is_slow(req->body, req->version))
        workq_submit(b->workq, &c->job);
    else
        list_all(&c->job);
}

/* ---- OffsetForLeaderEpoch ---- */

static void find_epoch(struct broker *b, struct request *req, struct str topic,
                       const struct offset_for_leader_epoch_request_partition *q,
                       struct offset_for_leader_epoch_response_partition *p)
{
    const struct offset_for_leader_epoch_request *body = req->body;
    struct offsets_query query = {
        .topic = topic,
        .partition = q->partition,
        /* Whoever asks, only the leader answers. */
        .replica_id = body->replica_id < 0 ? -1 : body->replica_id,
        .current_leader_epoch = q->current_leader_epoch,
    };

    struct_init(&offset_for_leader_epoch_response_partition_desc, p);
    p->partition = q->partition;
    p->error_code = err_to_wire(offsets_end_of_epoch(b->replicas, &query, q->leader_epoch,
                                                     &p->leader_epoch, &p->end_offset));
}

void handle_offset_for_leader_epoch(struct broker *b, struct request *req)
{
    const struct offset_for_leader_epoch_request *body = req->body;
    struct offset_for_leader_epoch_response *resp =
        arena_new(&req->arena, struct offset_for_leader_epoch_response);

    msg_init(&offset_for_leader_epoch_response_desc, resp);
    resp->topics = arena_new_array(&req->arena, struct offset_for_leader_epoch_response_topic,
                                   (size_t)body->topics_count);
    resp->topics_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++) {
        const struct offset_for_leader_epoch_request_topic *from = &body->topics[i];
        struct offset_for_leader_epoch_response_topic *t = &resp->topics[i];
        t->topic = from->topic;
        t->partitions_count = from->partitions_count;
        t->partitions =
            arena_new_array(&req->arena, struct offset_for_leader_epoch_response_partition,
                            (size_t)from->partitions_count);
        for (int32_t k = 0; k < from->partitions_count; k++)
            find_epoch(b, req, from->topic, &from->partitions[k], &t->partitions[k]);
    }
    request_reply(req, resp);
}
