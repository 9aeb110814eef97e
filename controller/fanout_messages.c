#include "controller/fanout_messages.h"

struct fan_memory *fan_memory_new(void)
{
    struct fan_memory *m = xnew(struct fan_memory);

    atomic_init(&m->refs, 1);
    return m;
}

struct fan_memory *fan_memory_unref(struct fan_memory *m)
{
    if (m && atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1) {
        arena_deinit(&m->arena);
        free(m);
    }
    return NULL;
}

static void drop_memory(void *memory)
{
    fan_memory_unref(memory);
}

/* A message whose parts lie in its own arena or in the batch's memory. */
static struct control_message *message_new(struct fanout *f, int16_t key, int16_t version)
{
    struct control_message *m = control_message_new(key, version);

    atomic_fetch_add_explicit(&f->memory->refs, 1, memory_order_relaxed);
    arena_hold(&m->arena, f->memory, drop_memory);
    m->body = arena_zalloc(&m->arena, control_message_body_size(key));
    return m;
}

static int32_t *copy_ids(struct arena *a, struct node_ids ids)
{
    int32_t *list = arena_new_array(a, int32_t, (size_t)ids.count + 1);

    if (ids.count)
        memcpy(list, ids.list, (size_t)ids.count * sizeof *list);
    return list;
}

const struct leader_and_isr_request_partition_state *fan_freeze_lead(struct fanout *f,
                                                                     const struct fan *fan)
{
    const struct ctl_partition *p = fan->p;
    struct arena *a = &f->memory->arena;
    struct leader_and_isr_request_partition_state *s = arena_zalloc(a, sizeof *s);

    s->topic_name = fan->topic;
    s->partition_index = p->id;
    s->controller_epoch = p->controller_epoch;
    s->leader = p->leader;
    s->leader_epoch = p->leader_epoch;
    s->isr = copy_ids(a, partition_isr(p));
    s->isr_count = p->isr_count;
    s->partition_epoch = p->partition_epoch;
    s->replicas = copy_ids(a, partition_replicas(p));
    s->replicas_count = p->replica_count;
    s->adding_replicas = copy_ids(a, partition_adding(p));
    s->adding_replicas_count = p->adding_count;
    s->removing_replicas = copy_ids(a, partition_removing(p));
    s->removing_replicas_count = p->removing_count;
    if (f->ibp >= IBP_3_2_IV0)
        s->leader_recovery_state = p->recovery_state;
    return s;
}

const struct update_metadata_request_partition_state *fan_freeze_told(struct fanout *f,
                                                                      const struct fan *fan)
{
    const struct ctl_partition *p = fan->p;
    struct arena *a = &f->memory->arena;
    struct update_metadata_request_partition_state *s = arena_zalloc(a, sizeof *s);
    bool is_deleted = p->topic->is_queued;

    s->topic_name = fan->topic;
    s->partition_index = p->id;
    s->controller_epoch = p->controller_epoch;
    s->leader = is_deleted ? LEADER_DURING_DELETE : p->leader;
    s->leader_epoch = is_deleted ? 0 : p->leader_epoch;
    s->zk_version = is_deleted ? 0 : p->partition_epoch;
    s->isr = copy_ids(a, partition_isr(p));
    s->isr_count = p->isr_count;
    s->replicas = copy_ids(a, partition_replicas(p));
    s->replicas_count = p->replica_count;
    s->offline_replicas = arena_new_array(a, int32_t, (size_t)p->replica_count + 1);
    for (int i = 0; i < p->replica_count; i++) {
        if (!replica_is_online(f->x, p, p->ids[i]))
            s->offline_replicas[s->offline_replicas_count++] = p->ids[i];
    }
    return s;
}

/* Registered brokers that lead something in this request. */
static void fill_live_leaders(struct fanout *f, const struct fan_orders *orders,
                              struct control_message *m)
{
    struct leader_and_isr_request *body = m->body;
    const struct context *x = f->x;
    bool *leads = arena_new_array(&m->arena, bool, (size_t)x->broker_count + 1);

