/*
 * producer_check.c - whether an append's batches fit what is known of their producers, and what
 * they will change
 *
 * Kafka's order (disk.md §11.2): duplicate, verification, epoch, sequence, transactional state.
 * Replicated batches are taken as they are; a coordinator's are checked for epochs only.
 */
#include "broker/storage/producer_internal.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/record/record_iter.h"

struct checker {
    const struct producer_state *ps;
    const struct producer_check_opts *opts;
    struct producer_changes *ch;
};

void producer_changes_deinit(struct producer_changes *ch)
{
    free(ch->v);
    free(ch->started);
    free(ch->completed);
    *ch = (struct producer_changes){0};
}

static bool is_replicated(const struct checker *c)
{
    return c->opts->origin == PRODUCER_ORIGIN_REPLICATION;
}

static struct producer_change *change_of(const struct checker *c, int64_t producer_id)
{
    struct producer_changes *ch = c->ch;
    const struct producer *p;

    for (size_t i = ch->count; i > 0; i--)
        if (ch->v[i - 1].entry.producer_id == producer_id)
            return &ch->v[i - 1];
    xgrow(ch->v, ch->cap, ch->count + 1);
    p = producer_find(c->ps, producer_id);
    struct producer_change *change = &ch->v[ch->count++];
    *change = (struct producer_change){.entry = p ? p->e : producer_entry_new(producer_id)};
    change->epoch_before = change->entry.epoch;
    return change;
}

static bool find_duplicate(const struct checker *c, const struct batch *b)
{
    const struct producer *p = producer_find(c->ps, batch_producer_id(b));
    const struct cached_batch *found = p ? producer_entry_find(&p->e, b) : NULL;

    if (!found)
        return false;
    c->ch->is_duplicate = true;
    c->ch->duplicate = (struct producer_batch){
        .first_offset = found->last_offset - found->offset_delta,
        .last_offset = found->last_offset,
        .timestamp = found->timestamp,
        .first_sequence = cached_batch_first_sequence(found),
        .last_sequence = found->last_sequence,
    };
    return true;
}

/* The first batch of a transaction has to show that the coordinator knows of it (KIP-890). */
static int check_verified(const struct checker *c, const struct batch *b)
{
    const struct verification *v;

    if (!c->ps->verify_transactions || !batch_is_transactional(b) || batch_is_control(b) ||
        producer_state_has_open_txn(c->ps, batch_producer_id(b)))
        return 0;
    v = verification_find(c->ps, batch_producer_id(b));
    return v && v->token == c->opts->verification ? 0 : INVALID_TXN_STATE;
}

static int check_epoch(const struct checker *c, const struct producer_entry *e,
                       const struct batch *b)
{
    if (batch_producer_epoch(b) >= e->epoch)
        return 0;
    if (!is_replicated(c))
        return INVALID_PRODUCER_EPOCH;
    say_limited(SAY_WARN, 5,
                "replicated batch of an older producer epoch partition=%s producer_id=%" PRId64
                " offset=%" PRId64 " epoch=%d known_epoch=%d",
                c->ps->name, e->producer_id, batch_base_offset(b), batch_producer_epoch(b),
                e->epoch);
    return 0;
}

static bool follows(int32_t last, int32_t next)
{
    return next == (int64_t)last + 1 || (next == 0 && last == INT32_MAX);
}

static int check_sequence(const struct checker *c, const struct producer_change *change,
                          const struct batch *b)
{
    const struct verification *v = verification_find(c->ps, change->entry.producer_id);
    int32_t first = batch_base_sequence(b);
    bool fits;

    if (v && first > v->lowest_sequence)
        return OUT_OF_ORDER_SEQUENCE_NUMBER;
    if (batch_producer_epoch(b) != change->entry.epoch)
        fits = first == 0 || change->entry.epoch == NO_PRODUCER_EPOCH;
    else
        fits = change->epoch_before == NO_PRODUCER_EPOCH ||
               follows(producer_entry_last_sequence(&change->entry), first);
    return fits ? 0 : OUT_OF_ORDER_SEQUENCE_NUMBER;
}

static int check_data(const struct checker *c, struct producer_change *change,
                      const struct batch *b)
{
    struct producer_changes *ch = c->ch;
    struct producer_entry *e = &change->entry;
    int r = check_epoch(c, e, b);

    if (r == 0 && c->opts->origin == APPEND_CLIENT)
        r = check_sequence(c, change, b);
    if (r != 0)
        return r;
    producer_entry_add_batch(e, b);
    if (e->txn_first_offset >= 0)
        return batch_is_transactional(b) || is_replicated(c) ? 0 : INVALID_TXN_STATE;
    if (!batch_is_transactional(b))
        return 0;
    e->txn_first_offset = batch_base_offset(b);
    xgrow(ch->started, ch->started_cap, ch->started_count + 1);
    ch->started[ch->started_count++] = (struct started_txn){e->producer_id, e->txn_first_offset};
    return 0;
}

