#include "broker/storage/recover.h"

#include "broker/storage/log_load.h"
#include "broker/storage/offset_index.h"
#include "broker/storage/scan.h"
#include "broker/storage/time_index.h"
#include "broker/storage/txn_index.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

/* ---- a segment ---- */

struct recovery {
    struct log *log;
    struct segment *seg;
    char *txn_path;
    uint32_t indexed_pos; /* of the last entry */
    int64_t next;         /* offset */
    const char *why;      /* it ends early; NULL: it does not */
};

static int start_over(struct recovery *rec)
{
    struct log *log = rec->log;
    struct segment *seg = rec->seg;
    int r = segment_activate(seg, log->path, log->conf, &log->shared);

    if (r == 0)
        r = index_file_truncate(&seg->body->offsets, 0);
    if (r == 0)
        r = index_file_truncate(&seg->body->times, 0);
    if (r == 0)
        r = fs_remove_tree(rec->txn_path);
    seg->has_txns = false;
    seg->max_ts = -1;
    seg->max_ts_offset = -1;
    return r;
}

/* NULL where the batch may stay. */
static const char *fault_of(const struct recovery *rec, const struct batch *b)
{
    int64_t relative = batch_last_offset(b) - rec->seg->base;

    if (!batch_is_valid(b))
        return "its checksum is wrong";
    if (relative < 0 || relative > INT32_MAX)
        return "its offset does not belong into this segment";
    if (batch_next_offset(b) <= rec->next || (batch_is_v2(b) && batch_base_offset(b) < rec->next))
        return "its offset does not go up";
    return NULL;
}

static int index_batch(struct recovery *rec, const struct batch *b, uint32_t pos)
{
    struct segment *seg = rec->seg;
    struct mutex *shared = &rec->log->shared;
    int32_t relative = (int32_t)(batch_last_offset(b) - seg->base);

    if (batch_max_timestamp(b) > seg->max_ts) {
        seg->max_ts = batch_max_timestamp(b);
        seg->max_ts_offset = batch_last_offset(b);
    }
    if (pos - rec->indexed_pos <= (uint32_t)rec->log->conf->index_interval_bytes ||
        index_file_is_full(&seg->body->offsets))
        return 0;
    rec->indexed_pos = pos;
    offset_index_append(&seg->body->offsets, (struct offset_entry){relative, pos});
    int r = time_index_append(
        &seg->body->times,
        (struct time_entry){seg->max_ts, (int32_t)(seg->max_ts_offset - seg->base)}, shared);
    if (r == 0)
        r = index_file_spill(&seg->body->offsets, shared);
    return r < 0 ? r : index_file_spill(&seg->body->times, shared);
}

static int on_abort(void *ctx, const struct completed_txn *c, int64_t last_stable_offset)
{
    const struct recovery *rec = ctx;

    rec->seg->has_txns = true;
    return txn_index_append(rec->txn_path, (struct txn_entry){c->producer_id, c->first_offset,
                                                              c->last_offset, last_stable_offset});
}

/* What the batches say counts: the file may still have epochs that a truncation took away. */
static void take_epoch(struct log *log, const struct batch *b)
{
    int64_t base = batch_base_offset(b);
    int32_t epoch = batch_leader_epoch(b);

    /* As where it was appended. */
    if (!batch_is_v2(b))
        epochs_clear(log->epochs);
    if (epoch < 0 || epochs_of_offset(log->epochs, base) == epoch)
        return;
    epochs_truncate_from_end(log->epochs, base);
    if (epochs_latest(log->epochs) != epoch)
        epochs_assign_unflushed(log->epochs, epoch, base);
}

static int take_batch(struct recovery *rec, const struct batch *b, uint32_t pos)
{
    struct log *log = rec->log;
    int r = index_batch(rec, b, pos);

    if (r < 0)
        return r;
    take_epoch(log, b);
    rec->next = batch_next_offset(b);
    r = batch_has_producer_id(b)
            ? producer_state_replay(log->producers, batch_bytes(b), on_abort, rec)
            : 0;
    if (r == -EBADMSG) {
        rec->why = "its control record is none";
        r = 0;
    }
    return r;
}

/* Up to the first thing that is wrong, which rec->why names; *ret_pos is where what is right
 * ends. */
