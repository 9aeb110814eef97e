/*
 * log_append.c - batches come in: roll where needed, check the producers, write once, publish
 *
 * All of it under LOCK_LOG, in Kafka's order (disk.md §5.1). Nothing a reader or the producer state
 * sees changes before the write succeeded; a write that fails is cut off again (segment_write).
 */
#include "broker/storage/log.h"

#include "broker/storage/log_internal.h"
#include "broker/storage/log_load.h"
#include "broker/storage/scan.h"
#include "broker/storage/txn_index.h"
#include "broker/storage/validate.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/random.h"
#include "common/base/say.h"

#include <stdatomic.h>

/* ---- rolling (disk.md §8.1) ---- */

static int64_t roll_after_ms(const struct log *log)
{
    const struct topic_conf *c = log->conf;
    int64_t ms = c->segment_ms;

    if (c->cleanup_policy & CLEANUP_COMPACT)
        ms = MIN(ms, c->max_compaction_lag_ms);
    return ms - log->roll_jitter_ms;
}

static int know_first_batch_ts(struct log *log)
{
    struct segment *seg = log_active(log);
    struct head_scan scan;
    struct batch b;

    if (log->first_batch_ts != SEGMENT_TS_UNKNOWN || seg->size == 0)
        return 0;
    head_scan_init(&scan, seg->body->file, 0, seg->size);
    int r = head_scan_next(&scan, &b);
    if (r < 0)
        return r;
    log->first_batch_ts = r == 1 ? batch_max_timestamp(&b) : -1;
    return 0;
}

static bool is_old_enough(const struct log *log, const struct batch_set *set, int64_t now_ms)
{
    int64_t waited = log->first_batch_ts >= 0 ? set->max_timestamp - log->first_batch_ts
                                              : now_ms - log->active_since_ms;

    return waited > roll_after_ms(log);
}

static bool should_roll(const struct log *log, const struct batch_set *set, int64_t now_ms)
{
    const struct segment *seg = log_active(log);
    int64_t relative = set->last_offset - seg->base;

    return (int64_t)seg->size > log->conf->segment_bytes - (int64_t)set->bytes.len ||
           (seg->size > 0 && is_old_enough(log, set, now_ms)) ||
           index_file_is_full(&seg->body->offsets) ||
           seg->body->times.count + 1 >= seg->body->times.max || relative < 0 ||
           relative > INT32_MAX;
}

int log_roll(struct log *log, int64_t base)
{
    struct segment *old = log_active(log), *seg = NULL;
    int64_t jitter = MIN(log->conf->segment_jitter_ms, log->conf->segment_ms);
    int r;

    if (base == old->base)
        return 0; /* empty as it is */
    assert(base > old->base);
    /* The new one first: where the disk is full, the old one goes on as it was. */
    r = segment_create(log->path, base, log->conf, &seg);
    if (r < 0)
        return r;
    r = segment_seal(old, &log->shared);
    if (r == 0) {
        producer_state_set_end(log->producers, base);
        r = producer_state_take_snapshot(log->producers, false, NULL);
    }
    if (r < 0) {
        segment_free(seg);
        return log_break(log, r, "rolling a segment");
    }
    log_insert_segment(log, seg);
    log->roll_jitter_ms = jitter > 0 ? random_below((uint32_t)MIN(jitter, (int64_t)UINT32_MAX)) : 0;
    log_ask_flush(log);
    return 0;
}

static int roll_for(struct log *log, const struct batch_set *set, int64_t now_ms)
{
    int64_t first = set->first_offset >= 0 ? set->first_offset : set->last_offset - INT32_MAX;
    int r = log_need_active(log);

    if (r == 0)
        r = know_first_batch_ts(log);
    if (r < 0 || !should_roll(log, set, now_ms))
        return r;
    r = log_roll(log, MAX(first, log_end_offset(log)));
    return r < 0 ? r : log_need_active(log);
}

/* ---- what goes with the bytes ---- */

/* disk.md §6.7; most sets have the epoch that is known already. The file follows with the next
 * flush: until then recovery finds the epochs in the batches. */
static void assign_epochs(struct log *log, const struct batch_set *set)
{
    struct slice rest = set->bytes;
    struct batch b;

    if (set->last_leader_epoch == epochs_latest(log->epochs))
        return;
    while (batch_next(&rest, &b) == 1) {
        if (!batch_is_v2(&b))
            epochs_clear(log->epochs);
        else if (batch_leader_epoch(&b) != epochs_latest(log->epochs))
            epochs_assign_unflushed(log->epochs, batch_leader_epoch(&b), batch_base_offset(&b));
    }
}

