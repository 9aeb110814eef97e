/*
 * metadata.c - Metadata and DescribeCluster, from the snapshot that UpdateMetadata left
 * (protocol.md 11.5, 11.28). Topics that are made on the way, and answers about very many, are a
 * worker's.
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "broker/meta/metadata.h"
#include "broker/meta/topic_admin.h"
#include "broker/meta/topic_names.h"
#include "broker/request/seen.h"
#include "broker/storage/log_manager.h"
#include "common/base/err.h"

/* Without access control everything that a resource knows is allowed: a bit per operation
 * (protocol.md 8). */
enum { ALL_TOPIC_OPERATIONS = 0xdf8, ALL_CLUSTER_OPERATIONS = 0x1fa0 };

/* More topics than this are put together on a worker, so that no reactor is held. */
enum { TOPICS_ON_REACTOR = 200 };

/* One Metadata request on its way; lives in its arena. */
struct answer {
    struct job job;
    struct broker *b;
    struct request *req;
    const struct metadata_snapshot *snapshot;
    struct metadata_response *resp;
    int32_t auto_count; /* topics at the end of resp->topics that are to be made */
};

static void put_snapshot(void *s)
{
    metadata_put(s);
}

static const struct metadata_snapshot *hold_snapshot(struct broker *b, struct request *req)
{
    const struct metadata_snapshot *s = metadata_get(b->metadata);

    arena_hold(&req->arena, (void *)(uintptr_t)s, put_snapshot);
    return s;
}

static int16_t check_leader(const struct answer *an, const struct meta_partition *p)
{
    const struct meta_broker *leader =
        p->leader >= 0 ? metadata_broker(an->snapshot, p->leader) : NULL;

    if (!leader)
        return LEADER_NOT_AVAILABLE;
    if (!meta_broker_endpoint(leader, an->req->listener_name))
        return an->req->version >= 6 ? LISTENER_NOT_FOUND : LEADER_NOT_AVAILABLE;
    return NONE;
}

/* Version 0 leaves dead brokers out. */
static int32_t *only_live(const struct answer *an, const int32_t *ids, int32_t count,
                          int32_t *ret_count)
{
    int32_t *live = arena_new_array(&an->req->arena, int32_t, (size_t)count);
    int32_t n = 0;

    for (int32_t i = 0; i < count; i++) {
        const struct meta_broker *br = metadata_broker(an->snapshot, ids[i]);

        if (br && meta_broker_endpoint(br, an->req->listener_name))
            live[n++] = ids[i];
    }
    *ret_count = n;
    return live;
}

static void fill_partition(const struct answer *an, const struct meta_partition *p,
                           struct metadata_response_partition *out)
{
    struct_init(&metadata_response_partition_desc, out);
    out->error_code = check_leader(an, p);
    out->partition_index = p->index;
    out->leader_id = out->error_code ? -1 : p->leader;
    out->leader_epoch = p->leader_epoch;
    out->replica_nodes = (int32_t *)(uintptr_t)p->replicas;
    out->replica_nodes_count = p->replica_count;
    out->isr_nodes = (int32_t *)(uintptr_t)p->isr;
    out->isr_nodes_count = p->isr_count;
    out->offline_replicas = (int32_t *)(uintptr_t)p->offline;
    out->offline_replicas_count = p->offline_count;
    if (an->req->version > 0)
        return;
    out->replica_nodes = only_live(an, p->replicas, p->replica_count, &out->replica_nodes_count);
    out->isr_nodes = only_live(an, p->isr, p->isr_count, &out->isr_nodes_count);
    bool is_short =
        out->replica_nodes_count < p->replica_count || out->isr_nodes_count < p->isr_count;
    if (!out->error_code && is_short)
        out->error_code = REPLICA_NOT_AVAILABLE;
}

static struct metadata_response_topic *next_topic(struct answer *an, struct str name)
{
    struct metadata_response_topic *t = &an->resp->topics[an->resp->topics_count++];

    struct_init(&metadata_response_topic_desc, t);
    t->name = name;
    t->is_internal = !str_is_null(name) && topic_name_is_internal(name);
    return t;
}

static void add_topic(struct answer *an, const struct meta_topic *topic)
{
    const struct metadata_request *body = an->req->body;
    struct metadata_response_topic *t = next_topic(an, topic->name);

    t->topic_id = topic->id;
    t->partitions = arena_new_array(&an->req->arena, struct metadata_response_partition,
                                    (size_t)topic->partition_count);
    t->partitions_count = topic->partition_count;
    for (int32_t i = 0; i < topic->partition_count; i++)
        fill_partition(an, &topic->partitions[i], &t->partitions[i]);
    if (body->include_topic_authorized_operations)
        t->topic_authorized_operations = ALL_TOPIC_OPERATIONS;
}

static bool add_each(const struct meta_topic *topic, void *ctx)
{
    add_topic(ctx, topic);
    return true;
}

