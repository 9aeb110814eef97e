/*
 * topics.c - CreateTopics and DeleteTopics: written to ZooKeeper on a worker, then waited for in
 * the metadata (protocol.md 11.21, 11.22)
 */
#include "broker/api/handlers.h"

#include "broker/config/live_conf.h"
#include "broker/meta/metadata_waits.h"
#include "broker/meta/topic_admin.h"
#include "broker/request/seen.h"
#include "common/base/err.h"
#include "common/conf/show.h"
#include "controller/controller.h"

/* ---- CreateTopics ---- */

/* One request on its way; lives in its arena. */
struct creation {
    struct job job;
    struct broker *b;
    struct request *req;
    struct create_topics_response *resp;
    struct topic_creation *list; /* as resp->topics */
    struct metadata_wait wait;
    int32_t seen; /* topics up to here are led, or failed */
};

static void set_error(struct create_topics_response_topic *t, int16_t error, struct str message)
{
    t->error_code = error;
    t->error_message = message;
}

/* Of a partition that stands twice the last list counts. */
static void take_assignments(struct arena *a, const struct create_topics_request_topic *in,
                             struct topic_creation *c)
{
    struct topic_assignment *list =
        arena_new_array(a, struct topic_assignment, (size_t)in->assignments_count);
    struct seen *indexes = NULL;

    for (int32_t i = 0; i < in->assignments_count; i++) {
        const struct create_topics_request_assignment *as = &in->assignments[i];
        struct str key = {(const char *)&as->partition_index, sizeof as->partition_index};
        int32_t at = seen_add(&indexes, a, key, c->assignment_count);

        list[at < 0 ? c->assignment_count++ : at] = (struct topic_assignment){
            .partition = as->partition_index,
            .brokers = as->broker_ids,
            .broker_count = as->broker_ids_count,
        };
    }
    seen_clear(&indexes);
    c->assignments = list;
}

static void take_overrides(struct arena *a, const struct create_topics_request_topic *in,
                           struct topic_creation *c)
{
    struct topic_override *list =
        arena_new_array(a, struct topic_override, (size_t)in->configs_count);

    for (int32_t i = 0; i < in->configs_count; i++)
        list[i] = (struct topic_override){in->configs[i].name, in->configs[i].value};
    c->overrides = list;
    c->override_count = (size_t)in->configs_count;
}

static void take_topic(struct creation *cr, const struct create_topics_request_topic *in)
{
    struct topic_creation *c = &cr->list[cr->resp->topics_count++];

    c->name = in->name;
    c->num_partitions = in->num_partitions;
    c->replication_factor = in->replication_factor;
    take_assignments(&cr->req->arena, in, c);
    take_overrides(&cr->req->arena, in, c);
    if (str_eqz(in->name, "__cluster_metadata")) {
        c->error = INVALID_REQUEST;
        c->message = STR("Creation of internal topic __cluster_metadata is prohibited.");
    }
}

/* A name that stands more than once is refused, wherever it stands. */
static void take_topics(struct creation *cr)
{
    const struct create_topics_request *body = cr->req->body;
    struct arena *a = &cr->req->arena;
    struct seen *set = NULL;

    cr->resp->topics =
        arena_new_array(a, struct create_topics_response_topic, (size_t)body->topics_count);
    cr->list = arena_new_array(a, struct topic_creation, (size_t)body->topics_count);
    for (int32_t i = 0; i < body->topics_count; i++) {
        int32_t first = seen_add(&set, a, body->topics[i].name, i);

        take_topic(cr, &body->topics[i]);
        if (first >= 0 && !cr->list[i].error) {
            cr->list[first].error = cr->list[i].error = INVALID_REQUEST;
            cr->list[first].message = cr->list[i].message =
                STR("Found multiple entries for this topic.");
        }
    }
    seen_clear(&set);
}

/* A copy, as Kafka prints it. */
static struct str show(struct arena *a, const struct conf_option *o, struct str value)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    conf_show(o, value, &sb);
    return arena_str(a, strbuf_str(&sb));
}

static void fill_configs(struct creation *cr, const struct topic_creation *c,
                         struct create_topics_response_topic *t)
{
    struct arena *a = &cr->req->arena;
    struct topic_setting *settings = arena_new_array(a, struct topic_setting, topic_option_count);
    const struct conf_snapshot *CLEANUP(conf_snapshot_put_p) now = live_conf_get(cr->b->live);

    topic_conf_settings(now, c->overrides, c->override_count, settings);
    t->configs = arena_new_array(a, struct create_topics_response_config, topic_option_count);
    t->configs_count = (int32_t)topic_option_count;
    for (size_t i = 0; i < topic_option_count; i++)
        t->configs[i] = (struct create_topics_response_config){
            .name = str_of(settings[i].option->key),
            .value = show(a, settings[i].option, settings[i].value),
            .config_source = (int8_t)settings[i].source,
        };
}

