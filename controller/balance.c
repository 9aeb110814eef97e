#include "controller/balance.h"

#include "controller/partition_sm.h"
#include "zk/zk_admin.h"

/* How a broker does with the partitions that it should lead. */
struct share {
    int32_t broker;
    int32_t all;
    int32_t led_by_others;
};

struct shares {
    struct share *v;
    size_t count;
    size_t cap;
};

static struct share *share_of(struct shares *s, int32_t broker)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->v[i].broker == broker)
            return &s->v[i];
    }
    xgrow(s->v, s->cap, s->count + 1);
    s->v[s->count] = (struct share){.broker = broker};
    return &s->v[s->count++];
}

static void count_shares(const struct context *x, struct shares *s)
{
    CONTEXT_EACH_TOPIC(x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            if (p->replica_count == 0)
                continue;
            struct share *share = share_of(s, p->ids[0]);
            share->all++;
            share->led_by_others += p->is_imbalanced;
        }
    }
}

static bool can_lead(const struct context *x, const struct ctl_partition *p)
{
    struct node_ids isr = partition_isr(p);

    return replica_is_online(x, p, p->ids[0]) && node_ids_has(&isr, p->ids[0]);
}

static enum zk_result balance_broker(struct controller *c, const struct share *share)
{
    CLEANUP(partition_list_deinit) struct partition_list list = {0};

    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        TOPIC_EACH_PARTITION(t, p)
        {
            if (p->is_imbalanced && p->ids[0] == share->broker && can_lead(&c->x, p))
                partition_list_add(&list, p);
        }
    }
    if (list.count == 0)
        return ZK_OK;
    say_info("controller: broker %d leads too few of its partitions: preferred=%d led_by_others=%d "
             "elections=%zu",
             share->broker, share->all, share->led_by_others, list.count);
    return partition_sm_elect(c, &list, ELECT_PREFERRED, false, NULL);
}

enum zk_result balance_run(struct controller *c)
{
    CLEANUP(free_p) struct share *owned = NULL;
    struct shares s = {0};
    enum zk_result r = ZK_OK;

    if (c->x.preferred_imbalance == 0)
        return ZK_OK;
    count_shares(&c->x, &s);
    owned = s.v;
    for (size_t i = 0; r == ZK_OK && i < s.count; i++) {
        double ratio = (double)s.v[i].led_by_others / s.v[i].all;
        if (ratio > c->opts.leader_imbalance_per_broker_percentage / 100.0)
            r = balance_broker(c, &s.v[i]);
    }
    return r;
}

static void refuse(struct controller_election *e, int16_t error, const char *message)
{
    e->error = error;
    e->message = message;
}

static bool is_needed(const struct controller *c, const struct ctl_partition *p, bool unclean)
{
    if (unclean)
        return p->leader == NO_LEADER || !context_is_live(&c->x, p->leader);
    return p->replica_count > 0 && p->leader != p->ids[0];
}

/* NULL where there is nothing to elect; the entry then says why. */
static struct ctl_partition *electable(struct controller *c, struct controller_election *e,
                                       bool unclean)
{
    struct ctl_partition *p = context_partition(&c->x, e->topic, e->partition);

    if (!p)
        refuse(e, UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.");
    else if (p->topic->is_queued)
        refuse(e, INVALID_TOPIC_EXCEPTION, "The topic is being deleted");
    else if (!p->has_leadership)
        refuse(e, unclean ? ELIGIBLE_LEADERS_NOT_AVAILABLE : PREFERRED_LEADER_NOT_AVAILABLE,
               "The partition has never had a leader: none of its replicas has been online");
    else if (!is_needed(c, p, unclean))
        refuse(e, ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.");
    else
        return p;
    return NULL;
}

static void conclude(struct controller_election *e, const struct ctl_partition *p, bool is_done,
                     bool unclean)
{
    e->leader = p->leader;
    if (is_done)
        return;
    if (unclean)
        refuse(e, ELIGIBLE_LEADERS_NOT_AVAILABLE, "No replica of the partition is online");
    else
        refuse(e, PREFERRED_LEADER_NOT_AVAILABLE,
               "The preferred leader is not online, or not in sync");
}

/* Entries that wait for an election, and the one before them where a partition stands twice. */
struct poll {
    struct partition_list list;
    size_t *entry_of; /* by place in list */
    size_t *twin_of;  /* by entry: the entry that decides for this one, plus one */
    bool *done;       /* by place in list */
};

static void poll_deinit(struct poll *po)
{
    for (size_t i = 0; i < po->list.count; i++)
        po->list.v[i]->mark = 0;
    partition_list_deinit(&po->list);
    free(po->entry_of);
    free(po->twin_of);
    free(po->done);
}

static void poll_add(struct poll *po, struct ctl_partition *p, size_t entry)
{
    if (p->mark) {
        po->twin_of[entry] = po->entry_of[p->mark - 1] + 1;
        return;
    }
    po->entry_of[po->list.count] = entry;
    partition_list_add(&po->list, p);
    p->mark = (uint32_t)po->list.count;
}

enum zk_result balance_elect(struct controller *c, struct controller_elections *call)
{
    CLEANUP(poll_deinit)
    struct poll po = {.entry_of = xcalloc(call->count + 1, sizeof(size_t)),
                      .twin_of = xcalloc(call->count + 1, sizeof(size_t)),
                      .done = xcalloc(call->count + 1, sizeof(bool))};

    for (size_t i = 0; i < call->count; i++) {
        refuse(&call->list[i], 0, NULL);
        struct ctl_partition *p = electable(c, &call->list[i], call->unclean);
        if (p)
            poll_add(&po, p, i);
    }
    enum zk_result r = partition_sm_elect(
        c, &po.list, call->unclean ? ELECT_OFFLINE : ELECT_PREFERRED, call->unclean, po.done);
    for (size_t i = 0; i < po.list.count; i++) {
        struct controller_election *e = &call->list[po.entry_of[i]];
        if (r == ZK_OK)
            conclude(e, po.list.v[i], po.done[i], call->unclean);
        else
            refuse(e, controller_is_over(r) ? NOT_CONTROLLER : err_to_wire(zk_result_err(r)), NULL);
    }
    for (size_t i = 0; i < call->count; i++) {
        if (po.twin_of[i])
            call->list[i] = call->list[po.twin_of[i] - 1];
    }
    return r;
}

enum zk_result balance_legacy(struct controller *c)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_partition_names wishes = {0};
    struct controller_elections call = {.unclean = false};
    enum zk_result r = zk_preferred_read(c->store, &a, &wishes);

    if (r == ZK_NO_NODE)
        return ZK_OK;
    if (r != ZK_OK && r != ZK_MALFORMED)
        return r;
    call.list = arena_array(&a, (size_t)wishes.count + 1, sizeof *call.list);
    for (int32_t i = 0; i < wishes.count; i++) {
        call.list[i].topic = wishes.list[i].topic;
        call.list[i].partition = wishes.list[i].partition;
    }
    call.count = (size_t)wishes.count;
    r = balance_elect(c, &call);
    if (r == ZK_OK)
        r = zk_preferred_delete(c->store, c->epoch_version);
    if (r == ZK_OK) /* which finds nothing, and arms the watch for the next wish */
        controller_post_named(c, EVENT_PREFERRED_ELECTION, 0, STR_NULL);
    return r;
}
