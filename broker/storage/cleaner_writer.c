#include "broker/storage/cleaner_writer.h"

#include "broker/storage/offset_index.h"
#include "broker/storage/time_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/record/batch.h"

char *cleaner_file_path(const char *dir, int64_t base, enum segment_file_type type,
                        const char *suffix)
{
    CLEANUP(free_p) char *live = segment_file_path(dir, base, type);

    return xasprintf("%s%s", live, suffix);
}

int cleaner_files_remove(const char *dir, int64_t base, const char *suffix)
{
    int r = 0;

    for (int t = SEGMENT_LOG; t <= SEGMENT_TXNINDEX && r == 0; t++) {
        CLEANUP(free_p)
        char *path = cleaner_file_path(dir, base, (enum segment_file_type)t, suffix);

        r = fs_remove_tree(path);
    }
    return r;
}

/* ---- open ---- */

static int make_index(struct cleaner_writer *w, struct index_file *x, enum segment_file_type type,
                      uint32_t entry_size)
{
    CLEANUP(free_p)
    char *path = cleaner_file_path(w->opts.dir, w->opts.base, type, SUFFIX_CLEANED);
    int r = index_file_open(x, path, FILE_CREATE, entry_size);

    if (r < 0)
        return r;
    if (!x->file)
        return -ENOENT; /* the directory is gone */
    return index_file_unseal(x, (uint32_t)w->opts.conf->segment_index_bytes / entry_size);
}

static int make_files(struct cleaner_writer *w)
{
    CLEANUP(free_p)
    char *path = cleaner_file_path(w->opts.dir, w->opts.base, SEGMENT_LOG, SUFFIX_CLEANED);
    struct segment_body *body = w->seg->body;
    int r = cleaner_files_remove(w->opts.dir, w->opts.base, SUFFIX_CLEANED);

    if (r == 0)
        r = file_open(path, FILE_CREATE, &body->file);
    if (r == 0)
        r = make_index(w, &body->offsets, SEGMENT_INDEX, OFFSET_INDEX_ENTRY);
    if (r == 0)
        r = make_index(w, &body->times, SEGMENT_TIMEINDEX, TIME_INDEX_ENTRY);
    return r;
}

int cleaner_writer_open(struct cleaner_writer *w, const struct cleaner_writer_opts *opts)
{
    *w = (struct cleaner_writer){.opts = *opts, .seg = segment_new(opts->base, 0)};
    w->seg->max_ts = -1;
    w->seg->body = xnew(struct segment_body);
    return make_files(w);
}

/* ---- write ---- */

static int publish(struct cleaner_writer *w, const struct batch *b)
{
    struct segment *seg = w->seg;
    uint32_t indexed = seg->body->offsets.count;

    segment_publish(seg, batch_bytes(b), (uint32_t)w->opts.conf->index_interval_bytes);
    return segment_after_append(seg, seg->body->offsets.count > indexed, w->opts.shared);
}

static int write_pending(struct cleaner_writer *w)
{
    struct slice rest = slice_of_str(strbuf_str(&w->pending));
    struct batch b;
    bool is_torn;
    int r;

    if (rest.len == 0)
        return 0;
    if ((uint64_t)w->seg->size + rest.len > INT32_MAX)
        return -EOVERFLOW;
    r = segment_write(w->seg, rest, &is_torn);
    while (r == 0 && batch_next(&rest, &b) == 1)
        r = publish(w, &b);
    strbuf_cut(&w->pending, 0);
    return r;
}

int cleaner_writer_added(struct cleaner_writer *w)
{
    return w->pending.len < w->opts.buffer_bytes ? 0 : write_pending(w);
}

int cleaner_writer_add_aborted(struct cleaner_writer *w, struct txn_entry e)
{
    CLEANUP(free_p)
    char *path = cleaner_file_path(w->opts.dir, w->opts.base, SEGMENT_TXNINDEX, SUFFIX_CLEANED);

    w->seg->has_txns = true;
    return txn_index_append(path, e);
}

/* ---- finish ---- */

static int settle(const struct cleaner_writer *w, enum segment_file_type type, int64_t modified_ms)
{
    CLEANUP(free_p)
    char *path = cleaner_file_path(w->opts.dir, w->opts.base, type, SUFFIX_CLEANED);
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = file_open(path, FILE_READ, &f);

    if (r == 0)
        r = fs_set_modified(path, modified_ms);
    return r < 0 ? r : file_fsync(f);
}

int cleaner_writer_finish(struct cleaner_writer *w, int64_t modified_ms)
{
    int r = write_pending(w);

    if (r == 0)
        r = segment_seal(w->seg, w->opts.shared);
    for (int t = SEGMENT_LOG; t <= SEGMENT_TXNINDEX && r == 0; t++)
        if (t != SEGMENT_TXNINDEX || w->seg->has_txns)
            r = settle(w, (enum segment_file_type)t, modified_ms);
    return r < 0 ? r : fs_fsync_dir(w->opts.dir);
}

void cleaner_writer_deinit(struct cleaner_writer *w)
{
    if (w->seg && cleaner_files_remove(w->opts.dir, w->opts.base, SUFFIX_CLEANED) < 0)
        say_warn("files of an unfinished cleaning stay dir=%s segment=%lld; the next start removes "
                 "them",
                 w->opts.dir, (long long)w->opts.base);
    w->seg = segment_free(w->seg);
    strbuf_deinit(&w->pending);
}