static void fill_topic(struct creation *cr, int32_t i)
{
    const struct topic_creation *c = &cr->list[i];
    struct create_topics_response_topic *t = &cr->resp->topics[i];

    struct_init(&create_topics_response_topic_desc, t);
    t->name = c->name;
    set_error(t, c->error, c->message);
    if (c->error)
        return;
    t->error_message = STR_NULL;
    t->topic_id = c->id;
    t->num_partitions = c->num_partitions;
    t->replication_factor = (int16_t)c->replication_factor;
    fill_configs(cr, c, t);
}

static bool is_led(const struct metadata_snapshot *s, struct str name, int32_t partitions)
{
    const struct meta_topic *t = metadata_topic(s, name);

    if (!t || t->partition_count < partitions)
        return false;
    for (int32_t i = 0; i < t->partition_count; i++) {
        if (t->partitions[i].leader < 0)
            return false;
    }
    return true;
}

static bool are_led(struct metadata_wait *w, const struct metadata_snapshot *s)
{
    struct creation *cr = container_of(w, struct creation, wait);

    for (; cr->seen < cr->resp->topics_count; cr->seen++) {
        const struct topic_creation *c = &cr->list[cr->seen];

        if (!c->error && !is_led(s, c->name, c->num_partitions))
            return false;
    }
    return true;
}

/* The topics exist all the same; the client is only told that they are not led yet. */
static void time_out(struct creation *cr, const struct metadata_snapshot *s)
{
    for (int32_t i = 0; i < cr->resp->topics_count; i++) {
        struct create_topics_response_topic *t = &cr->resp->topics[i];

        if (t->error_code || (s && is_led(s, t->name, t->num_partitions)))
            continue;
        struct str name = t->name;
        struct uuid id = t->topic_id;
        struct_init(&create_topics_response_topic_desc, t);
        t->name = name;
        t->topic_id = id;
        set_error(t, REQUEST_TIMED_OUT, STR_NULL);
    }
}

static void creation_over(struct metadata_wait *w, bool is_timed_out)
{
    struct creation *cr = container_of(w, struct creation, wait);

    if (is_timed_out) {
        const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(cr->b->metadata);

        time_out(cr, s);
    }
    request_reply(cr->req, cr->resp);
}

/* On a worker. */
static void create(struct job *j)
{
    struct creation *cr = container_of(j, struct creation, job);
    const struct create_topics_request *body = cr->req->body;

    topic_admin_create(cr->b->topics, &cr->req->arena, cr->list, (size_t)cr->resp->topics_count,
                       body->validate_only);
    for (int32_t i = 0; i < cr->resp->topics_count; i++)
        fill_topic(cr, i);
}

/* Back on the reactor. */
static void created(struct job *j)
{
    struct creation *cr = container_of(j, struct creation, job);
    const struct create_topics_request *body = cr->req->body;

    if (body->validate_only) {
        request_reply(cr->req, cr->resp);
    } else if (body->timeout_ms <= 0) {
        time_out(cr, NULL);
        request_reply(cr->req, cr->resp);
    } else {
        cr->wait.reactor = cr->req->reactor;
        cr->wait.deadline_us = cr->req->received_us + (int64_t)body->timeout_ms * 1000;
        cr->wait.is_over = are_led;
        cr->wait.done = creation_over;
        metadata_waits_park(cr->b->waits, &cr->wait);
    }
}

/* Before anything is looked at: each entry as often as it was named, with an empty message. */
static void refuse_creation(struct request *req, struct create_topics_response *resp)
{
    const struct create_topics_request *body = req->body;

    resp->topics = arena_new_array(&req->arena, struct create_topics_response_topic,
                                   (size_t)body->topics_count);
    resp->topics_count = body->topics_count;
    for (int32_t i = 0; i < body->topics_count; i++) {
        struct_init(&create_topics_response_topic_desc, &resp->topics[i]);
        resp->topics[i].name = body->topics[i].name;
        set_error(&resp->topics[i], NOT_CONTROLLER, STR(""));
    }
    request_reply(req, resp);
}

void handle_create_topics(struct broker *b, struct request *req)
{
    struct creation *cr = arena_new(&req->arena, struct creation);

    cr->b = b;
    cr->req = req;
    cr->resp = arena_new(&req->arena, struct create_topics_response);
    msg_init(&create_topics_response_desc, cr->resp);
    if (!controller_is_active(b->controller)) {
        refuse_creation(req, cr->resp);
        return;
    }
    take_topics(cr);
    cr->job = (struct job){.work = create, .done = created, .reply = req->reactor};
    workq_submit(b->workq, &cr->job);
}

/* ---- DeleteTopics ---- */

struct deletion {
    struct job job;
    struct broker *b;
    struct request *req;
    struct delete_topics_response *resp;
    struct metadata_wait wait;
};

