#include "controller/restarts.h"

#include "controller/replica_sm.h"

static bool somebody_stayed(const struct context *x, const struct ctl_partition *p)
{
    for (int i = 0; i < p->isr_count; i++) {
        if (replica_is_online(x, p, p->isr[i]) && !replica_is_restarted(x, p, p->isr[i]))
            return true;
    }
    return false;
}

void restarts_begin(struct controller *c)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        if (t->is_queued)
            continue;
        TOPIC_EACH_PARTITION(t, p)
        {
            if (!p->has_leadership || !somebody_stayed(&c->x, p))
                continue;
            for (int i = 0; i < p->isr_count; i++) {
                if (replica_is_restarted(&c->x, p, p->isr[i]))
                    replica_set_away(p, p->isr[i], true);
            }
        }
    }
}

static void find(const struct controller *c, struct replica_list *ret)
{
    CONTEXT_EACH_TOPIC(&c->x, t)
    {
        TOPIC_EACH_PARTITION(t, p)
        {
            for (int i = 0; i < p->replica_count; i++) {
                if (replica_is_away(p, p->ids[i]))
                    replica_list_add(ret, p, p->ids[i]);
            }
        }
    }
}

enum zk_result restarts_end(struct controller *c)
{
    CLEANUP(replica_list_deinit) struct replica_list list = {0};

    find(c, &list);
    if (list.count == 0)
        return ZK_OK;
    for (size_t i = 0; i < list.count; i++)
        replica_set_away(list.v[i].p, list.v[i].broker, false);
    say_info("controller: brokers restarted while nobody was controller; their replicas are out of "
             "the ISR until they have caught up count=%zu",
             list.count);
    return replica_sm_change(c, &list, REPLICA_ONLINE);
}
