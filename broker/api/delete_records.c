/*
 * delete_records.c - DeleteRecords (protocol.md 11.24)
 */
#include "broker/api/handlers.h"

#include "broker/api/answers.h"
#include "broker/meta/metadata.h"
#include "broker/replica/delayed_delete.h"
#include "broker/request/part_list.h"
#include "common/base/err.h"

struct delete_call {
    struct request *req;
    struct part_list list;
    struct delete_records work;
};

static int check(const struct metadata_snapshot *s, const struct delete_records_part *dp)
{
    if (!metadata_partition(s, dp->topic, dp->partition))
        return UNKNOWN_TOPIC_OR_PARTITION;
    return topic_is_internal(dp->topic) ? INVALID_TOPIC_EXCEPTION : 0;
}

/* Of a partition that stands twice the last offset counts. */
static void fill_parts(struct broker *b, struct delete_call *c)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    const struct delete_records_request *body = c->req->body;
    size_t total = 0;

    for (int32_t i = 0; i < body->topics_count; i++)
        total += (size_t)body->topics[i].partitions_count;
    c->list = part_list_new(&c->req->arena, (size_t)body->topics_count, total);
    c->work.parts = arena_new_array(&c->req->arena, struct delete_records_part, total);
    for (int32_t i = 0; i < body->topics_count; i++)
        for (int32_t k = 0; k < body->topics[i].partitions_count; k++) {
            const struct delete_records_request_partition *p = &body->topics[i].partitions[k];
            struct delete_records_part *dp =
                &c->work.parts[part_list_add(&c->list, body->topics[i].name, p->partition_index)];

            dp->topic = body->topics[i].name;
            dp->partition = p->partition_index;
            dp->offset = p->offset;
            dp->error = check(s, dp);
        }
    c->work.count = c->list.part_count;
    part_list_sort(&c->list);
    part_list_deinit(&c->list);
}

static void on_done(struct delete_records *d)
{
    struct delete_call *c = container_of(d, struct delete_call, work);
    struct arena *a = &c->req->arena;
    struct delete_records_response *resp = arena_new(a, struct delete_records_response);

    msg_init(&delete_records_response_desc, resp);
    resp->topics =
        arena_new_array(a, struct delete_records_response_topic, (size_t)c->list.topic_count);
    resp->topics_count = c->list.topic_count;
    for (int32_t i = 0; i < resp->topics_count; i++) {
        const struct part_list_topic *from = &c->list.topics[i];
        struct delete_records_response_topic *t = &resp->topics[i];

        t->name = from->name;
        t->partitions_count = from->count;
        t->partitions =
            arena_new_array(a, struct delete_records_response_partition, (size_t)from->count);
        for (int32_t k = 0; k < from->count; k++) {
            const struct delete_records_part *dp = &d->parts[from->at[k]];

            t->partitions[k] = (struct delete_records_response_partition){
                dp->partition, dp->low_watermark, err_to_wire(dp->error)};
        }
    }
    request_reply(c->req, resp);
}

void handle_delete_records(struct broker *b, struct request *req)
{
    struct delete_call *c = arena_new(&req->arena, struct delete_call);
    const struct delete_records_request *body = req->body;

    c->req = req;
    c->work.timeout_ms = body->timeout_ms;
    c->work.reactor = req->reactor;
    c->work.done = on_done;
    fill_parts(b, c);
    delete_records_start(b->replicas, &c->work);
}
