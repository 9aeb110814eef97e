/*
 * producer_files.c - the snapshots of one partition on disk: which there are, writing, loading,
 * deleting
 */
#include "broker/storage/producer_internal.h"
#include "broker/storage/producer_snapshot.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"

#include <stdio.h>
#include <unistd.h>

enum { OFFSET_DIGITS = 20 };
static const char suffix[] = ".snapshot";

static char *snapshot_path(const struct producer_state *ps, int64_t offset)
{
    return xasprintf("%s/%020" PRId64 "%s", ps->dir, offset, suffix);
}

static bool parse_name(const char *name, int64_t *ret)
{
    if (strlen(name) != OFFSET_DIGITS + sizeof suffix - 1 ||
        strcmp(name + OFFSET_DIGITS, suffix) != 0)
        return false;
    return str_to_i64((struct str){name, OFFSET_DIGITS}, 0, INT64_MAX, ret) == 0;
}

static void remember(struct producer_state *ps, int64_t offset)
{
    size_t at = ps->snapshot_count;

    while (at > 0 && ps->snapshots[at - 1] > offset)
        at--;
    if (at > 0 && ps->snapshots[at - 1] == offset)
        return;
    xgrow(ps->snapshots, ps->snapshot_cap, ps->snapshot_count + 1);
    memmove(ps->snapshots + at + 1, ps->snapshots + at,
            (ps->snapshot_count - at) * sizeof *ps->snapshots);
    ps->snapshots[at] = offset;
    ps->snapshot_count++;
}

static void forget_at(struct producer_state *ps, size_t at)
{
    ps->snapshot_count--;
    memmove(ps->snapshots + at, ps->snapshots + at + 1,
            (ps->snapshot_count - at) * sizeof *ps->snapshots);
}

void producer_state_free_snapshots(struct producer_state *ps)
{
    free(ps->snapshots);
}

void producer_state_find_snapshots(struct producer_state *ps, const struct fs_names *files)
{
    for (size_t i = 0; i < files->count; i++) {
        int64_t offset;

        if (parse_name(files->v[i], &offset))
            remember(ps, offset);
    }
}

static int remove_at(struct producer_state *ps, size_t at)
{
    CLEANUP(free_p) char *path = snapshot_path(ps, ps->snapshots[at]);

    forget_at(ps, at);
    return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int64_t producer_state_latest_snapshot(const struct producer_state *ps)
{
    return ps->snapshot_count ? ps->snapshots[ps->snapshot_count - 1] : -1;
}

int64_t producer_state_oldest_snapshot(const struct producer_state *ps)
{
    return ps->snapshot_count ? ps->snapshots[0] : -1;
}

static ssize_t find(const struct producer_state *ps, int64_t offset)
{
    for (size_t i = ps->snapshot_count; i > 0; i--)
        if (ps->snapshots[i - 1] == offset)
            return (ssize_t)i - 1;
    return -1;
}

bool producer_state_has_snapshot(const struct producer_state *ps, int64_t offset)
{
    return find(ps, offset) >= 0;
}

/* ---- writing ---- */

static int write_file(const char *path, struct slice bytes, bool sync)
{
    CLEANUP(file_unref_p) struct file *f = NULL;
    int r = file_open(path, FILE_WRITE, &f);

    if (r == 0)
        r = file_truncate(f, 0);
    if (r == 0)
        r = file_pwrite(f, bytes, 0);
    if (r == 0 && sync)
        r = file_fsync(f);
    return r;
}

static void add_entry(void *ctx, const struct producer_info *p)
{
    producer_snapshot_add(ctx, p);
}

int producer_state_take_snapshot(struct producer_state *ps, bool sync, char **ret_path)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};

    if (ret_path)
        *ret_path = NULL;
    if (ps->end <= ps->last_snapshot)
        return 0;
    CLEANUP(free_p) char *path = snapshot_path(ps, ps->end);
    producer_snapshot_begin(&bytes, (int32_t)producer_state_count(ps));
    producer_state_each(ps, add_entry, &bytes);
    producer_snapshot_end(&bytes);
    int r = write_file(path, slice_of_str(strbuf_str(&bytes)), sync);
    if (r < 0)
        return r;
    remember(ps, ps->end);
    ps->last_snapshot = ps->end;
    if (ret_path)
        *ret_path = TAKE(path);
    return 0;
}

/* ---- loading ---- */

struct loader {
    struct producer_state *ps;
    int64_t now_ms;
};

