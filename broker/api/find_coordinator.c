/*
 * find_coordinator.c - FindCoordinator: which broker answers for a group or a transactional id
 * (protocol.md 11.6)
 */
#include "broker/api/handlers.h"

#include "broker/group/group_manager.h"
#include "broker/meta/metadata.h"
#include "broker/meta/topic_admin.h"
#include "common/base/err.h"

enum { KEY_GROUP = 0, KEY_TRANSACTION = 1, KEY_SHARE = 2 };

struct find {
    struct job job;
    struct broker *b;
    struct request *req;
    struct find_coordinator_response *resp;
    struct str missing; /* the internal topic that is to be made; null: none */
};

static struct str topic_of(int8_t key_type)
{
    return key_type == KEY_GROUP ? STR("__consumer_offsets") : STR("__transaction_state");
}

static int32_t partition_of(const struct find *f, const struct meta_topic *t, int8_t key_type,
                            struct str key)
{
    return key_type == KEY_GROUP ? group_manager_partition(f->b->groups, key)
                                 : group_partition_of(key, t->partition_count);
}

static int find_one(struct find *f, const struct metadata_snapshot *s, int8_t key_type,
                    struct find_coordinator_response_coordinator *c)
{
    if (key_type == KEY_SHARE)
        return f->req->version < 6 ? INVALID_REQUEST : COORDINATOR_NOT_AVAILABLE;
    if (key_type != KEY_GROUP && key_type != KEY_TRANSACTION)
        return INVALID_REQUEST;
    const struct meta_topic *t = metadata_topic(s, topic_of(key_type));
    if (!t) {
        f->missing = topic_of(key_type);
        return COORDINATOR_NOT_AVAILABLE;
    }
    const struct meta_partition *p =
        metadata_partition(s, t->name, partition_of(f, t, key_type, c->key));
    const struct meta_broker *leader = p && p->leader >= 0 ? metadata_broker(s, p->leader) : NULL;
    const struct meta_endpoint *ep =
        leader ? meta_broker_endpoint(leader, f->req->listener_name) : NULL;
    if (!ep)
        return COORDINATOR_NOT_AVAILABLE;
    c->node_id = leader->id;
    c->host = arena_str(&f->req->arena, ep->host);
    c->port = ep->port;
    return 0;
}

static const char *message_of(int error)
{
    if (error == 0)
        return "NONE";
    return error == COORDINATOR_NOT_AVAILABLE
               ? "The coordinator is not available."
               : "This most likely occurs because of a request being malformed by the client "
                 "library or the message was sent to an incompatible broker. See the broker logs "
                 "for more details.";
}

static void find(struct find *f, int8_t key_type, struct str key,
                 struct find_coordinator_response_coordinator *c)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(f->b->metadata);

    struct_init(&find_coordinator_response_coordinator_desc, c);
    c->key = key;
    c->node_id = -1;
    c->host = STR("");
    c->port = -1;
    c->error_code = err_to_wire(find_one(f, s, key_type, c));
}

/* Below version 4 there is one key, and its coordinator is the answer itself. */
static void find_only(struct find *f)
{
    const struct find_coordinator_request *body = f->req->body;
    struct find_coordinator_response_coordinator c;

    find(f, body->key_type, body->key, &c);
    f->resp->error_code = c.error_code;
    f->resp->error_message = f->req->version >= 1 ? str_of(message_of(c.error_code)) : STR_NULL;
    f->resp->node_id = c.node_id;
    f->resp->host = c.host;
    f->resp->port = c.port;
}

/* Only of a kind of key that does not exist at all the answer has a message, as in Kafka. */
static void find_all(struct find *f)
{
    const struct find_coordinator_request *body = f->req->body;
    int32_t n = body->coordinator_keys_count;
    bool is_unknown = body->key_type < KEY_GROUP || body->key_type > KEY_SHARE;

    f->resp->coordinators =
        arena_new_array(&f->req->arena, struct find_coordinator_response_coordinator, (size_t)n);
    f->resp->coordinators_count = n;
    for (int32_t i = 0; i < n; i++) {
        struct find_coordinator_response_coordinator *c = &f->resp->coordinators[i];

        find(f, body->key_type, body->coordinator_keys[i], c);
        if (is_unknown)
            c->error_message = str_of(message_of(c->error_code));
    }
}

/* Whatever comes of it, the client asks again. */
static void make_topic_and_reply(struct job *j)
{
    struct find *f = container_of(j, struct find, job);

    topic_admin_auto_create(f->b->topics, &f->req->arena, f->missing);
    request_reply(f->req, f->resp);
}

void handle_find_coordinator(struct broker *b, struct request *req)
{
    struct find *f = arena_new(&req->arena, struct find);

    *f = (struct find){.job = {.work = make_topic_and_reply},
                       .b = b,
                       .req = req,
                       .resp = arena_new(&req->arena, struct find_coordinator_response),
                       .missing = STR_NULL};
    msg_init(&find_coordinator_response_desc, f->resp);
    if (req->version < 4)
        find_only(f);
    else
        find_all(f);
    if (str_is_null(f->missing))
        request_reply(req, f->resp);
    else
        workq_submit(b->workq, &f->job);
}
