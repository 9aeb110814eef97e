#include "controller/elect.h"

typedef bool (*replica_test)(const struct context *x, const struct ctl_partition *p,
                             int32_t broker);

static bool is_any(const struct context *x UNUSED, const struct ctl_partition *p UNUSED,
                   int32_t broker UNUSED)
{
    return true;
}

static bool is_target(const struct context *x UNUSED, const struct ctl_partition *p, int32_t broker)
{
    struct node_ids removing = partition_removing(p);

    return !node_ids_has(&removing, broker);
}

static bool is_online_target(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    return is_target(x, p, broker) && replica_is_online(x, p, broker);
}

static bool is_not_shutting_down(const struct context *x, const struct ctl_partition *p UNUSED,
                                 int32_t broker)
{
    const struct ctl_broker *b = context_broker(x, broker);

    return !b || !b->is_shutting_down;
}

static bool is_staying(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    return replica_is_reachable(x, p, broker) && is_not_shutting_down(x, p, broker);
}

static bool is_head(const struct context *x, const struct ctl_partition *p, int32_t broker)
{
    return broker == p->ids[0] && replica_is_online(x, p, broker);
}

/* What each strategy asks of a leader, of those who stay in the ISR, and of those who are told. */
static const struct {
    replica_test leads, stays, told;
} rules[] = {
    [ELECT_OFFLINE] = {replica_is_online, replica_is_online, replica_is_online},
    [ELECT_REASSIGN] = {is_online_target, is_any, is_target},
    [ELECT_PREFERRED] = {is_head, is_any, is_any},
    [ELECT_SHUTDOWN] = {is_staying, is_not_shutting_down, replica_is_reachable},
};

struct choice {
    const struct context *x;
    const struct ctl_partition *p;
    struct arena *arena;
};

static struct node_ids filter(const struct choice *c, struct node_ids ids, replica_test test)
{
    struct node_ids out = {arena_new_array(c->arena, int32_t, (size_t)ids.count + 1), 0};

    for (int32_t i = 0; i < ids.count; i++) {
        if (test(c->x, c->p, ids.list[i]))
            out.list[out.count++] = ids.list[i];
    }
    return out;
}

/* The first of RS that passes and, if isr is given, is in it. */
static int32_t first(const struct choice *c, replica_test test, const struct node_ids *isr)
{
    struct node_ids rs = partition_replicas(c->p);

    for (int32_t i = 0; i < rs.count; i++) {
        if (test(c->x, c->p, rs.list[i]) && (!isr || node_ids_has(isr, rs.list[i])))
            return rs.list[i];
    }
    return NO_LEADER;
}

bool elect(const struct context *x, const struct ctl_partition *p, enum elect_strategy strategy,
           const struct elect_input *in, struct elect_outcome *ret)
{
    struct choice c = {x, p, in->arena};
    struct elect_outcome out = {.is_unclean = false};

    out.leader = first(&c, rules[strategy].leads, &in->now->isr);
    if (out.leader == NO_LEADER && strategy == ELECT_OFFLINE && in->unclean_allowed) {
        out.leader = first(&c, replica_is_online, NULL);
        out.is_unclean = true;
    }
    if (out.leader == NO_LEADER)
        return false;
    if (out.is_unclean) {
        out.isr = (struct node_ids){arena_new(in->arena, int32_t), 1};
        out.isr.list[0] = out.leader;
    } else {
        out.isr = filter(&c, in->now->isr, rules[strategy].stays);
    }
    out.recipients = filter(&c, partition_replicas(p), rules[strategy].told);
    assert(node_ids_has(&out.isr, out.leader));
    *ret = out;
    return true;
}

bool elect_needs_unclean(const struct context *x, const struct ctl_partition *p,
                         const struct node_state *now)
{
    for (int32_t i = 0; i < now->isr.count; i++) {
        if (replica_is_online(x, p, now->isr.list[i]))
            return false;
    }
    return true;
}
