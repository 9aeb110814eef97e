/*
 * why_ask_group.c - a consumer group: coordinator, members, assignment, offsets
 */
#include "common/base/err.h"
#include "common/wire/codec.h"
#include "tools/why/why.h"

#include <stdlib.h>

enum { CONSUMER = -1, EARLIEST = -2, LATEST = -1, GROUPS_MAX = 20 };

/* ---- coordinator and members ---- */

static void find_coordinator(struct why_asker *ask, struct why_group *g)
{
    struct find_coordinator_request q;
    const struct cluster_call call = {"FindCoordinator", SEED_ANY, API_FIND_COORDINATOR, 3, &q};

    msg_init(&find_coordinator_request_desc, &q);
    q.key = g->name;
    const struct find_coordinator_response *resp = why_call(ask, &call);
    if (!resp)
        return;
    g->find_error = resp->error_code;
    if (!resp->error_code)
        g->coordinator = resp->node_id;
}

static bool has_text(const struct why_texts *t, struct str text)
{
    for (size_t i = 0; i < t->count; i++) {
        if (str_eq(t->v[i], text))
            return true;
    }
    return false;
}

static void take_subscription(struct why_asker *ask, struct slice data, struct why_group *g)
{
    struct consumer_protocol_subscription sub;
    int16_t version;

    if (codec_decode_versioned(&consumer_protocol_subscription_desc, data, ask->arena, &version,
                               &sub) < 0)
        return;
    for (int32_t i = 0; i < sub.topics_count; i++) {
        if (!has_text(&g->subscribed, sub.topics[i]))
            why_texts_add(ask->arena, &g->subscribed, sub.topics[i]);
    }
}

static void take_assignment(struct why_asker *ask, struct slice data, struct why_member *m)
{
    struct consumer_protocol_assignment as;
    int16_t version;
    int32_t n = 0;

    if (data.len == 0 || codec_decode_versioned(&consumer_protocol_assignment_desc, data,
                                                ask->arena, &version, &as) < 0)
        return;
    for (int32_t i = 0; i < as.assigned_partitions_count; i++)
        n += as.assigned_partitions[i].partitions_count;
    struct why_tp *v = arena_new_array(ask->arena, struct why_tp, (size_t)n + 1);
    for (int32_t i = 0; i < as.assigned_partitions_count; i++) {
        for (int32_t k = 0; k < as.assigned_partitions[i].partitions_count; k++)
            v[m->count++] = (struct why_tp){as.assigned_partitions[i].topic,
                                            as.assigned_partitions[i].partitions[k]};
    }
    m->assigned = v;
}

static void take_members(struct why_asker *ask, const struct describe_groups_response_group *from,
                         struct why_group *g)
{
    bool is_consumer = str_eqz(from->protocol_type, "consumer");

    g->members = arena_new_array(ask->arena, struct why_member, (size_t)from->members_count + 1);
    for (int32_t i = 0; i < from->members_count; i++) {
        const struct describe_groups_response_member *m = &from->members[i];
        g->members[g->members_count] = (struct why_member){
            .id = m->member_id, .client_id = m->client_id, .host = m->client_host};
        if (is_consumer) {
            take_subscription(ask, m->member_metadata, g);
            take_assignment(ask, m->member_assignment, &g->members[g->members_count]);
        }
        g->members_count++;
    }
}

static void describe(struct why_asker *ask, struct why_group *g)
{
    struct describe_groups_request q;
    const struct cluster_call call = {"DescribeGroups", g->coordinator, API_DESCRIBE_GROUPS, 5, &q};

    msg_init(&describe_groups_request_desc, &q);
    q.groups = &g->name;
    q.groups_count = 1;
    const struct describe_groups_response *resp = why_call(ask, &call);
    if (!resp || resp->groups_count != 1)
        return;
    g->error = resp->groups[0].error_code;
    if (g->error)
        return;
    g->state = resp->groups[0].group_state;
    take_members(ask, &resp->groups[0], g);
}

