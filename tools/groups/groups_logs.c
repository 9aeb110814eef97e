/*
 * groups_logs.c - what the leaders of partitions know of their logs, and which partitions a topic
 * has
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/groups/groups.h"

enum { READ_UNCOMMITTED = 0, NO_REPLICA = -1 };

static int ask_metadata(struct groups *g, const char *name, const struct parts *topics,
                        const struct metadata_response **ret, struct str *ret_trouble)
{
    struct metadata_request m;
    const struct cluster_call call = {name, SEED_ANY, API_METADATA, 12, &m, false};
    const void *response;

    msg_init(&metadata_request_desc, &m);
    m.allow_auto_topic_creation = false;
    m.topics = arena_new_array(&g->arena, struct metadata_request_topic, topics->count + 1);
    m.topics_count = (int32_t)topics->count;
    for (size_t i = 0; i < topics->count; i++) {
        struct_init(&metadata_request_topic_desc, &m.topics[i]);
        m.topics[i].name = topics->v[i].topic;
    }
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r == 0)
        *ret = response;
    return r;
}

/* For our own tool; code is not 0. */
static struct str topic_words(struct groups *g, struct str topic, int16_t code)
{
    if (code == UNKNOWN_TOPIC_OR_PARTITION)
        return arena_printf(&g->arena, "topic '%.*s' does not exist", STR_ARG(topic));
    return arena_printf(&g->arena, "topic '%.*s': %.*s", STR_ARG(topic),
                        STR_ARG(cluster_error_text(code, STR_NULL)));
}

int groups_topic_parts(struct groups *g, struct str topic, struct parts *ret, struct str *trouble)
{
    const struct part one = {topic, 0};
    const struct parts topics = {(struct part *)(uintptr_t)&one, 1, 1};
    const struct metadata_response *m;

    if (topic.len == 0) {
        *trouble =
            groups_trouble(g, INVALID_TOPIC_EXCEPTION,
                           STR("The given topic name '' cannot be represented in a request."));
        return INVALID_TOPIC_EXCEPTION;
    }
    cluster_start(g->cluster);
    int r = ask_metadata(g, "listNodes", &topics, &m, trouble);
    if (r < 0)
        return r;
    for (int32_t i = 0; i < m->topics_count; i++) {
        const struct metadata_response_topic *t = &m->topics[i];
        if (t->error_code && !groups_as_kafka(g))
            *trouble = topic_words(g, topic, t->error_code);
        else if (t->error_code)
            *trouble = groups_trouble(g, t->error_code, STR_NULL);
        if (t->error_code)
            return t->error_code;
        for (int32_t k = 0; k < t->partitions_count; k++)
            parts_add(ret, &g->arena, (struct part){topic, t->partitions[k].partition_index});
    }
    return 0;
}

/* ---- leaders ---- */

static int ask_order(const void *a, const void *b)
{
    return part_order(&((const struct log_ask *)a)->part, &((const struct log_ask *)b)->part);
}

struct log_ask *log_ask_find(struct log_ask *v, size_t n, const struct part *part)
{
    const struct log_ask key = {.part = *part};

    return n ? bsearch(&key, v, n, sizeof key, ask_order) : NULL;
}

struct asking {
    struct log_ask *v;
    size_t n;
    int64_t time;
    bool is_lenient;
};

/* The topics of what is pending, each once. */
static void pending_topics(struct groups *g, const struct asking *a, struct parts *ret)
{
    *ret = (struct parts){0};
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].is_pending &&
            (ret->count == 0 || !str_eq(ret->v[ret->count - 1].topic, a->v[i].part.topic)))
            parts_add(ret, &g->arena, (struct part){a->v[i].part.topic, 0});
    }
}

static void answer_part(struct asking *a, const struct part *part, int error)
{
    struct log_ask *ask = log_ask_find(a->v, a->n, part);

    if (!ask)
        return;
    ask->error = error;
    ask->is_pending = false;
}

/* Kafka's tool names one of the topic's partitions. */
static int unknown_topic(struct groups *g, const struct log_ask *ask, int16_t code)
{
    struct str topic = ask->part.topic, words;

    if (!groups_as_kafka(g))
        words = topic_words(g, topic, code);
    else if (code == INVALID_TOPIC_EXCEPTION)
        words = arena_printf(&g->arena,
                             "Failed to fetch metadata for partition %.*s-%d due to invalid topic "
                             "`%.*s`",
                             STR_ARG(topic), ask->part.partition, STR_ARG(topic));
    else
        words = arena_printf(&g->arena,
                             "Failed to fetch metadata for partition %.*s-%d because metadata for "
                             "topic `%.*s` could not be found",
                             STR_ARG(topic), ask->part.partition, STR_ARG(topic));
    return groups_say(g, code, groups_trouble(g, code, words));
}

