/*
 * why_ask.c - what brokers tell of the cluster: Metadata, and who answers at all
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/why/why.h"

/* Only a lost or silent connection speaks against a broker. */
static void put_down(struct why_asker *ask, const struct cluster_call *call, int r)
{
    struct why_broker *b = why_find_broker(ask->f, call->to);

    if (r == -EPROTONOSUPPORT) {
        why_unasked(ask->f, "%s: the broker does not serve it", call->name);
    } else if (r == -EINVAL || !b) {
        why_unasked(ask->f, "%s: %s", call->name, err_name(r));
    } else {
        b->answers = WHY_NO;
        b->silence = r == -ETIMEDOUT ? arena_printf(ask->f->arena, "no answer within %d ms",
                                                    cluster_request_timeout_ms(ask->cluster))
                                     : arena_str(ask->f->arena, str_of(err_name(r)));
    }
}

const void *why_call(struct why_asker *ask, const struct cluster_call *call)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct why_broker *b = call->to >= 0 ? why_find_broker(ask->f, call->to) : NULL;
    const void *response = NULL;

    if (b && b->answers == WHY_NO)
        return NULL;
    cluster_start(ask->cluster);
    int r = cluster_call(ask->cluster, call, ask->arena, &response, &why);
    if (r < 0) {
        put_down(ask, call, r);
        return NULL;
    }
    if (b)
        b->answers = WHY_YES;
    return response;
}

/* ---- Metadata ---- */

static void take_brokers(struct why_asker *ask, const struct metadata_response *m)
{
    for (int32_t i = 0; i < m->brokers_count; i++) {
        const struct metadata_response_broker *from = &m->brokers[i];
        struct why_broker *b = why_add_broker(ask->f, from->node_id);
        b->is_listed = true;
        b->address = arena_printf(ask->arena, "%.*s:%d", STR_ARG(from->host), from->port);
    }
}

static int by_partition(const void *a, const void *b)
{
    const struct why_partition *x = a, *y = b;

    return (x->partition > y->partition) - (x->partition < y->partition);
}

static int by_name(const void *a, const void *b)
{
    const struct why_topic *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

static void take_partitions(struct why_asker *ask, const struct metadata_response_topic *from,
                            struct why_topic *t)
{
    t->count = from->partitions_count;
    t->v = arena_new_array(ask->arena, struct why_partition, (size_t)t->count + 1);
    for (int32_t i = 0; i < t->count; i++) {
        const struct metadata_response_partition *p = &from->partitions[i];
        t->v[i] = (struct why_partition){
            .partition = p->partition_index,
            .leader = p->leader_id,
            .replicas = {p->replica_nodes, p->replica_nodes_count},
            .isr = {p->isr_nodes, p->isr_nodes_count},
            .offline = {p->offline_replicas, p->offline_replicas_count},
        };
    }
    qsort(t->v, (size_t)t->count, sizeof *t->v, by_partition);
}

static void take_topics(struct why_asker *ask, const struct metadata_response *m)
{
    struct why_facts *f = ask->f;

    f->topics = arena_new_array(ask->arena, struct why_topic, (size_t)m->topics_count + 1);
    f->topics_count = 0;
    for (int32_t i = 0; i < m->topics_count; i++) {
        if (m->topics[i].error_code == UNKNOWN_TOPIC_OR_PARTITION || str_is_null(m->topics[i].name))
            continue;
        struct why_topic *t = &f->topics[f->topics_count++];
        t->name = m->topics[i].name;
        t->error = m->topics[i].error_code;
        t->min_isr = -1;
        take_partitions(ask, &m->topics[i], t);
    }
    qsort(f->topics, (size_t)f->topics_count, sizeof *f->topics, by_name);
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++)
            f->topics[i].v[k].topic = &f->topics[i];
    }
}

static void take_metadata(struct why_asker *ask, const struct metadata_response *m)
{
    struct why_facts *f = ask->f;

    f->brokers_answer = WHY_YES;
    f->cluster_id = m->cluster_id;
    f->controller = m->controller_id;
    take_brokers(ask, m);
    take_topics(ask, m);
}

/* The first question of all: who is there. Says why nobody answers. */
static const struct metadata_response *find_brokers(struct why_asker *ask)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    const struct metadata_response *m = NULL;

    if (cluster_metadata(ask->cluster, STR(""), ask->arena, &m, &why) == 0)
        return m;
    ask->f->brokers_answer = WHY_NO;
    ask->f->silence = arena_str(ask->f->arena, strbuf_str(&why));
    ask->f->source = STR("connecting");
    return NULL;
}

static const struct metadata_response *ask_one(struct why_asker *ask, int32_t to)
{
    struct metadata_request_topic one;
    struct metadata_request q;
    const struct cluster_call call = {"Metadata", to, API_METADATA, 12, &q};

    msg_init(&metadata_request_desc, &q);
    struct_init(&metadata_request_topic_desc, &one);
    one.name = ask->topic;
    q.allow_auto_topic_creation = false;
    q.topics = &one;
    q.topics_count = str_is_null(ask->topic) ? -1 : 1;
    return why_call(ask, &call);
}

bool why_ask_metadata(struct why_asker *ask)
{
    struct why_facts *f = ask->f;
    const struct metadata_response *first = find_brokers(ask), *m = NULL;

    if (!first)
        return false;
    take_brokers(ask, first);
    f->asked_broker = first->controller_id;
    if (first->controller_id >= 0)
        m = ask_one(ask, first->controller_id);
    if (!m) {
        f->asked_broker = SEED_ANY;
        m = ask_one(ask, SEED_ANY);
    }
    if (!m) {
        f->brokers_answer = WHY_NO;
        f->silence = STR("no answer to Metadata");
        f->source = STR("connecting");
        return false;
    }
    f->source = f->asked_broker >= 0
                    ? arena_printf(f->arena, "Metadata of broker %d", f->asked_broker)
                    : arena_printf(f->arena, "Metadata of a broker of %.*s", STR_ARG(f->bootstrap));
    take_metadata(ask, m);
    return true;
}

void why_ask_brokers(struct why_asker *ask)
{
    struct metadata_request q;
    struct metadata_request_topic none;

    msg_init(&metadata_request_desc, &q);
    q.allow_auto_topic_creation = false;
    q.topics = &none;
    q.topics_count = 0;
    for (int32_t i = 0; i < ask->f->brokers_count; i++) {
        struct why_broker *b = &ask->f->brokers[i];
        const struct cluster_call call = {"Metadata", b->id, API_METADATA, 12, &q};
        const struct metadata_response *m = b->is_listed ? why_call(ask, &call) : NULL;
        if (m)
            b->sees_controller = m->controller_id;
    }
}
