/*
 * partitions.c - CreatePartitions: one topic after the other is read and checked on a worker,
 * written on the controller's thread, and then waited for in the metadata (protocol.md 11.23)
 */
#include "broker/api/handlers.h"

#include "broker/meta/metadata_waits.h"
#include "broker/meta/placement.h"
#include "broker/meta/replica_lists.h"
#include "broker/request/seen.h"
#include "common/base/err.h"
#include "controller/controller.h"
#include "zk/zk_brokers.h"
#include "zk/zk_paths.h"
#include "zk/zk_topics.h"

/* How often a topic that others change meanwhile is read again before the client is told to come
 * back. */
enum { MAX_TRIES = 5 };

/* More would be no topic that ZooKeeper can hold. */
enum { MAX_PARTITIONS = 200000 };

/* One CreatePartitions request on its way; lives in its arena. Topics are worked on one after the
 * other, and what a topic needs lies in the scratch until the next one: a request may name many. */
struct expansion {
    struct arena scratch;
    struct job job;
    struct message message;
    struct broker *b;
    struct request *req;
    struct create_partitions_response *resp;
    int32_t at; /* the topic that is worked on */
    int tries;
    struct controller_set_partitions write;
    struct metadata_wait wait;
};

static const struct create_partitions_request_topic *asked(const struct expansion *ex, int32_t i)
{
    return &((const struct create_partitions_request *)ex->req->body)->topics[i];
}

static int refuse(struct expansion *ex, int16_t error, struct str message)
{
    struct create_partitions_response_result *r = &ex->resp->results[ex->at];

    r->error_code = error;
    r->error_message = message;
    return error;
}

/* ---- the checks ---- */

static bool is_by_hand(const struct create_partitions_request_topic *t)
{
    return t->assignments_count >= 0;
}

static int check_lists(struct expansion *ex, const struct zk_brokers *brokers,
                       const struct node_topic *node)
{
    const struct create_partitions_request_topic *t = asked(ex, ex->at);
    struct arena *a = &ex->scratch;
    struct replica_list *lists =
        arena_new_array(a, struct replica_list, (size_t)t->assignments_count);
    int32_t *ids = arena_new_array(a, int32_t, brokers->count);

    for (size_t i = 0; i < brokers->count; i++)
        ids[i] = brokers->list[i].id;
    for (int32_t i = 0; i < t->assignments_count; i++)
        lists[i] =
            (struct replica_list){t->assignments[i].broker_ids, t->assignments[i].broker_ids_count};
    struct str why =
        replica_lists_check(&(struct replica_lists){.lists = lists,
                                                    .count = t->assignments_count,
                                                    .first_partition = node->count,
                                                    .wanted = t->count - node->count,
                                                    .factor = node->partitions[0].replicas.count,
                                                    .brokers = ids,
                                                    .broker_count = (int32_t)brokers->count},
                            &ex->req->arena);
    return str_is_null(why) ? 0 : refuse(ex, INVALID_REPLICA_ASSIGNMENT, why);
}

/* Places of wanted more partitions; whether there are any depends on the brokers alone. */
static int place(struct expansion *ex, const struct zk_brokers *brokers,
                 const struct node_topic *node, int32_t wanted, int32_t **ret_ids)
{
    const struct node_ids *first = &node->partitions[0].replicas;
    struct placement_broker *list =
        arena_new_array(&ex->scratch, struct placement_broker, brokers->count);
    uint32_t start = 0;

    for (size_t i = 0; i < brokers->count; i++)
        list[i] = (struct placement_broker){brokers->list[i].id, brokers->list[i].node.rack};
    while (start < brokers->count && (first->count == 0 || list[start].id < first->list[0]))
        start++;
    if (first->count > (int32_t)brokers->count)
        return refuse(ex, INVALID_REPLICATION_FACTOR,
                      arena_printf(&ex->req->arena,
                                   "Replication factor: %d larger than available brokers: %zu.",
                                   first->count, brokers->count));
    const struct placement p = {
        .brokers = list,
        .broker_count = (int32_t)brokers->count,
        .partitions = wanted,
        .replication_factor = first->count,
        .first_partition = node->count,
        .start = start < brokers->count ? start : 0,
        .shift = start < brokers->count ? start : 0,
    };
    if (first->count == 0 || placement_assign(&p, &ex->scratch, ret_ids) < 0)
        return refuse(
            ex, UNKNOWN_SERVER_ERROR,
            STR("Not all brokers have rack information for replica rack aware assignment."));
    return 0;
}