static void load_entry(void *ctx, const struct producer_info *p)
{
    const struct loader *l = ctx;
    struct producer_entry e;

    if (p->txn_first_offset < 0 && l->now_ms - p->last_timestamp >= l->ps->expiration_ms)
        return;
    producer_entry_from_info(&e, p);
    producer_add(l->ps, &e);
    if (e.txn_first_offset >= 0)
        txn_list_insert(&l->ps->ongoing, &(struct open_txn){.first_offset = e.txn_first_offset,
                                                            .producer_id = e.producer_id,
                                                            .last_offset = -1});
}

/* -EBADMSG where the file is none; nothing is loaded then. */
static int load_file(struct producer_state *ps, const char *path, int64_t now_ms)
{
    CLEANUP(strbuf_deinit) struct strbuf bytes = {0};
    struct loader l = {.ps = ps, .now_ms = now_ms};
    const char *why = NULL;
    int r = fs_read_file(path, PRODUCER_SNAPSHOT_MAX_BYTES, &bytes);

    if (r == 0)
        r = producer_snapshot_parse(slice_of_str(strbuf_str(&bytes)), load_entry, &l, &why);
    if (why)
        say_warn("producer snapshot is not usable and is deleted, an older one is tried file=%s "
                 "why=\"%s\"",
                 path, why);
    return r;
}

static int load_newest(struct producer_state *ps, int64_t log_start, int64_t now_ms)
{
    while (ps->snapshot_count > 0) {
        CLEANUP(free_p) char *path = snapshot_path(ps, producer_state_latest_snapshot(ps));
        int r = load_file(ps, path, now_ms);

        if (r == 0) {
            ps->end = ps->last_snapshot = producer_state_latest_snapshot(ps);
            return 0;
        }
        if (r != -EBADMSG)
            return r;
        if ((r = remove_at(ps, ps->snapshot_count - 1)) < 0)
            return r;
    }
    ps->end = ps->last_snapshot = log_start;
    return 0;
}

int producer_state_truncate_and_reload(struct producer_state *ps, int64_t log_start,
                                       int64_t log_end, int64_t now_ms)
{
    for (size_t i = ps->snapshot_count; i > 0; i--) {
        int64_t offset = ps->snapshots[i - 1];

        if (offset > log_start && offset <= log_end)
            continue;
        int r = remove_at(ps, i - 1);
        if (r < 0)
            return r;
    }
    if (ps->end == log_end) {
        producer_state_log_start_moved(ps, log_start);
        return 0;
    }
    producer_state_clear(ps);
    return load_newest(ps, log_start, now_ms);
}

int producer_state_truncate_fully(struct producer_state *ps, int64_t offset)
{
    producer_state_clear(ps);
    while (ps->snapshot_count > 0) {
        int r = remove_at(ps, ps->snapshot_count - 1);

        if (r < 0)
            return r;
    }
    ps->last_snapshot = 0;
    ps->end = offset;
    return 0;
}

/* ---- deleting ---- */

static bool is_base(const int64_t *bases, size_t count, int64_t offset)
{
    size_t lo = 0, hi = count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (bases[mid] < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && bases[lo] == offset;
}

int producer_state_remove_stray_snapshots(struct producer_state *ps, const int64_t *bases,
                                          size_t count)
{
    int64_t largest = count ? bases[count - 1] : -1;
    bool has_newest = false;

    for (size_t i = ps->snapshot_count; i > 0; i--) {
        int64_t offset = ps->snapshots[i - 1];

        if (is_base(bases, count, offset))
            continue;
        if (!has_newest && offset > largest) {
            has_newest = true;
            continue;
        }
        int r = remove_at(ps, i - 1);
        if (r < 0)
            return r;
    }
    return 0;
}

int producer_state_delete_snapshots_before(struct producer_state *ps, int64_t offset)
{
    while (ps->snapshot_count > 0 && ps->snapshots[0] < offset) {
        int r = remove_at(ps, 0);

        if (r < 0)
            return r;
    }
    return 0;
}

int producer_state_mark_snapshot_deleted(struct producer_state *ps, int64_t offset, char **ret_path)
{
    ssize_t at = find(ps, offset);

    *ret_path = NULL;
    if (at < 0)
        return 0;
    CLEANUP(free_p) char *path = snapshot_path(ps, offset);
    CLEANUP(free_p) char *deleted = xasprintf("%s.deleted", path);
    forget_at(ps, (size_t)at);
    if (rename(path, deleted) < 0)
        return errno == ENOENT ? 0 : -errno;
    *ret_path = TAKE(deleted);
    return 0;
}
