#include "broker/storage/cleaner_pass.h"

#include "broker/storage/cleaner_filter.h"
#include "broker/storage/cleaner_writer.h"
#include "broker/storage/scan.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/record_iter.h"

#include <inttypes.h>
#include <stdatomic.h>

struct pass {
    struct log *log;
    const struct log_view *view;
    const struct cleanable *what;
    const struct cleaner_pass_opts *opts;
    struct cleaner_stats *stats;
    struct cleaner_map map;
    int64_t now_ms;
    int64_t old_tombstones_since_ms; /* kept in segments younger than that */
};

/* ---- reading ---- */

/* One closed segment, batch by batch, its file open for as long as that takes. */
struct source {
    struct pass *pass;
    struct file *file;
    struct batch_scan scan;
    uint64_t paid;    /* bytes told to the throttle */
    int64_t next;     /* the offset that a batch may have at least */
    int64_t next_max; /* and the one after it at most */
};

static void source_close(struct source *s)
{
    if (s->file)
        file_unpin(s->file);
    file_unref(s->file);
    batch_scan_deinit(&s->scan);
}

/* Gone files say that the log changed, which the caller finds out. */
static int source_open(struct source *s, struct pass *p, uint32_t i)
{
    const struct log_view *view = p->view;
    const struct view_segment *seg = &view->v[i];
    CLEANUP(free_p) char *path = segment_file_path(p->view->path, seg->base, SEGMENT_LOG);
    CLEANUP(file_unref_p) struct file *file = NULL;
    int r = file_open(path, FILE_READ, &file);

    *s = (struct source){.pass = p,
                         .next = seg->base,
                         .next_max = i + 1 < view->count ? view->v[i + 1].base : view->active_base};
    if (r == 0)
        r = file_pin(file);
    if (r < 0)
        return r;
    s->file = TAKE(file);
    batch_scan_init(&s->scan, s->file, 0, seg->size);
    s->scan.read_ahead = p->opts->buffer_bytes;
    return 0;
}

static int pay(struct pass *p, uint64_t bytes)
{
    const struct cleaner_pace *pace = &p->opts->pace;

    return pace->pass ? pace->pass(pace->ctx, bytes) : 0;
}

/* What is copied must not look right where it was wrong. Offsets lie outside of the checksum. */
static int check_batch(struct source *s, const struct batch *b)
{
    int64_t first = batch_is_v2(b) ? batch_base_offset(b) : batch_last_offset(b);

    if (!batch_is_valid(b))
        return CORRUPT("%s: the batch at byte %" PRIu64 " has a wrong checksum, offset=%lld",
                       file_path(s->file), s->scan.pos - b->size, (long long)first);
    if (first < s->next || batch_last_offset(b) < first || batch_last_offset(b) >= s->next_max)
        return CORRUPT("%s: the batch at byte %" PRIu64 " has offsets %lld to %lld, which do not "
                       "belong between %lld and %lld",
                       file_path(s->file), s->scan.pos - b->size, (long long)first,
                       (long long)batch_last_offset(b), (long long)s->next, (long long)s->next_max);
    s->next = batch_next_offset(b);
    return 1;
}

/* 1, or 0 at the end of the segment. */
static int source_next(struct source *s, struct batch *ret)
{
    int r = batch_scan_next(&s->scan, ret);

    if (r < 0)
        return r == -EBADMSG
                   ? CORRUPT("%s: no batch at byte %" PRIu64, file_path(s->file), s->scan.pos)
                   : r;
    if (r == 0 && s->scan.pos != s->scan.end)
        return CORRUPT("%s: the batch at byte %" PRIu64 " is cut short", file_path(s->file),
                       s->scan.pos);
    if (r == 1 && (r = check_batch(s, ret)) < 0)
        return r;
    if (r == 0 || s->scan.pos - s->paid >= s->pass->opts->buffer_bytes) {
        uint64_t bytes = s->scan.pos - s->paid;
        int e = log_view_check(s->pass->view, s->pass->log);

        s->paid = s->scan.pos;
        s->pass->stats->bytes_read += (int64_t)bytes;
        if (e == 0)
            e = pay(s->pass, bytes);
        return e < 0 ? e : r;
    }
    return r;
}

static int unreadable(const struct source *s, const struct batch *b, int r)
{
    if (r == -EBADMSG || r == -EPROTO || r == -EFBIG)
        return CORRUPT("%s: the records of the batch at byte %" PRIu64 " cannot be read: %s",
                       file_path(s->file), s->scan.pos - b->size, err_name(r));
    return r;
}

/* ---- the map ---- */

static int map_records(struct pass *p, const struct batch *b, bool *ret_is_full)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    int64_t from = p->what->first_dirty;
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        r = 0;
        p->stats->map_records_read++;
        if (!rec.key.p || rec.offset < from)
            continue;
        if (!cleaner_map_put(&p->map, rec.key, rec.offset)) {
            *ret_is_full = true;
            return 0;
        }
    }
    return r > 0 ? -EBADMSG : r;
}