static int walk(struct recovery *rec, uint32_t *ret_pos)
{
    CLEANUP(batch_scan_deinit) struct batch_scan scan = {0};
    struct batch b;
    int r;

    batch_scan_init(&scan, rec->seg->body->file, 0, rec->seg->size);
    *ret_pos = 0;
    while ((r = batch_scan_next(&scan, &b)) == 1) {
        rec->why = fault_of(rec, &b);
        if (!rec->why && (r = take_batch(rec, &b, *ret_pos)) < 0)
            return r;
        if (rec->why)
            return 0;
        *ret_pos = (uint32_t)scan.pos;
    }
    if (r < 0 && r != -EBADMSG)
        return r;
    if (r == -EBADMSG)
        rec->why = "it is no batch";
    else if (*ret_pos < rec->seg->size)
        rec->why = "it is cut short";
    return 0;
}

/* What preallocation left behind is no damage. */
static bool is_zero(struct file *file, uint32_t pos, uint32_t end)
{
    uint8_t block[SCAN_BLOCK];

    while (pos < end) {
        ssize_t n = file_pread_some(file, block, MIN(end - pos, (uint32_t)sizeof block), pos);

        if (n <= 0)
            return false;
        for (ssize_t i = 0; i < n; i++)
            if (block[i])
                return false;
        pos += (uint32_t)n;
    }
    return true;
}

static void say_cut(const struct recovery *rec, uint32_t pos)
{
    const struct segment *seg = rec->seg;

    if (is_zero(seg->body->file, pos, seg->size))
        say_info("recovery cuts preallocated zeroes file=%s pos=%u bytes=%u",
                 file_path(seg->body->file), pos, seg->size - pos);
    else
        say_warn("recovery cuts the end of a segment file=%s pos=%u bytes=%u offset=%lld because "
                 "of the batch there: %s; a replica gets it again from its leader",
                 file_path(seg->body->file), pos, seg->size - pos, (long long)rec->next, rec->why);
}

/* The producers' state is to be what it was at the begin of the segment. */
static int producers_at(struct log *log, int64_t base)
{
    if (producer_state_end(log->producers) == base && base > 0)
        return 0;
    return log_load_producers_to(log, base, clock_wall_ms(log->clock));
}

int recover_segment(struct log *log, struct segment *seg, int64_t *ret_next, bool *ret_is_cut)
{
    CLEANUP(free_p) char *txn_path = segment_file_path(log->path, seg->base, SEGMENT_TXNINDEX);
    struct recovery rec = {log, seg, txn_path, 0, seg->base, NULL};
    uint32_t pos = 0;
    int r = producers_at(log, seg->base);

    if (r == 0)
        r = start_over(&rec);
    if (r == 0)
        r = walk(&rec, &pos);
    if (r < 0)
        return r;
    *ret_is_cut = rec.why != NULL;
    if (rec.why) {
        say_cut(&rec, pos);
        seg->size = pos;
    }
    r = segment_seal(seg, &log->shared);
    if (r == 0) {
        producer_state_set_end(log->producers, rec.next);
        r = producer_state_take_snapshot(log->producers, false, NULL);
    }
    *ret_next = rec.next;
    return r;
}

/* ---- leftovers ---- */

static int remove_file(const char *dir, const char *name)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", dir, name);

    say_debug("leftover removed file=%s", path);
    return fs_remove_tree(path);
}

/* Drops ".swap" from the name. */
static int put_in_place(const char *dir, const char *name)
{
    CLEANUP(free_p) char *from = xasprintf("%s/%s", dir, name);
    CLEANUP(free_p) char *to = xstrndup(from, strlen(from) - strlen(".swap"));
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = file_open(from, FILE_READ, &f);

    return r < 0 ? r : file_rename(f, to);
}

struct swap_range {
    bool any;
    int64_t first;
    int64_t next;
};

/* The offset after the last whole batch of a .log.swap file. */
static int swap_end(const char *dir, const char *name, int64_t *ret)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s", dir, name);
    CLEANUP(file_unref_p) struct file *f = NULL;
    struct head_scan scan;
    struct batch b;
    uint64_t size = 0;
    int r = file_open(path, FILE_READ, &f);

    if (r == 0)
        r = file_size(f, &size);
    if (r < 0)
        return r;
    head_scan_init(&scan, f, 0, size);
    while ((r = head_scan_next(&scan, &b)) == 1)
        *ret = MAX(*ret, batch_next_offset(&b));
    return r == -EBADMSG ? 0 : r;
}

