/*
 * groups_cluster.c - which groups there are, what their coordinators tell of them; deleting them
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/wire/codec.h"
#include "tools/groups/groups_job.h"

/* ---- listing ---- */

static int list_failed(struct groups *g, int r, struct str trouble)
{
    if (groups_as_kafka(g) && cluster_is_lost(r))
        trouble = STR("org.apache.kafka.common.KafkaException: Failed to find brokers to send "
                      "ListGroups");
    return groups_say(g, r, trouble);
}

static int list_of_broker(struct groups *g, int32_t id, const struct list_groups_request *req,
                          const struct list_groups_response **ret)
{
    const struct cluster_call call = {"listConsumerGroups", id, API_LIST_GROUPS, 5, req, false};
    struct str trouble = STR_NULL;
    const void *response;
    int r;

    cluster_start(g->cluster);
    do {
        r = groups_ask(g, &call, &response, &trouble);
        *ret = response;
    } while (r == 0 && ((*ret)->error_code == COORDINATOR_NOT_AVAILABLE
                            ? cluster_wait(g->cluster)
                            : cluster_again(g->cluster, (*ret)->error_code)));
    if (r < 0)
        return groups_say(g, r, trouble);
    if ((*ret)->error_code)
        return groups_say(g, (*ret)->error_code, groups_trouble(g, (*ret)->error_code, STR_NULL));
    return 0;
}

static bool is_consumer_group(const struct list_groups_response_group *lg)
{
    return lg->protocol_type.len == 0 || str_eqz(lg->protocol_type, "consumer");
}

struct group_list {
    struct group *v;
    size_t count, cap;
};

static void add_listed(struct group_list *list, const struct list_groups_response *resp,
                       int32_t broker)
{
    for (int32_t i = 0; i < resp->groups_count; i++) {
        const struct list_groups_response_group *lg = &resp->groups[i];
        if (!is_consumer_group(lg))
            continue;
        xgrow(list->v, list->cap, list->count + 1);
        list->v[list->count++] = (struct group){.id = lg->group_id,
                                                .state = lg->group_state,
                                                .type = lg->group_type,
                                                .coordinator = broker};
    }
}

int groups_list(struct groups *g, const struct groups_filter *filter, struct group **ret,
                size_t *ret_count)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    struct group_list list = {0};
    const struct metadata_response *m;
    struct list_groups_request req;
    int r = cluster_metadata(g->cluster, STR(""), &g->arena, &m, &text);

    if (r < 0)
        return list_failed(g, r, strbuf_str(&text));
    msg_init(&list_groups_request_desc, &req);
    if (filter) {
        req.states_filter = filter->states;
        req.states_filter_count = filter->state_count;
        req.types_filter = filter->types;
        req.types_filter_count = filter->type_count;
    }
    for (int32_t i = 0; r == 0 && i < m->brokers_count; i++) {
        const struct list_groups_response *resp = NULL;
        r = list_of_broker(g, m->brokers[i].node_id, &req, &resp);
        if (r == 0)
            add_listed(&list, resp, m->brokers[i].node_id);
    }
    *ret_count = groups_sort(list.v, list.count);
    *ret = arena_new_array(&g->arena, struct group, *ret_count + 1);
    if (*ret_count)
        memcpy(*ret, list.v, *ret_count * sizeof **ret);
    free(list.v);
    return r;
}

int groups_named(struct groups *g, struct group **ret, size_t *ret_count)
{
    size_t n = (size_t)opts_count(g->o, GR_GROUP);
    int r = 0;

    if (opts_has(g->o, GR_ALL_GROUPS)) {
        r = groups_list(g, NULL, ret, &n);
    } else {
        *ret = arena_new_array(&g->arena, struct group, n + 1);
        for (size_t i = 0; i < n; i++)
            (*ret)[i].id = str_of(opts_nth(g->o, GR_GROUP, (int)i));
    }
    for (size_t i = 0; r == 0 && i < n; i++)
        (*ret)[i].coordinator = -1; /* its address is wanted too */
    *ret_count = r ? 0 : groups_sort(*ret, n);
    return r;
}

/* ---- describing ---- */

static void take_assignment(struct groups *g, struct slice bytes, struct group_member *ret)
{
    struct consumer_protocol_assignment m;
    struct parts parts = {0};
    int16_t version;

    if (bytes.len == 0 || codec_decode_versioned(&consumer_protocol_assignment_desc, bytes,
                                                 &g->arena, &version, &m) < 0)
        return; /* not one of a consumer's protocol: what it was given is unknown */
    for (int32_t i = 0; i < m.assigned_partitions_count; i++) {
        for (int32_t k = 0; k < m.assigned_partitions[i].partitions_count; k++)
            parts_add(&parts, &g->arena,
                      (struct part){m.assigned_partitions[i].topic,
                                    m.assigned_partitions[i].partitions[k]});
    }
    parts_sort(&parts);
    ret->parts = parts.v;
    ret->count = parts.count;
}