static int map_batch(struct pass *p, struct cleaner_txns *txns, const struct batch *b,
                     bool *ret_is_full)
{
    struct marker_fate fate;
    int r = 0;

    if (batch_is_control(b))
        r = cleaner_txns_marker(txns, b, &fate);
    else if (!cleaner_txns_data(txns, b))
        r = map_records(p, b, ret_is_full);
    if (r == 0 && !*ret_is_full && batch_last_offset(b) >= p->what->first_dirty)
        cleaner_map_cover(&p->map, batch_last_offset(b));
    return r;
}

static int map_segment(struct pass *p, struct cleaner_txns *txns, uint32_t i, bool *ret_is_full)
{
    CLEANUP(source_close) struct source s = {.pass = NULL};
    const struct log_view *view = p->view;
    int64_t next = i + 1 < view->count ? view->v[i + 1].base : view->active_base;
    struct batch b;
    int r = source_open(&s, p, i);

    while (r == 0 && !*ret_is_full && (r = source_next(&s, &b)) == 1) {
        r = 0;
        /* Of the segment that the first dirty offset lies in, the batches before it are clean. */
        if (batch_last_offset(&b) >= p->what->first_dirty)
            r = unreadable(&s, &b, map_batch(p, txns, &b, ret_is_full));
    }
    if (r == 0 && !*ret_is_full)
        cleaner_map_cover(&p->map, MIN(next, p->what->upper) - 1);
    return r;
}

static int build_map(struct pass *p)
{
    CLEANUP(cleaner_txns_deinit) struct cleaner_txns txns = {.next = 0};
    int64_t from = p->what->first_dirty;
    bool is_full = false;
    int r = cleaner_txns_init(&txns, p->log, from, p->what->upper);

    cleaner_map_init(&p->map,
                     &(struct cleaner_map_opts){p->opts->map_bytes, p->opts->map_load_factor,
                                                p->what->upper - from});
    for (uint32_t i = log_view_at(p->view, from);
         r == 0 && !is_full && i < p->view->count && p->view->v[i].base < p->what->upper; i++)
        r = map_segment(p, &txns, i, &is_full);
    p->stats->map_keys = p->map.count;
    p->stats->map_limit = p->map.limit;
    p->stats->is_map_full = is_full;
    return r;
}

/* ---- groups ---- */

struct group {
    uint32_t first;
    uint32_t count;
};

static uint64_t index_size(const struct log_view *view, uint32_t i, enum segment_file_type type)
{
    CLEANUP(free_p) char *path = segment_file_path(view->path, view->v[i].base, type);
    struct fs_info info;

    return fs_stat(path, &info) == 0 ? info.size : 0;
}

/* The last offset that segment i can hold. */
static int64_t last_offset_of(const struct pass *p, uint32_t i, uint32_t end)
{
    return (i + 1 < end ? p->view->v[i + 1].base : p->what->upper) - 1;
}

/* Segments from first on, below end, that fit into one. */
static struct group next_group(const struct pass *p, uint32_t first, uint32_t end)
{
    const struct log_view *view = p->view;
    const uint64_t log_max = (uint64_t)view->conf->segment_bytes,
                   index_max = (uint64_t)view->conf->segment_index_bytes;
    uint64_t log = view->v[first].size, offsets = index_size(view, first, SEGMENT_INDEX),
             times = index_size(view, first, SEGMENT_TIMEINDEX);
    struct group g = {first, 1};

    for (uint32_t i = first + 1; i < end; i++, g.count++) {
        log += view->v[i].size;
        offsets += index_size(view, i, SEGMENT_INDEX);
        times += index_size(view, i, SEGMENT_TIMEINDEX);
        if (log > log_max || offsets > index_max || times > index_max)
            break;
        if (view->v[i].size > 0 && last_offset_of(p, i, end) - view->v[first].base > INT32_MAX)
            break;
    }
    return g;
}

/* ---- copying ---- */

static int modified_ms(const struct log_view *view, uint32_t i, int64_t *ret)
{
    CLEANUP(free_p) char *path = segment_file_path(view->path, view->v[i].base, SEGMENT_LOG);
    struct fs_info info;
    int r = fs_stat(path, &info);

    if (r == 0)
        *ret = info.modified_ms;
    return r;
}

static int copy_batch(struct pass *p, struct cleaner_filter *f, struct cleaner_writer *w,
                      const struct batch *b)
{
    struct filtered done;
    size_t before = w->pending.len;
    int r = cleaner_filter_batch(f, b, &w->pending, &done);

    if (r < 0)
        return r;
    p->stats->records_before += done.records_read;
    p->stats->records_after += done.records_kept;
    p->stats->bytes_before += b->size;
    uint64_t written = w->pending.len - before;
    p->stats->bytes_after += (int64_t)written;
    if (done.is_aborted)
        r = cleaner_writer_add_aborted(w, done.aborted);
    if (r == 0)
        r = cleaner_writer_added(w);
    return r == 0 && written ? pay(p, written) : r;
}

