#include "broker/storage/time_index.h"

#include "common/base/be.h"
#include "common/base/err.h"

int64_t time_index_key(const uint8_t *entry)
{
    return (int64_t)be64_read(entry);
}

static int64_t relative_key(const uint8_t *entry)
{
    return (int32_t)be32_read(entry + 8);
}

struct time_entry time_index_decode(const uint8_t *entry)
{
    return (struct time_entry){time_index_key(entry), (int32_t)be32_read(entry + 8)};
}

void time_index_put(struct index_file *x, struct time_entry e)
{
    uint8_t entry[TIME_INDEX_ENTRY];

    assert(x->is_last_known || x->count == 0);
    if (e.timestamp < 0 || (x->count > 0 && e.timestamp <= time_index_key(x->last)))
        return;
    be64_write(entry, (uint64_t)e.timestamp);
    be32_write(entry + 8, (uint32_t)e.relative);
    index_file_append(x, entry);
}

int time_index_append(struct index_file *x, struct time_entry e, struct mutex *shared)
{
    struct time_entry last;
    bool any;
    int r = time_index_last(x, &last, &any);

    if (r < 0)
        return r;
    WITH_LOCK(shared)
    {
        time_index_put(x, e);
    }
    return 0;
}

int time_index_last(struct index_file *x, struct time_entry *ret, bool *ret_any)
{
    uint8_t entry[INDEX_ENTRY_MAX];
    int r = index_file_last(x, entry, ret_any);

    if (r == 0 && *ret_any)
        *ret = time_index_decode(entry);
    return r;
}

bool time_index_is_full(const struct index_file *x)
{
    return x->count + 1 >= x->max;
}

int time_index_truncate(struct index_file *x, int64_t relative)
{
    uint32_t keep = 0;
    int r = index_file_count_below(x, relative_key, relative, &keep);

    return r < 0 ? r : index_file_truncate(x, keep);
}
