#include "broker/replica/partition_fetch.h"

#include "broker/replica/partition_isr.h"
#include "common/base/err.h"
#include "common/io/fs.h"

/* Offsets as they were before the read. */
struct sample {
    int64_t hw;
    int64_t stable;
    int64_t start;
    int64_t end;
    int64_t upper; /* nothing at or above it is given to this reader */
};

void partition_fetch_error(int32_t partition, int error, struct fetch_response_partition *ret)
{
    struct_init(&fetch_response_partition_desc, ret);
    ret->partition_index = partition;
    ret->error_code = err_to_wire(error);
    ret->high_watermark = -1;
    ret->records.bytes = slice_of("", 0);
}

/* Of a partition that is here: its aborted transactions are not known, rather than none. */
static void fail(const struct fetch_want *want, int error, struct fetch_response_partition *ret)
{
    partition_fetch_error(want->partition, error, ret);
    ret->aborted_transactions_count = -1;
}

static int check_epoch(const struct partition *part, int32_t current_leader_epoch)
{
    if (current_leader_epoch < 0 || current_leader_epoch == part->leader_epoch)
        return 0;
    return current_leader_epoch < part->leader_epoch ? FENCED_LEADER_EPOCH : UNKNOWN_LEADER_EPOCH;
}

static int check_hosted(const struct partition *part, const struct fetch_want *want)
{
    if (part->role == ROLE_OFFLINE)
        return KAFKA_STORAGE_ERROR;
    if (part->is_gone || !part->log)
        return NOT_LEADER_OR_FOLLOWER;
    struct uuid id = log_topic_id(part->log);
    if (!uuid_is_zero(want->topic_id) && !uuid_is_zero(id) && !uuid_eq(want->topic_id, id))
        return INCONSISTENT_TOPIC_ID;
    return 0;
}

/* A follower serves only consumers that say so by their version. */
static int check_leader(const struct partition *part, const struct fetch_who *who)
{
    bool may_follow = !fetch_is_replica(who) && who->version >= 11;

    if (part->role != ROLE_LEADER && !(may_follow && part->role == ROLE_FOLLOWER))
        return NOT_LEADER_OR_FOLLOWER;
    return 0;
}

static struct sample take_sample(const struct partition *part, const struct fetch_who *who)
{
    struct sample s = {
        .hw = log_high_watermark(part->log),
        .stable = log_stable_offset(part->log),
        .start = log_start_offset(part->log),
        .end = log_end_offset(part->log),
    };

    s.upper = fetch_is_replica(who) ? s.end : fetch_is_committed(who) ? s.stable : s.hw;
    return s;
}

/* ---- reading from the nearest replica (KIP-392) ---- */

static bool in_rack(const struct metadata_snapshot *s, int32_t broker, struct str rack)
{
    const struct meta_broker *b = metadata_broker(s, broker);

    return b && !str_is_null(b->rack) && str_eq(b->rack, rack);
}

/* The replica of the client's rack that is furthest, or -1 for the leader. */
static int32_t preferred_replica(const struct partition *part, const struct fetch_who *who,
                                 int64_t offset)
{
    const struct metadata_snapshot *CLEANUP(metadata_put_p) s = metadata_get(part->env->metadata);
    const struct remote_replica *best = NULL;

    if (in_rack(s, part->env->broker_id, who->rack))
        return -1;
    for (int32_t i = 0; i < part->remotes.count; i++) {
        const struct remote_replica *r = &part->remotes.v[i];
        if (!id_list_has(&part->isr.committed, r->id) || r->end_offset < offset ||
            r->log_start > offset || !in_rack(s, r->id, who->rack))
            continue;
        if (!best || r->end_offset > best->end_offset ||
            (r->end_offset == best->end_offset && r->caught_up_ms > best->caught_up_ms))
            best = r;
    }
    return best ? best->id : -1;
}

static bool wants_selection(const struct partition *part, const struct fetch_who *who)
{
    return part->env->is_rack_aware && !fetch_is_replica(who) && who->version >= 11 &&
           who->rack.len > 0 && part->role == ROLE_LEADER;
}

/* ---- the checks ---- */

/* True where the follower's tail has diverged; the answer then says from where (KIP-595). */
static bool has_diverged(struct partition *part, const struct fetch_want *want,
                         struct fetch_response_partition *d, int *ret_error)
{
    int32_t epoch;
    int64_t end;

    *ret_error = 0;
    if (want->last_fetched_epoch < 0)
        return false;
    log_end_offset_for_epoch(part->log, want->last_fetched_epoch, &epoch, &end);
    if (epoch < 0 || end < 0 || want->offset < log_start_offset(part->log)) {
        *ret_error = OFFSET_OUT_OF_RANGE;
        return false;
    }
    if (epoch >= want->last_fetched_epoch && end >= want->offset)
        return false;
    d->diverging_epoch.epoch = epoch;
    d->diverging_epoch.end_offset = end;
    return true;
}

