#include "broker/storage/log_load.h"

#include "broker/storage/offset_index.h"
#include "broker/storage/partition_metadata.h"
#include "broker/storage/scan.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- the end of a segment ---- */

int log_scan_tail(struct log *log, struct segment *seg, int64_t *ret_next)
{
    struct offset_entry last = {0, 0};
    int64_t next = seg->base, max_ts, max_ts_offset;
    struct head_scan scan;
    struct batch b;
    bool any;
    int r = segment_know_max_ts(seg, &log->shared);

    if (r == 0)
        r = offset_index_last(&seg->body->offsets, &last, &any);
    if (r < 0)
        return r;
    if (any && (last.pos >= seg->size || last.relative < 0))
        return CORRUPT("%s: its last entry points at byte %u of a .log file of %u",
                       file_path(seg->body->offsets.file), last.pos, seg->size);
    max_ts = seg->max_ts;
    max_ts_offset = seg->max_ts_offset;
    head_scan_init(&scan, seg->body->file, last.pos, seg->size);
    while ((r = head_scan_next(&scan, &b)) == 1) {
        if (batch_next_offset(&b) <= next)
            return CORRUPT("%s: offset %lld at byte %u does not go up", file_path(seg->body->file),
                           (long long)batch_last_offset(&b), (uint32_t)(scan.pos - b.size));
        next = batch_next_offset(&b);
        if (batch_max_timestamp(&b) > max_ts) {
            max_ts = batch_max_timestamp(&b);
            max_ts_offset = batch_last_offset(&b);
        }
    }
    if (r == 0 && scan.pos != seg->size)
        r = CORRUPT("%s: the batch at byte %u is cut short", file_path(seg->body->file),
                    (uint32_t)scan.pos);
    if (r < 0)
        return r;
    WITH_LOCK(&log->shared)
    {
        seg->max_ts = max_ts;
        seg->max_ts_offset = max_ts_offset;
    }
    *ret_next = next;
    return 0;
}

/* ---- producers ---- */

/* Byte from which on a scan meets every batch at or above offset. */
static int index_pos(struct segment *seg, int64_t offset, uint32_t *ret)
{
    uint8_t entry[INDEX_ENTRY_MAX];
    uint32_t n = 0;
    int r =
        index_file_count_below(&seg->body->offsets, offset_index_key, offset - seg->base + 1, &n);

    *ret = 0;
    if (r < 0 || n == 0)
        return r;
    r = index_file_get(&seg->body->offsets, n - 1, entry);
    if (r == 0)
        *ret = MIN(offset_index_decode(entry).pos, seg->size);
    return r;
}

static int replay_batches(struct log *log, struct segment *seg, int64_t from, int64_t to)
{
    CLEANUP(batch_scan_deinit) struct batch_scan scan = {0};
    uint32_t pos = 0;
    struct batch b;
    int r = index_pos(seg, from, &pos);

    if (r < 0)
        return r;
    batch_scan_init(&scan, seg->body->file, pos, seg->size);
    while ((r = batch_scan_next(&scan, &b)) == 1) {
        if (batch_base_offset(&b) >= to)
            return 0;
        if (batch_last_offset(&b) < from || !batch_has_producer_id(&b))
            continue;
        if ((r = producer_state_replay(log->producers, batch_bytes(&b), NULL, NULL)) != 0)
            return r;
    }
    return r;
}

int log_load_producers_to(struct log *log, int64_t end, int64_t now_ms)
{
    struct producer_state *ps = log->producers;
    int r = producer_state_truncate_and_reload(ps, atomic_load(&log->start), end, now_ms);
    int64_t from = producer_state_end(ps);

    for (uint32_t i = log_segment_at(log, from); r == 0 && from < end && i < log->segment_count;
         i++) {
        struct segment *seg = log->segments[i];

        if (seg->base >= end)
            break;
        /* A snapshot at the last two bases keeps the next replay short. */
        if (i + 2 >= log->segment_count && seg->base > from) {
            producer_state_set_end(ps, seg->base);
            r = producer_state_take_snapshot(ps, false, NULL);
        }
        if (r == 0)
            r = log_need_body(log, seg);
        if (r == 0)
            r = replay_batches(log, seg, from, end);
    }
    if (r < 0)
        return r;
    producer_state_set_end(ps, end);
    return 0;
}

int log_load_producers(struct log *log, int64_t now_ms)
{
    int r = log_load_producers_to(log, log_end_offset(log), now_ms);

    if (r == 0)
        log_refresh_unstable(log);
    return r;
}

/* ---- partition.metadata (disk.md §6.8) ---- */

int log_read_topic_id(struct log *log)
{
    struct uuid id;
    int r = partition_metadata_read(log->path, &id);

    if (r == -ENOENT)
        return 0;
    if (r == -EBADMSG) {
        say_warn("malformed file=%s/partition.metadata; the topic id is taken as unknown, and "
                 "written again when the controller tells it",
                 log->path);
        return 0;
    }
    if (r < 0)
        return r;
    log->topic_id = id;
    log->is_id_written = true;
    return 0;
}

int log_write_topic_id(struct log *log)
{
    if (log->is_id_written || uuid_is_zero(log->topic_id))
        return 0;
    int r = partition_metadata_write(log->path, log->topic_id);
    if (r < 0) {
        say_error("writing failed file=%s/partition.metadata: %s", log->path, err_name(r));
        return r;
    }
    log->is_id_written = true;
    return 0;
}

struct uuid log_topic_id(const struct log *log)
{
    LOCK_SCOPE((struct mutex *)(uintptr_t)&log->shared);
    return log->topic_id;
}

/* The file follows with the next flush, at the latest before the first append. */
static int adopt_topic_id(struct log *log, struct uuid id)
{
    int r = log_check_writable(log);

    if (r != 0 || uuid_is_zero(id) || uuid_eq(log->topic_id, id))
        return r;
    if (!uuid_is_zero(log->topic_id))
        return INCONSISTENT_TOPIC_ID;
    WITH_LOCK(&log->shared)
    {
        log->topic_id = id;
    }
    if (!log->hooks)
        return log_write_topic_id(log);
    log_ask_flush(log);
    return 0;
}

int log_set_topic_id(struct log *log, struct uuid id)
{
    LOCK_SCOPE(&log->lock);
    return adopt_topic_id(log, id);
}