static bool is_hopeless(int16_t code)
{
    return code == UNKNOWN_TOPIC_OR_PARTITION || code == INVALID_TOPIC_EXCEPTION ||
           code == TOPIC_AUTHORIZATION_FAILED;
}

/* What a topic's metadata says for its partitions that are pending. */
static int take_topic(struct groups *g, struct asking *a, const struct metadata_response_topic *t)
{
    for (size_t i = 0; is_hopeless(t->error_code) && i < a->n; i++) {
        struct log_ask *ask = &a->v[i];
        if (!ask->is_pending || !str_eq(ask->part.topic, t->name))
            continue;
        if (!a->is_lenient)
            return unknown_topic(g, ask, t->error_code);
        answer_part(a, &ask->part, t->error_code);
    }
    for (int32_t k = 0; k < t->partitions_count; k++) {
        const struct part part = {t->name, t->partitions[k].partition_index};
        struct log_ask *ask = log_ask_find(a->v, a->n, &part);
        if (ask && ask->is_pending) {
            ask->leader = t->partitions[k].leader_id;
            ask->error = ask->leader < 0 ? LEADER_NOT_AVAILABLE : 0;
        }
    }
    return 0;
}

static int find_leaders(struct groups *g, struct asking *a)
{
    const struct metadata_response *m;
    struct str trouble = STR_NULL;
    struct parts topics;
    int r;

    pending_topics(g, a, &topics);
    r = ask_metadata(g, "listOffsets(api=METADATA)", &topics, &m, &trouble);
    if (r < 0)
        return groups_say(g, r, trouble);
    for (size_t i = 0; i < a->n; i++) {
        a->v[i].leader = -1;
        if (a->v[i].is_pending)
            a->v[i].error = UNKNOWN_TOPIC_OR_PARTITION; /* until it is seen in the metadata */
    }
    for (int32_t i = 0; r == 0 && i < m->topics_count; i++)
        r = take_topic(g, a, &m->topics[i]);
    return r;
}

/* ---- offsets ---- */

/* All that is pending of one leader. */
static void name_asks(struct groups *g, const struct asking *a, int32_t leader,
                      struct list_offsets_request *req)
{
    struct list_offsets_request_partition *room = arena_array(&g->arena, a->n + 1, sizeof *room);
    size_t n = 0;

    req->topics = arena_array(&g->arena, a->n + 1, sizeof *req->topics);
    req->topics_count = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct log_ask *ask = &a->v[i];
        if (!ask->is_pending || ask->leader != leader)
            continue;
        if (req->topics_count == 0 ||
            !str_eq(req->topics[req->topics_count - 1].name, ask->part.topic))
            req->topics[req->topics_count++] = (struct list_offsets_request_topic){
                .name = ask->part.topic, .partitions = room + n};
        struct_init(&list_offsets_request_partition_desc, &room[n]);
        room[n].partition_index = ask->part.partition;
        room[n++].timestamp = a->time;
        req->topics[req->topics_count - 1].partitions_count++;
    }
}

static bool is_elsewhere_or_later(int16_t code)
{
    switch (code) {
    case NOT_LEADER_OR_FOLLOWER:
    case LEADER_NOT_AVAILABLE:
    case REPLICA_NOT_AVAILABLE:
    case BROKER_NOT_AVAILABLE:
    case FENCED_LEADER_EPOCH:
    case UNKNOWN_LEADER_EPOCH:
    case UNKNOWN_TOPIC_OR_PARTITION:
    case OFFSET_NOT_AVAILABLE:
    case KAFKA_STORAGE_ERROR:
    case REQUEST_TIMED_OUT:
        return true;
    default:
        return false;
    }
}

static int take_offset(struct groups *g, struct asking *a, const struct part *part,
                       const struct list_offsets_response_partition *p)
{
    struct log_ask *ask = log_ask_find(a->v, a->n, part);

    if (!ask || !ask->is_pending)
        return 0;
    ask->error = p->error_code;
    if (is_elsewhere_or_later(p->error_code))
        return 0;
    ask->is_pending = false;
    ask->offset = p->offset;
    if (p->error_code == 0 || a->is_lenient)
        return 0;
    return groups_say(g, p->error_code, groups_trouble(g, p->error_code, STR_NULL));
}