static int check_coordinator_epoch(const struct checker *c, const struct producer_entry *e,
                                   int32_t epoch)
{
    return epoch >= e->coordinator_epoch || is_replicated(c) ? 0 : TRANSACTION_COORDINATOR_FENCED;
}

static void end_txn(const struct checker *c, struct producer_entry *e, const struct record *marker,
                    bool is_abort)
{
    struct producer_changes *ch = c->ch;

    /* A marker without data here moves no last stable offset and needs no index entry. */
    if (e->txn_first_offset < 0)
        return;
    xgrow(ch->completed, ch->completed_cap, ch->completed_count + 1);
    ch->completed[ch->completed_count++] = (struct completed_txn){
        .producer_id = e->producer_id,
        .first_offset = e->txn_first_offset,
        .last_offset = marker->offset,
        .is_aborted = is_abort,
    };
    e->txn_first_offset = -1;
}

static int check_marker(const struct checker *c, struct producer_change *change,
                        const struct batch *b, const struct record *rec)
{
    struct producer_entry *e = &change->entry;
    enum control_type type;
    int32_t coordinator_epoch;
    int r = control_record_type(rec, &type);

    if (r < 0 || type == CONTROL_UNKNOWN)
        return r;
    if ((r = control_record_coordinator_epoch(rec, &coordinator_epoch)) < 0)
        return r;
    if ((r = check_epoch(c, e, b)) != 0)
        return r;
    if ((r = check_coordinator_epoch(c, e, coordinator_epoch)) != 0)
        return r;
    end_txn(c, e, rec, type == CONTROL_ABORT);
    producer_entry_set_epoch(e, batch_producer_epoch(b));
    e->coordinator_epoch = coordinator_epoch;
    e->last_timestamp = rec->timestamp;
    return 0;
}

/* An empty one is what compaction leaves of a transaction: it says nothing any more. */
static int check_control(const struct checker *c, struct producer_change *change,
                         const struct batch *b)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r;

    if (batch_count(b) == 0)
        return 0;
    r = record_iter_init(&it, b, RECORD_UNPACK_MAX);
    if (r == 0)
        r = record_iter_next(&it, &rec);
    if (r != 1)
        return r < 0 ? r : -EBADMSG;
    return check_marker(c, change, b, &rec);
}

static int check_batch(const struct checker *c, const struct batch *b)
{
    int r = is_replicated(c) ? 0 : check_verified(c, b);

    if (r != 0)
        return r;
    struct producer_change *change = change_of(c, batch_producer_id(b));
    if (batch_is_transactional(b))
        change->is_transactional = true;
    return batch_is_control(b) ? check_control(c, change, b) : check_data(c, change, b);
}

int producer_state_check(const struct producer_state *ps, struct slice batches,
                         const struct producer_check_opts *opts, struct producer_changes *ret)
{
    const struct checker c = {.ps = ps, .opts = opts, .ch = ret};
    struct batch b;
    int r;

    while ((r = batch_next(&batches, &b)) == 1) {
        if (!batch_has_producer_id(&b))
            continue;
        if (opts->origin == APPEND_CLIENT && find_duplicate(&c, &b))
            return 0;
        if ((r = check_batch(&c, &b)) != 0)
            return r;
    }
    return r;
}

static int replay_batch(struct producer_state *ps, const struct batch *b,
                        producer_abort_fn on_abort, void *ctx)
{
    CLEANUP(producer_changes_deinit) struct producer_changes ch = {0};
    const struct producer_check_opts opts = {.origin = PRODUCER_ORIGIN_REPLICATION};
    int r = producer_state_check(ps, batch_bytes(b), &opts, &ch);

    if (r != 0)
        return r;
    producer_state_apply(ps, &ch);
    for (size_t i = 0; i < ch.completed_count; i++) {
        const struct completed_txn *c = &ch.completed[i];

        if (on_abort && c->is_aborted)
            r = on_abort(ctx, c, producer_state_lso_after(ps, c));
        if (r < 0)
            return r;
        producer_state_complete(ps, c);
    }
    return 0;
}

int producer_state_replay(struct producer_state *ps, struct slice batches,
                          producer_abort_fn on_abort, void *ctx)
{
    struct batch b;
    int r;

    while ((r = batch_next(&batches, &b)) == 1) {
        if (batch_has_producer_id(&b) && (r = replay_batch(ps, &b, on_abort, ctx)) < 0)
            return r;
        ps->end = batch_next_offset(&b);
    }
    return r;
}
