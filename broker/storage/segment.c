#include "broker/storage/segment.h"

#include "broker/storage/offset_index.h"
#include "broker/storage/time_index.h"
#include "broker/storage/txn_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

struct segment *segment_new(int64_t base, uint32_t size)
{
    struct segment *seg = xnew(struct segment);

    seg->base = base;
    seg->size = size;
    seg->max_ts = SEGMENT_TS_UNKNOWN;
    seg->max_ts_offset = -1;
    return seg;
}

struct segment *segment_free(struct segment *seg)
{
    if (seg)
        segment_body_close(seg->body);
    free(seg);
    return NULL;
}

struct segment_body *segment_body_close(struct segment_body *body)
{
    if (!body)
        return NULL;
    file_unref(body->file);
    index_file_close(&body->offsets);
    index_file_close(&body->times);
    free(body);
    return NULL;
}

static void body_close_p(struct segment_body **body)
{
    *body = segment_body_close(*body);
}

/* Says what failed and passes the error on. */
static int failed(int r, const char *what, const char *path)
{
    if (r < 0)
        say_limited(SAY_ERROR, 10, "%s failed file=%s: %s%s", what, path, err_name(r),
                    r == -ENOSPC ? " (the disk is full: free space, or lower retention)" : "");
    return r;
}

int segment_body_open(const char *dir, int64_t base, bool is_writable, struct segment_body **ret)
{
    CLEANUP(body_close_p) struct segment_body *body = xnew(struct segment_body);
    CLEANUP(free_p) char *log_path = segment_file_path(dir, base, SEGMENT_LOG);
    CLEANUP(free_p) char *index_path = segment_file_path(dir, base, SEGMENT_INDEX);
    CLEANUP(free_p) char *time_path = segment_file_path(dir, base, SEGMENT_TIMEINDEX);
    enum file_mode mode = is_writable ? FILE_WRITE : FILE_READ;
    int r = file_open(log_path, mode, &body->file);

    if (r == 0)
        r = index_file_open(&body->offsets, index_path, mode, OFFSET_INDEX_ENTRY);
    if (r < 0)
        return failed(r, "opening an offset index", index_path);
    r = index_file_open(&body->times, time_path, mode, TIME_INDEX_ENTRY);
    if (r < 0)
        return failed(r, "opening a time index", time_path);
    body->is_writable = is_writable;
    *ret = TAKE(body);
    return 0;
}

static int unseal_indexes(struct segment_body *body, const struct topic_conf *conf)
{
    uint32_t bytes = (uint32_t)conf->segment_index_bytes;
    int r = index_file_unseal(&body->offsets, bytes / OFFSET_INDEX_ENTRY);

    return r < 0 ? r : index_file_unseal(&body->times, bytes / TIME_INDEX_ENTRY);
}

int segment_activate(struct segment *seg, const char *dir, const struct topic_conf *conf,
                     struct mutex *shared)
{
    CLEANUP(body_close_p) struct segment_body *body = NULL;
    int r = segment_body_open(dir, seg->base, true, &body);

    if (r == 0)
        r = failed(unseal_indexes(body, conf), "enlarging an index", file_path(body->offsets.file));
    if (r < 0)
        return r;
    WITH_LOCK(shared)
    {
        struct segment_body *old = seg->body;

        seg->body = body;
        body = old; /* closed on return */
    }
    return 0;
}

/* The files of a segment that did not come into being. */
static void remove_files(const char *dir, int64_t base)
{
    static const enum segment_file_type types[] = {SEGMENT_LOG, SEGMENT_INDEX, SEGMENT_TIMEINDEX};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        CLEANUP(free_p) char *path = segment_file_path(dir, base, types[i]);

        if (fs_remove_tree(path) < 0)
            say_warn("a file of a segment that could not be made stays file=%s; it is removed at "
                     "the next start",
                     path);
    }
}