/* The node with its new partitions; ids: where nothing was assigned by hand. */
static void grow(struct expansion *ex, struct node_topic *node, int32_t *ids)
{
    const struct create_partitions_request_topic *t = asked(ex, ex->at);
    struct node_partition *all =
        arena_new_array(&ex->scratch, struct node_partition, (size_t)t->count);
    int32_t old = node->count, factor = node->partitions[0].replicas.count;

    memcpy(all, node->partitions, (size_t)old * sizeof *all);
    for (int32_t i = 0; i < t->count - old; i++) {
        all[old + i].id = old + i;
        all[old + i].replicas = ids ? (struct node_ids){ids + (size_t)i * (size_t)factor, factor}
                                    : (struct node_ids){t->assignments[i].broker_ids,
                                                        t->assignments[i].broker_ids_count};
    }
    node->partitions = all;
    node->count = t->count;
}

static int refuse_unknown(struct expansion *ex)
{
    return refuse(ex, UNKNOWN_TOPIC_OR_PARTITION,
                  arena_printf(&ex->req->arena, "The topic '%.*s' does not exist.",
                               STR_ARG(asked(ex, ex->at)->name)));
}

static int check_count(struct expansion *ex, const struct node_topic *node)
{
    const struct create_partitions_request_topic *t = asked(ex, ex->at);

    for (int32_t i = 0; i < node->count; i++) {
        if (node->partitions[i].adding.count || node->partitions[i].removing.count)
            return refuse(
                ex, REASSIGNMENT_IN_PROGRESS,
                arena_printf(&ex->req->arena,
                             "A partition reassignment is in progress for the topic '%.*s'.",
                             STR_ARG(t->name)));
    }
    if (node->count == 0)
        return refuse_unknown(ex);
    if (t->count < node->count)
        return refuse(
            ex, INVALID_PARTITIONS,
            arena_printf(
                &ex->req->arena,
                "Topic currently has %d partitions, which is higher than the requested %d.",
                node->count, t->count));
    if (t->count == node->count)
        return refuse(
            ex, INVALID_PARTITIONS,
            arena_printf(&ex->req->arena, "Topic already has %d partitions.", node->count));
    if (node->partitions[0].id != 0 || node->partitions[node->count - 1].id != node->count - 1)
        return refuse(ex, UNKNOWN_SERVER_ERROR,
                      STR("The topic's partitions in ZooKeeper are not 0 to n-1."));
    return 0;
}

/* What is cheap first: nothing as large as the count is made before everything else is right, nor
 * where nothing is to be written. */
static int work_out(struct expansion *ex, const struct zk_brokers *brokers, struct node_topic *node)
{
    const struct create_partitions_request *body = ex->req->body;
    const struct create_partitions_request_topic *t = asked(ex, ex->at);
    int32_t *ids = NULL;
    int error = check_count(ex, node);

    if (!error && is_by_hand(t))
        error = check_lists(ex, brokers, node);
    if (!error && t->count > MAX_PARTITIONS)
        error = refuse(ex, INVALID_PARTITIONS,
                       STR("Number of partitions must not be larger than 200000."));
    if (!error && !is_by_hand(t))
        error = place(ex, brokers, node, body->validate_only ? 1 : t->count - node->count, &ids);
    if (!error && !body->validate_only)
        grow(ex, node, ids);
    return error;
}

/* Reads the topic and works out what it is to become; the write is then prepared. On a worker. */
static int prepare(struct expansion *ex)
{
    struct arena *a = &ex->req->arena;
    struct str name = asked(ex, ex->at)->name;
    struct str fault = zk_path_fault(a, ZK_PATH_TOPICS "/", name);
    struct zk_topic topic = {.name = name};
    struct zk_brokers brokers;
    bool is_deleted = false;

    arena_reset(&ex->scratch);
    if (!str_is_null(fault))
        return refuse(ex, UNKNOWN_SERVER_ERROR, fault);
    enum zk_result r = zk_delete_topics_is_requested(ex->b->zk, name, &is_deleted);
    if (r == ZK_OK && is_deleted)
        return refuse(ex, INVALID_TOPIC_EXCEPTION, STR("The topic is queued for deletion."));
    if (r == ZK_OK)
        r = zk_topics_read(ex->b->zk, &ex->scratch, &topic, 1);
    if (r == ZK_OK)
        r = zk_brokers_read(ex->b->zk, false, &ex->scratch, &brokers);
    if (r == ZK_OK && topic.result == ZK_NO_NODE)
        return refuse_unknown(ex);
    if (r != ZK_OK || topic.result != ZK_OK)
        return refuse(ex, UNKNOWN_SERVER_ERROR,
                      arena_printf(a, "The topic cannot be read from ZooKeeper: %s",
                                   zk_result_name(r != ZK_OK ? r : topic.result)));
    int error = work_out(ex, &brokers, &topic.node);
    ex->write.topic = name;
    ex->write.node = topic.node;
    ex->write.node_version = topic.version;
    return error;
}

/* ---- one topic after the other ---- */

static bool is_led(const struct expansion *ex, const struct metadata_snapshot *s, int32_t i)
{
    const struct create_partitions_request_topic *t = asked(ex, i);
    const struct meta_topic *m = metadata_topic(s, t->name);

    if (!m || m->partition_count < t->count)
        return false;
    for (int32_t p = 0; p < m->partition_count; p++) {
        if (m->partitions[p].leader < 0)
            return false;
    }
    return true;
}

