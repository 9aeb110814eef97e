#include "broker/storage/offset_index.h"

#include "common/base/be.h"
#include "common/base/err.h"

int64_t offset_index_key(const uint8_t *entry)
{
    return (int32_t)be32_read(entry);
}

struct offset_entry offset_index_decode(const uint8_t *entry)
{
    return (struct offset_entry){(int32_t)be32_read(entry), be32_read(entry + 4)};
}

void offset_index_append(struct index_file *x, struct offset_entry e)
{
    uint8_t entry[OFFSET_INDEX_ENTRY];

    assert(e.relative >= 0);
    be32_write(entry, (uint32_t)e.relative);
    be32_write(entry + 4, e.pos);
    index_file_append(x, entry);
}

int offset_index_last(struct index_file *x, struct offset_entry *ret, bool *ret_any)
{
    uint8_t entry[INDEX_ENTRY_MAX];
    int r = index_file_last(x, entry, ret_any);

    if (r == 0 && *ret_any)
        *ret = offset_index_decode(entry);
    return r;
}

int offset_index_truncate(struct index_file *x, int64_t relative)
{
    uint32_t keep = 0;
    int r = index_file_count_below(x, offset_index_key, relative, &keep);

    return r < 0 ? r : index_file_truncate(x, keep);
}
