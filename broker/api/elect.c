/*
 * elect.c - ElectLeaders
 *
 * The controller elects; the answer then waits until this broker, too, has heard of the new
 * leaders, so that a client that asks it next is told of them.
 */
#include "broker/api/handlers.h"

#include "broker/meta/metadata_waits.h"
#include "common/base/err.h"
#include "controller/controller.h"

enum { ELECTION_PREFERRED = 0, ELECTION_UNCLEAN = 1 };

/* One request on its way; lives in its arena. */
struct election {
    struct controller_elections call;
    struct broker *b;
    struct request *req;
    struct elect_leaders_response *resp;
    struct metadata_wait wait;
    struct message message;
    size_t seen; /* entries up to here are known to the metadata, or failed */
};

static const struct elect_leaders_request *asked(const struct election *el)
{
    return el->req->body;
}

/* ---- the answer ---- */

/* Everything was asked for: then only what had to be elected is told. */
static bool is_told(const struct election *el, const struct controller_election *e)
{
    return asked(el)->topic_partitions_count >= 0 || e->error != ELECTION_NOT_NEEDED;
}

/* Entries of a topic follow each other, so that its results lie in one piece of room. */
static void add_result(struct election *el, const struct controller_election *e,
                       struct elect_leaders_response_partition_result *room)
{
    struct elect_leaders_response *resp = el->resp;
    int32_t n = resp->replica_election_results_count;
    struct elect_leaders_response_replica_election_result *t =
        &resp->replica_election_results[n ? n - 1 : 0];

    if (n == 0 || !str_eq(t->topic, e->topic)) {
        t = &resp->replica_election_results[resp->replica_election_results_count++];
        t->topic = e->topic;
        t->partition_result = room;
    }
    t->partition_result_count++;
    *room = (struct elect_leaders_response_partition_result){
        .partition_id = e->partition,
        .error_code = e->error,
        .error_message = e->message ? str_of(e->message) : STR_NULL,
    };
}

static void reply(struct election *el)
{
    struct arena *a = &el->req->arena;
    size_t n = el->call.count + 1;

    el->resp->replica_election_results =
        arena_array(a, n, sizeof *el->resp->replica_election_results);
    struct elect_leaders_response_partition_result *room =
        arena_new_array(a, struct elect_leaders_response_partition_result, n);
    for (size_t i = 0; i < el->call.count; i++) {
        if (is_told(el, &el->call.list[i]))
            add_result(el, &el->call.list[i], room++);
    }
    request_reply(el->req, el->resp);
}

/* ---- the wait ---- */

static bool is_known(const struct metadata_snapshot *s, const struct controller_election *e)
{
    const struct meta_partition *p = metadata_partition(s, e->topic, e->partition);

    return e->error || (p && p->leader == e->leader);
}

static bool are_known(struct metadata_wait *w, const struct metadata_snapshot *s)
{
    struct election *el = container_of(w, struct election, wait);

    while (el->seen < el->call.count && is_known(s, &el->call.list[el->seen]))
        el->seen++;
    return el->seen == el->call.count;
}

static void waited(struct metadata_wait *w, bool is_timed_out)
{
    struct election *el = container_of(w, struct election, wait);
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(el->b->metadata);

    for (size_t i = el->seen; is_timed_out && i < el->call.count; i++) {
        struct controller_election *e = &el->call.list[i];
        if (is_known(s, e))
            continue;
        e->error = REQUEST_TIMED_OUT;
        e->message = "The request timed out.";
    }
    reply(el);
}

/* Back on the request's reactor. */
static void on_elected(struct message *m)
{
    struct election *el = container_of(m, struct election, message);

    el->wait.reactor = el->req->reactor;
    el->wait.is_over = are_known;
    el->wait.done = waited;
    el->wait.deadline_us = el->req->received_us + (int64_t)asked(el)->timeout_ms * 1000;
    metadata_waits_park(el->b->waits, &el->wait);
}

/* On the controller's thread. */
static void elected(struct controller_call *call)
{
    struct election *el = call->ctx;

    el->message.run = on_elected;
    reactor_post(el->req->reactor, &el->message);
}

/* ---- which partitions ---- */

