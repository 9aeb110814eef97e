/*
 * group_admin.c - groups from outside: DescribeGroups, ListGroups, DeleteGroups (protocol.md 11.14)
 */
#include "broker/api/handlers.h"

#include "broker/group/coordinator.h"
#include "broker/group/group_cleanup.h"
#include "broker/request/seen.h"
#include "common/base/err.h"

#include <strings.h>

/* Without access control: read, delete, describe (protocol.md 8). */
enum { ALL_GROUP_OPERATIONS = 0x148 };

/* ---- DescribeGroups ---- */

/* What its members can and have is told of a stable group only. */
static void describe_members(const struct group *g, struct arena *a,
                             struct describe_groups_response_group *to) REQUIRES(g->lock)
{
    bool is_stable = group_is(g, GROUP_STABLE);

    to->members =
        arena_new_array(a, struct describe_groups_response_member, HASH_COUNT(g->members));
    for (const struct member *m = g->members; m; m = m->hh.next) {
        const struct member_protocol *p = is_stable ? member_protocol(m, g->protocol) : NULL;

        to->members[to->members_count++] = (struct describe_groups_response_member){
            .member_id = arena_str(a, m->id),
            .group_instance_id = str_is_null(m->instance) ? STR_NULL : arena_str(a, m->instance),
            .client_id = arena_str(a, m->client_id),
            .client_host = arena_str(a, m->client_host),
            .member_metadata =
                p ? slice_of_str(arena_str(a, str_of_slice(p->metadata))) : slice_of("", 0),
            .member_assignment = is_stable && m->assignment.p
                                     ? slice_of_str(arena_str(a, str_of_slice(m->assignment)))
                                     : slice_of("", 0),
        };
    }
}

static void describe(struct group *g, struct arena *a, struct describe_groups_response_group *to)
{
    LOCK_SCOPE(&g->lock);
    to->group_state = str_of(group_state_name(g->state));
    if (!str_is_null(g->protocol_type))
        to->protocol_type = arena_str(a, g->protocol_type);
    if (group_is(g, GROUP_STABLE) && !str_is_null(g->protocol))
        to->protocol_data = arena_str(a, g->protocol);
    describe_members(g, a, to);
}

void handle_describe_groups(struct broker *b, struct request *req)
{
    const struct describe_groups_request *body = req->body;
    struct describe_groups_response *resp = arena_new(&req->arena, struct describe_groups_response);
    struct seen *names = NULL;

    msg_init(&describe_groups_response_desc, resp);
    resp->groups = arena_new_array(&req->arena, struct describe_groups_response_group,
                                   (size_t)body->groups_count);
    for (int32_t i = 0; i < body->groups_count; i++) {
        struct describe_groups_response_group *to = &resp->groups[resp->groups_count];
        struct group *CLEANUP(group_unref_p) g = NULL;

        /* A few bytes that are repeated must not ask for megabytes each time. */
        if (seen_add(&names, &req->arena, body->groups[i], i) >= 0)
            continue;
        resp->groups_count++;
        struct_init(&describe_groups_response_group_desc, to);
        to->group_id = body->groups[i];
        to->error_code = err_to_wire(group_manager_find(b->groups, body->groups[i], &g));
        if (g)
            describe(g, &req->arena, to);
        else if (to->error_code == 0)
            to->group_state = STR("Dead");
        if (to->error_code == 0 && body->include_authorized_operations)
            to->authorized_operations = ALL_GROUP_OPERATIONS;
    }
    seen_clear(&names);
    request_reply(req, resp);
}

/* ---- ListGroups ---- */

struct listing {
    bool is_wanted[GROUP_DEAD + 1]; /* by state */
    struct list_groups_response *resp;
    struct arena *arena;
    int32_t room;
};

static bool is_named(const struct str *v, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++) {
        if (v[i].len == strlen(name) && strncasecmp(v[i].p, name, v[i].len) == 0)
            return true;
    }
    return count <= 0;
}

static struct list_groups_response_group *next_entry(struct listing *l)
{
    struct list_groups_response *resp = l->resp;

    if (resp->groups_count == l->room) {
        struct list_groups_response_group *old = resp->groups;

        l->room = l->room ? 2 * l->room : 64;
        resp->groups =
            arena_new_array(l->arena, struct list_groups_response_group, (size_t)l->room);
        if (old)
            memcpy(resp->groups, old, (size_t)resp->groups_count * sizeof *old);
    }
    return &resp->groups[resp->groups_count++];
}

static bool list_group(struct group *g, void *ctx)
{
    struct listing *l = ctx;

    LOCK_SCOPE(&g->lock);
    if (l->is_wanted[g->state])
        *next_entry(l) = (struct list_groups_response_group){
            .group_id = arena_str(l->arena, g->id),
            .protocol_type =
                str_is_null(g->protocol_type) ? STR("") : arena_str(l->arena, g->protocol_type),
            .group_state = str_of(group_state_name(g->state)),
            .group_type = STR("classic"),
        };
    return true;
}

void handle_list_groups(struct broker *b, struct request *req)
{
    const struct list_groups_request *body = req->body;
    struct list_groups_response *resp = arena_new(&req->arena, struct list_groups_response);
    struct listing l = {.resp = resp, .arena = &req->arena};

    msg_init(&list_groups_response_desc, resp);
    /* Once, and not for each group: the filter is as long as a client likes. */
    for (int state = 0; state <= GROUP_DEAD; state++)
        l.is_wanted[state] = is_named(body->states_filter, body->states_filter_count,
                                      group_state_name((enum group_state)state));
    if (!group_manager_is_running(b->groups))
        resp->error_code = COORDINATOR_NOT_AVAILABLE;
    else if (is_named(body->types_filter, body->types_filter_count, "classic"))
        resp->error_code = err_to_wire(group_manager_each(b->groups, list_group, &l));
    request_reply(req, resp);
}

/* ---- DeleteGroups ---- */

void handle_delete_groups(struct broker *b, struct request *req)
{
    const struct delete_groups_request *body = req->body;
    struct delete_groups_response *resp = arena_new(&req->arena, struct delete_groups_response);
    struct seen *names = NULL;

    msg_init(&delete_groups_response_desc, resp);
    resp->results = arena_new_array(&req->arena, struct delete_groups_response_result,
                                    (size_t)body->groups_names_count);
    for (int32_t i = 0; i < body->groups_names_count; i++) {
        struct str id = body->groups_names[i];

        if (seen_add(&names, &req->arena, id, i) >= 0)
            continue; /* named twice, answered once */
        resp->results[resp->results_count++] = (struct delete_groups_response_result){
            .group_id = id, .error_code = err_to_wire(group_cleanup_delete(b->groups, id))};
    }
    seen_clear(&names);
    request_reply(req, resp);
}
