/*
 * why_judge_all.c - the whole cluster: everything that is not well
 */
#include "tools/why/why.h"

static void judge_partitions(const struct why_facts *f, struct why_findings *ret)
{
    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            why_judge_partition(f, &f->topics[i].v[k], ret);
            why_judge_move(f, &f->topics[i].v[k], ret);
        }
    }
}

/* Brokers that partitions count on, and of which nobody has heard. */
static void judge_unheard(const struct why_facts *f, struct why_findings *ret)
{
    struct why_facts seen = *f;

    for (int32_t i = 0; i < f->topics_count; i++) {
        for (int32_t k = 0; k < f->topics[i].count; k++) {
            const struct why_ids *ids = &f->topics[i].v[k].replicas;
            for (int32_t n = 0; n < ids->count; n++) {
                if (why_find_broker(&seen, ids->v[n]))
                    continue;
                why_judge_broker(f, ids->v[n], false, ret);
                why_add_broker(&seen, ids->v[n]);
            }
        }
    }
}

void why_judge_all(const struct why_facts *f, struct why_findings *ret)
{
    why_judge_reach(f, ret);
    why_judge_zk(f, ret);
    why_judge_controller(f, false, ret);
    why_judge_notices(f, ret);
    for (int32_t i = 0; i < f->brokers_count; i++)
        why_judge_broker(f, f->brokers[i].id, false, ret);
    judge_unheard(f, ret);
    judge_partitions(f, ret);
    why_judge_legacy_moves(f, ret);
    for (size_t i = 0; i < f->zk.deletions_count; i++)
        why_judge_deletion(f, &f->zk.deletions[i], ret);
    for (int32_t i = 0; i < f->groups_count; i++)
        why_judge_group(f, &f->groups[i], ret);
    why_drop_notes(ret);
}
