/*
 * reassign_cluster.c - what the cluster is asked and told: where replicas are, what is under way,
 * what is to be
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/reassign/reassign.h"

static int unknown_topic(struct reassign *ra, struct str topic)
{
    strbuf_addf(&ra->why,
                "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic %.*s not "
                "found.",
                STR_ARG(topic));
    return UNKNOWN_TOPIC_OR_PARTITION;
}

static int topic_error(struct reassign *ra, const struct metadata_response_topic *t)
{
    if (t->error_code == UNKNOWN_TOPIC_OR_PARTITION)
        return unknown_topic(ra, t->name);
    strbuf_addz(&ra->why, "org.apache.kafka.common.errors.");
    cluster_exception(t->error_code, &ra->why);
    strbuf_addf(&ra->why, ": %.*s", STR_ARG(cluster_error_text(t->error_code, STR_NULL)));
    return t->error_code;
}

static int ask_metadata(struct reassign *ra, const struct str *topics, size_t count,
                        const struct metadata_response **ret)
{
    struct metadata_request m;
    const struct cluster_call call = {"describeTopics", SEED_ANY, API_METADATA, 12, &m};
    const void *response;

    msg_init(&metadata_request_desc, &m);
    m.allow_auto_topic_creation = false;
    m.topics = arena_new_array(&ra->arena, struct metadata_request_topic, count + 1);
    m.topics_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct_init(&metadata_request_topic_desc, &m.topics[i]);
        m.topics[i].name = topics[i];
    }
    cluster_start(ra->cluster);
    int r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
    if (r == 0)
        *ret = response;
    return r;
}

int reassign_brokers(struct reassign *ra, const struct metadata_response **ret)
{
    return ask_metadata(ra, NULL, 0, ret);
}

int reassign_current(struct reassign *ra, const struct str *topics, size_t count, bool must_exist,
                     struct plan *ret)
{
    const struct metadata_response *m = NULL;
    size_t n = 0;
    int r = count ? ask_metadata(ra, topics, count, &m) : 0;

    *ret = (struct plan){0};
    if (r || !m)
        return r;
    for (int32_t i = 0; i < m->topics_count; i++) {
        bool is_unknown = m->topics[i].error_code == UNKNOWN_TOPIC_OR_PARTITION;
        if (m->topics[i].error_code && (must_exist || !is_unknown))
            return topic_error(ra, &m->topics[i]);
        n += (size_t)m->topics[i].partitions_count;
    }
    ret->v = arena_new_array(&ra->arena, struct plan_entry, n + 1);
    for (int32_t i = 0; i < m->topics_count; i++) {
        for (int32_t k = 0; k < m->topics[i].partitions_count; k++) {
            const struct metadata_response_partition *p = &m->topics[i].partitions[k];
            ret->v[ret->count++] =
                (struct plan_entry){.topic = m->topics[i].name,
                                    .partition = p->partition_index,
                                    .replicas = {p->replica_nodes, p->replica_nodes_count}};
        }
    }
    plan_sort(ret);
    return 0;
}

struct str *reassign_topics(struct reassign *ra, const struct plan *p, size_t *ret_count)
{
    struct str *topics = arena_new_array(&ra->arena, struct str, p->count + 1);
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (i == 0 || !str_eq(p->v[i].topic, p->v[i - 1].topic))
            topics[n++] = p->v[i].topic;
    }
    *ret_count = n;
    return topics;
}

/* ---- what is under way ---- */

static int by_partition(const void *a, const void *b)
{
    const struct running *x = a, *y = b;

    return plan_order(x->topic, x->p->partition_index, y->topic, y->p->partition_index);
}

const struct running *running_find(const struct runnings *r, struct str topic, int32_t partition)
{
    const struct list_partition_reassignments_response_partition p = {.partition_index = partition};
    const struct running key = {topic, &p};

    return r->count ? bsearch(&key, r->v, r->count, sizeof key, by_partition) : NULL;
}

/* The plan is sorted: partitions of a topic follow each other. */
static void name_partitions(struct reassign *ra, const struct plan *p,
                            struct list_partition_reassignments_request *req)
{
    int32_t *room = arena_new_array(&ra->arena, int32_t, p->count + 1);

    req->topics = arena_new_array(&ra->arena, struct list_partition_reassignments_request_topic,
                                  p->count + 1);
    req->topics_count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (i == 0 || !str_eq(p->v[i].topic, p->v[i - 1].topic))
            req->topics[req->topics_count++] = (struct list_partition_reassignments_request_topic){
                .name = p->v[i].topic, .partition_indexes = room + i};
        room[i] = p->v[i].partition;
        req->topics[req->topics_count - 1].partition_indexes_count++;
    }
}

static int top_error(struct reassign *ra, int16_t error, struct str message)
{
    strbuf_addz(&ra->why, "org.apache.kafka.common.errors.");
    cluster_exception(error, &ra->why);
    strbuf_addf(&ra->why, ": %.*s", STR_ARG(cluster_error_text(error, message)));
    return error;
}