static void remember_batches(struct log *log, struct slice bytes, uint32_t pos)
{
    int64_t first = log_end_offset(log);
    struct batch b;

    if (!log->tail)
        log->tail = xnew(struct tail_cache);
    while (batch_next(&bytes, &b) == 1) {
        uint32_t i = log->tail->count++ % TAIL_BATCHES;

        log->tail->v[i].first = first;
        log->tail->v[i].pos = pos;
        first = batch_next_offset(&b);
        pos += b.size;
    }
}

static void publish(struct log *log, const struct batch_set *set, bool *ret_was_indexed)
{
    struct segment *seg = log_active(log);
    uint32_t indexed = seg->body->offsets.count;
    uint32_t interval = (uint32_t)log->conf->index_interval_bytes;

    if (seg->size == 0)
        log->first_batch_ts = SEGMENT_TS_UNKNOWN;
    LOCK_SCOPE(&log->shared);
    remember_batches(log, set->bytes, segment_publish(seg, set->bytes, interval));
    atomic_fetch_add(&log->size, (int64_t)set->bytes.len);
    atomic_store_explicit(&log->end, set->last_offset + 1, memory_order_release);
    *ret_was_indexed = seg->body->offsets.count > indexed;
}

static int note_aborted(struct log *log, const struct completed_txn *c)
{
    CLEANUP(free_p)
    char *path = segment_file_path(log->path, log_active(log)->base, SEGMENT_TXNINDEX);
    const struct txn_entry e = {c->producer_id, c->first_offset, c->last_offset,
                                producer_state_lso_after(log->producers, c)};

    WITH_LOCK(&log->shared)
    {
        log_active(log)->has_txns = true;
    }
    return txn_index_append(path, e);
}

static int apply_producers(struct log *log, const struct producer_changes *ch)
{
    int r = 0;

    producer_state_apply(log->producers, ch);
    for (size_t i = 0; i < ch->completed_count && r == 0; i++) {
        if (ch->completed[i].is_aborted)
            r = note_aborted(log, &ch->completed[i]);
        producer_state_complete(log->producers, &ch->completed[i]);
    }
    producer_state_set_end(log->producers, log_end_offset(log));
    if (ch->count > 0)
        log_refresh_unstable(log);
    return r;
}

static int write_set(struct log *log, const struct batch_set *set,
                     const struct producer_changes *ch)
{
    bool is_torn = false, was_indexed = false;
    int r = segment_write(log_active(log), set->bytes, &is_torn);

    if (is_torn)
        return log_break(log, r, "an append");
    if (r < 0)
        return r;
    assign_epochs(log, set);
    publish(log, set, &was_indexed);
    r = segment_after_append(log_active(log), was_indexed, &log->shared);
    if (r == 0)
        r = apply_producers(log, ch);
    log->unflushed += set->record_count;
    /* The batches are in; without what goes with them a restart has to repair. */
    return r < 0 ? log_break(log, r, "an append") : 0;
}

struct set_opts {
    int origin; /* of the producer check */
    int64_t now_ms;
};

/* Everything after validation; ret has its offsets already. */
static int append_set(struct log *log, const struct batch_set *set, const struct set_opts *opts,
                      struct log_append *ret)
{
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    const struct producer_check_opts check = {.origin = opts->origin};
    int r;

    if ((r = log_write_topic_id(log)) != 0)
        return r;
    if ((r = roll_for(log, set, opts->now_ms)) != 0)
        return r;
    if ((r = producer_state_check(log->producers, set->bytes, &check, &ch)) != 0)
        return r;
    if (ch.is_duplicate) {
        ret->is_duplicate = true;
        ret->first_offset = ch.duplicate.first_offset;
        ret->last_offset = ch.duplicate.last_offset;
        ret->max_timestamp = ret->append_time_ms = ch.duplicate.timestamp;
        return 0;
    }
    log->last_append_ms = opts->now_ms;
    return write_set(log, set, &ch);
}

static struct log_append nothing_appended(const struct log *log)
{
    return (struct log_append){.first_offset = -1,
                               .last_offset = -1,
                               .max_timestamp = -1,
                               .append_time_ms = -1,
                               .log_start_offset = log_start_offset(log)};
}

static void describe(struct log_append *out, const struct batch_set *set)
{
    out->first_offset = set->first_offset >= 0 ? set->first_offset : set->last_offset_of_first;
    out->last_offset = set->last_offset;
    out->max_timestamp = set->max_timestamp;
    out->record_count = set->record_count;
}

static int append_leader(struct log *log, struct slice records, const struct log_append_opts *opts,
                         struct arena *a, struct log_append *out)
{
    struct validated v = {.append_time_ms = -1};
    const struct validate_opts vo = {.conf = log->conf,
                                     .origin = opts->origin,
                                     .leader_epoch = opts->leader_epoch,
                                     .first_offset = log_end_offset(log),
                                     .now_ms = opts->now_ms,
                                     .topic = log->topic,
                                     .partition = log->partition};
    int r = log_check_writable(log);

