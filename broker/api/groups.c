/*
 * groups.c - membership: JoinGroup, SyncGroup, Heartbeat, LeaveGroup (protocol.md 11.8 to 11.11)
 */
#include "broker/api/handlers.h"

#include "broker/config/broker_conf.h"
#include "broker/group/coordinator.h"
#include "common/base/err.h"

/* Static members came with IBP 2.3; other brokers of the cluster may not know them. */
static bool is_static_too_early(const struct broker *b, struct str instance)
{
    return !str_is_null(instance) && b->conf->ibp < IBP_2_3_IV0;
}

/* ---- JoinGroup ---- */

struct join {
    struct join_call call;
    struct request *req;
};

static void close_join(struct join_call *c)
{
    request_close(container_of(c, struct join, call)->req);
}

static void add_members(const struct group *g, struct arena *a, struct join_group_response *resp)
{
    resp->members = arena_new_array(a, struct join_group_response_member, HASH_COUNT(g->members));
    for (const struct member *m = g->members; m; m = m->hh.next) {
        const struct member_protocol *p = member_protocol(m, g->protocol);

        resp->members[resp->members_count++] = (struct join_group_response_member){
            .member_id = m->id,
            .group_instance_id = m->instance,
            .metadata = p ? p->metadata : slice_of("", 0),
        };
    }
}

/* Below version 7 no protocol is the empty one, and from 7 on the empty one is none. Encoded before
 * this returns: texts are the group's. */
static void answer_join(struct join_call *c, const struct join_answer *a)
{
    struct request *req = container_of(c, struct join, call)->req;
    struct join_group_response *resp = arena_new(&req->arena, struct join_group_response);

    msg_init(&join_group_response_desc, resp);
    resp->error_code = err_to_wire(a->error);
    resp->generation_id = a->generation;
    resp->protocol_type = a->protocol_type;
    resp->protocol_name = a->protocol;
    if (a->protocol.len == 0)
        resp->protocol_name = req->version < 7 ? STR("") : STR_NULL;
    resp->leader = a->leader;
    resp->member_id = a->member_id;
    resp->skip_assignment = a->skip_assignment;
    if (a->members_of)
        add_members(a->members_of, &req->arena, resp);
    request_reply(req, resp);
}

static struct member_protocols protocols_of(const struct join_group_request *body, struct arena *a)
{
    struct member_protocol *v =
        arena_new_array(a, struct member_protocol, (size_t)body->protocols_count);

    for (int32_t i = 0; i < body->protocols_count; i++)
        v[i] = (struct member_protocol){body->protocols[i].name, body->protocols[i].metadata};
    return (struct member_protocols){v, body->protocols_count};
}

void handle_join_group(struct broker *b, struct request *req)
{
    const struct join_group_request *body = req->body;
    struct join *j = arena_new(&req->arena, struct join);

    j->call = (struct join_call){.done = answer_join, .superseded = close_join};
    j->req = req;
    if (is_static_too_early(b, body->group_instance_id)) {
        answer_join(&j->call, &(struct join_answer){.error = UNSUPPORTED_VERSION,
                                                    .generation = -1,
                                                    .protocol_type = STR_NULL,
                                                    .protocol = STR_NULL,
                                                    .leader = STR(""),
                                                    .member_id = STR("")});
        return;
    }
    coordinator_join(
        b->groups, body->group_id,
        &(struct join_request){
            .member_id = body->member_id,
            .instance = body->group_instance_id,
            .client = {str_is_null(req->client_id) ? STR("") : req->client_id, req->client_host},
            .session_timeout_ms = body->session_timeout_ms,
            .rebalance_timeout_ms =
                req->version == 0 ? body->session_timeout_ms : body->rebalance_timeout_ms,
            .protocol_type = body->protocol_type,
            .protocols = protocols_of(body, &req->arena),
            .must_know_id = req->version >= 4 && str_is_null(body->group_instance_id),
            .can_skip = req->version >= 9,
        },
        &j->call);
}

/* ---- SyncGroup ---- */

struct sync {
    struct sync_call call;
    struct request *req;
};

static void close_sync(struct sync_call *c)
{
    request_close(container_of(c, struct sync, call)->req);
}

