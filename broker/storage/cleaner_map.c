#include "broker/storage/cleaner_map.h"

#include "common/base/mem.h"

/* A table has at least a third more slots than keys, where the memory allows it. */
static uint64_t slots_for(uint64_t keys, uint64_t most)
{
    return MAX(MIN(keys + keys / 3 + 16, most), keys + 1);
}

void cleaner_map_init(struct cleaner_map *m, const struct cleaner_map_opts *opts)
{
    _Static_assert(sizeof(struct cleaner_map_slot) == CLEANER_MAP_SLOT, "as Kafka counts them");
    uint64_t most = (uint64_t)CLAMP(opts->bytes, (int64_t)0, (int64_t)INT32_MAX) / CLEANER_MAP_SLOT;
    double load = CLAMP(opts->load_factor, 0.0, 1.0);

    *m = (struct cleaner_map){.key = siphash_key_random(), .latest = -1};
    m->limit = (uint64_t)((double)most * load);
    if (m->limit == most && most > 0)
        m->limit--; /* one slot stays free, where a search ends */
    m->slot_count = slots_for(MIN(m->limit, (uint64_t)MAX(opts->expected, (int64_t)0)), most);
    m->slots = xnew_array(struct cleaner_map_slot, m->slot_count);
}

void cleaner_map_deinit(struct cleaner_map *m)
{
    free(m->slots);
    *m = (struct cleaner_map){.latest = -1};
}

/* Where the key is, or the free slot where it would go. */
static struct cleaner_map_slot *find(const struct cleaner_map *m, struct hash128 hash)
{
    uint64_t i = hash.v[0] % m->slot_count;

    while (m->slots[i].next_offset != 0 &&
           (m->slots[i].hash.v[0] != hash.v[0] || m->slots[i].hash.v[1] != hash.v[1]))
        i = i + 1 == m->slot_count ? 0 : i + 1;
    return &m->slots[i];
}

bool cleaner_map_put(struct cleaner_map *m, struct slice key, int64_t offset)
{
    struct hash128 hash = siphash128(&m->key, key);

    assert(offset >= 0);
    if (m->count >= m->limit || m->count + 1 >= m->slot_count)
        return false;
    struct cleaner_map_slot *slot = find(m, hash);
    m->count += slot->next_offset == 0;
    slot->hash = hash;
    slot->next_offset = offset + 1;
    cleaner_map_cover(m, offset);
    return true;
}

int64_t cleaner_map_get(const struct cleaner_map *m, struct slice key)
{
    return find(m, siphash128(&m->key, key))->next_offset - 1;
}

void cleaner_map_cover(struct cleaner_map *m, int64_t offset)
{
    m->latest = MAX(m->latest, offset);
}
