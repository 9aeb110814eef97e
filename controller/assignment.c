#include "controller/assignment.h"

#include "common/base/mem.h"

static struct node_ids ids_room(struct arena *a, int32_t count)
{
    return (struct node_ids){arena_new_array(a, int32_t, (size_t)count + 1), 0};
}

static void ids_add_once(struct node_ids *to, const struct node_ids *from)
{
    for (int32_t i = 0; i < from->count; i++) {
        if (!node_ids_has(to, from->list[i]))
            to->list[to->count++] = from->list[i];
    }
}

struct node_ids ids_minus(struct arena *a, const struct node_ids *ids,
                          const struct node_ids *others)
{
    struct node_ids out = ids_room(a, ids->count);

    for (int32_t i = 0; i < ids->count; i++) {
        if (!node_ids_has(others, ids->list[i]))
            out.list[out.count++] = ids->list[i];
    }
    return out;
}

bool ids_within(const struct node_ids *ids, const struct node_ids *others)
{
    for (int32_t i = 0; i < ids->count; i++) {
        if (!node_ids_has(others, ids->list[i]))
            return false;
    }
    return true;
}

bool ids_repeat(const struct node_ids *ids)
{
    for (int32_t i = 0; i < ids->count; i++) {
        const struct node_ids before = {ids->list, i};
        if (node_ids_has(&before, ids->list[i]))
            return true;
    }
    return false;
}

struct node_ids assignment_origin(struct arena *a, const struct node_partition *now)
{
    return ids_minus(a, &now->replicas, &now->adding);
}

struct node_ids assignment_target(struct arena *a, const struct node_partition *now)
{
    return ids_minus(a, &now->replicas, &now->removing);
}

struct node_partition assignment_toward(struct arena *a, const struct node_partition *now,
                                        struct node_ids target)
{
    struct node_ids origin = assignment_origin(a, now);
    struct node_partition to = {.id = now->id,
                                .replicas = ids_room(a, target.count + origin.count)};

    ids_add_once(&to.replicas, &target);
    ids_add_once(&to.replicas, &origin);
    to.adding = ids_minus(a, &to.replicas, &origin);
    to.removing = ids_minus(a, &to.replicas, &target);
    return to;
}

struct node_partition assignment_arrived(struct arena *a, const struct node_partition *now)
{
    return (struct node_partition){.id = now->id, .replicas = assignment_target(a, now)};
}

bool assignment_eq(const struct node_partition *x, const struct node_partition *y)
{
    return node_ids_eq(&x->replicas, &y->replicas) && node_ids_eq(&x->adding, &y->adding) &&
           node_ids_eq(&x->removing, &y->removing);
}