static void fill_brokers(struct answer *an)
{
    struct metadata_response *resp = an->resp;
    int32_t n = metadata_broker_count(an->snapshot);

    resp->brokers = arena_new_array(&an->req->arena, struct metadata_response_broker, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const struct meta_broker *br = metadata_broker_at(an->snapshot, i);
        const struct meta_endpoint *ep = meta_broker_endpoint(br, an->req->listener_name);

        if (ep)
            resp->brokers[resp->brokers_count++] = (struct metadata_response_broker){
                .node_id = br->id,
                .host = ep->host,
                .port = ep->port,
                .rack = br->rack,
            };
    }
    resp->cluster_id = str_of(an->b->cluster_id);
    resp->controller_id = metadata_controller(an->snapshot);
}

/* Logs without a word of their topics: it is to come, or the topics are gone. */
static bool has_untold_logs(const struct answer *an)
{
    enum { PATIENCE_MS = 60000 }; /* from the start; then there are no topics, as Kafka says */
    const struct broker *b = an->b;

    return !metadata_has_heard_of_topics(an->snapshot) &&
           clock_mono_ms(b->clock) - b->start_ms < PATIENCE_MS && !log_manager_is_empty(b->logs);
}

/*
 * No controller has told this broker of topics since it started. Apache Kafka then says that there
 * is no such topic, or that it cannot be made, which some clients believe: they fail what they have
 * to send. That a leader is not known yet is as true, and they all wait. A controller that takes
 * over says first who is alive, and nothing else; that there are topics is seen by the logs then.
 */
static bool knows_nothing(const struct answer *an)
{
    return metadata_broker_count(an->snapshot) == 0 || has_untold_logs(an);
}

static bool may_auto_create(const struct answer *an)
{
    const struct metadata_request *body = an->req->body;

    return !knows_nothing(an) && an->b->conf->auto_create_topics_enable &&
           (an->req->version < 4 || body->allow_auto_topic_creation);
}

static int16_t error_of_unknown(const struct answer *an, struct str name)
{
    struct str why;

    if (topic_name_check(&an->req->arena, name, &why))
        return INVALID_TOPIC_EXCEPTION;
    return knows_nothing(an) ? LEADER_NOT_AVAILABLE : UNKNOWN_TOPIC_OR_PARTITION;
}

static void add_by_name(struct answer *an)
{
    const struct metadata_request *body = an->req->body;
    struct arena *a = &an->req->arena;
    struct str *missing = arena_new_array(a, struct str, (size_t)body->topics_count);
    int32_t missing_count = 0;
    struct seen *set = NULL;

    for (int32_t i = 0; i < body->topics_count; i++) {
        struct str name = body->topics[i].name;

        if (seen_add(&set, a, name, i) >= 0)
            continue;
        const struct meta_topic *topic = metadata_topic(an->snapshot, name);
        if (topic)
            add_topic(an, topic);
        else
            missing[missing_count++] = name;
    }
    seen_clear(&set);
    for (int32_t i = 0; i < missing_count; i++) {
        struct metadata_response_topic *t = next_topic(an, missing[i]);

        t->error_code = error_of_unknown(an, missing[i]);
        if (body->include_topic_authorized_operations)
            t->topic_authorized_operations = ALL_TOPIC_OPERATIONS;
    }
    an->auto_count = may_auto_create(an) ? missing_count : 0;
}

static void add_by_id(struct answer *an)
{
    const struct metadata_request *body = an->req->body;
    struct seen *set = NULL;

    for (int32_t i = 0; i < body->topics_count; i++) {
        const struct uuid *id = &body->topics[i].topic_id;
        const struct meta_topic *topic = metadata_topic_by_id(an->snapshot, *id);

        if (uuid_is_zero(*id) ||
            seen_add(&set, &an->req->arena, (struct str){(const char *)id, sizeof *id}, i) >= 0)
            continue;
        if (topic) {
            add_topic(an, topic);
            continue;
        }
        struct metadata_response_topic *t = next_topic(an, STR_NULL);
        t->topic_id = *id;
        t->error_code = knows_nothing(an) ? LEADER_NOT_AVAILABLE : UNKNOWN_TOPIC_ID;
    }
    seen_clear(&set);
}

/* Topic ids, and topics without a name, came with version 12 only. */
static bool is_malformed(const struct request *req)
{
    const struct metadata_request *body = req->body;

    for (int32_t i = 0; req->version < 12 && i < body->topics_count; i++) {
        if (str_is_null(body->topics[i].name) || !uuid_is_zero(body->topics[i].topic_id))
            return true;
    }
    return false;
}

static void refuse(struct answer *an)
{
    const struct metadata_request *body = an->req->body;

    for (int32_t i = 0; i < body->topics_count; i++) {
        struct str name = body->topics[i].name;
        struct metadata_response_topic *t = next_topic(an, str_is_null(name) ? STR("") : name);

        t->is_internal = false; /* it is not looked at */
        t->topic_id = body->topics[i].topic_id;
        t->error_code = INVALID_REQUEST;
    }
}