static void set_offsets(struct fetch_response_partition *d, const struct sample *s)
{
    d->high_watermark = s->hw;
    d->last_stable_offset = s->stable;
    d->log_start_offset = s->start;
}

static void move_replica(struct partition *part, const struct fetch_who *who,
                         const struct fetch_want *want, const struct sample *s) REQUIRES(part->lock)
{
    struct remote_fetch f = {want->offset, want->log_start, s->end,
                             clock_mono_ms(part->env->clock)};

    partition_replica_fetched(part, remote_list_find(&part->remotes, who->replica_id), &f);
}

static bool is_settled(const struct partition *part, const struct fetch_who *who,
                       const struct fetch_want *want, const struct sample *s)
{
    if (want->offset < s->upper)
        return false;
    return !fetch_is_replica(who) || id_list_has(&part->isr.committed, who->replica_id);
}

static bool is_throttled(const struct partition *part, const struct fetch_who *who)
    REQUIRES(part->lock)
{
    return fetch_is_replica(who) && repl_quota_is_limited(&part->env->leader_quota) &&
           partition_leads_throttled(part);
}

/* Followers in sync are never held: the high watermark waits for them. */
static bool is_held(struct partition *part, const struct fetch_who *who) REQUIRES(part->lock)
{
    return !id_list_has(&part->isr.committed, who->replica_id) &&
           repl_quota_is_exceeded(&part->env->leader_quota);
}

enum outcome { OUTCOME_ERROR, OUTCOME_DONE, OUTCOME_READ };

/* Everything up to the read. */
static enum outcome prepare(struct partition *part, const struct fetch_who *who,
                            const struct fetch_want *want, struct fetch_got *ret,
                            struct sample *ret_sample) REQUIRES(part->lock)
{
    struct fetch_response_partition *d = &ret->data;
    int r = check_hosted(part, want);

    if (r == 0)
        r = check_epoch(part, want->current_leader_epoch);
    if (r == 0 && wants_selection(part, who)) {
        d->preferred_read_replica = preferred_replica(part, who, want->offset);
        if (d->preferred_read_replica >= 0) {
            *ret_sample = take_sample(part, who);
            set_offsets(d, ret_sample);
            return OUTCOME_DONE;
        }
    }
    if (r == 0)
        r = check_leader(part, who);
    if (r == 0 && fetch_is_replica(who) && !remote_list_find(&part->remotes, who->replica_id))
        r = want->current_leader_epoch >= 0 ? UNKNOWN_LEADER_EPOCH : NOT_LEADER_OR_FOLLOWER;
    if (r) {
        fail(want, r, d);
        bool has_moved = r == NOT_LEADER_OR_FOLLOWER || r == FENCED_LEADER_EPOCH;
        if (who->version >= 16 && has_moved) { /* KIP-951 */
            d->current_leader.leader_id = part->leader;
            d->current_leader.leader_epoch = part->leader_epoch;
        }
        return OUTCOME_ERROR;
    }
    *ret_sample = take_sample(part, who);
    if (has_diverged(part, want, d, &r)) {
        set_offsets(d, ret_sample);
        return OUTCOME_DONE;
    }
    if (r || want->offset < ret_sample->start || want->offset > ret_sample->end) {
        fail(want, OFFSET_OUT_OF_RANGE, d);
        return OUTCOME_ERROR;
    }
    set_offsets(d, ret_sample);
    if (fetch_is_replica(who) && who->moves_replica)
        move_replica(part, who, want, ret_sample);
    ret->is_settled = is_settled(part, who, want, ret_sample);
    ret->is_throttled = is_throttled(part, who);
    ret->is_held = ret->is_throttled && is_held(part, who);
    return OUTCOME_READ;
}

/* ---- the read ---- */

/* A first batch that does not fit is left out, but before version 3, whose clients ask for more
 * then. */
static int read_records(struct partition *part, const struct fetch_who *who,
                        const struct log_read_opts *opts, struct records *ret, bool *ret_is_left)
{
    struct log_read got = {0};

    if (opts->offset >= opts->upper_offset || (opts->max_bytes == 0 && !opts->min_one_batch))
        return 0;
    int r = log_read(part->log, opts, &got);
    *ret_is_left = r == 0 && got.is_first_batch_cut && who->version >= 3;
    if (r == 0 && records_len(got.records) > 0 && !*ret_is_left)
        *ret = got.records;
    else
        file_unref(got.records.file);
    return r;
}

