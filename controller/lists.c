#include "controller/lists.h"

void partition_list_add(struct partition_list *l, struct ctl_partition *p)
{
    xgrow(l->v, l->cap, l->count + 1);
    l->v[l->count++] = p;
}

void partition_list_add_topic(struct partition_list *l, const struct ctl_topic *t)
{
    TOPIC_EACH_PARTITION(t, p)
    partition_list_add(l, p);
}

void partition_list_deinit(struct partition_list *l)
{
    free(l->v);
    *l = (struct partition_list){0};
}

void replica_list_add(struct replica_list *l, struct ctl_partition *p, int32_t broker)
{
    xgrow(l->v, l->cap, l->count + 1);
    l->v[l->count++] = (struct ctl_replica){p, broker};
}

void replica_list_add_topic(struct replica_list *l, const struct ctl_topic *t,
                            enum replica_state state)
{
    TOPIC_EACH_PARTITION(t, p)
    {
        for (int i = 0; i < p->replica_count; i++) {
            if (state == REPLICA_STATE_COUNT || replica_state(p, p->ids[i]) == state)
                replica_list_add(l, p, p->ids[i]);
        }
    }
}

void replica_list_deinit(struct replica_list *l)
{
    free(l->v);
    *l = (struct replica_list){0};
}
