#include "broker/api/answers.h"

#include "broker/meta/metadata.h"

void leader_endpoints_add(struct leader_endpoints *l, struct broker *b, struct request *req,
                          int32_t leader)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    const struct meta_broker *at = leader < 0 ? NULL : metadata_broker(s, leader);
    const struct meta_endpoint *e = at ? meta_broker_endpoint(at, req->listener_name) : NULL;

    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].id == leader)
            return;
    if (!e)
        return;
    if (l->count == l->room) {
        struct leader_endpoint *more =
            arena_new_array(&req->arena, struct leader_endpoint, (size_t)l->room * 2 + 4);
        if (l->count)
            memcpy(more, l->v, (size_t)l->count * sizeof *more);
        l->v = more;
        l->room = l->room * 2 + 4;
    }
    l->v[l->count++] = (struct leader_endpoint){
        leader, arena_str(&req->arena, e->host), e->port,
        str_is_null(at->rack) ? STR_NULL : arena_str(&req->arena, at->rack)};
}

void leader_of(struct broker *b, struct str topic, int32_t partition, int32_t *leader,
               int32_t *epoch)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(b->metadata);
    const struct meta_partition *p = metadata_partition(s, topic, partition);

    *leader = p ? p->leader : -1;
    *epoch = p ? p->leader_epoch : -1;
}

bool topic_is_internal(struct str topic)
{
    return str_eqz(topic, "__consumer_offsets") || str_eqz(topic, "__transaction_state");
}