static int add_aborted(struct partition *part, const struct fetch_want *want, int64_t upper,
                       struct arena *a, struct fetch_response_partition *d)
{
    struct aborted_txn *list = NULL;
    int32_t count = 0;
    int r = 0;

    if (records_len(d->records))
        r = log_aborted_txns(part->log, want->offset, upper, a, &list, &count);
    d->aborted_transactions =
        arena_new_array(a, struct fetch_response_aborted_transaction, (size_t)count);
    d->aborted_transactions_count = count;
    for (int32_t i = 0; i < count; i++)
        d->aborted_transactions[i] =
            (struct fetch_response_aborted_transaction){list[i].producer_id, list[i].first_offset};
    return r;
}

/* With the aborted transactions, where the reader skips their records. Should the cleaner replace
 * segments too often in between, nothing is returned, and the reader asks again. */
static int read_all(struct partition *part, const struct fetch_read *read,
                    const struct log_read_opts *opts, struct fetch_response_partition *d)
{
    enum { TRIES = 16 };
    bool is_read_committed = fetch_is_committed(read->who);

    for (int i = 0; i < TRIES; i++) {
        uint32_t version = is_read_committed ? log_version(part->log) : 0;
        bool is_left = false;
        int r = read_records(part, read->who, opts, &d->records, &is_left);

        if (r != 0 || !is_read_committed || is_left)
            return r;
        r = add_aborted(part, read->want, opts->upper_offset, read->arena, d);
        if (r != 0 || log_version(part->log) == version)
            return r;
        file_unref(d->records.file);
        d->records = (struct records){.bytes = slice_of("", 0)};
    }
    return 0;
}

void partition_fetch(struct partition *part, const struct fetch_read *read, struct fetch_got *ret)
{
    const struct fetch_who *who = read->who;
    const struct fetch_want *want = read->want;
    struct fetch_response_partition *d = &ret->data;
    struct sample sample = {0};
    enum outcome outcome;

    struct_init(&fetch_response_partition_desc, d);
    d->partition_index = want->partition;
    d->records.bytes = slice_of("", 0);
    d->aborted_transactions_count = -1;
    ret->is_settled = false;
    ret->is_throttled = false;
    ret->is_held = false;
    WITH_LOCK(&part->lock)
    {
        outcome = prepare(part, who, want, ret, &sample);
    }
    if (outcome != OUTCOME_READ || ret->is_held)
        return;
    struct log_read_opts opts = {want->offset, read->max_bytes, sample.upper, read->min_one_batch};
    int r = read_all(part, read, &opts, d);
    if (r == 0)
        return;
    file_unref(d->records.file);
    fail(want, partition_io_error(part, r, "read"), d);
    ret->is_settled = false;
}

/* ---- while it waits ---- */

static int64_t bytes_between(struct partition *part, int64_t offset, int64_t upper,
                             bool *ret_other_segment)
{
    struct log_offset from = log_locate(part->log, offset);
    struct log_offset end = log_end(part->log);
    struct log_offset to = upper == end.offset ? end : log_locate(part->log, upper);

    *ret_other_segment = from.segment_base != to.segment_base;
    return *ret_other_segment ? 0 : (int64_t)to.pos - (int64_t)from.pos;
}

static bool has_to_answer(struct partition *part, const struct fetch_who *who,
                          const struct fetch_want *want) REQUIRES(part->lock)
{
    struct fetch_response_partition d;
    int r;

    if (check_hosted(part, want) || check_epoch(part, want->current_leader_epoch) ||
        check_leader(part, who))
        return true;
    if (fetch_is_replica(who) && !remote_list_find(&part->remotes, who->replica_id))
        return true;
    return has_diverged(part, want, &d, &r) || r || want->offset < log_start_offset(part->log);
}

struct fetch_ready partition_fetch_ready(struct partition *part, const struct fetch_who *who,
                                         const struct fetch_want *want, bool only_any)
{
    struct sample s = {0};
    bool must, held = false;

    WITH_LOCK(&part->lock)
    {
        must = has_to_answer(part, who, want);
        if (!must) {
            s = take_sample(part, who);
            held = is_throttled(part, who) && is_held(part, who);
        }
    }
    /* Above the end of the log the tail it had was truncated. */
    if (must || want->offset > s.end)
        return (struct fetch_ready){.must_answer = true};
    if (want->offset >= s.upper || held)
        return (struct fetch_ready){0};
    if (only_any)
        return (struct fetch_ready){.bytes = 1};
    bool other_segment;
    int64_t bytes = bytes_between(part, want->offset, s.upper, &other_segment);
    return (struct fetch_ready){.must_answer = other_segment,
                                .bytes = CLAMP(bytes, 0, (int64_t)want->max_bytes)};
}