static void answer_sync(struct sync_call *c, const struct sync_answer *a)
{
    struct request *req = container_of(c, struct sync, call)->req;
    struct sync_group_response *resp = arena_new(&req->arena, struct sync_group_response);

    msg_init(&sync_group_response_desc, resp);
    resp->error_code = err_to_wire(a->error);
    resp->protocol_type = a->protocol_type;
    resp->protocol_name = a->protocol;
    resp->assignment = a->assignment.p ? a->assignment : slice_of("", 0);
    request_reply(req, resp);
}

static struct assignment *assignments_of(const struct sync_group_request *body, struct arena *a)
{
    struct assignment *v = arena_new_array(a, struct assignment, (size_t)body->assignments_count);

    for (int32_t i = 0; i < body->assignments_count; i++)
        v[i] = (struct assignment){body->assignments[i].member_id, body->assignments[i].assignment};
    return v;
}

/* 0, or what is wrong with the request whatever the group is. */
static int check_sync(const struct broker *b, const struct request *req)
{
    const struct sync_group_request *body = req->body;

    if (is_static_too_early(b, body->group_instance_id))
        return UNSUPPORTED_VERSION;
    if (req->version >= 5 && (str_is_null(body->protocol_type) || str_is_null(body->protocol_name)))
        return INCONSISTENT_GROUP_PROTOCOL;
    return 0;
}

void handle_sync_group(struct broker *b, struct request *req)
{
    const struct sync_group_request *body = req->body;
    struct sync *s = arena_new(&req->arena, struct sync);
    int r = check_sync(b, req);

    s->call = (struct sync_call){.done = answer_sync, .superseded = close_sync};
    s->req = req;
    if (r) {
        answer_sync(&s->call, &(struct sync_answer){
                                  .error = r, .protocol_type = STR_NULL, .protocol = STR_NULL});
        return;
    }
    coordinator_sync(b->groups, body->group_id,
                     &(struct sync_request){
                         .member_id = body->member_id,
                         .instance = body->group_instance_id,
                         .generation = body->generation_id,
                         .protocol_type = body->protocol_type,
                         .protocol = body->protocol_name,
                         .assignments = assignments_of(body, &req->arena),
                         .assignment_count = body->assignments_count,
                     },
                     &s->call);
}

/* ---- Heartbeat ---- */

void handle_heartbeat(struct broker *b, struct request *req)
{
    const struct heartbeat_request *body = req->body;
    struct heartbeat_response *resp = arena_new(&req->arena, struct heartbeat_response);
    int r = is_static_too_early(b, body->group_instance_id)
                ? UNSUPPORTED_VERSION
                : coordinator_heartbeat(b->groups, body->group_id, body->member_id,
                                        body->group_instance_id, body->generation_id);

    msg_init(&heartbeat_response_desc, resp);
    resp->error_code = err_to_wire(r);
    request_reply(req, resp);
}

/* ---- LeaveGroup ---- */

/* Below version 3 one member leaves, and its error is that of the answer. */
static void leave_one(struct broker *b, struct request *req, struct leave_group_response *resp)
{
    const struct leave_group_request *body = req->body;
    struct leaving one = {.member_id = body->member_id, .instance = STR_NULL};
    int r = coordinator_leave(b->groups, body->group_id, &one, 1);

    resp->error_code = err_to_wire(r ? r : one.error);
}

static void leave_all(struct broker *b, struct request *req, struct leave_group_response *resp)
{
    const struct leave_group_request *body = req->body;
    size_t n = (size_t)body->members_count;
    struct leaving *v = arena_new_array(&req->arena, struct leaving, n);

    for (size_t i = 0; i < n; i++) {
        v[i].member_id = body->members[i].member_id;
        v[i].instance = body->members[i].group_instance_id;
    }
    int r = coordinator_leave(b->groups, body->group_id, v, body->members_count);
    resp->error_code = err_to_wire(r);
    if (r)
        return;
    resp->members = arena_new_array(&req->arena, struct leave_group_response_member, n);
    resp->members_count = body->members_count;
    for (size_t i = 0; i < n; i++)
        resp->members[i] = (struct leave_group_response_member){v[i].member_id, v[i].instance,
                                                                err_to_wire(v[i].error)};
}

void handle_leave_group(struct broker *b, struct request *req)
{
    struct leave_group_response *resp = arena_new(&req->arena, struct leave_group_response);

    msg_init(&leave_group_response_desc, resp);
    if (req->version < 3)
        leave_one(b, req, resp);
    else
        leave_all(b, req, resp);
    request_reply(req, resp);
}