static size_t partitions_asked(const struct elect_leaders_request *body)
{
    size_t n = 0;

    for (int32_t i = 0; i < body->topic_partitions_count; i++)
        n += (size_t)body->topic_partitions[i].partitions_count;
    return n;
}

static void add_entry(struct election *el, struct str topic, int32_t partition)
{
    el->call.list[el->call.count++] =
        (struct controller_election){.topic = topic, .partition = partition};
}

static int by_partition(const void *a, const void *b)
{
    const struct controller_election *x = a, *y = b;
    int order = str_cmp(x->topic, y->topic);

    return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

/* Each partition once, those of a topic one after another. */
static void sort_entries(struct election *el)
{
    struct controller_election *list = el->call.list;
    size_t n = 0;

    if (el->call.count)
        qsort(list, el->call.count, sizeof *list, by_partition);
    for (size_t i = 0; i < el->call.count; i++)
        if (i == 0 || by_partition(&list[i], &list[n - 1]) != 0)
            list[n++] = list[i];
    el->call.count = n;
}

static void take_asked(struct election *el)
{
    const struct elect_leaders_request *body = asked(el);

    el->call.list = arena_array(&el->req->arena, partitions_asked(body) + 1, sizeof *el->call.list);
    for (int32_t i = 0; i < body->topic_partitions_count; i++) {
        for (int32_t j = 0; j < body->topic_partitions[i].partitions_count; j++)
            add_entry(el, body->topic_partitions[i].topic, body->topic_partitions[i].partitions[j]);
    }
    sort_entries(el);
}

static bool count_topic(const struct meta_topic *t, void *ctx)
{
    *(size_t *)ctx += (size_t)t->partition_count;
    return true;
}

static bool add_topic(const struct meta_topic *t, void *ctx)
{
    struct election *el = ctx;
    struct str name = arena_str(&el->req->arena, t->name);

    for (int32_t i = 0; i < t->partition_count; i++)
        add_entry(el, name, t->partitions[i].index);
    return true;
}

static void take_all(struct election *el)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(el->b->metadata);
    size_t n = 0;

    metadata_each_topic(s, count_topic, &n);
    el->call.list = arena_array(&el->req->arena, n + 1, sizeof *el->call.list);
    metadata_each_topic(s, add_topic, el);
}

/* An election type that there is not: nothing is elected, and each partition that was named says
 * so, as often as it was named. */
static void refuse_all(struct election *el)
{
    const struct elect_leaders_request *body = asked(el);
    struct elect_leaders_response *resp = el->resp;
    struct arena *a = &el->req->arena;

    resp->error_code = err_to_wire(-EINVAL);
    resp->replica_election_results_count = MAX(body->topic_partitions_count, 0);
    resp->replica_election_results =
        arena_new_array(a, struct elect_leaders_response_replica_election_result,
                        (size_t)resp->replica_election_results_count);
    for (int32_t i = 0; i < resp->replica_election_results_count; i++) {
        int32_t n = body->topic_partitions[i].partitions_count;
        struct elect_leaders_response_partition_result *room =
            arena_new_array(a, struct elect_leaders_response_partition_result, (size_t)n);

        for (int32_t j = 0; j < n; j++)
            room[j] = (struct elect_leaders_response_partition_result){
                body->topic_partitions[i].partitions[j], resp->error_code, STR_NULL};
        resp->replica_election_results[i] = (struct elect_leaders_response_replica_election_result){
            body->topic_partitions[i].topic, room, n};
    }
    request_reply(el->req, resp);
}

void handle_elect_leaders(struct broker *b, struct request *req)
{
    const struct elect_leaders_request *body = req->body;
    struct election *el = arena_new(&req->arena, struct election);

    el->b = b;
    el->req = req;
    el->resp = arena_new(&req->arena, struct elect_leaders_response);
    msg_init(&elect_leaders_response_desc, el->resp);
    if (body->election_type != ELECTION_PREFERRED && body->election_type != ELECTION_UNCLEAN) {
        refuse_all(el);
        return;
    }
    if (body->topic_partitions_count >= 0)
        take_asked(el);
    else
        take_all(el);
    el->call.unclean = body->election_type == ELECTION_UNCLEAN;
    el->call.call = (struct controller_call){.arena = &req->arena, .done = elected, .ctx = el};
    controller_elect_leaders(b->controller, &el->call);
}
