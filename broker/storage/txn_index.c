#include "broker/storage/txn_index.h"

#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"

/* A segment has at most 2^31 bytes and a marker 78 of them. */
enum { FILE_MAX = 1 << 30 };

void txn_entries_deinit(struct txn_entries *e)
{
    free(e->v);
    *e = (struct txn_entries){0};
}

static int decode(const char *path, struct slice bytes, int64_t min_offset, struct txn_entries *ret)
{
    CLEANUP(txn_entries_deinit)
    struct txn_entries out = {xnew_array(struct txn_entry, bytes.len / TXN_INDEX_ENTRY + 1), 0};

    for (size_t at = 0; bytes.len - at >= TXN_INDEX_ENTRY; at += TXN_INDEX_ENTRY) {
        const uint8_t *p = bytes.p + at;
        struct txn_entry e = {(int64_t)be64_read(p + 2), (int64_t)be64_read(p + 10),
                              (int64_t)be64_read(p + 18), (int64_t)be64_read(p + 26)};

        if (be16_read(p) != 0)
            return CORRUPT("%s: entry at %zu has version %u, only 0 is known", path, at,
                           be16_read(p));
        if (e.last_offset < min_offset)
            return CORRUPT("%s: entry at %zu has offset %lld, below %lld", path, at,
                           (long long)e.last_offset, (long long)min_offset);
        min_offset = e.last_offset + 1;
        out.v[out.count++] = e;
    }
    *ret = MOVE(out);
    return 0;
}

int txn_index_read(const char *path, int64_t min_offset, struct txn_entries *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    int r = fs_read_file(path, FILE_MAX, &text);

    if (r == -ENOENT) {
        *ret = (struct txn_entries){0};
        return 0;
    }
    return r < 0 ? r : decode(path, slice_of_str(strbuf_str(&text)), min_offset, ret);
}

int txn_index_append(const char *path, struct txn_entry e)
{
    CLEANUP(file_unref_p) struct file *f = NULL;
    uint8_t bytes[TXN_INDEX_ENTRY];
    uint64_t size = 0;
    int r = file_open(path, FILE_WRITE, &f);

    if (r == 0)
        r = file_size(f, &size);
    if (r < 0)
        return r;
    be16_write(bytes, 0);
    be64_write(bytes + 2, (uint64_t)e.producer_id);
    be64_write(bytes + 10, (uint64_t)e.first_offset);
    be64_write(bytes + 18, (uint64_t)e.last_offset);
    be64_write(bytes + 26, (uint64_t)e.last_stable_offset);
    return file_pwrite(f, slice_of(bytes, sizeof bytes), size - size % TXN_INDEX_ENTRY);
}

int txn_index_truncate(const char *path, int64_t offset)
{
    CLEANUP(txn_entries_deinit) struct txn_entries entries = {0};
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = txn_index_read(path, 0, &entries);
    size_t keep = 0;

    if (r < 0 || entries.count == 0)
        return r;
    while (keep < entries.count && entries.v[keep].last_offset < offset)
        keep++;
    if (keep == entries.count)
        return 0;
    r = file_open(path, FILE_WRITE, &f);
    return r < 0 ? r : file_truncate(f, keep * TXN_INDEX_ENTRY);
}

int txn_index_fsync(const char *path)
{
    CLEANUP(file_unref_p) struct file *f = NULL;

    if (!fs_exists(path))
        return 0;
    int r = file_open(path, FILE_WRITE, &f);
    return r < 0 ? r : file_fsync(f);
}
