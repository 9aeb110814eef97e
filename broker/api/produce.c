/*
 * produce.c - Produce: the checks of a request in Kafka's order, then the appends, then the answer
 * (protocol.md 11.1). acks=0 has no answer; an error then closes the connection.
 */
#include "broker/api/handlers.h"

#include "broker/api/answers.h"
#include "broker/meta/metadata.h"
#include "broker/replica/produce_checks.h"
#include "common/base/err.h"

struct produce_call {
    struct broker *b;
    struct request *req;
    const struct produce_request *body;
    struct produce produce;
    const char **messages; /* of refusals, by part; NULL: none */
};

/* ---- the checks ---- */

static int check_part(const struct produce_call *c, const struct metadata_snapshot *s,
                      const struct produce_part *pp, const char **ret_message)
{
    if (!metadata_partition(s, pp->topic, pp->partition))
        return UNKNOWN_TOPIC_OR_PARTITION;
    return produce_check_records(&c->req->arena, pp->records, c->req->version, ret_message);
}

/* After all that may refuse the whole request. */
static int check_append(const struct produce_call *c, const struct produce_part *pp,
                        const char **ret_message)
{
    if (produce_has_transactional(pp->records)) {
        *ret_message = "the partition is not in a transaction: this broker does not serve "
                       "transactions yet";
        return c->req->version >= 11 ? TRANSACTION_ABORTABLE : INVALID_TXN_STATE;
    }
    if (c->body->acks < -1 || c->body->acks > 1)
        return INVALID_REQUIRED_ACKS;
    if (topic_is_internal(pp->topic) && !str_eqz(c->req->client_id, "__admin_client")) {
        *ret_message = "internal topics are written by the broker only";
        return INVALID_TOPIC_EXCEPTION;
    }
    return 0;
}

static void refuse_all(struct produce_call *c, int error, const char *message)
{
    for (int32_t i = 0; i < c->produce.count; i++) {
        c->produce.parts[i].error = error;
        c->messages[i] = message;
    }
}

static void check_parts(struct produce_call *c)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(c->b->metadata);
    struct produce *p = &c->produce;
    const char *message = NULL;
    int all = produce_check_first(p, !str_is_null(c->body->transactional_id), &message);

    for (int32_t i = 0; i < p->count && all == 0; i++)
        p->parts[i].error = check_part(c, s, &p->parts[i], &c->messages[i]);
    if (all == 0)
        all = produce_check_batches(p, c->req->version, &message);
    for (int32_t i = 0; i < p->count && all == 0; i++)
        if (p->parts[i].error == 0)
            p->parts[i].error = check_append(c, &p->parts[i], &c->messages[i]);
    if (all)
        refuse_all(c, all, message);
}

/* ---- the answer ---- */

/* Whether offsets are told also with an error: where the records are in the log. */
static bool is_appended(const struct produce_part *pp)
{
    return pp->error == 0 || pp->append.is_waiting || pp->error == NOT_ENOUGH_REPLICAS_AFTER_APPEND;
}

static bool tells_log_start(int error)
{
    return error != CORRUPT_MESSAGE && error != MESSAGE_TOO_LARGE &&
           error != RECORD_LIST_TOO_LARGE && error != KAFKA_STORAGE_ERROR;
}

static void fill_record_errors(struct produce_call *c, const struct produce_part *pp,
                               struct produce_response_partition_response *p)
{
    const struct log_append *a = &pp->append.log;

    if (a->error_message && !p->error_message.len)
        p->error_message = str_of(a->error_message);
    p->record_errors = arena_new_array(&c->req->arena, struct produce_response_record_error,
                                       (size_t)a->record_error_count);
    p->record_errors_count = a->record_error_count;
    for (int32_t i = 0; i < a->record_error_count; i++)
        p->record_errors[i] = (struct produce_response_record_error){
            a->record_errors[i].batch_index, str_of(a->record_errors[i].message)};
}

static void fill_part(struct produce_call *c, const struct produce_part *pp, const char *message,
                      struct produce_response_partition_response *p)
{
    const struct log_append *a = &pp->append.log;

    struct_init(&produce_response_partition_response_desc, p);
    p->index = pp->partition;
    p->error_code = err_to_wire(pp->error);
    p->base_offset = -1;
    p->error_message = str_of(message);
    if (is_appended(pp)) {
        p->base_offset = a->first_offset;
        p->log_append_time_ms = a->append_time_ms;
    }
    if (is_appended(pp) || tells_log_start(p->error_code))
        p->log_start_offset = a->log_start_offset;
    if (pp->error)
        fill_record_errors(c, pp, p);
}

