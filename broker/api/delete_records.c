/*
 * delete_records.c - DeleteRecords (protocol.md 11.24)
 */
#include "broker/api/handlers.h"

#include "broker/api/answers.h"
#include "broker/meta/metadata.h"
#include "broker/replica/delayed_delete.h"
#include "common/base/err.h"

struct delete_call {
    struct request *req;
    struct delete_records work;
};

static int check(const struct metadata_snapshot *s, const struct delete_records_part *dp)
{
    if (!metadata_partition(s, dp->topic, dp->partition))
        return UNKNOWN_TOPIC_OR_PARTITION;
    return topic_is_internal(dp->topic) ? INVALID_TOPIC_EXCEPTION : 0;
}

static void fill_parts(struct broker *b, struct delete_call *c)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    const struct delete_records_request *body = c->req->body;
    size_t total = 0;

    for (int32_t i = 0; i < body->topics_count; i++)
        total += (size_t)body->topics[i].partitions_count;
    c->work.parts = arena_new_array(&c->req->arena, struct delete_records_part, total);
    for (int32_t i = 0; i < body->topics_count; i++)
        for (int32_t k = 0; k < body->topics[i].partitions_count; k++) {
            struct delete_records_part *dp = &c->work.parts[c->work.count++];
            dp->topic = body->topics[i].name;
            dp->partition = body->topics[i].partitions[k].partition_index;
            dp->offset = body->topics[i].partitions[k].offset;
            dp->error = check(s, dp);
        }
}

static void on_done(struct delete_records *d)
{
    struct delete_call *c = container_of(d, struct delete_call, work);
    const struct delete_records_request *body = c->req->body;
    struct arena *a = &c->req->arena;
    struct delete_records_response *resp = arena_new(a, struct delete_records_response);
    int32_t n = 0;

    msg_init(&delete_records_response_desc, resp);
    resp->topics =
        arena_new_array(a, struct delete_records_response_topic, (size_t)body->topics_count);
    resp->topics_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++) {
        struct delete_records_response_topic *t = &resp->topics[i];
        t->name = body->topics[i].name;
        t->partitions_count = body->topics[i].partitions_count;
        t->partitions = arena_new_array(a, struct delete_records_response_partition,
                                        (size_t)t->partitions_count);
        for (int32_t k = 0; k < t->partitions_count; k++, n++)
            t->partitions[k] = (struct delete_records_response_partition){
                d->parts[n].partition, d->parts[n].low_watermark, err_to_wire(d->parts[n].error)};
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