/* ---- offsets ---- */

static int by_tp(const void *a, const void *b)
{
    const struct why_commit *x = a, *y = b;
    int order = str_cmp(x->tp.topic, y->tp.topic);

    return order ? order
                 : (x->tp.partition > y->tp.partition) - (x->tp.partition < y->tp.partition);
}

static size_t assigned_count(const struct why_group *g)
{
    size_t n = 0;

    for (int32_t i = 0; i < g->members_count; i++)
        n += (size_t)g->members[i].count;
    return n;
}

/* One entry a partition: what is committed and what is assigned, put together. */
static void merge(struct why_group *g)
{
    size_t n = 0;

    if (g->commits_count)
        qsort(g->commits, g->commits_count, sizeof *g->commits, by_tp);
    for (size_t i = 0; i < g->commits_count; i++) {
        struct why_commit *c = &g->commits[i];
        if (n > 0 && by_tp(&g->commits[n - 1], c) == 0) {
            g->commits[n - 1].is_assigned |= c->is_assigned;
            g->commits[n - 1].committed = MAX(g->commits[n - 1].committed, c->committed);
        } else {
            g->commits[n++] = *c;
        }
    }
    g->commits_count = n;
}

static void take_commits(struct why_asker *ask, const struct offset_fetch_response *resp,
                         struct why_group *g)
{
    size_t n = assigned_count(g);

    for (int32_t i = 0; resp && i < resp->topics_count; i++)
        n += (size_t)resp->topics[i].partitions_count;
    g->commits = arena_new_array(ask->arena, struct why_commit, n + 1);
    for (int32_t i = 0; resp && i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++)
            g->commits[g->commits_count++] = (struct why_commit){
                .tp = {resp->topics[i].name, resp->topics[i].partitions[k].partition_index},
                .committed = resp->topics[i].partitions[k].committed_offset,
                .earliest = -1,
                .latest = -1};
    }
    for (int32_t i = 0; i < g->members_count; i++) {
        for (int32_t k = 0; k < g->members[i].count; k++)
            g->commits[g->commits_count++] = (struct why_commit){.tp = g->members[i].assigned[k],
                                                                 .committed = -1,
                                                                 .earliest = -1,
                                                                 .latest = -1,
                                                                 .is_assigned = true};
    }
    merge(g);
}

static void fetch_commits(struct why_asker *ask, struct why_group *g)
{
    struct offset_fetch_request q;
    const struct cluster_call call = {"OffsetFetch", g->coordinator, API_OFFSET_FETCH, 7, &q};

    msg_init(&offset_fetch_request_desc, &q);
    q.group_id = g->name;
    q.topics_count = -1;
    const struct offset_fetch_response *resp = why_call(ask, &call);
    if (resp && resp->error_code) {
        g->error = resp->error_code;
        resp = NULL;
    }
    take_commits(ask, resp, g);
}

static bool is_led_by(const struct why_facts *f, const struct why_commit *c, int32_t broker)
{
    const struct why_partition *p = why_find_partition(f, c->tp.topic, c->tp.partition);

    return p && p->leader == broker;
}

/* Commits are sorted: the partitions of a topic follow each other. */
static bool name_offsets(struct why_asker *ask, const struct why_group *g, int32_t broker,
                         struct list_offsets_request *q)
{
    struct list_offsets_request_partition *room =
        arena_array(ask->arena, g->commits_count + 1, sizeof *room);

    msg_init(&list_offsets_request_desc, q);
    q->replica_id = CONSUMER;
    q->topics = arena_array(ask->arena, g->commits_count + 1, sizeof *q->topics);
    q->topics_count = 0;
    for (size_t i = 0; i < g->commits_count; i++) {
        const struct why_commit *c = &g->commits[i];
        if (!is_led_by(ask->f, c, broker))
            continue;
        struct list_offsets_request_topic *t =
            q->topics_count ? &q->topics[q->topics_count - 1] : NULL;
        if (!t || !str_eq(t->name, c->tp.topic)) {
            t = &q->topics[q->topics_count++];
            t->name = c->tp.topic;
            t->partitions = room;
        }
        struct_init(&list_offsets_request_partition_desc, room);
        room->partition_index = c->tp.partition;
        room++;
        t->partitions_count++;
    }
    return q->topics_count > 0;
}