/* Whom to ask instead (KIP-951). */
static void name_leader(struct produce_call *c, const struct produce_part *pp,
                        struct produce_response_partition_response *p, struct leader_endpoints *l)
{
    int32_t leader = pp->append.leader, epoch = pp->append.leader_epoch;

    if (c->req->version < 10 || p->error_code != NOT_LEADER_OR_FOLLOWER)
        return;
    if (leader < 0)
        leader_of(c->b, pp->topic, pp->partition, &leader, &epoch);
    p->current_leader.leader_id = leader;
    p->current_leader.leader_epoch = epoch;
    leader_endpoints_add(l, c->b, c->req, leader);
}

static void fill_endpoints(struct request *req, const struct leader_endpoints *l,
                           struct produce_response *resp)
{
    resp->node_endpoints =
        arena_new_array(&req->arena, struct produce_response_node_endpoint, (size_t)l->count);
    resp->node_endpoints_count = l->count;
    for (int32_t i = 0; i < l->count; i++)
        resp->node_endpoints[i] = (struct produce_response_node_endpoint){
            l->v[i].id, l->v[i].host, l->v[i].port, l->v[i].rack};
}

static void reply(struct produce_call *c)
{
    struct arena *a = &c->req->arena;
    const struct produce_request *body = c->body;
    struct produce_response *resp = arena_new(a, struct produce_response);
    struct leader_endpoints endpoints = {0};
    int32_t n = 0;

    msg_init(&produce_response_desc, resp);
    resp->responses =
        arena_new_array(a, struct produce_response_response, (size_t)body->topic_data_count);
    for (int32_t i = 0; i < body->topic_data_count; i++) {
        struct produce_response_response *t = &resp->responses[resp->responses_count];

        if (body->topic_data[i].partition_data_count == 0)
            continue; /* Kafka, which answers by partitions, does not tell such a topic */
        resp->responses_count++;
        t->name = body->topic_data[i].name;
        t->partition_responses_count = body->topic_data[i].partition_data_count;
        t->partition_responses = arena_new_array(a, struct produce_response_partition_response,
                                                 (size_t)t->partition_responses_count);
        for (int32_t k = 0; k < t->partition_responses_count; k++, n++) {
            fill_part(c, &c->produce.parts[n], c->messages[n], &t->partition_responses[k]);
            name_leader(c, &c->produce.parts[n], &t->partition_responses[k], &endpoints);
        }
    }
    fill_endpoints(c->req, &endpoints, resp);
    request_reply(c->req, resp);
}

static bool has_error(const struct produce_call *c)
{
    for (int32_t i = 0; i < c->produce.count; i++)
        if (c->produce.parts[i].error)
            return true;
    return false;
}

static void on_done(struct produce *p)
{
    struct produce_call *c = container_of(p, struct produce_call, produce);

    if (c->body->acks != 0)
        reply(c);
    else if (has_error(c))
        request_close(c->req);
    else
        request_no_reply(c->req);
}

/* ---- the request ---- */

static void fill_parts(struct produce_call *c)
{
    const struct produce_request *body = c->body;
    size_t total = 0;

    for (int32_t i = 0; i < body->topic_data_count; i++)
        total += (size_t)body->topic_data[i].partition_data_count;
    c->produce.parts = arena_new_array(&c->req->arena, struct produce_part, total);
    c->messages = arena_new_array(&c->req->arena, const char *, total);
    for (int32_t i = 0; i < body->topic_data_count; i++)
        for (int32_t k = 0; k < body->topic_data[i].partition_data_count; k++) {
            const struct produce_request_partition_data *p = &body->topic_data[i].partition_data[k];
            struct produce_part *pp = &c->produce.parts[c->produce.count++];
            pp->topic = body->topic_data[i].name;
            pp->partition = p->index;
            pp->records = p->records.bytes;
        }
}

void handle_produce(struct broker *b, struct request *req)
{
    struct produce_call *c = arena_new(&req->arena, struct produce_call);

    c->b = b;
    c->req = req;
    c->body = req->body;
    c->produce.acks = c->body->acks;
    c->produce.timeout_ms = c->body->timeout_ms;
    c->produce.reactor = req->reactor;
    c->produce.arena = &req->arena;
    c->produce.done = on_done;
    fill_parts(c);
    check_parts(c);
    produce_start(b->replicas, &c->produce);
}