static int create_files(struct segment *seg, const char *dir, const struct topic_conf *conf)
{
    CLEANUP(free_p) char *path = segment_file_path(dir, seg->base, SEGMENT_LOG);
    CLEANUP(file_unref_p) struct file *file = NULL;
    int r = file_open(path, FILE_CREATE, &file);

    if (r == 0)
        r = file_truncate(file, conf->preallocate ? (uint64_t)conf->segment_bytes : 0);
    if (r < 0)
        return failed(r, "making a segment", path);
    r = segment_body_open(dir, seg->base, true, &seg->body);
    if (r == 0)
        r = failed(unseal_indexes(seg->body, conf), "making the indexes of a segment", path);
    return r;
}

int segment_create(const char *dir, int64_t base, const struct topic_conf *conf,
                   struct segment **ret)
{
    struct segment *seg = segment_new(base, 0);
    int r;

    /* What lies here under the same name is a leftover without its .log. */
    remove_files(dir, base);
    r = create_files(seg, dir, conf);
    if (r < 0) {
        segment_free(seg);
        remove_files(dir, base);
        return r;
    }
    seg->max_ts = -1;
    *ret = seg;
    return 0;
}

int segment_write(struct segment *seg, struct slice bytes, bool *ret_is_torn)
{
    struct file *file = seg->body->file;
    struct time_entry last;
    bool any;
    int r = time_index_last(&seg->body->times, &last, &any); /* for segment_publish() */

    *ret_is_torn = false;
    if (r < 0)
        return failed(r, "reading a time index", file_path(seg->body->times.file));
    r = file_pwrite(file, bytes, seg->size);
    if (r == 0)
        return 0;
    failed(r, "appending to a segment", file_path(file));
    int undo = file_truncate(file, seg->size);
    if (undo < 0) {
        *ret_is_torn = true;
        say_error("a half-done append could not be cut off again file=%s pos=%u: %s; nothing more "
                  "is written to it, a restart repairs it",
                  file_path(file), seg->size, err_name(undo));
    }
    return r;
}

static struct time_entry max_entry(const struct segment *seg)
{
    return (struct time_entry){seg->max_ts, (int32_t)(seg->max_ts_offset - seg->base)};
}

/* An index that is full takes no more entries: searches are longer then, not wrong. */
static void index_batch(struct segment *seg, const struct batch *b, uint32_t pos)
{
    struct segment_body *body = seg->body;
    int32_t relative = (int32_t)(batch_last_offset(b) - seg->base);

    body->since_index = 0;
    if (index_file_is_full(&body->offsets) || time_index_is_full(&body->times))
        return;
    offset_index_append(&body->offsets, (struct offset_entry){relative, pos});
    time_index_put(&body->times, max_entry(seg));
}

uint32_t segment_publish(struct segment *seg, struct slice batches, uint32_t index_interval)
{
    uint32_t begin = seg->size;
    struct batch b;

    while (batch_next(&batches, &b) == 1) {
        if (batch_max_timestamp(&b) > seg->max_ts) {
            seg->max_ts = batch_max_timestamp(&b);
            seg->max_ts_offset = batch_last_offset(&b);
        }
        if (seg->body->since_index > index_interval)
            index_batch(seg, &b, seg->size);
        seg->body->since_index += b.size;
        seg->size += b.size;
    }
    return begin;
}

int segment_after_append(struct segment *seg, bool was_indexed, struct mutex *shared)
{
    struct segment_body *body = seg->body;
    int r = 0;

    if (!was_indexed)
        return 0;
    r = index_file_spill(&body->offsets, shared);
    if (r == 0)
        r = index_file_spill(&body->times, shared);
    return failed(r, "writing an index", file_path(body->offsets.file));
}

int segment_know_max_ts(struct segment *seg, struct mutex *shared)
{
    struct time_entry last = {-1, -1};
    bool any;

    if (seg->max_ts != SEGMENT_TS_UNKNOWN)
        return 0;
    int r = time_index_last(&seg->body->times, &last, &any);
    if (r < 0)
        return failed(r, "reading a time index", file_path(seg->body->times.file));
    WITH_LOCK(shared)
    {
        seg->max_ts = last.timestamp;
        seg->max_ts_offset = any ? seg->base + last.relative : -1;
    }
    return 0;
}

