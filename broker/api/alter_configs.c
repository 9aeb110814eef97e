/*
 * alter_configs.c - AlterConfigs and IncrementalAlterConfigs (protocol.md 11.25), on a worker
 */
#include "broker/api/handlers.h"

#include "broker/meta/config_admin.h"
#include "broker/request/seen.h"
#include "common/base/err.h"

/* One request on its way; lives in its arena. */
struct altering {
    struct job job;
    struct broker *b;
    struct request *req;
    struct config_alteration *list;
    int32_t count;
    bool is_incremental;
    bool is_dry_run;
};

static struct altering *altering_new(struct broker *b, struct request *req, int32_t count)
{
    struct altering *al = arena_new(&req->arena, struct altering);

    al->b = b;
    al->req = req;
    al->count = count;
    al->list = arena_new_array(&req->arena, struct config_alteration, (size_t)count);
    return al;
}

static void refuse(struct config_alteration *c, struct str message)
{
    c->error = INVALID_REQUEST;
    c->message = message;
}

/* Neither a resource nor one of its keys may stand twice. */
static void refuse_twins(struct altering *al)
{
    struct arena *a = &al->req->arena;
    struct seen *resources = NULL;

    for (int32_t i = 0; i < al->count; i++) {
        struct config_alteration *c = &al->list[i];
        struct str id = arena_printf(a, "%d %.*s", c->type, STR_ARG(c->name));
        int32_t first = seen_add(&resources, a, id, i);

        if (first >= 0) {
            refuse(c, STR("Each resource must appear at most once."));
            refuse(&al->list[first], c->message);
        }
    }
    seen_clear(&resources);
}

static void refuse_twin_keys(struct altering *al, struct config_alteration *c)
{
    struct seen *keys = NULL;
    bool is_twice = false;

    for (int32_t i = 0; i < c->edit_count; i++)
        is_twice |= seen_add(&keys, &al->req->arena, c->edits[i].key, i) >= 0;
    seen_clear(&keys);
    if (is_twice && !c->error)
        refuse(c, STR("Error due to duplicate config keys"));
}

static void alter(struct altering *al)
{
    refuse_twins(al);
    for (int32_t i = 0; i < al->count; i++)
        refuse_twin_keys(al, &al->list[i]);
    config_admin_alter(al->b->configs, &al->req->arena,
                       &(struct config_request){.list = al->list,
                                                .count = (size_t)al->count,
                                                .is_incremental = al->is_incremental,
                                                .is_dry_run = al->is_dry_run});
}

static void submit(struct altering *al, void (*work)(struct job *j))
{
    /* The next request is to see what this one changed. */
    al->req->is_barrier = true;
    al->job.work = work;
    workq_submit(al->b->workq, &al->job);
}

/* ---- AlterConfigs ---- */

static void alter_all(struct job *j)
{
    struct altering *al = container_of(j, struct altering, job);
    struct arena *a = &al->req->arena;
    struct alter_configs_response *resp = arena_new(a, struct alter_configs_response);

    alter(al);
    msg_init(&alter_configs_response_desc, resp);
    resp->responses = arena_new_array(a, struct alter_configs_response_response, (size_t)al->count);
    resp->responses_count = al->count;
    for (int32_t i = 0; i < al->count; i++)
        resp->responses[i] = (struct alter_configs_response_response){
            .error_code = al->list[i].error,
            .error_message = al->list[i].message,
            .resource_type = al->list[i].type,
            .resource_name = al->list[i].name,
        };
    request_reply(al->req, resp);
}

void handle_alter_configs(struct broker *b, struct request *req)
{
    const struct alter_configs_request *body = req->body;
    struct altering *al = altering_new(b, req, body->resources_count);

    al->is_dry_run = body->validate_only;
    for (int32_t i = 0; i < al->count; i++) {
        const struct alter_configs_request_resource *in = &body->resources[i];
        struct config_alteration *c = &al->list[i];

        c->type = in->resource_type;
        c->name = in->resource_name;
        c->edits = arena_new_array(&req->arena, struct config_edit, (size_t)in->configs_count);
        c->edit_count = in->configs_count;
        for (int32_t k = 0; k < in->configs_count; k++)
            c->edits[k] = (struct config_edit){
                .key = in->configs[k].name, .value = in->configs[k].value, .op = CONFIG_OP_SET};
    }
    submit(al, alter_all);
}

/* ---- IncrementalAlterConfigs ---- */

static void alter_some(struct job *j)
{
    struct altering *al = container_of(j, struct altering, job);
    struct arena *a = &al->req->arena;
    struct incremental_alter_configs_response *resp =
        arena_new(a, struct incremental_alter_configs_response);

    alter(al);
    msg_init(&incremental_alter_configs_response_desc, resp);
    resp->responses =
        arena_new_array(a, struct incremental_alter_configs_response_response, (size_t)al->count);
    resp->responses_count = al->count;
    for (int32_t i = 0; i < al->count; i++)
        resp->responses[i] = (struct incremental_alter_configs_response_response){
            .error_code = al->list[i].error,
            .error_message = al->list[i].message,
            .resource_type = al->list[i].type,
            .resource_name = al->list[i].name,
        };
    request_reply(al->req, resp);
}

void handle_incremental_alter_configs(struct broker *b, struct request *req)
{
    const struct incremental_alter_configs_request *body = req->body;
    struct altering *al = altering_new(b, req, body->resources_count);

    al->is_incremental = true;
    al->is_dry_run = body->validate_only;
    for (int32_t i = 0; i < al->count; i++) {
        const struct incremental_alter_configs_request_resource *in = &body->resources[i];
        struct config_alteration *c = &al->list[i];

        c->type = in->resource_type;
        c->name = in->resource_name;
        c->edits = arena_new_array(&req->arena, struct config_edit, (size_t)in->configs_count);
        c->edit_count = in->configs_count;
        for (int32_t k = 0; k < in->configs_count; k++)
            c->edits[k] = (struct config_edit){.key = in->configs[k].name,
                                               .value = in->configs[k].value,
                                               .op = in->configs[k].config_operation};
    }
    submit(al, alter_some);
}