static void mark_lost(struct asking *a, int32_t leader)
{
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].is_pending && a->v[i].leader == leader)
            a->v[i].error = BROKER_NOT_AVAILABLE;
    }
}

static int ask_leader(struct groups *g, struct asking *a, int32_t leader)
{
    struct list_offsets_request req;
    const struct cluster_call call = {
        "listOffsets(api=LIST_OFFSETS)", leader, API_LIST_OFFSETS, 9, &req, true};
    const struct list_offsets_response *resp;
    struct str trouble = STR_NULL;
    const void *response;

    msg_init(&list_offsets_request_desc, &req);
    req.replica_id = NO_REPLICA;
    req.isolation_level = READ_UNCOMMITTED;
    name_asks(g, a, leader, &req);
    int r = groups_ask(g, &call, &response, &trouble);
    if (cluster_is_lost(r)) {
        mark_lost(a, leader);
        return 0;
    }
    if (r < 0)
        return groups_say(g, r, trouble);
    resp = response;
    for (int32_t i = 0; r == 0 && i < resp->topics_count; i++) {
        for (int32_t k = 0; r == 0 && k < resp->topics[i].partitions_count; k++) {
            const struct part part = {resp->topics[i].name,
                                      resp->topics[i].partitions[k].partition_index};
            r = take_offset(g, a, &part, &resp->topics[i].partitions[k]);
        }
    }
    return r;
}

static int leader_order(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The leaders of what is pending, each once. */
static int32_t *leaders_of(struct groups *g, const struct asking *a, size_t *ret_count)
{
    int32_t *ids = arena_new_array(&g->arena, int32_t, a->n + 1);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].is_pending && a->v[i].leader >= 0)
            ids[n++] = a->v[i].leader;
    }
    if (n)
        qsort(ids, n, sizeof *ids, leader_order);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    }
    *ret_count = kept;
    return ids;
}

static int ask_leaders(struct groups *g, struct asking *a)
{
    size_t n;
    const int32_t *ids = leaders_of(g, a, &n);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = ask_leader(g, a, ids[i]);
    return r;
}

static const struct log_ask *first_pending(const struct asking *a)
{
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].is_pending)
            return &a->v[i];
    }
    return NULL;
}

static int no_answer(struct groups *g, const struct log_ask *ask)
{
    struct str words;

    if (groups_as_kafka(g))
        words = STR("org.apache.kafka.common.errors.TimeoutException: "
                    "Call(callName=listOffsets(api=METADATA)) timed out");
    else
        words = arena_printf(&g->arena, "partition %.*s-%d: %s", STR_ARG(ask->part.topic),
                             ask->part.partition,
                             ask->error == UNKNOWN_TOPIC_OR_PARTITION
                                 ? "the topic has no such partition"
                                 : cluster_error_text((int16_t)ask->error, STR_NULL).p);
    return groups_say(g, ask->error ? ask->error : -ETIMEDOUT, words);
}

/*
 * What is missing in the metadata is asked for again as Kafka's tool only: it may be that new. Who
 * can do without gets a second chance, in case that leaders have just changed.
 */
static bool is_worth_waiting(const struct groups *g, const struct asking *a, int rounds)
{
    const struct log_ask *ask = first_pending(a);

    if (!ask || (a->is_lenient && rounds > 1))
        return false;
    return groups_as_kafka(g) || ask->error != UNKNOWN_TOPIC_OR_PARTITION;
}

int groups_log_offsets(struct groups *g, struct log_ask *v, size_t n, int64_t time, bool is_lenient)
{
    struct asking a = {v, n, time, is_lenient};

    for (size_t i = 0; i < n; i++) {
        v[i].is_pending = true;
        v[i].offset = -1;
    }
    cluster_start(g->cluster);
    for (int rounds = 1; first_pending(&a); rounds++) {
        int r = find_leaders(g, &a);
        r = r ? r : ask_leaders(g, &a);
        if (cluster_is_lost(r) && rounds > 1) { /* why it was asked again says more */
            strbuf_reset(&g->why);
            break;
        }
        if (r)
            return r;
        if (first_pending(&a) && (!is_worth_waiting(g, &a, rounds) || !cluster_wait(g->cluster)))
            break;
    }
    return is_lenient || !first_pending(&a) ? 0 : no_answer(g, first_pending(&a));
}