static struct why_commit *find_commit(struct why_group *g, struct str topic, int32_t partition)
{
    const struct why_commit key = {.tp = {topic, partition}};

    return g->commits_count ? bsearch(&key, g->commits, g->commits_count, sizeof *g->commits, by_tp)
                            : NULL;
}

static void ask_offsets(struct why_asker *ask, struct why_group *g, int32_t broker,
                        int64_t timestamp, struct list_offsets_request *q)
{
    const struct cluster_call call = {"ListOffsets", broker, API_LIST_OFFSETS, 5, q};

    for (int32_t i = 0; i < q->topics_count; i++) {
        for (int32_t k = 0; k < q->topics[i].partitions_count; k++)
            q->topics[i].partitions[k].timestamp = timestamp;
    }
    const struct list_offsets_response *resp = why_call(ask, &call);
    for (int32_t i = 0; resp && i < resp->topics_count; i++) {
        for (int32_t k = 0; k < resp->topics[i].partitions_count; k++) {
            const struct list_offsets_response_partition *p = &resp->topics[i].partitions[k];
            struct why_commit *c = find_commit(g, resp->topics[i].name, p->partition_index);
            if (!c || p->error_code)
                continue;
            if (timestamp == EARLIEST)
                c->earliest = p->offset;
            else
                c->latest = p->offset;
        }
    }
}

void why_ask_group(struct why_asker *ask, struct str name)
{
    struct why_facts *f = ask->f;
    struct why_group *all =
        arena_new_array(ask->arena, struct why_group, (size_t)f->groups_count + 1);
    struct why_group *g = &all[f->groups_count];

    if (f->groups_count)
        memcpy(all, f->groups, (size_t)f->groups_count * sizeof *all);
    f->groups = all;
    f->groups_count++;
    *g = (struct why_group){.name = name, .coordinator = -1};
    /* Where the topic is not there, asking for the coordinator would make it. */
    if (why_find_topic(f, STR("__consumer_offsets")))
        find_coordinator(ask, g);
    if (g->coordinator < 0)
        return;
    describe(ask, g);
    if (!g->error)
        fetch_commits(ask, g);
    for (int32_t i = 0; i < f->brokers_count; i++) {
        struct list_offsets_request q;
        if (!f->brokers[i].is_listed || !name_offsets(ask, g, f->brokers[i].id, &q))
            continue;
        ask_offsets(ask, g, f->brokers[i].id, EARLIEST, &q);
        ask_offsets(ask, g, f->brokers[i].id, LATEST, &q);
    }
}

/* ---- all ---- */

static void ask_rebalancing(struct why_asker *ask, int32_t broker, int32_t *left)
{
    static struct str states[] = {{"PreparingRebalance", 18}, {"CompletingRebalance", 19}};
    struct list_groups_request q;
    const struct cluster_call call = {"ListGroups", broker, API_LIST_GROUPS, 4, &q};

    msg_init(&list_groups_request_desc, &q);
    q.states_filter = states;
    q.states_filter_count = ARRAY_LEN(states);
    const struct list_groups_response *resp = why_call(ask, &call);
    for (int32_t i = 0; resp && i < resp->groups_count; i++) {
        if ((*left)-- > 0)
            why_ask_group(ask, resp->groups[i].group_id);
        else
            why_unasked(ask->f, "more than %d groups that are rebalancing", GROUPS_MAX);
    }
}

void why_ask_groups(struct why_asker *ask)
{
    int32_t left = GROUPS_MAX;

    for (int32_t i = 0; i < ask->f->brokers_count; i++) {
        if (ask->f->brokers[i].is_listed)
            ask_rebalancing(ask, ask->f->brokers[i].id, &left);
    }
}