    for (int32_t i = 0; i < orders->count; i++) {
        for (int32_t b = 0; orders->v[i]->lead && b < x->broker_count; b++)
            leads[b] |= x->brokers[b]->id == orders->v[i]->lead->leader;
    }
    body->live_leaders =
        arena_array(&m->arena, (size_t)x->broker_count + 1, sizeof *body->live_leaders);
    for (int32_t b = 0; b < x->broker_count; b++) {
        const struct node_endpoint *ep =
            node_broker_endpoint(&x->brokers[b]->node, str_of(f->inter_broker_listener));
        if (!leads[b] || !ep)
            continue;
        struct leader_and_isr_request_live_leader *l =
            &body->live_leaders[body->live_leaders_count++];
        l->broker_id = x->brokers[b]->id;
        l->host_name = arena_str(&m->arena, ep->host);
        l->port = ep->port;
    }
}

/* Does order i begin a topic within the orders of this kind? last: the order of that kind
 * before. */
static bool begins_topic(const struct fan_order *last, const struct fan_order *o)
{
    return !last || last->fan->topic_seq != o->fan->topic_seq;
}

struct control_message *fan_leader_and_isr(struct fanout *f, const struct fan_orders *orders)
{
    int32_t n = 0, topics = 0;
    const struct fan_order *last = NULL;

    for (int32_t i = 0; i < orders->count; i++) {
        if (!orders->v[i]->lead)
            continue;
        topics += begins_topic(last, orders->v[i]);
        last = orders->v[i];
        n++;
    }
    if (n == 0)
        return NULL;
    struct control_message *m =
        message_new(f, API_LEADER_AND_ISR, ibp_leader_and_isr_version(f->ibp));
    struct leader_and_isr_request *body = m->body;
    body->controller_id = f->controller_id;
    body->controller_epoch = f->controller_epoch;
    struct leader_and_isr_request_partition_state *states =
        arena_array(&m->arena, (size_t)n, sizeof *states);
    struct leader_and_isr_request_topic_state *t =
        arena_array(&m->arena, (size_t)topics, sizeof *t);
    body->topic_states = t--;
    last = NULL;
    for (int32_t i = 0, at = 0; i < orders->count; i++) {
        const struct fan_order *o = orders->v[i];
        if (!o->lead)
            continue;
        states[at] = *o->lead;
        states[at].is_new = o->is_new;
        if (begins_topic(last, o)) {
            t++;
            t->topic_name = o->lead->topic_name;
            t->topic_id = o->fan->p->topic->id;
            t->partition_states = &states[at];
        }
        t->partition_states_count++;
        last = o;
        at++;
    }
    body->topic_states_count = topics;
    if (m->version < 2) {
        body->topic_states_count = 0;
        body->ungrouped_partition_states = states;
        body->ungrouped_partition_states_count = n;
    }
    fill_live_leaders(f, orders, m);
    return m;
}

static void fill_live_broker(struct arena *a, const struct ctl_broker *b,
                             struct update_metadata_request_live_broker *ret)
{
    const struct node_endpoint *plain = node_broker_endpoint(&b->node, STR("PLAINTEXT"));

    ret->id = b->id;
    ret->v0_host = plain ? arena_str(a, plain->host) : STR("");
    ret->v0_port = plain ? plain->port : -1;
    ret->rack = str_is_null(b->node.rack) ? STR_NULL : arena_str(a, b->node.rack);
    ret->endpoints_count = b->node.endpoint_count;
    ret->endpoints = arena_array(a, (size_t)b->node.endpoint_count + 1, sizeof *ret->endpoints);
    for (int32_t i = 0; i < b->node.endpoint_count; i++) {
        const struct node_endpoint *ep = &b->node.endpoints[i];
        ret->endpoints[i] = (struct update_metadata_request_endpoint){
            .port = ep->port,
            .host = arena_str(a, ep->host),
            .listener = arena_str(a, ep->listener),
            .security_protocol = (int16_t)ep->protocol,
        };
    }
}

static void fill_live_brokers(const struct fanout *f, struct control_message *m)
{
    struct update_metadata_request *body = m->body;
    const struct context *x = f->x;

    body->live_brokers_count = x->broker_count;
    body->live_brokers =
        arena_array(&m->arena, (size_t)x->broker_count + 1, sizeof *body->live_brokers);
    for (int32_t i = 0; i < x->broker_count; i++)
        fill_live_broker(&m->arena, x->brokers[i], &body->live_brokers[i]);
}