    if (r == 0)
        r = validate_leader(records, &vo, a, &v);
    if (r != 0) {
        out->record_errors = v.record_errors;
        out->record_error_count = v.record_error_count;
        out->error_message = v.error_message;
        return r;
    }
    if (v.set.bytes.len == 0)
        return 0;
    describe(out, &v.set);
    out->append_time_ms = v.append_time_ms;
    if ((int64_t)v.set.bytes.len > log->conf->segment_bytes)
        return RECORD_LIST_TOO_LARGE;
    return append_set(log, &v.set, &(struct set_opts){opts->origin, opts->now_ms}, out);
}

/* flush.messages: the caller's answer waits for the disk, other appends do not. */
static int flush_if_due(struct log *log, bool is_due)
{
    return is_due ? log_flush(log) : 0;
}

int log_append_leader(struct log *log, struct slice records, const struct log_append_opts *opts,
                      struct arena *a, struct log_append *ret)
{
    bool is_due = false;
    int r = 0;

    WITH_LOCK(&log->lock)
    {
        *ret = nothing_appended(log);
        r = append_leader(log, records, opts, a, ret);
        is_due = r == 0 && log->unflushed >= log->conf->flush_messages;
    }
    return r != 0 ? r : flush_if_due(log, is_due);
}

/* Where the leader's log start lies inside of a batch, an empty log begins at that batch, below its
 * own start. */
static int meet_log_end(struct log *log, const struct batch_set *set)
{
    int64_t first = set->first_offset >= 0 ? set->first_offset : set->last_offset_of_first;
    int64_t end = log_end_offset(log);

    if (!set->is_increasing) {
        say_error("a fetched set of batches has offsets that go down partition=%s-%d log_end=%lld; "
                  "it is not appended, the next fetch may bring it in order",
                  log->topic, log->partition, (long long)end);
        return CORRUPT_MESSAGE;
    }
    if (first >= end)
        return 0;
    if (end != log_start_offset(log) || set->last_offset < end)
        return OFFSET_OUT_OF_RANGE;
    return log_restart_at(log, first);
}

/* As many whole batches as a segment holds, or the first one where that is larger. */
static struct slice cut_piece(const struct log *log, struct slice bytes)
{
    struct slice rest = bytes;
    size_t len = 0;
    struct batch b;

    while (batch_next(&rest, &b) == 1) {
        if (len > 0 && (int64_t)(bytes.len - rest.len) > log->conf->segment_bytes)
            break;
        len = bytes.len - rest.len;
    }
    return slice_of(bytes.p, len);
}

/*
 * What was written while segments could be larger has been acknowledged, and is taken whatever they
 * may hold now. An error ends at the pieces before it: it is met again in front of the next ones.
 */
static int append_pieces(struct log *log, struct slice bytes, const struct set_opts *opts,
                         struct log_append *out)
{
    bool has_begun = false;

    while (bytes.len > 0) {
        struct slice piece = cut_piece(log, bytes);
        struct batch_set set = {0};
        int r = batch_set_check(piece, &set);

        if (r == 0)
            r = append_set(log, &set, opts, out);
        if (r != 0)
            return r > 0 && has_begun ? 0 : r;
        out->last_offset = set.last_offset;
        has_begun = true;
        bytes = slice_of(bytes.p + piece.len, bytes.len - piece.len);
    }
    return 0;
}

static int append_follower(struct log *log, struct slice records, struct log_append *out)
{
    struct batch_set set = {0};
    const struct set_opts opts = {PRODUCER_ORIGIN_REPLICATION, clock_wall_ms(log->clock)};
    int r = log_check_writable(log);

    if (r == 0)
        r = batch_set_check(records, &set);
    if (r != 0 || set.bytes.len == 0)
        return r;
    if ((r = meet_log_end(log, &set)) != 0)
        return r;
    describe(out, &set);
    if ((int64_t)set.bytes.len > log->conf->segment_bytes)
        return append_pieces(log, set.bytes, &opts, out);
    return append_set(log, &set, &opts, out);
}

int log_append_follower(struct log *log, struct slice records, struct log_append *ret)
{
    bool is_due = false;
    int r = 0;

    WITH_LOCK(&log->lock)
    {
        *ret = nothing_appended(log);
        r = append_follower(log, records, ret);
        is_due = r == 0 && log->unflushed >= log->conf->flush_messages;
    }
    return r != 0 ? r : flush_if_due(log, is_due);
}
