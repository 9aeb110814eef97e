#include "broker/meta/placement.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_REPLICAS = 1024 };

/* The brokers in the order that leaders take, and each one's rack as a number. */
struct ring {
    int32_t *ids;
    int32_t *racks;
    int32_t count;
    int32_t rack_count;
};

static int by_rack(const void *a, const void *b)
{
    const struct placement_broker *x = a, *y = b;
    int r = str_cmp(x->rack, y->rack);

    return r ? r : (x->id > y->id) - (x->id < y->id);
}

/* One broker of each rack in turn, racks by name and brokers by id. */
static void alternate_racks(const struct placement *p, struct arena *a, struct ring *ring)
{
    struct placement_broker *sorted =
        arena_new_array(a, struct placement_broker, (size_t)p->broker_count);
    int32_t *rack_of = arena_new_array(a, int32_t, (size_t)p->broker_count);
    int32_t *place_in_rack = arena_new_array(a, int32_t, (size_t)p->broker_count);
    int32_t n = 0;

    memcpy(sorted, p->brokers, (size_t)p->broker_count * sizeof *sorted);
    qsort(sorted, (size_t)p->broker_count, sizeof *sorted, by_rack);
    for (int32_t i = 0; i < p->broker_count; i++) {
        bool is_same = i > 0 && str_eq(sorted[i].rack, sorted[i - 1].rack);

        rack_of[i] = is_same ? rack_of[i - 1] : ring->rack_count++;
        place_in_rack[i] = is_same ? place_in_rack[i - 1] + 1 : 0;
    }
    for (int32_t place = 0; n < p->broker_count; place++) {
        for (int32_t i = 0; i < p->broker_count; i++) {
            if (place_in_rack[i] != place)
                continue;
            ring->ids[n] = sorted[i].id;
            ring->racks[n++] = rack_of[i];
        }
    }
}

static int make_ring(const struct placement *p, struct arena *a, struct ring *ring)
{
    int32_t with_rack = 0;

    *ring = (struct ring){
        .ids = arena_new_array(a, int32_t, (size_t)p->broker_count),
        .racks = arena_new_array(a, int32_t, (size_t)p->broker_count),
        .count = p->broker_count,
    };
    for (int32_t i = 0; i < p->broker_count; i++)
        with_rack += !str_is_null(p->brokers[i].rack);
    if (with_rack == p->broker_count) {
        alternate_racks(p, a, ring);
        return 0;
    }
    if (with_rack > 0)
        return -EINVAL;
    /* Each broker is a rack of its own: the rule for racks is then the plain one. */
    for (int32_t i = 0; i < p->broker_count; i++) {
        ring->ids[i] = p->brokers[i].id;
        ring->racks[i] = i;
    }
    ring->rack_count = p->broker_count;
    return 0;
}

static bool is_taken(const struct ring *ring, const int32_t *chosen, int32_t count, int32_t at)
{
    int32_t racks_used = 0;
    bool is_rack_used = false;

    for (int32_t i = 0; i < count; i++) {
        bool is_first_of_rack = true;

        if (chosen[i] == at)
            return true;
        is_rack_used |= ring->racks[chosen[i]] == ring->racks[at];
        for (int32_t k = 0; k < i; k++)
            is_first_of_rack &= ring->racks[chosen[k]] != ring->racks[chosen[i]];
        racks_used += is_first_of_rack;
    }
    return is_rack_used && racks_used < ring->rack_count;
}

static void place_one(const struct ring *ring, int32_t first, uint32_t shift, int32_t rf,
                      int32_t *ret)
{
    uint32_t n = (uint32_t)ring->count;
    int32_t chosen[MAX_REPLICAS];
    uint32_t step = 0;

    chosen[0] = first;
    for (int32_t have = 1; have < rf; step++) {
        int32_t at = (int32_t)(((uint32_t)first + 1 + (shift + step) % (n - 1)) % n);

        if (!is_taken(ring, chosen, have, at))
            chosen[have++] = at;
    }
    for (int32_t i = 0; i < rf; i++)
        ret[i] = ring->ids[chosen[i]];
}

int placement_assign(const struct placement *p, struct arena *a, int32_t **ret)
{
    size_t rf = (size_t)p->replication_factor;
    uint32_t shift = p->shift;
    struct ring ring;
    int r = p->replication_factor <= MAX_REPLICAS ? make_ring(p, a, &ring) : -EINVAL;

    if (r < 0)
        return r;
    bool has_racks = ring.rack_count < ring.count;
    int32_t *ids = arena_new_array(a, int32_t, (size_t)p->partitions * rf);
    for (int32_t i = 0; i < p->partitions; i++) {
        uint32_t partition = (uint32_t)(p->first_partition + i);

        if (partition > 0 && partition % (uint32_t)ring.count == 0)
            shift++;
        place_one(&ring, (int32_t)((partition + p->start) % (uint32_t)ring.count),
                  has_racks ? shift * (uint32_t)ring.rack_count : shift, p->replication_factor,
                  ids + (size_t)i * rf);
    }
    *ret = ids;
    return 0;
}
