/*
 * why_ask_replicas.c - reassignments, log dirs, and how far the logs of unwell partitions are: one
 * request of each kind to each broker, whatever the number of partitions
 */
#include "common/base/err.h"
#include "tools/why/why.h"

enum { DEBUGGING_REPLICA = -2, TIMESTAMP_LATEST = -1 };

/* ---- reassignments ---- */

static void take_move(struct why_facts *f, struct str topic,
                      const struct list_partition_reassignments_response_partition *from)
{
    struct why_partition *p = why_find_partition(f, topic, from->partition_index);

    if (!p)
        return;
    p->adding = (struct why_ids){from->adding_replicas, from->adding_replicas_count};
    p->removing = (struct why_ids){from->removing_replicas, from->removing_replicas_count};
}

void why_ask_moves(struct why_asker *ask)
{
    struct why_facts *f = ask->f;
    struct list_partition_reassignments_request q;
    const struct cluster_call call = {"ListPartitionReassignments", f->controller,
                                      API_LIST_PARTITION_REASSIGNMENTS, 0, &q};

    if (f->controller < 0 || !why_find_broker(f, f->controller)) {
        why_unasked(f, "reassignments: there is no controller");
        return;
    }
    msg_init(&list_partition_reassignments_request_desc, &q);
    q.timeout_ms = cluster_request_timeout_ms(ask->cluster);
    q.topics_count = -1;
    const struct list_partition_reassignments_response *resp = why_call(ask, &call);
    if (!resp || resp->error_code) {
        why_unasked(f, "reassignments: %s",
                    resp ? err_name(resp->error_code) : "the controller does not answer");
        return;
    }
    f->knows_moves = true;
    for (int32_t i = 0; i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++)
            take_move(f, resp->topics[i].name, &resp->topics[i].partitions[k]);
    }
}

/* ---- which partitions are asked for ---- */

static void make_copies(struct why_asker *ask)
{
    struct why_facts *f = ask->f;
    int32_t n = 0;

    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            struct why_partition *p = &f->topics[i].v[k];
            if (p->copies || !why_is_unwell(p))
                continue;
            if (n++ == WHY_ASKED_MAX) {
                why_unasked(f, "logs of all unwell partitions: only of the first %d",
                            WHY_ASKED_MAX);
                return;
            }
            p->copies = arena_new_array(ask->arena, struct why_copy, (size_t)p->replicas.count + 1);
            for (int32_t c = 0; c < p->replicas.count; c++)
                p->copies[c] =
                    (struct why_copy){.broker = p->replicas.v[c], .size = -1, .end_offset = -1};
        }
    }
}

static struct why_copy *copy_on(const struct why_partition *p, int32_t broker)
{
    return (struct why_copy *)why_find_copy(p, broker);
}

static int32_t copies_on(const struct why_topic *t, int32_t broker)
{
    int32_t n = 0;

    for (int32_t i = 0; i < t->count; i++)
        n += copy_on(&t->v[i], broker) != NULL;
    return n;
}

/* ---- log dirs ---- */

static void name_logs(struct why_asker *ask, int32_t broker, struct describe_log_dirs_request *q)
{
    struct why_facts *f = ask->f;

    q->topics = arena_array(ask->arena, (size_t)f->topics_count + 1, sizeof *q->topics);
    q->topics_count = 0;
    for (int32_t i = 0; i < f->topics_count; i++) {
        int32_t n = copies_on(&f->topics[i], broker);
        if (n == 0)
            continue;
        struct describe_log_dirs_request_topic *t = &q->topics[q->topics_count++];
        t->topic = f->topics[i].name;
        t->partitions = arena_new_array(ask->arena, int32_t, (size_t)n);
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            if (copy_on(&f->topics[i].v[k], broker))
                t->partitions[t->partitions_count++] = f->topics[i].v[k].partition;
        }
    }
}