/* Removes what is being deleted or was not finished; finds which offsets finished files are about
 * to replace. */
static int sort_out(const char *dir, const struct fs_names *names, struct swap_range *ret)
{
    int64_t first_unfinished = INT64_MAX;
    struct segment_file f;
    int r = 0;

    for (size_t i = 0; i < names->count && r == 0; i++) {
        if (!segment_file_parse(names->v[i], &f))
            continue;
        if (f.state == SEGMENT_DELETED)
            r = remove_file(dir, names->v[i]);
        if (f.state == SEGMENT_CLEANED)
            first_unfinished = MIN(first_unfinished, f.base);
    }
    for (size_t i = 0; i < names->count && r == 0; i++) {
        if (!segment_file_parse(names->v[i], &f) || f.state != SEGMENT_SWAP)
            continue;
        if (f.base >= first_unfinished) {
            r = remove_file(dir, names->v[i]);
        } else if (f.type == SEGMENT_LOG) {
            int64_t next = f.base + 1; /* what it replaces goes, though nothing be left of it */

            r = swap_end(dir, names->v[i], &next);
            *ret = ret->any
                       ? (struct swap_range){true, MIN(ret->first, f.base), MAX(ret->next, next)}
                       : (struct swap_range){true, f.base, next};
        }
    }
    /* Last, so that a crash in between finds the limit again. */
    for (size_t i = 0; i < names->count && r == 0; i++)
        if (segment_file_parse(names->v[i], &f) && f.state == SEGMENT_CLEANED)
            r = remove_file(dir, names->v[i]);
    return r;
}

static int remove_replaced(const char *dir, const struct fs_names *names,
                           const struct swap_range *range)
{
    struct segment_file f;
    int r = 0;

    for (size_t i = 0; i < names->count && r == 0; i++)
        if (segment_file_parse(names->v[i], &f) && f.state == SEGMENT_LIVE &&
            f.base >= range->first && f.base < range->next)
            r = remove_file(dir, names->v[i]);
    return r;
}

/* .log first: as long as that is there under its .swap name, the replaced files are (once more) to
 * be removed. */
static int swap_in(const char *dir, const struct fs_names *names)
{
    struct segment_file f;
    int r = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < names->count && r == 0; i++)
            if (segment_file_parse(names->v[i], &f) && f.state == SEGMENT_SWAP &&
                (f.type == SEGMENT_LOG) == (pass == 0))
                r = put_in_place(dir, names->v[i]);
    return r;
}

static bool is_tidy(const struct fs_names *names, bool *ret_has_swap)
{
    struct segment_file f;
    bool tidy = true;

    *ret_has_swap = false;
    for (size_t i = 0; i < names->count; i++) {
        if (!segment_file_parse(names->v[i], &f))
            continue;
        tidy = tidy && f.state == SEGMENT_LIVE;
        *ret_has_swap = *ret_has_swap || f.state == SEGMENT_SWAP;
    }
    return tidy;
}

static int bring_in_order(const char *dir, const struct fs_names *names, bool has_swap)
{
    CLEANUP(fs_names_deinit) struct fs_names left = {0};
    struct swap_range range = {.any = false};
    int r = sort_out(dir, names, &range);

    if (r < 0 || !has_swap)
        return r;
    if ((r = fs_list_dir(dir, &left)) < 0)
        return r;
    say_info("finishing a replacement of segments that a crash interrupted dir=%s", dir);
    if (range.any)
        r = remove_replaced(dir, &left, &range);
    if (r == 0)
        r = swap_in(dir, &left);
    return r < 0 ? r : fs_fsync_dir(dir);
}

int recover_files(const char *dir, struct fs_names *ret)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    bool has_swap;
    int r = fs_list_dir(dir, &names);

    if (r < 0)
        return r;
    if (is_tidy(&names, &has_swap)) {
        *ret = MOVE(names);
        return 0;
    }
    r = bring_in_order(dir, &names, has_swap);
    return r < 0 ? r : fs_list_dir(dir, ret);
}
