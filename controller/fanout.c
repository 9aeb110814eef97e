#include "controller/fanout.h"

#include "common/base/say.h"
#include "controller/fanout_messages.h"

enum { LARGE = 1000 }; /* partitions in a batch */

void fanout_begin(struct fanout *f)
{
    assert(!f->memory && f->count == 0);
    f->memory = fan_memory_new();
    f->topic_count = 0;
    f->tells_all = false;
    f->tells_count = 0;
}

void fanout_drop(struct fanout *f)
{
    for (int32_t i = 0; i < f->count; i++) {
        f->fans[i]->p->topic->fan_seq = 0;
        f->fans[i]->p->fan = NULL;
    }
    f->count = 0;
    f->memory = fan_memory_unref(f->memory);
    f->was_large |= f->cap > LARGE;
    if (f->cap > LARGE) { /* a failover's worth of pointers is not worth keeping */
        free(f->fans);
        f->fans = NULL;
        f->cap = 0;
    }
}

void fanout_deinit(struct fanout *f)
{
    fanout_drop(f);
    free(f->fans);
    free(f->tells);
    f->fans = NULL;
    f->tells = NULL;
}

static struct fan *fan_of(struct fanout *f, struct ctl_partition *p)
{
    assert(f->memory);
    if (p->fan)
        return p->fan;
    struct fan *fan = arena_new(&f->memory->arena, struct fan);
    if (!p->topic->fan_seq)
        p->topic->fan_seq = ++f->topic_count;
    fan->p = p;
    fan->topic = arena_str(&f->memory->arena, topic_name(p->topic));
    fan->topic_seq = p->topic->fan_seq;
    fan->seq = f->count;
    p->fan = fan;
    xgrow(f->fans, f->cap, f->count + 1);
    f->fans[f->count++] = fan;
    return fan;
}

static struct fan_order *order_of(struct fanout *f, struct ctl_partition *p, int32_t broker)
{
    struct fan *fan = fan_of(f, p);

    for (struct fan_order *o = fan->orders; o; o = o->next) {
        if (o->broker == broker)
            return o;
    }
    struct fan_order *o = arena_new(&f->memory->arena, struct fan_order);
    o->fan = fan;
    o->broker = broker;
    o->next = fan->orders;
    fan->orders = o;
    return o;
}

void fanout_tell_all(struct fanout *f)
{
    f->tells_all = true;
}

void fanout_tell_broker(struct fanout *f, int32_t broker)
{
    xgrow(f->tells, f->tells_cap, f->tells_count + 1);
    f->tells[f->tells_count++] = broker;
}

void fanout_tell_about(struct fanout *f, struct ctl_partition *p)
{
    if (p->has_leadership) {
        struct fan *fan = fan_of(f, p);
        fan->told = fan_freeze_told(f, fan);
    }
}

void fanout_lead(struct fanout *f, struct node_ids brokers, struct ctl_partition *p, bool is_new)
{
    assert(p->has_leadership);
    const struct leader_and_isr_request_partition_state *lead = fan_freeze_lead(f, fan_of(f, p));

    for (int32_t i = 0; i < brokers.count; i++) {
        if (brokers.list[i] < 0)
            continue;
        struct fan_order *o = order_of(f, p, brokers.list[i]);
        o->lead = lead;
        o->is_new |= is_new;
    }
    fanout_tell_all(f);
    fanout_tell_about(f, p);
}

void fanout_lead_one(struct fanout *f, int32_t broker, struct ctl_partition *p, bool is_new)
{
    fanout_lead(f, (struct node_ids){&broker, 1}, p, is_new);
}

void fanout_stop(struct fanout *f, int32_t broker, struct ctl_partition *p, bool deletes)
{
    if (broker < 0)
        return;
    struct fan_order *o = order_of(f, p, broker);

    o->stops = true;
    o->stop_epoch = partition_stop_epoch(p);
    o->deletes |= deletes;
}

static int fan_cmp(const void *a, const void *b)
{
    const struct fan *x = *(struct fan *const *)a, *y = *(struct fan *const *)b;

    if (x->topic_seq != y->topic_seq)
        return x->topic_seq < y->topic_seq ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Shares the batch's orders out: one list per registered broker, in the order of the context. */
static struct fan_orders *share_out(const struct fanout *f)
{
    const struct context *x = f->x;
    struct fan_orders *lists = xnew_array(struct fan_orders, (size_t)x->broker_count + 1);

    for (int32_t b = 0; b < x->broker_count; b++)
        lists[b].broker = x->brokers[b]->id;
    for (int32_t i = 0; i < f->count; i++) {
        for (struct fan_order *o = f->fans[i]->orders; o; o = o->next) {
            int32_t b = 0;
            while (b < x->broker_count && lists[b].broker != o->broker)
                b++;
            if (b == x->broker_count)
                continue;
            xgrow(lists[b].v, lists[b].cap, lists[b].count + 1);
            lists[b].v[lists[b].count++] = o;
        }
    }
    return lists;
}

static int send_one(struct fanout *f, const struct ctl_broker *b, struct control_message *m)
{
    if (!m)
        return 0;
    m->epoch = f->controller_epoch;
    f->channels->ops->send(f->channels, b->id, b->epoch, m);
    control_message_unref(m);
    return 1;
}

/* One message for all of them, built once. */
static int send_update_metadata(struct fanout *f)
{
    int sent = 0;

    if (!f->tells_all && f->tells_count == 0)
        return 0;
    struct control_message *m = fan_update_metadata(f);
    for (int32_t i = 0; i < f->x->broker_count; i++) {
        const struct ctl_broker *b = f->x->brokers[i];
        const struct node_ids tells = {f->tells, f->tells_count};
        if (f->tells_all || node_ids_has(&tells, b->id))
            sent += send_one(f, b, control_message_ref(m));
    }
    control_message_unref(m);
    return sent;
}

void fanout_flush(struct fanout *f)
{
    int leads = 0, tells = 0, stops = 0;

    assert(f->memory);
    if (f->count > 1)
        qsort(f->fans, (size_t)f->count, sizeof *f->fans, fan_cmp);
    struct fan_orders *lists = share_out(f);
    for (int32_t i = 0; i < f->x->broker_count; i++)
        leads += send_one(f, f->x->brokers[i], fan_leader_and_isr(f, &lists[i]));
    tells = send_update_metadata(f);
    for (int32_t i = 0; i < f->x->broker_count; i++) {
        stops += send_one(f, f->x->brokers[i], fan_stop_replica(f, &lists[i], false));
        stops += send_one(f, f->x->brokers[i], fan_stop_replica(f, &lists[i], true));
    }
    for (int32_t i = 0; i < f->x->broker_count; i++)
        free(lists[i].v);
    free(lists);
    if (leads + tells + stops)
        say_info("controller tells brokers epoch=%d partitions=%d leader_and_isr=%d "
                 "update_metadata=%d stop_replica=%d",
                 f->controller_epoch, f->count, leads, tells, stops);
    fanout_drop(f);
}