static void take_logs(struct why_facts *f, int32_t broker,
                      const struct describe_log_dirs_response_result *dir)
{
    for (int32_t i = 0; i < dir->topics_count; i++) {
        for (int32_t k = 0; k < dir->topics[i].partitions_count; k++) {
            const struct describe_log_dirs_response_partition *from = &dir->topics[i].partitions[k];
            struct why_partition *p =
                why_find_partition(f, dir->topics[i].name, from->partition_index);
            struct why_copy *copy = p ? copy_on(p, broker) : NULL;
            if (!copy || from->is_future_key)
                continue;
            copy->is_there = true;
            copy->size = from->partition_size;
        }
    }
}

static void mark_asked(struct why_facts *f, int32_t broker)
{
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            struct why_copy *copy = copy_on(&f->topics[i].v[k], broker);
            if (copy)
                copy->was_asked = true;
        }
    }
}

static const struct describe_log_dirs_response *ask_dirs(struct why_asker *ask, int32_t broker,
                                                         struct describe_log_dirs_request *q)
{
    const struct cluster_call call = {"DescribeLogDirs", broker, API_DESCRIBE_LOG_DIRS, 4, q};
    const struct describe_log_dirs_response *resp = why_call(ask, &call);

    if (resp && resp->error_code) {
        why_unasked(ask->f, "log dirs of broker %d: %s", broker, err_name(resp->error_code));
        return NULL;
    }
    return resp;
}

static void ask_logs(struct why_asker *ask, struct why_broker *b)
{
    struct describe_log_dirs_request q;

    msg_init(&describe_log_dirs_request_desc, &q);
    name_logs(ask, b->id, &q);
    const struct describe_log_dirs_response *resp = ask_dirs(ask, b->id, &q);
    if (!resp)
        return;
    b->dirs = arena_new_array(ask->arena, struct why_dir, (size_t)resp->results_count + 1);
    for (int32_t i = 0; i < resp->results_count; i++) {
        b->dirs[b->dirs_count++] =
            (struct why_dir){resp->results[i].log_dir, resp->results[i].error_code};
        take_logs(ask->f, b->id, &resp->results[i]);
    }
    mark_asked(ask->f, b->id);
}

/* ---- end offsets ---- */

/* As a debugging replica, so that followers answer too, with the end of their logs. */
static bool name_ends(struct why_asker *ask, int32_t broker, struct list_offsets_request *q)
{
    struct why_facts *f = ask->f;

    msg_init(&list_offsets_request_desc, q);
    q->replica_id = DEBUGGING_REPLICA;
    q->topics = arena_array(ask->arena, (size_t)f->topics_count + 1, sizeof *q->topics);
    q->topics_count = 0;
    for (int32_t i = 0; i < f->topics_count; i++) {
        int32_t n = copies_on(&f->topics[i], broker);
        if (n == 0)
            continue;
        struct list_offsets_request_topic *t = &q->topics[q->topics_count++];
        t->name = f->topics[i].name;
        t->partitions = arena_array(ask->arena, (size_t)n, sizeof *t->partitions);
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            if (!copy_on(&f->topics[i].v[k], broker))
                continue;
            struct list_offsets_request_partition *p = &t->partitions[t->partitions_count++];
            struct_init(&list_offsets_request_partition_desc, p);
            p->partition_index = f->topics[i].v[k].partition;
            p->timestamp = TIMESTAMP_LATEST;
        }
    }
    return q->topics_count > 0;
}

static void ask_ends(struct why_asker *ask, int32_t broker)
{
    struct list_offsets_request q;
    const struct cluster_call call = {"ListOffsets", broker, API_LIST_OFFSETS, 5, &q};
    const struct list_offsets_response *resp =
        name_ends(ask, broker, &q) ? why_call(ask, &call) : NULL;

    for (int32_t i = 0; resp && i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            const struct list_offsets_response_partition *from = &resp->topics[i].partitions[k];
            struct why_partition *p =
                why_find_partition(ask->f, resp->topics[i].name, from->partition_index);
            struct why_copy *copy = p ? copy_on(p, broker) : NULL;
            if (copy && !from->error_code)
                copy->end_offset = from->offset;
        }
    }
}

