/*
 * quotas.c - AlterClientQuotas and DescribeClientQuotas (protocol.md 11.28), on a worker
 */
#include "broker/api/handlers.h"

#include "broker/meta/quota_admin.h"
#include "broker/request/seen.h"
#include "common/base/err.h"
#include "common/base/strbuf.h"

/* One request on its way; lives in its arena. */
struct quota_call {
    struct job job;
    struct broker *b;
    struct request *req;
};

static void submit(struct broker *b, struct request *req, void (*work)(struct job *j))
{
    struct quota_call *call = arena_new(&req->arena, struct quota_call);

    call->b = b;
    call->req = req;
    call->job.work = work;
    req->is_barrier = true;
    workq_submit(b->workq, &call->job);
}

/* ---- AlterClientQuotas ---- */

/* Of a type that stands twice the last one counts. */
static void take_parts(struct arena *a, const struct alter_client_quotas_request_entry *in,
                       struct quota_alteration *al)
{
    al->parts = arena_new_array(a, struct quota_part, (size_t)in->entity_count);
    for (int32_t i = 0; i < in->entity_count; i++) {
        const struct quota_part part = {in->entity[i].entity_type, in->entity[i].entity_name};
        int32_t at = 0;

        while (at < al->part_count && !str_eq(al->parts[at].type, part.type))
            at++;
        al->parts[at] = part;
        al->part_count = MAX(al->part_count, at + 1);
        if (al->part_count > 4)
            break; /* none of more than three types is refused any differently */
    }
}

static void take_alteration(struct arena *a, const struct alter_client_quotas_request_entry *in,
                            struct quota_alteration *al)
{
    struct quota_op *ops = arena_new_array(a, struct quota_op, (size_t)in->ops_count);

    take_parts(a, in, al);
    for (int32_t i = 0; i < in->ops_count; i++)
        ops[i] = (struct quota_op){in->ops[i].key, in->ops[i].value, in->ops[i].remove};
    al->ops = ops;
    al->op_count = in->ops_count;
}

static void answer_alteration(struct arena *a, const struct quota_alteration *al,
                              struct alter_client_quotas_response_entry *out)
{
    struct_init(&alter_client_quotas_response_entry_desc, out);
    out->error_code = al->error;
    out->error_message = al->message;
    out->entity =
        arena_new_array(a, struct alter_client_quotas_response_entity, (size_t)al->part_count);
    out->entity_count = al->part_count;
    for (int32_t i = 0; i < al->part_count; i++)
        out->entity[i] = (struct alter_client_quotas_response_entity){
            .entity_type = al->parts[i].type, .entity_name = al->parts[i].name};
}

static int by_type(const void *a, const void *b)
{
    const struct quota_part *x = a, *y = b;

    return str_cmp(x->type, y->type);
}

/* Whom it is about, as text that is the same for the same entity. */
static struct str entity_of(struct arena *a, const struct quota_alteration *al)
{
    size_t n = (size_t)al->part_count;
    struct quota_part *parts = arena_new_array(a, struct quota_part, n);
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    if (n)
        memcpy(parts, al->parts, n * sizeof *parts);
    if (n)
        qsort(parts, n, sizeof *parts, by_type);
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&sb, "%zu %d ", parts[i].type.len,
                    str_is_null(parts[i].name) ? -1 : (int)parts[i].name.len);
        strbuf_add_str(&sb, parts[i].type);
        strbuf_add_str(&sb, parts[i].name);
    }
    return arena_str(a, strbuf_str(&sb));
}

/* An entity that stands twice is altered twice, and answered once: for the last time. */
static void answer_alterations(struct arena *a, const struct quota_alteration *list, int32_t count,
                               struct alter_client_quotas_response *resp)
{
    struct seen *entities = NULL;

    resp->entries = arena_new_array(a, struct alter_client_quotas_response_entry, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        int32_t at = seen_add(&entities, a, entity_of(a, &list[i]), resp->entries_count);

        answer_alteration(a, &list[i], &resp->entries[at < 0 ? resp->entries_count++ : at]);
    }
    seen_clear(&entities);
}

static void alter(struct job *j)
{
    struct quota_call *call = container_of(j, struct quota_call, job);
    const struct alter_client_quotas_request *body = call->req->body;
    struct arena *a = &call->req->arena;
    struct alter_client_quotas_response *resp = arena_new(a, struct alter_client_quotas_response);
    size_t count = (size_t)body->entries_count;
    struct quota_alteration *list = arena_new_array(a, struct quota_alteration, count);

    for (size_t i = 0; i < count; i++)
        take_alteration(a, &body->entries[i], &list[i]);
    quota_admin_alter(
        &(struct quota_run){.zk = call->b->zk, .a = a, .is_dry_run = body->validate_only}, list,
        count);
    msg_init(&alter_client_quotas_response_desc, resp);
    answer_alterations(a, list, body->entries_count, resp);
    request_reply(call->req, resp);
}

void handle_alter_client_quotas(struct broker *b, struct request *req)
{
    submit(b, req, alter);
}

/* ---- DescribeClientQuotas ---- */

static void answer_entry(struct arena *a, const struct quota_entry *e,
                         struct describe_client_quotas_response_entry *out)
{
    struct_init(&describe_client_quotas_response_entry_desc, out);
    out->entity =
        arena_new_array(a, struct describe_client_quotas_response_entity, (size_t)e->part_count);
    out->entity_count = e->part_count;
    for (int32_t i = 0; i < e->part_count; i++)
        out->entity[i] = (struct describe_client_quotas_response_entity){
            .entity_type = e->parts[i].type, .entity_name = e->parts[i].name};
    out->values =
        arena_new_array(a, struct describe_client_quotas_response_value, (size_t)e->value_count);
    out->values_count = e->value_count;
    for (int32_t i = 0; i < e->value_count; i++)
        out->values[i] = (struct describe_client_quotas_response_value){
            .key = e->values[i].key, .value = e->values[i].value};
}

static void answer_entries(struct arena *a, const struct quota_list *list,
                           struct describe_client_quotas_response *resp)
{
    resp->error_message = STR("");
    resp->entries =
        arena_new_array(a, struct describe_client_quotas_response_entry, (size_t)list->count);
    resp->entries_count = list->count;
    for (int32_t i = 0; i < list->count; i++)
        answer_entry(a, &list->entries[i], &resp->entries[i]);
}

static void describe(struct job *j)
{
    struct quota_call *call = container_of(j, struct quota_call, job);
    const struct describe_client_quotas_request *body = call->req->body;
    struct arena *a = &call->req->arena;
    struct describe_client_quotas_response *resp =
        arena_new(a, struct describe_client_quotas_response);
    struct quota_filter_part *parts =
        arena_new_array(a, struct quota_filter_part, (size_t)body->components_count);
    struct quota_list list = {0};

    for (int32_t i = 0; i < body->components_count; i++)
        parts[i] =
            (struct quota_filter_part){body->components[i].entity_type,
                                       body->components[i].match_type, body->components[i].match};
    msg_init(&describe_client_quotas_response_desc, resp);
    resp->error_message = STR_NULL;
    resp->error_code =
        quota_admin_describe(&(struct quota_run){.zk = call->b->zk, .a = a},
                             &(struct quota_filter){parts, body->components_count, body->strict},
                             &list, &resp->error_message);
    resp->entries_count = -1; /* null */
    if (resp->error_code == NONE)
        answer_entries(a, &list, resp);
    request_reply(call->req, resp);
}

void handle_describe_client_quotas(struct broker *b, struct request *req)
{
    submit(b, req, describe);
}