static void take_runnings(struct reassign *ra,
                          const struct list_partition_reassignments_response *resp,
                          struct runnings *ret)
{
    size_t n = 0;

    for (int32_t i = 0; i < resp->topics_count; i++)
        n += (size_t)resp->topics[i].partitions_count;
    *ret = (struct runnings){arena_new_array(&ra->arena, struct running, n + 1), 0};
    for (int32_t i = 0; i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++)
            ret->v[ret->count++] =
                (struct running){resp->topics[i].name, &resp->topics[i].partitions[k]};
    }
    if (n)
        qsort(ret->v, n, sizeof *ret->v, by_partition);
}

int reassign_running(struct reassign *ra, const struct plan *only, struct runnings *ret)
{
    struct list_partition_reassignments_request req;
    const struct cluster_call call = {"listPartitionReassignments", SEED_CONTROLLER,
                                      API_LIST_PARTITION_REASSIGNMENTS, 0, &req};
    const struct list_partition_reassignments_response *resp = NULL;
    const void *response;
    int r;

    msg_init(&list_partition_reassignments_request_desc, &req);
    req.timeout_ms = cluster_request_timeout_ms(ra->cluster);
    req.topics_count = -1;
    if (only)
        name_partitions(ra, only, &req);
    cluster_start(ra->cluster);
    do {
        r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
        resp = response;
    } while (r == 0 && cluster_again(ra->cluster, resp->error_code));
    if (r)
        return r;
    if (resp->error_code)
        return top_error(ra, resp->error_code, resp->error_message);
    take_runnings(ra, resp, ret);
    return 0;
}

/* ---- changes ---- */

static void name_moves(struct reassign *ra, const struct plan *p, bool cancels,
                       struct alter_partition_reassignments_request *req)
{
    struct alter_partition_reassignments_request_partition *room =
        arena_array(&ra->arena, p->count + 1, sizeof *room);

    req->topics = arena_array(&ra->arena, p->count + 1, sizeof *req->topics);
    req->topics_count = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_entry *e = &p->v[i];
        if (i == 0 || !str_eq(e->topic, p->v[i - 1].topic))
            req->topics[req->topics_count++] = (struct alter_partition_reassignments_request_topic){
                .name = e->topic, .partitions = room + i};
        room[i] = (struct alter_partition_reassignments_request_partition){
            .partition_index = e->partition,
            .replicas = cancels ? NULL : e->replicas.v,
            .replicas_count = cancels ? -1 : e->replicas.count};
        req->topics[req->topics_count - 1].partitions_count++;
    }
}

/* Answers in the order of the plan. */
static int list_refused(struct reassign *ra, const struct plan *p, bool cancels,
                        const struct alter_partition_reassignments_response *resp)
{
    const struct alter_partition_reassignments_response_partition **of = arena_new_array(
        &ra->arena, const struct alter_partition_reassignments_response_partition *, p->count + 1);
    CLEANUP(strbuf_deinit) struct strbuf lines = {0};

    for (int32_t i = 0; i < resp->responses_count; i++) {
        for (int32_t k = 0; k < resp->responses[i].partitions_count; k++) {
            const struct alter_partition_reassignments_response_partition *rp =
                &resp->responses[i].partitions[k];
            const struct plan_entry *e = plan_find(p, resp->responses[i].name, rp->partition_index);
            if (e)
                of[e - p->v] = rp;
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        if (of[i] && of[i]->error_code)
            strbuf_addf(&lines, "%s%.*s-%d: %.*s", lines.len ? "\n" : "", STR_ARG(p->v[i].topic),
                        p->v[i].partition,
                        STR_ARG(cluster_error_text(of[i]->error_code, of[i]->error_message)));
    }
    if (lines.len == 0)
        return 0;
    ra->is_terse = true;
    strbuf_addf(&ra->why, "%s\n%s",
                cancels ? "Error cancelling partition reassignments for:"
                        : "Error reassigning partition(s):",
                lines.s);
    return -EINVAL;
}

int reassign_alter(struct reassign *ra, const struct plan *p, bool cancels)
{
    struct alter_partition_reassignments_request req;
    const struct cluster_call call = {"alterPartitionReassignments", SEED_CONTROLLER,
                                      API_ALTER_PARTITION_REASSIGNMENTS, 0, &req};
    const struct alter_partition_reassignments_response *resp = NULL;
    const void *response;
    int r;

    msg_init(&alter_partition_reassignments_request_desc, &req);
    req.timeout_ms = cluster_request_timeout_ms(ra->cluster);
    name_moves(ra, p, cancels, &req);
    cluster_start(ra->cluster);
    do {
        r = cluster_call(ra->cluster, &call, &ra->arena, &response, &ra->why);
        resp = response;
    } while (r == 0 && cluster_again(ra->cluster, resp->error_code));
    if (r)
        return r;
    if (resp->error_code)
        return top_error(ra, resp->error_code, resp->error_message);
    return list_refused(ra, p, cancels, resp);
}