void why_ask_replicas(struct why_asker *ask)
{
    make_copies(ask);
    for (int32_t i = 0; i < ask->f->brokers_count; i++) {
        struct why_broker *b = &ask->f->brokers[i];
        if (!b->is_listed)
            continue;
        ask_logs(ask, b);
        ask_ends(ask, b->id);
    }
}

/* ---- topics that Metadata does not show ---- */

void why_ask_holders(struct why_asker *ask, struct why_deletion *d)
{
    struct why_facts *f = ask->f;
    struct describe_log_dirs_request_topic one = {.topic = d->topic};
    struct describe_log_dirs_request q;

    msg_init(&describe_log_dirs_request_desc, &q);
    one.partitions = arena_new_array(ask->arena, int32_t, (size_t)d->nodes.count + 1);
    for (int32_t i = 0; i < d->nodes.count; i++)
        one.partitions[one.partitions_count++] = d->nodes.v[i].partition;
    q.topics = &one;
    q.topics_count = 1;
    d->holders.v = arena_new_array(ask->arena, int32_t, (size_t)f->brokers_count + 1);
    for (int32_t i = 0; i < f->brokers_count; i++) {
        const struct describe_log_dirs_response *resp =
            f->brokers[i].is_listed ? ask_dirs(ask, f->brokers[i].id, &q) : NULL;
        bool holds = false;
        for (int32_t k = 0; resp && k < resp->results_count; k++)
            holds |= resp->results[k].topics_count > 0;
        if (holds)
            d->holders.v[d->holders.count++] = f->brokers[i].id;
    }
}

static bool has_text(const struct why_texts *t, struct str text)
{
    for (size_t i = 0; i < t->count; i++) {
        if (str_eq(t->v[i], text))
            return true;
    }
    return false;
}

/* A topic that is being deleted is unknown; one that we may not see is refused. */
static void check_hidden(struct why_asker *ask, const struct why_texts *names,
                         struct why_texts *ret)
{
    struct metadata_request q;
    const struct cluster_call call = {"Metadata", ask->f->asked_broker, API_METADATA, 12, &q};

    msg_init(&metadata_request_desc, &q);
    q.allow_auto_topic_creation = false;
    q.topics = arena_new_array(ask->arena, struct metadata_request_topic, names->count + 1);
    q.topics_count = (int32_t)names->count;
    for (size_t i = 0; i < names->count; i++) {
        struct_init(&metadata_request_topic_desc, &q.topics[i]);
        q.topics[i].name = names->v[i];
    }
    const struct metadata_response *m = why_call(ask, &call);
    for (int32_t i = 0; m && i < m->topics_count; i++) {
        if (m->topics[i].error_code != UNKNOWN_TOPIC_OR_PARTITION)
            why_texts_add(ask->arena, ret, m->topics[i].name);
    }
}

void why_ask_hidden(struct why_asker *ask, int32_t broker, struct why_texts *ret)
{
    struct describe_log_dirs_request q;
    struct why_texts names = {0};

    msg_init(&describe_log_dirs_request_desc, &q);
    q.topics_count = -1;
    const struct describe_log_dirs_response *resp = ask_dirs(ask, broker, &q);
    if (!resp)
        why_unasked(ask->f, "what lies on broker %d: it does not tell", broker);
    for (int32_t i = 0; resp && i < resp->results_count; i++) {
        for (int32_t k = 0; k < resp->results[i].topics_count; k++) {
            struct str name = resp->results[i].topics[k].name;
            if (!why_find_topic(ask->f, name) && !has_text(&names, name))
                why_texts_add(ask->arena, &names, name);
        }
    }
    if (names.count)
        check_hidden(ask, &names, ret);
}
