/*
 * epochs.c - a short array of (epoch, start offset), both increasing, and its file
 */
#include "broker/storage/epochs.h"

#include "broker/storage/checkpoint_text.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "common/io/fs.h"

enum { EPOCHS_MAX_BYTES = 16 << 20 };

struct epochs {
    const char *dir;
    struct epoch_entry *v;
    size_t count;
    size_t cap;
    bool is_dirty; /* the file is behind */
    bool is_off;
};

static void check(const struct epochs *e)
{
    if (e->count > 1) {
        assert(e->v[e->count - 2].epoch < e->v[e->count - 1].epoch);
        assert(e->v[e->count - 2].start_offset < e->v[e->count - 1].start_offset);
    }
}

static char *path_of(const struct epochs *e)
{
    return xasprintf("%s/leader-epoch-checkpoint", e->dir);
}

static bool add_line(void *ctx, struct str line)
{
    struct epochs *e = ctx;
    struct str epoch, start;
    struct epoch_entry entry;

    if (!checkpoint_word(&line, &epoch) || !checkpoint_word(&line, &start) || !str_is_null(line))
        return false;
    if (str_to_i32(epoch, 0, INT32_MAX, &entry.epoch) < 0 ||
        str_to_i64(start, 0, INT64_MAX, &entry.start_offset) < 0)
        return false;
    epochs_assign_unflushed(e, entry.epoch, entry.start_offset);
    return true;
}

static int load(struct epochs *e)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    CLEANUP(free_p) char *why = NULL;
    CLEANUP(free_p) char *path = path_of(e);
    int r = fs_read_file(path, EPOCHS_MAX_BYTES, &text);

    if (r == -ENOENT)
        return 0;
    if (r == 0)
        r = checkpoint_text_parse(strbuf_str(&text), path, add_line, e, &why);
    if (why)
        return CORRUPT("leader epochs: %s", why);
    e->is_dirty = false;
    return r;
}

int epochs_open(const char *dir, struct epochs **ret)
{
    struct epochs *e = xnew(struct epochs);

    e->dir = dir;
    int r = load(e);
    if (r < 0) {
        epochs_free(e);
        return r;
    }
    *ret = e;
    return 0;
}

struct epochs *epochs_free(struct epochs *e)
{
    if (!e)
        return NULL;
    free(e->v);
    free(e);
    return NULL;
}

void epochs_moved(struct epochs *e, const char *dir)
{
    e->dir = dir;
}

void epochs_assign_unflushed(struct epochs *e, int32_t epoch, int64_t start_offset)
{
    const struct epoch_entry *last = e->count ? &e->v[e->count - 1] : NULL;
    size_t keep = e->count;

    if (e->is_off || epoch < 0 ||
        (last && last->epoch == epoch && last->start_offset <= start_offset))
        return;
    while (keep > 0 &&
           (e->v[keep - 1].epoch >= epoch || e->v[keep - 1].start_offset >= start_offset))
        keep--;
    /* An epoch in which nothing was written makes way without a word. */
    if (e->count - keep > 1 || (keep < e->count && last->start_offset != start_offset))
        say_warn("leader epoch replaces later ones dir=%s epoch=%" PRId32 " start=%" PRId64
                 " replaced=%zu first_replaced=%" PRId32,
                 e->dir, epoch, start_offset, e->count - keep, e->v[keep].epoch);
    if (e->cap == 0) /* most logs have one epoch */
        e->v = xnew_array(struct epoch_entry, e->cap = 1);
    xgrow(e->v, e->cap, keep + 1);
    e->v[keep] = (struct epoch_entry){epoch, start_offset};
    e->count = keep + 1;
    e->is_dirty = true;
    check(e);
}

int epochs_assign(struct epochs *e, int32_t epoch, int64_t start_offset)
{
    bool was_dirty = e->is_dirty;

    e->is_dirty = false;
    epochs_assign_unflushed(e, epoch, start_offset);
    if (e->is_dirty)
        return epochs_flush(e);
    e->is_dirty = was_dirty;
    return 0;
}