static bool are_led(struct metadata_wait *w, const struct metadata_snapshot *s)
{
    struct expansion *ex = container_of(w, struct expansion, wait);

    for (int32_t i = 0; i < ex->resp->results_count; i++) {
        if (!ex->resp->results[i].error_code && !is_led(ex, s, i))
            return false;
    }
    return true;
}

/* A name that was given twice is answered once. */
static void answer(struct expansion *ex)
{
    int32_t n = 0;

    for (int32_t i = 0; i < ex->resp->results_count; i++)
        if (!str_is_null(ex->resp->results[i].name))
            ex->resp->results[n++] = ex->resp->results[i];
    ex->resp->results_count = n;
    arena_deinit(&ex->scratch);
    request_reply(ex->req, ex->resp);
}

static void waited(struct metadata_wait *w, bool is_timed_out)
{
    struct expansion *ex = container_of(w, struct expansion, wait);
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(ex->b->metadata);

    for (int32_t i = 0; is_timed_out && i < ex->resp->results_count; i++) {
        if (!ex->resp->results[i].error_code && !is_led(ex, s, i))
            ex->resp->results[i].error_code = REQUEST_TIMED_OUT;
    }
    answer(ex);
}

static void finish(struct expansion *ex)
{
    const struct create_partitions_request *body = ex->req->body;

    ex->wait.reactor = ex->req->reactor;
    ex->wait.is_over = are_led;
    ex->wait.done = waited;
    ex->wait.deadline_us = ex->req->received_us + (int64_t)body->timeout_ms * 1000;
    if (body->validate_only)
        answer(ex);
    else if (body->timeout_ms <= 0)
        waited(&ex->wait, true);
    else
        metadata_waits_park(ex->b->waits, &ex->wait);
}

static void next_topic(struct expansion *ex)
{
    while (ex->at < ex->resp->results_count && ex->resp->results[ex->at].error_code)
        ex->at++;
    if (ex->at == ex->resp->results_count)
        finish(ex);
    else
        workq_submit(ex->b->workq, &ex->job);
}

static void on_written(struct message *m)
{
    struct expansion *ex = container_of(m, struct expansion, message);
    int r = ex->write.error;

    if (r == -EAGAIN && ++ex->tries < MAX_TRIES) {
        next_topic(ex);
        return;
    }
    if (r)
        refuse(ex, err_to_wire(r),
               r < 0 ? STR("ZooKeeper did not take the change; try again.") : STR_NULL);
    ex->at++;
    ex->tries = 0;
    next_topic(ex);
}

/* On the controller's thread. */
static void written(struct controller_call *call)
{
    struct expansion *ex = call->ctx;

    ex->message.run = on_written;
    reactor_post(ex->req->reactor, &ex->message);
}

static void on_prepared(struct job *j)
{
    struct expansion *ex = container_of(j, struct expansion, job);
    const struct create_partitions_request *body = ex->req->body;

    if (ex->resp->results[ex->at].error_code || body->validate_only) {
        ex->at++;
        next_topic(ex);
        return;
    }
    ex->write.call = (struct controller_call){.arena = &ex->req->arena, .done = written, .ctx = ex};
    controller_set_topic_partitions(ex->b->controller, &ex->write);
}

static void prepare_job(struct job *j)
{
    prepare(container_of(j, struct expansion, job));
}

static void take_topics(struct expansion *ex)
{
    const struct create_partitions_request *body = ex->req->body;
    struct arena *a = &ex->req->arena;
    struct create_partitions_response_result *results =
        arena_new_array(a, struct create_partitions_response_result, (size_t)body->topics_count);
    bool is_active = controller_is_active(ex->b->controller);
    struct seen *set = NULL;

    ex->resp->results = results;
    ex->resp->results_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++) {
        int32_t first = seen_add(&set, a, body->topics[i].name, i);

        struct_init(&create_partitions_response_result_desc, &results[i]);
        results[i].name = first < 0 ? body->topics[i].name : STR_NULL; /* answer() drops it */
        results[i].error_code = is_active ? NONE : NOT_CONTROLLER;
        if (is_active && first >= 0) {
            results[i].error_code = results[first].error_code = INVALID_REQUEST;
            results[i].error_message = results[first].error_message =
                STR("Duplicate topic in request.");
        }
    }
    seen_clear(&set);
}

void handle_create_partitions(struct broker *b, struct request *req)
{
    struct expansion *ex = arena_new(&req->arena, struct expansion);

    ex->b = b;
    ex->req = req;
    ex->resp = arena_new(&req->arena, struct create_partitions_response);
    msg_init(&create_partitions_response_desc, ex->resp);
    ex->job = (struct job){.work = prepare_job, .done = on_prepared, .reply = req->reactor};
    take_topics(ex);
    if (!controller_is_active(b->controller))
        answer(ex);
    else
        next_topic(ex);
}
