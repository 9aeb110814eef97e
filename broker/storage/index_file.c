#include "broker/storage/index_file.h"

#include "common/base/err.h"
#include "common/base/mem.h"

enum {
    TAIL_ENTRIES_MIN = 16,
    TAIL_ENTRIES_MAX = 512,
    BLOCK_ENTRIES = 256, /* read at once at the end of a search */
};

int index_file_open(struct index_file *x, const char *path, enum file_mode mode,
                    uint32_t entry_size)
{
    struct index_file opened = {.entry_size = entry_size};
    uint64_t size = 0;
    int r;

    assert(entry_size <= INDEX_ENTRY_MAX);
    r = file_open(path, mode, &opened.file);
    if (r == 0)
        r = file_size(opened.file, &size);
    if (r < 0 && r != -ENOENT) {
        index_file_close(&opened);
        return r;
    }
    opened.count = opened.written = (uint32_t)MIN(size / entry_size, (uint64_t)UINT32_MAX);
    *x = opened;
    return 0;
}

void index_file_close(struct index_file *x)
{
    file_unref(x->file);
    free(x->tail);
    *x = (struct index_file){0};
}

int index_file_unseal(struct index_file *x, uint32_t max)
{
    /* What is there stays, where it was written under larger settings: it is full, then. */
    uint32_t room = MAX(max, x->count);
    int r = file_truncate(x->file, (uint64_t)room * x->entry_size);

    if (r == 0)
        x->max = MAX(room, 1u);
    return r;
}

/* Bytes of the tail that the file has not. */
static struct slice tail_bytes(const struct index_file *x)
{
    return slice_of(x->tail, (size_t)(x->count - x->written) * x->entry_size);
}

static int write_tail(struct index_file *x)
{
    struct slice bytes = tail_bytes(x);

    return bytes.len == 0 ? 0 : file_pwrite(x->file, bytes, (uint64_t)x->written * x->entry_size);
}

int index_file_flush(struct index_file *x, struct mutex *shared)
{
    int r = write_tail(x);

    if (r < 0)
        return r;
    /* The memory of the tail stays for the next entries. */
    WITH_LOCK(shared)
    {
        x->written = x->count;
    }
    return 0;
}

int index_file_seal(struct index_file *x, struct mutex *shared)
{
    int r = index_file_flush(x, shared);

    if (r == 0)
        r = file_truncate(x->file, (uint64_t)x->count * x->entry_size);
    if (r < 0)
        return r;
    WITH_LOCK(shared)
    {
        free(TAKE(x->tail));
        x->tail_cap = 0;
        x->max = 0;
    }
    return 0;
}

void index_file_append(struct index_file *x, const void *entry)
{
    uint32_t held = x->count - x->written;

    if (held == x->tail_cap) {
        x->tail_cap = MAX(x->tail_cap * 2, (uint32_t)TAIL_ENTRIES_MIN);
        x->tail = xreallocarray(x->tail, x->tail_cap, x->entry_size);
    }
    memcpy(x->tail + (size_t)held * x->entry_size, entry, x->entry_size);
    memcpy(x->last, entry, x->entry_size);
    x->is_last_known = true;
    x->count++;
}

int index_file_spill(struct index_file *x, struct mutex *shared)
{
    return x->count - x->written < TAIL_ENTRIES_MAX ? 0 : index_file_flush(x, shared);
}

int index_file_truncate(struct index_file *x, uint32_t count)
{
    assert(count <= x->count);
    x->is_last_known = false;
    if (count >= x->written) {
        x->count = count;
        return 0;
    }
    x->count = x->written = count;
    int r = file_truncate(x->file, (uint64_t)count * x->entry_size);
    if (r == 0 && x->max > 0)
        r = file_truncate(x->file, (uint64_t)x->max * x->entry_size);
    return r;
}

int index_file_get(const struct index_file *x, uint32_t i, void *ret_entry)
{
    assert(i < x->count);
    if (i < x->written)
        return file_pread(x->file, ret_entry, x->entry_size, (uint64_t)i * x->entry_size);
    memcpy(ret_entry, x->tail + (size_t)(i - x->written) * x->entry_size, x->entry_size);
    return 0;
}

int index_file_last(struct index_file *x, void *ret_entry, bool *ret_any)
{
    *ret_any = x->count > 0;
    if (x->count == 0)
        return 0;
    if (!x->is_last_known) {
        int r = index_file_get(x, x->count - 1, x->last);

        if (r < 0)
            return r;
        x->is_last_known = true;
    }
    memcpy(ret_entry, x->last, x->entry_size);
    return 0;
}

/* Of n entries at p: how many have a key <= target. */
static uint32_t count_up_to(struct slice entries, uint32_t entry_size, index_key_fn key,
                            int64_t target)
{
    uint32_t low = 0, high = (uint32_t)(entries.len / entry_size);

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (key(entries.p + (size_t)mid * entry_size) <= target)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The same of the entries in the file; *ret_last is the last of those counted. */
static int count_in_file(const struct index_view *v, index_key_fn key, int64_t target,
                         uint32_t *ret, uint8_t *ret_last)
{
    uint8_t block[BLOCK_ENTRIES * INDEX_ENTRY_MAX];
    uint32_t low = 0, high = v->written;

    while (high - low > BLOCK_ENTRIES) {
        uint32_t mid = low + (high - low) / 2;
        int r = file_pread(v->file, block, v->entry_size, (uint64_t)mid * v->entry_size);

        if (r < 0)
            return r;
        if (key(block) <= target)
            low = mid;
        else
            high = mid;
    }
    size_t len = (size_t)(high - low) * v->entry_size;
    int r = len == 0 ? 0 : file_pread(v->file, block, len, (uint64_t)low * v->entry_size);
    if (r < 0)
        return r;
    uint32_t n = count_up_to(slice_of(block, len), v->entry_size, key, target);
    if (n > 0)
        memcpy(ret_last, block + (size_t)(n - 1) * v->entry_size, v->entry_size);
    *ret = low + n;
    return 0;
}

int index_file_count_below(const struct index_file *x, index_key_fn key, int64_t bound,
                           uint32_t *ret)
{
    const struct index_view v = {x->file, x->entry_size, x->written};
    uint8_t last[INDEX_ENTRY_MAX];
    uint32_t in_tail = count_up_to(tail_bytes(x), x->entry_size, key, bound - 1);

    if (in_tail > 0) {
        *ret = x->written + in_tail;
        return 0;
    }
    return count_in_file(&v, key, bound - 1, ret, last);
}

bool index_find_in_memory(const struct index_file *x, index_key_fn key, int64_t target,
                          struct index_hit *ret, struct index_view *ret_view)
{
    uint32_t n = count_up_to(tail_bytes(x), x->entry_size, key, target);

    ret->any = n > 0;
    if (n > 0)
        memcpy(ret->entry, x->tail + (size_t)(n - 1) * x->entry_size, x->entry_size);
    if (n > 0 || x->written == 0)
        return true;
    *ret_view = (struct index_view){file_ref(x->file), x->entry_size, x->written};
    return false;
}

int index_view_find(const struct index_view *v, index_key_fn key, int64_t target,
                    struct index_hit *ret)
{
    struct index_hit hit = {.any = false};
    uint32_t n = 0;
    int r = count_in_file(v, key, target, &n, hit.entry);

    if (r < 0)
        return r;
    hit.any = n > 0;
    *ret = hit;
    return 0;
}

void index_view_deinit(struct index_view *v)
{
    v->file = file_unref(v->file);
}