static void refuse_all(struct deletion *de, int16_t error, struct str message)
{
    for (int32_t i = 0; i < de->resp->responses_count; i++) {
        de->resp->responses[i].error_code = error;
        de->resp->responses[i].error_message = message;
    }
}

static void take_names(struct deletion *de)
{
    const struct delete_topics_request *body = de->req->body;
    bool is_by_names = de->req->version <= 5;
    int32_t n = is_by_names ? body->topic_names_count : body->topics_count;

    de->resp->responses =
        arena_new_array(&de->req->arena, struct delete_topics_response_response, (size_t)n);
    de->resp->responses_count = n;
    for (int32_t i = 0; i < n; i++) {
        struct delete_topics_response_response *r = &de->resp->responses[i];

        struct_init(&delete_topics_response_response_desc, r);
        r->name = is_by_names ? body->topic_names[i] : body->topics[i].name;
        if (!is_by_names)
            r->topic_id = body->topics[i].topic_id;
    }
}

/* False where the whole request is malformed. */
static bool find_topics(struct deletion *de, const struct metadata_snapshot *s)
{
    for (int32_t i = 0; i < de->resp->responses_count; i++) {
        const struct delete_topics_response_response *r = &de->resp->responses[i];

        if (!str_is_null(r->name) && !uuid_is_zero(r->topic_id))
            return false;
    }
    for (int32_t i = 0; i < de->resp->responses_count; i++) {
        struct delete_topics_response_response *r = &de->resp->responses[i];
        bool is_by_id = str_is_null(r->name);
        const struct meta_topic *t =
            is_by_id ? metadata_topic_by_id(s, r->topic_id) : metadata_topic(s, r->name);

        if (t) { /* who asked by name is not told the id, as by Kafka */
            r->name = arena_str(&de->req->arena, t->name);
        } else if (is_by_id) { /* one without an id either is nobody's to delete */
            r->error_code =
                uuid_is_zero(r->topic_id) ? TOPIC_AUTHORIZATION_FAILED : UNKNOWN_TOPIC_ID;
        } else {
            r->error_code = UNKNOWN_TOPIC_OR_PARTITION;
        }
    }
    return true;
}

static bool are_gone(struct metadata_wait *w, const struct metadata_snapshot *s)
{
    struct deletion *de = container_of(w, struct deletion, wait);

    for (int32_t i = 0; i < de->resp->responses_count; i++) {
        const struct delete_topics_response_response *r = &de->resp->responses[i];

        if (!r->error_code && metadata_topic(s, r->name))
            return false;
    }
    return true;
}

static void deletion_over(struct metadata_wait *w, bool is_timed_out)
{
    struct deletion *de = container_of(w, struct deletion, wait);

    if (is_timed_out) {
        const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(de->b->metadata);

        for (int32_t i = 0; i < de->resp->responses_count; i++) {
            struct delete_topics_response_response *r = &de->resp->responses[i];

            if (!r->error_code && metadata_topic(s, r->name))
                r->error_code = REQUEST_TIMED_OUT;
        }
    }
    request_reply(de->req, de->resp);
}

/* On a worker. */
static void mark(struct job *j)
{
    struct deletion *de = container_of(j, struct deletion, job);

    for (int32_t i = 0; i < de->resp->responses_count; i++) {
        struct delete_topics_response_response *r = &de->resp->responses[i];

        if (!r->error_code && topic_admin_delete(de->b->topics, r->name) < 0)
            r->error_code = UNKNOWN_SERVER_ERROR;
    }
}

static void marked(struct job *j)
{
    struct deletion *de = container_of(j, struct deletion, job);
    const struct delete_topics_request *body = de->req->body;

    de->wait.reactor = de->req->reactor;
    de->wait.is_over = are_gone;
    de->wait.done = deletion_over;
    de->wait.deadline_us = de->req->received_us + (int64_t)body->timeout_ms * 1000;
    if (body->timeout_ms <= 0)
        deletion_over(&de->wait, true);
    else
        metadata_waits_park(de->b->waits, &de->wait);
}

void handle_delete_topics(struct broker *b, struct request *req)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    struct deletion *de = arena_new(&req->arena, struct deletion);
    bool is_refused = true;

    de->b = b;
    de->req = req;
    de->resp = arena_new(&req->arena, struct delete_topics_response);
    msg_init(&delete_topics_response_desc, de->resp);
    take_names(de);
    if (!controller_is_active(b->controller))
        refuse_all(de, NOT_CONTROLLER, STR_NULL);
    else if (!b->conf->delete_topic_enable)
        refuse_all(de, req->version < 3 ? INVALID_REQUEST : TOPIC_DELETION_DISABLED, STR_NULL);
    else if (!find_topics(de, s))
        refuse_all(de, INVALID_REQUEST, STR_NULL);
    else
        is_refused = false;
    if (is_refused) {
        request_reply(req, de->resp);
        return;
    }
    de->job = (struct job){.work = mark, .done = marked, .reply = req->reactor};
    workq_submit(b->workq, &de->job);
}