static bool wants_ids(const struct metadata_request *body)
{
    for (int32_t i = 0; i < body->topics_count; i++) {
        if (!uuid_is_zero(body->topics[i].topic_id))
            return true;
    }
    return false;
}

static bool wants_all(const struct request *req)
{
    const struct metadata_request *body = req->body;

    return req->version == 0 ? body->topics_count <= 0 : body->topics_count < 0;
}

static void fill(struct answer *an)
{
    const struct metadata_request *body = an->req->body;
    bool is_all = wants_all(an->req);
    int32_t max = is_all ? metadata_topic_count(an->snapshot) : body->topics_count;

    an->resp->topics =
        arena_new_array(&an->req->arena, struct metadata_response_topic, (size_t)max);
    if (is_malformed(an->req)) {
        refuse(an);
        return;
    }
    fill_brokers(an);
    if (body->include_cluster_authorized_operations)
        an->resp->cluster_authorized_operations = ALL_CLUSTER_OPERATIONS;
    if (is_all)
        metadata_each_topic(an->snapshot, add_each, an);
    else if (an->req->version >= 12 && wants_ids(body))
        add_by_id(an);
    else
        add_by_name(an);
}

static void make_topics(struct answer *an)
{
    struct metadata_response *resp = an->resp;

    for (int32_t i = resp->topics_count - an->auto_count; i < resp->topics_count; i++)
        resp->topics[i].error_code =
            topic_admin_auto_create(an->b->topics, &an->req->arena, resp->topics[i].name);
}

static void fill_and_reply(struct job *j)
{
    struct answer *an = container_of(j, struct answer, job);

    fill(an);
    make_topics(an);
    request_reply(an->req, an->resp);
}

static void make_topics_and_reply(struct job *j)
{
    struct answer *an = container_of(j, struct answer, job);

    make_topics(an);
    request_reply(an->req, an->resp);
}

void handle_metadata(struct broker *b, struct request *req)
{
    const struct metadata_request *body = req->body;
    struct answer *an = arena_new(&req->arena, struct answer);

    an->b = b;
    an->req = req;
    an->snapshot = hold_snapshot(b, req);
    an->resp = arena_new(&req->arena, struct metadata_response);
    msg_init(&metadata_response_desc, an->resp);
    if ((wants_all(req) ? metadata_topic_count(an->snapshot) : body->topics_count) >
        TOPICS_ON_REACTOR) {
        an->job.work = fill_and_reply;
        workq_submit(b->workq, &an->job);
        return;
    }
    fill(an);
    if (an->auto_count == 0) {
        request_reply(req, an->resp);
        return;
    }
    an->job.work = make_topics_and_reply;
    workq_submit(b->workq, &an->job);
}

/* ---- DescribeCluster ---- */

static int16_t check_endpoint_type(const struct request *req)
{
    const struct describe_cluster_request *body = req->body;

    if (body->endpoint_type == 1)
        return NONE;
    if (req->version == 0)
        return INVALID_REQUEST;
    return body->endpoint_type == 2 ? MISMATCHED_ENDPOINT_TYPE : UNSUPPORTED_ENDPOINT_TYPE;
}

static void fill_cluster(struct broker *b, struct request *req,
                         struct describe_cluster_response *resp)
{
    const struct metadata_snapshot *s = hold_snapshot(b, req);
    const struct describe_cluster_request *body = req->body;
    int32_t n = metadata_broker_count(s);

    resp->cluster_id = str_of(b->cluster_id);
    resp->controller_id = metadata_controller(s);
    resp->brokers =
        arena_new_array(&req->arena, struct describe_cluster_response_broker, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const struct meta_broker *br = metadata_broker_at(s, i);
        const struct meta_endpoint *ep = meta_broker_endpoint(br, req->listener_name);

        if (ep)
            resp->brokers[resp->brokers_count++] = (struct describe_cluster_response_broker){
                .broker_id = br->id,
                .host = ep->host,
                .port = ep->port,
                .rack = br->rack,
            };
    }
    if (body->include_cluster_authorized_operations)
        resp->cluster_authorized_operations = ALL_CLUSTER_OPERATIONS;
}

void handle_describe_cluster(struct broker *b, struct request *req)
{
    const struct describe_cluster_request *body = req->body;
    struct describe_cluster_response *resp =
        arena_new(&req->arena, struct describe_cluster_response);

    msg_init(&describe_cluster_response_desc, resp);
    resp->error_code = check_endpoint_type(req);
    resp->cluster_id = STR("");
    if (resp->error_code == NONE)
        fill_cluster(b, req, resp);
    else
        resp->error_message =
            resp->error_code == MISMATCHED_ENDPOINT_TYPE
                ? STR("The request was sent to an endpoint of type BROKER, but "
                      "we wanted an endpoint of type "
                      "CONTROLLER")
                : arena_printf(&req->arena, "Unsupported endpoint type %d", body->endpoint_type);
    request_reply(req, resp);
}