struct control_message *fan_update_metadata(struct fanout *f)
{
    struct control_message *m =
        message_new(f, API_UPDATE_METADATA, ibp_update_metadata_version(f->ibp));
    struct update_metadata_request *body = m->body;
    struct update_metadata_request_partition_state *states =
        arena_array(&m->arena, (size_t)f->count + 1, sizeof *states);
    struct update_metadata_request_topic_state *topics =
        arena_array(&m->arena, (size_t)f->topic_count + 1, sizeof *topics);
    int32_t n = 0, topic_count = 0, last_seq = 0;

    for (int32_t i = 0; i < f->count; i++) {
        const struct fan *fan = f->fans[i];
        if (!fan->told)
            continue;
        states[n] = *fan->told;
        if (fan->topic_seq != last_seq) {
            topics[topic_count].topic_name = fan->told->topic_name;
            topics[topic_count].topic_id = fan->p->topic->id;
            topics[topic_count++].partition_states = &states[n];
            last_seq = fan->topic_seq;
        }
        topics[topic_count - 1].partition_states_count++;
        n++;
    }
    body->controller_id = f->controller_id;
    body->controller_epoch = f->controller_epoch;
    if (m->version >= 5) {
        body->topic_states = topics;
        body->topic_states_count = topic_count;
    } else {
        body->ungrouped_partition_states = states;
        body->ungrouped_partition_states_count = n;
    }
    fill_live_brokers(f, m);
    return m;
}

/* Versions below 3 know neither epochs nor states: names and numbers only. */
static void stop_replica_old_form(struct control_message *m, bool deletes)
{
    struct stop_replica_request *body = m->body;
    int32_t n = 0;

    body->delete_partitions = deletes;
    for (int32_t t = 0; t < body->topic_states_count; t++)
        n += body->topic_states[t].partition_states_count;
    body->topics =
        arena_array(&m->arena, (size_t)body->topic_states_count + 1, sizeof *body->topics);
    body->ungrouped_partitions =
        arena_array(&m->arena, (size_t)n + 1, sizeof *body->ungrouped_partitions);
    for (int32_t t = 0; t < body->topic_states_count; t++) {
        const struct stop_replica_request_topic_state *from = &body->topic_states[t];
        struct stop_replica_request_topic *to = &body->topics[t];
        to->name = from->topic_name;
        to->partition_indexes =
            arena_new_array(&m->arena, int32_t, (size_t)from->partition_states_count);
        for (int32_t i = 0; i < from->partition_states_count; i++) {
            int32_t id = from->partition_states[i].partition_index;
            to->partition_indexes[to->partition_indexes_count++] = id;
            body->ungrouped_partitions[body->ungrouped_partitions_count++] =
                (struct stop_replica_request_ungrouped_partition){from->topic_name, id};
        }
    }
    body->topics_count = m->version >= 1 ? body->topic_states_count : 0;
    if (m->version >= 1)
        body->ungrouped_partitions_count = 0;
    body->topic_states_count = 0;
}

struct control_message *fan_stop_replica(struct fanout *f, const struct fan_orders *orders,
                                         bool deletes)
{
    int32_t n = 0;

    for (int32_t i = 0; i < orders->count; i++)
        n += orders->v[i]->stops && orders->v[i]->deletes == deletes;
    if (n == 0)
        return NULL;
    struct control_message *m = message_new(f, API_STOP_REPLICA, ibp_stop_replica_version(f->ibp));
    struct stop_replica_request *body = m->body;
    struct stop_replica_request_partition_state *states =
        arena_array(&m->arena, (size_t)n, sizeof *states);
    const struct fan_order *last = NULL;

    m->deletes = deletes;
    body->controller_id = f->controller_id;
    body->controller_epoch = f->controller_epoch;
    body->topic_states = arena_array(&m->arena, (size_t)n, sizeof *body->topic_states);
    for (int32_t i = 0, at = 0; i < orders->count; i++) {
        const struct fan_order *o = orders->v[i];
        if (!o->stops || o->deletes != deletes)
            continue;
        struct stop_replica_request_topic_state *t =
            &body->topic_states[body->topic_states_count - !begins_topic(last, o)];
        if (begins_topic(last, o)) {
            body->topic_states_count++;
            t->topic_name = o->fan->topic;
            t->partition_states = &states[at];
        }
        t->partition_states_count++;
        states[at++] = (struct stop_replica_request_partition_state){
            .partition_index = o->fan->p->id,
            .leader_epoch = o->stop_epoch,
            .delete_partition = deletes,
        };
        last = o;
    }
    if (m->version < 3)
        stop_replica_old_form(m, deletes);
    return m;
}