static void take_description(struct groups *g, struct group *group,
                             const struct describe_groups_response_group *d)
{
    group_settle(g, group, d->error_code);
    if (d->error_code)
        return;
    if (d->protocol_type.len && !str_eqz(d->protocol_type, "consumer")) {
        group_fail(group, -EINVAL,
                   arena_printf(&g->arena, "%sGroupId %.*s is not a consumer group (%.*s).",
                                groups_as_kafka(g) ? "java.lang.IllegalArgumentException: " : "",
                                STR_ARG(group->id), STR_ARG(d->protocol_type)));
        return;
    }
    group->state = d->group_state;
    group->strategy = d->protocol_data;
    group->member_count = (size_t)d->members_count;
    group->members = arena_new_array(&g->arena, struct group_member, group->member_count + 1);
    for (int32_t i = 0; i < d->members_count; i++) {
        const struct describe_groups_response_member *m = &d->members[i];
        group->members[i] = (struct group_member){.id = m->member_id,
                                                  .instance = m->group_instance_id,
                                                  .client = m->client_id,
                                                  .host = m->client_host};
        take_assignment(g, m->member_assignment, &group->members[i]);
    }
}

static int send_describe(struct groups *g, const struct batch *b, struct str *ret_trouble)
{
    struct describe_groups_request req;
    const struct cluster_call call = {
        "describeConsumerGroups(api=DESCRIBE_GROUPS)", b->to, API_DESCRIBE_GROUPS, 5, &req, true};
    const struct describe_groups_response *resp;
    const void *response;

    msg_init(&describe_groups_request_desc, &req);
    req.groups = batch_ids(g, b);
    req.groups_count = (int32_t)b->count;
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0)
        return r;
    resp = response;
    for (int32_t i = 0; i < resp->groups_count; i++) {
        struct group *group = batch_find(b, resp->groups[i].group_id);
        if (group)
            take_description(g, group, &resp->groups[i]);
    }
    return 0;
}

int groups_describe(struct groups *g, struct group *v, size_t n)
{
    static const struct job job = {"describeConsumerGroups", send_describe, NULL};

    job_run(g, v, n, &job);
    return groups_first_error(g, v, n);
}

/* ---- committed offsets ---- */

static int by_part(const void *a, const void *b)
{
    return part_order(&((const struct committed *)a)->part, &((const struct committed *)b)->part);
}

const struct committed *group_committed(const struct group *group, const struct part *part)
{
    const struct committed key = {.part = *part};

    return group->committed_count
               ? bsearch(&key, group->committed, group->committed_count, sizeof key, by_part)
               : NULL;
}

static void take_committed(struct groups *g, struct group *group,
                           const struct offset_fetch_response_group *f)
{
    size_t n = 0;

    group_settle(g, group, f->error_code);
    if (f->error_code)
        return;
    for (int32_t i = 0; i < f->topics_count; i++)
        n += (size_t)f->topics[i].partitions_count;
    group->committed = arena_new_array(&g->arena, struct committed, n + 1);
    group->committed_count = 0;
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].partitions_count; k++) {
            const __typeof__(*f->topics[i].partitions) *p = &f->topics[i].partitions[k];
            if (p->error_code == 0 && p->committed_offset >= 0)
                group->committed[group->committed_count++] = (struct committed){
                    {f->topics[i].name, p->partition_index}, p->committed_offset};
        }
    }
    if (group->committed_count)
        qsort(group->committed, group->committed_count, sizeof *group->committed, by_part);
}

static int send_offset_fetch(struct groups *g, const struct batch *b, struct str *ret_trouble)
{
    struct offset_fetch_request req;
    const struct cluster_call call = {
        "offsetFetch(api=OFFSET_FETCH)", b->to, API_OFFSET_FETCH, 9, &req, true};
    const struct offset_fetch_response *resp;
    const void *response;

    msg_init(&offset_fetch_request_desc, &req);
    req.groups = arena_new_array(&g->arena, struct offset_fetch_request_group, b->count + 1);
    req.groups_count = (int32_t)b->count;
    for (size_t i = 0; i < b->count; i++) {
        struct_init(&offset_fetch_request_group_desc, &req.groups[i]);
        req.groups[i].group_id = b->v[i]->id;
        req.groups[i].topics_count = -1;
    }
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0)
        return r;
    resp = response;
    for (int32_t i = 0; i < resp->groups_count; i++) {
        struct group *group = batch_find(b, resp->groups[i].group_id);
        if (group)
            take_committed(g, group, &resp->groups[i]);
    }
    return 0;
}

int groups_committed(struct groups *g, struct group *v, size_t n)
{
    static const struct job job = {"offsetFetch", send_offset_fetch, NULL};

    job_run(g, v, n, &job);
    return groups_first_error(g, v, n);
}

/* ---- deleting groups ---- */

static int send_delete(struct groups *g, const struct batch *b, struct str *ret_trouble)
{
    struct delete_groups_request req;
    const struct cluster_call call = {
        "deleteConsumerGroups(api=DELETE_GROUPS)", b->to, API_DELETE_GROUPS, 2, &req, true};
    const struct delete_groups_response *resp;
    const void *response;

    msg_init(&delete_groups_request_desc, &req);
    req.groups_names = batch_ids(g, b);
    req.groups_names_count = (int32_t)b->count;
    int r = groups_ask(g, &call, &response, ret_trouble);
    if (r < 0)
        return r;
    resp = response;
    for (int32_t i = 0; i < resp->results_count; i++) {
        struct group *group = batch_find(b, resp->results[i].group_id);
        if (group)
            group_settle(g, group, resp->results[i].error_code);
    }
    return 0;
}

void groups_delete(struct groups *g, struct group *v, size_t n)
{
    static const struct job job = {"deleteConsumerGroups", send_delete, NULL};

    job_run(g, v, n, &job);
}