void epochs_truncate_from_end(struct epochs *e, int64_t offset)
{
    while (offset >= 0 && e->count > 0 && e->v[e->count - 1].start_offset >= offset) {
        e->count--;
        e->is_dirty = true;
    }
}

void epochs_truncate_from_start(struct epochs *e, int64_t offset)
{
    size_t before = 0;

    while (before < e->count && e->v[before].start_offset <= offset)
        before++;
    if (before == 0 || (before == 1 && e->v[0].start_offset == offset))
        return;
    e->v[before - 1].start_offset = offset;
    memmove(e->v, e->v + before - 1, (e->count - before + 1) * sizeof *e->v);
    e->count -= before - 1;
    e->is_dirty = true;
    check(e);
}

void epochs_clear(struct epochs *e)
{
    e->is_dirty = e->is_dirty || e->count > 0;
    e->count = 0;
}

int epochs_keep(struct epochs *e, bool is_kept)
{
    if (e->is_off == !is_kept)
        return 0;
    if (is_kept) {
        e->is_off = false;
        return 0;
    }
    CLEANUP(free_p) char *path = path_of(e);
    int r = fs_remove_tree(path);
    if (r < 0)
        return r;
    if (e->count > 0)
        say_info("leader epochs are dropped, as the log's message format is an older one now "
                 "file=%s count=%zu",
                 path, e->count);
    e->count = 0;
    e->is_dirty = false;
    e->is_off = true;
    return 0;
}

int epochs_flush(struct epochs *e)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    CLEANUP(free_p) char *path = NULL;

    if (!e->is_dirty)
        return 0;
    path = path_of(e);
    strbuf_addf(&text, "0\n%zu\n", e->count);
    for (size_t i = 0; i < e->count; i++)
        strbuf_addf(&text, "%" PRId32 " %" PRId64 "\n", e->v[i].epoch, e->v[i].start_offset);
    int r = fs_replace_file(path, strbuf_str(&text));
    if (r == 0)
        e->is_dirty = false;
    return r;
}

size_t epochs_count(const struct epochs *e)
{
    return e->count;
}

struct epoch_entry epochs_at(const struct epochs *e, size_t i)
{
    assert(i < e->count);
    return e->v[i];
}

int32_t epochs_latest(const struct epochs *e)
{
    return e->count ? e->v[e->count - 1].epoch : -1;
}

int32_t epochs_earliest(const struct epochs *e)
{
    return e->count ? e->v[0].epoch : -1;
}

/* How many entries have at most this epoch. */
static size_t count_up_to(const struct epochs *e, int32_t epoch)
{
    size_t n = e->count;

    while (n > 0 && e->v[n - 1].epoch > epoch)
        n--;
    return n;
}

int32_t epochs_previous(const struct epochs *e, int32_t epoch)
{
    size_t n = epoch > 0 ? count_up_to(e, epoch - 1) : 0;

    return n ? e->v[n - 1].epoch : -1;
}

int32_t epochs_of_offset(const struct epochs *e, int64_t offset)
{
    size_t n = e->count;

    while (n > 0 && e->v[n - 1].start_offset > offset)
        n--;
    return n ? e->v[n - 1].epoch : -1;
}

void epochs_end_offset(const struct epochs *e, int32_t epoch, int64_t log_end, int32_t *ret_epoch,
                       int64_t *ret_offset)
{
    *ret_epoch = -1;
    *ret_offset = -1;
    if (epoch == -1 || e->count == 0 || epoch > epochs_latest(e))
        return;
    if (epoch == epochs_latest(e)) {
        *ret_epoch = epoch;
        *ret_offset = log_end;
        return;
    }
    size_t n = count_up_to(e, epoch);
    *ret_epoch = n ? e->v[n - 1].epoch : epoch;
    *ret_offset = e->v[n].start_offset;
}
