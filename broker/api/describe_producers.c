/*
 * describe_producers.c - DescribeProducers: who has written to a partition lately, from the state
 * of its log; a follower tells it too. On a worker, as that waits for the log's lock.
 */
#include "broker/api/handlers.h"

#include "broker/meta/topic_names.h"
#include "broker/replica/partition.h"
#include "broker/replica/replica_manager.h"
#include "broker/storage/producer_state.h"
#include "common/base/err.h"

struct description {
    struct job job;
    struct broker *b;
    struct request *req;
    struct describe_producers_response *resp;
};

/* Producers of one partition, in the arena. */
struct producer_list {
    struct arena *a;
    struct describe_producers_response_active_producer *v;
    int32_t count;
    int32_t cap;
};

static void add_producer(void *ctx, const struct producer_info *p)
{
    struct producer_list *l = ctx;

    if (l->count == l->cap) {
        const struct describe_producers_response_active_producer *old = l->v;

        l->cap = MAX(2 * l->cap, 8);
        l->v = arena_new_array(l->a, struct describe_producers_response_active_producer,
                               (size_t)l->cap);
        if (l->count)
            memcpy(l->v, old, (size_t)l->count * sizeof *old);
    }
    l->v[l->count++] = (struct describe_producers_response_active_producer){
        .producer_id = p->producer_id,
        .producer_epoch = p->epoch,
        .last_sequence = p->last_sequence,
        .last_timestamp = p->last_timestamp,
        .coordinator_epoch = p->coordinator_epoch,
        .current_txn_start_offset = p->txn_first_offset,
    };
}

static int describe_partition(struct broker *b, struct str topic, int32_t partition,
                              struct producer_list *l)
{
    struct partition *CLEANUP(partition_unref_p) part = NULL;
    struct log *log = NULL;
    int r = replica_manager_get(b->replicas, topic, partition, &part);

    if (r)
        return r;
    WITH_LOCK(&part->lock)
    {
        log = part->log; /* stays as long as the partition */
    }
    if (!log)
        return NOT_LEADER_OR_FOLLOWER;
    log_each_producer(log, add_producer, l);
    return 0;
}

/* What stands in the way of all partitions of a topic. */
static int check_topic(struct broker *b, struct arena *a, struct str name, struct str *ret_why)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    int r = topic_name_check(a, name, ret_why);

    if (r || metadata_topic(s, name))
        return r;
    *ret_why = STR("This server does not host this topic-partition.");
    return UNKNOWN_TOPIC_OR_PARTITION;
}

static void describe_topic(struct description *d, const struct describe_producers_request_topic *in,
                           struct describe_producers_response_topic *out)
{
    struct arena *a = &d->req->arena;
    struct str why = STR_NULL;
    int error = check_topic(d->b, a, in->name, &why);

    out->name = in->name;
    out->partitions = arena_new_array(a, struct describe_producers_response_partition,
                                      (size_t)in->partition_indexes_count);
    out->partitions_count = in->partition_indexes_count;
    for (int32_t i = 0; i < in->partition_indexes_count; i++) {
        struct describe_producers_response_partition *p = &out->partitions[i];
        struct producer_list l = {.a = a};
        int r = error ? error : describe_partition(d->b, in->name, in->partition_indexes[i], &l);

        struct_init(&describe_producers_response_partition_desc, p);
        p->partition_index = in->partition_indexes[i];
        p->error_code = err_to_wire(r);
        p->error_message = why;
        p->active_producers = l.v;
        p->active_producers_count = l.count;
    }
}

static void describe(struct job *j)
{
    struct description *d = container_of(j, struct description, job);
    const struct describe_producers_request *body = d->req->body;

    d->resp->topics = arena_new_array(&d->req->arena, struct describe_producers_response_topic,
                                      (size_t)body->topics_count);
    d->resp->topics_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++)
        describe_topic(d, &body->topics[i], &d->resp->topics[i]);
    request_reply(d->req, d->resp);
}

void handle_describe_producers(struct broker *b, struct request *req)
{
    struct description *d = arena_new(&req->arena, struct description);

    d->b = b;
    d->req = req;
    d->resp = arena_new(&req->arena, struct describe_producers_response);
    msg_init(&describe_producers_response_desc, d->resp);
    d->job.work = describe;
    workq_submit(b->workq, &d->job);
}