int segment_seal(struct segment *seg, struct mutex *shared)
{
    struct segment_body *body = seg->body;
    int r = segment_know_max_ts(seg, shared);

    if (r == 0)
        r = time_index_append(&body->times, max_entry(seg), shared);
    if (r == 0)
        r = index_file_seal(&body->offsets, shared);
    if (r == 0)
        r = index_file_seal(&body->times, shared);
    if (r == 0)
        r = file_truncate(body->file, seg->size);
    return failed(r, "closing a segment", file_path(body->file));
}

/* The largest timestamp of what is left is that of the last index entry, or stands in the batches
 * after it. */
static int forget_max_ts(struct segment *seg, struct mutex *shared)
{
    WITH_LOCK(shared)
    {
        seg->max_ts = seg->size == 0 ? -1 : SEGMENT_TS_UNKNOWN;
        seg->max_ts_offset = -1;
    }
    return segment_know_max_ts(seg, shared);
}

int segment_truncate(struct segment *seg, struct segment_cut cut, struct mutex *shared)
{
    struct segment_body *body = seg->body;
    int r = 0;

    assert(cut.pos <= seg->size);
    WITH_LOCK(shared)
    {
        seg->size = cut.pos;
        body->since_index = 0;
        r = offset_index_truncate(&body->offsets, cut.offset - seg->base);
        if (r == 0)
            r = time_index_truncate(&body->times, cut.offset - seg->base);
    }
    if (r == 0)
        r = file_truncate(body->file, cut.pos);
    if (r == 0)
        r = forget_max_ts(seg, shared);
    return failed(r, "truncating a segment", file_path(body->file));
}

static int fsync_path(const char *path)
{
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = file_open(path, FILE_READ, &f);

    return r < 0 ? r : file_fsync(f);
}

int segment_fsync(const char *dir, int64_t base)
{
    for (int t = SEGMENT_LOG; t <= SEGMENT_TXNINDEX; t++) {
        CLEANUP(free_p) char *path = segment_file_path(dir, base, (enum segment_file_type)t);

        if (t == SEGMENT_TXNINDEX && !fs_exists(path))
            continue;
        int r = fsync_path(path);
        if (r < 0 && r != -ENOENT)
            return failed(r, "flushing", path);
    }
    return 0;
}

/* The file as the body knows it, so that readers keep their descriptor; otherwise by its name. */
static int file_of(struct segment *seg, const char *path, enum segment_file_type type,
                   struct file **ret)
{
    struct file *known = !seg->body                  ? NULL
                         : type == SEGMENT_LOG       ? seg->body->file
                         : type == SEGMENT_INDEX     ? seg->body->offsets.file
                         : type == SEGMENT_TIMEINDEX ? seg->body->times.file
                                                     : NULL;

    if (!known)
        return file_open(path, FILE_READ, ret);
    *ret = file_ref(known);
    return 0;
}

int segment_retire(struct segment *seg, const char *dir, struct segment_files *ret_files)
{
    for (int t = SEGMENT_LOG; t <= SEGMENT_TXNINDEX; t++) {
        CLEANUP(free_p) char *path = segment_file_path(dir, seg->base, (enum segment_file_type)t);
        CLEANUP(free_p) char *gone = xasprintf("%s.deleted", path);
        CLEANUP(file_unref_p) struct file *file = NULL;
        int r = file_of(seg, path, (enum segment_file_type)t, &file);

        if (r == 0)
            r = file_rename(file, gone);
        if (r == -ENOENT)
            continue;
        if (r < 0)
            return failed(r, "renaming a segment's file to .deleted", path);
        ret_files->v[ret_files->count++] = TAKE(file);
    }
    return 0;
}

void segment_files_remove(struct segment_files *files)
{
    for (int i = 0; i < files->count; i++) {
        int r = file_remove(files->v[i]);

        if (r < 0)
            say_warn("a deleted segment's file stays file=%s: %s; it is removed at the next start",
                     file_path(files->v[i]), err_name(r));
        file_unref(files->v[i]);
    }
    *files = (struct segment_files){.count = 0};
}