static int copy_segment(struct pass *p, struct cleaner_filter *f, struct cleaner_writer *w,
                        uint32_t i)
{
    CLEANUP(source_close) struct source s = {.pass = NULL};
    int64_t modified = 0;
    struct batch b;
    int r = modified_ms(p->view, i, &modified);

    f->keeps_old_tombstones = modified > p->old_tombstones_since_ms;
    if (r == 0)
        r = source_open(&s, p, i);
    while (r == 0 && (r = source_next(&s, &b)) == 1)
        r = unreadable(&s, &b, copy_batch(p, f, w, &b));
    return r;
}

static int write_group(struct pass *p, const struct group *g, struct cleaner_txns *txns,
                       struct cleaner_writer *w)
{
    CLEANUP(last_records_deinit) struct last_records producers = {.count = 0};
    CLEANUP(cleaner_filter_deinit)
    struct cleaner_filter f = {.map = &p->map,
                               .txns = txns,
                               .producers = &producers,
                               .now_ms = p->now_ms,
                               .delete_retention_ms = p->view->conf->delete_retention_ms};
    int64_t modified = 0;
    int r = 0;

    last_records_init(&producers, p->log);
    for (uint32_t i = g->first; r == 0 && i < g->first + g->count; i++)
        r = copy_segment(p, &f, w, i);
    if (r == 0)
        r = modified_ms(p->view, g->first + g->count - 1, &modified);
    return r < 0 ? r : cleaner_writer_finish(w, modified);
}

static int clean_group(struct pass *p, const struct group *g, struct cleaner_txns *txns)
{
    CLEANUP(cleaner_writer_deinit) struct cleaner_writer w = {.seg = NULL};
    const struct log_view *view = p->view;
    const struct log_swap swap = {view, view->v[g->first].base,
                                  view->v[g->first + g->count - 1].base};
    int r = cleaner_writer_open(&w, &(struct cleaner_writer_opts){
                                        .dir = view->path,
                                        .base = swap.first,
                                        .conf = view->conf,
                                        .buffer_bytes = p->opts->buffer_bytes,
                                        .shared = &p->log->shared,
                                    });

    if (r == 0)
        r = write_group(p, g, txns, &w);
    if (r == 0)
        r = log_swap(p->log, &swap, &w.seg);
    if (r < 0)
        return r;
    p->stats->segments_before += g->count;
    p->stats->segments_after++;
    return fs_fsync_dir(view->path);
}

static int clean_groups(struct pass *p, int64_t end)
{
    CLEANUP(cleaner_txns_deinit) struct cleaner_txns txns = {.next = 0};
    uint32_t count = 0;
    int r = 0;

    while (count < p->view->count && p->view->v[count].base < end)
        count++;
    /* To the end of the last segment: past the map's reach its markers are looked at too. */
    if (count > 0)
        r = cleaner_txns_init(&txns, p->log, p->view->v[0].base,
                              count < p->view->count ? p->view->v[count].base
                                                     : p->view->active_base);
    for (uint32_t i = 0; r == 0 && i < count;) {
        const struct group g = next_group(p, i, count);

        r = clean_group(p, &g, &txns);
        i += g.count;
    }
    return r;
}

/* Of the segment before the first dirty offset, which was cleaned last. */
static int know_old_tombstones(struct pass *p)
{
    int64_t modified = 0;
    uint32_t n = 0;

    while (n < p->view->count && p->view->v[n].base < p->what->first_dirty)
        n++;
    if (n == 0)
        return 0;
    int r = modified_ms(p->view, n - 1, &modified);
    p->old_tombstones_since_ms = modified - p->view->conf->delete_retention_ms;
    return r;
}

static void pass_deinit(struct pass *p)
{
    cleaner_map_deinit(&p->map);
}

int cleaner_pass(struct log *log, const struct log_view *view, const struct cleanable *what,
                 const struct cleaner_pass_opts *opts, struct cleaner_stats *ret)
{
    CLEANUP(pass_deinit)
    struct pass p = {.log = log,
                     .view = view,
                     .what = what,
                     .opts = opts,
                     .stats = ret,
                     .now_ms = clock_wall_ms(opts->clock)};
    int r;

    *ret =
        (struct cleaner_stats){.first_dirty = what->first_dirty, .next_dirty = what->first_dirty};
    r = know_old_tombstones(&p);
    if (r == 0)
        r = build_map(&p);
    int64_t end = p.map.latest + 1;
    if (r == 0)
        r = clean_groups(&p, end);
    if (r == 0)
        ret->next_dirty = MAX(end, what->first_dirty);
    /* What cannot be read because it is gone says nothing of the disk. */
    return r < 0 && !atomic_load(&log->is_broken) && log_view_check(view, log) < 0 ? -ECANCELED : r;
}
