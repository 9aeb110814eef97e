/*
 * producer_state.c - the table of producers, their transactions, and what time does to them
 */
#include "broker/storage/producer_state.h"

#include "broker/storage/producer_internal.h"
#include "common/base/err.h"

static void check(const struct producer_state *ps)
{
    const struct txn_list *l = &ps->ongoing;

    assert(l->count < 2 || l->v[l->count - 2].first_offset < l->v[l->count - 1].first_offset);
}

struct producer_state *producer_state_new(const struct producer_state_opts *opts)
{
    struct producer_state *ps = xnew(struct producer_state);

    ps->name = xstrdup(opts->name);
    ps->dir = opts->dir;
    ps->expiration_ms = opts->expiration_ms;
    ps->verify_transactions = opts->verify_transactions;
    producer_state_find_snapshots(ps, opts->files);
    return ps;
}

static void clear_verifications(struct producer_state *ps)
{
    struct verification *v, *tmp;

    HASH_ITER (hh, ps->verifications, v, tmp) {
        HASH_DEL(ps->verifications, v);
        free(v);
    }
}

void producer_state_clear(struct producer_state *ps)
{
    struct producer *p, *tmp;

    HASH_ITER (hh, ps->producers, p, tmp) {
        HASH_DEL(ps->producers, p);
        free(p);
    }
    ps->ongoing.count = 0;
    ps->unreplicated.count = 0;
}

struct producer_state *producer_state_free(struct producer_state *ps)
{
    if (!ps)
        return NULL;
    producer_state_clear(ps);
    clear_verifications(ps);
    producer_state_free_snapshots(ps);
    free(ps->ongoing.v);
    free(ps->unreplicated.v);
    free(ps->name);
    free(ps);
    return NULL;
}

void producer_state_moved(struct producer_state *ps, const char *dir)
{
    ps->dir = dir;
}

const struct producer *producer_find(const struct producer_state *ps, int64_t producer_id)
{
    struct producer *p = NULL;

    HASH_FIND(hh, ps->producers, &producer_id, sizeof producer_id, p);
    return p;
}

struct producer *producer_add(struct producer_state *ps, const struct producer_entry *e)
{
    struct producer *p = (struct producer *)producer_find(ps, e->producer_id);

    if (!p) {
        p = xnew(struct producer);
        p->e.producer_id = e->producer_id;
        HASH_ADD(hh, ps->producers, e.producer_id, sizeof p->e.producer_id, p);
    }
    p->e = *e;
    return p;
}

const struct verification *verification_find(const struct producer_state *ps, int64_t producer_id)
{
    struct verification *v = NULL;

    HASH_FIND(hh, ps->verifications, &producer_id, sizeof producer_id, v);
    return v;
}

/* ---- transactions ---- */

void txn_list_insert(struct txn_list *l, const struct open_txn *txn)
{
    size_t at = l->count;

    while (at > 0 && l->v[at - 1].first_offset > txn->first_offset)
        at--;
    if (at > 0 && l->v[at - 1].first_offset == txn->first_offset) {
        l->v[at - 1] = *txn;
        return;
    }
    xgrow(l->v, l->cap, l->count + 1);
    memmove(l->v + at + 1, l->v + at, (l->count - at) * sizeof *l->v);
    l->v[at] = *txn;
    l->count++;
}

static void remove_at(struct txn_list *l, size_t at)
{
    l->count--;
    memmove(l->v + at, l->v + at + 1, (l->count - at) * sizeof *l->v);
}

static void clear_verification(struct producer_state *ps, int64_t producer_id)
{
    struct verification *v = (struct verification *)verification_find(ps, producer_id);

    if (!v)
        return;
    HASH_DEL(ps->verifications, v);
    free(v);
}

void producer_state_apply(struct producer_state *ps, const struct producer_changes *ch)
{
    for (size_t i = 0; i < ch->count; i++) {
        const struct producer_change *c = &ch->v[i];

        producer_add(ps, &c->entry);
        if (c->is_transactional)
            clear_verification(ps, c->entry.producer_id);
    }
    for (size_t i = 0; i < ch->started_count; i++)
        txn_list_insert(&ps->ongoing,
                        &(struct open_txn){.first_offset = ch->started[i].first_offset,
                                           .producer_id = ch->started[i].producer_id,
                                           .last_offset = -1});
    check(ps);
}

int64_t producer_state_lso_after(const struct producer_state *ps, const struct completed_txn *c)
{
    for (size_t i = 0; i < ps->ongoing.count; i++)
        if (ps->ongoing.v[i].producer_id != c->producer_id)
            return ps->ongoing.v[i].first_offset;
    return c->last_offset + 1;
}

void producer_state_complete(struct producer_state *ps, const struct completed_txn *c)
{
    struct txn_list *l = &ps->ongoing;

    for (size_t i = 0; i < l->count; i++) {
        if (l->v[i].first_offset != c->first_offset)
            continue;
        struct open_txn txn = l->v[i];
        txn.last_offset = c->last_offset;
        remove_at(l, i);
        txn_list_insert(&ps->unreplicated, &txn);
        return;
    }
}

void producer_state_set_end(struct producer_state *ps, int64_t offset)
{
    ps->end = offset;
}

int64_t producer_state_end(const struct producer_state *ps)
{
    return ps->end;
}

int64_t producer_state_first_unstable(const struct producer_state *ps)
{
    int64_t undecided = ps->ongoing.count ? ps->ongoing.v[0].first_offset : -1;
    int64_t unreplicated = ps->unreplicated.count ? ps->unreplicated.v[0].first_offset : -1;

    if (undecided < 0 || unreplicated < 0)
        return MAX(undecided, unreplicated);
    return MIN(undecided, unreplicated);
}

void producer_state_high_watermark_moved(struct producer_state *ps, int64_t high_watermark)
{
    struct txn_list *l = &ps->unreplicated;
    size_t keep = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->v[i].last_offset >= high_watermark)
            l->v[keep++] = l->v[i];
    l->count = keep;
}

bool producer_state_has_open_txn(const struct producer_state *ps, int64_t producer_id)
{
    const struct producer *p = producer_find(ps, producer_id);

    return p && p->e.txn_first_offset >= 0;
}

uint64_t producer_state_verify(struct producer_state *ps, int64_t producer_id, int32_t sequence,
                               int16_t epoch, int64_t now_ms)
{
    if (!ps->verify_transactions || producer_state_has_open_txn(ps, producer_id))
        return 0;
    struct verification *v = (struct verification *)verification_find(ps, producer_id);
    if (!v) {
        v = xnew(struct verification);
        *v = (struct verification){.producer_id = producer_id,
                                   .since_ms = now_ms,
                                   .token = ++ps->last_token,
                                   .lowest_sequence = sequence,
                                   .epoch = epoch};
        HASH_ADD(hh, ps->verifications, producer_id, sizeof v->producer_id, v);
    }
    if (epoch > v->epoch || (epoch == v->epoch && sequence < v->lowest_sequence)) {
        v->epoch = epoch;
        v->lowest_sequence = sequence;
    }
    return v->token;
}

int64_t producer_state_oldest_txn_timestamp(const struct producer_state *ps)
{
    const struct producer *p =
        ps->ongoing.count ? producer_find(ps, ps->ongoing.v[0].producer_id) : NULL;

    return p ? p->e.last_timestamp : -1;
}

/* ---- time and start ---- */

void producer_state_set_expiration(struct producer_state *ps, int64_t expiration_ms)
{
    ps->expiration_ms = expiration_ms;
}

void producer_state_expire(struct producer_state *ps, int64_t now_ms)
{
    struct verification *v, *next_v;
    struct producer *p, *next;

    HASH_ITER (hh, ps->producers, p, next) {
        if (p->e.txn_first_offset >= 0 || now_ms - p->e.last_timestamp < ps->expiration_ms)
            continue;
        HASH_DEL(ps->producers, p);
        free(p);
    }
    HASH_ITER (hh, ps->verifications, v, next_v) {
        if (now_ms - v->since_ms < ps->expiration_ms)
            continue;
        HASH_DEL(ps->verifications, v);
        free(v);
    }
}

bool producer_state_is_empty(const struct producer_state *ps)
{
    return !ps->producers && ps->unreplicated.count == 0;
}

size_t producer_state_count(const struct producer_state *ps)
{
    return HASH_COUNT(ps->producers);
}

void producer_state_log_start_moved(struct producer_state *ps, int64_t log_start)
{
    int64_t latest = producer_state_latest_snapshot(ps);

    producer_state_high_watermark_moved(ps, log_start);
    ps->end = MAX(ps->end, log_start);
    ps->last_snapshot = latest >= 0 ? latest : log_start;
}

void producer_state_each(const struct producer_state *ps,
                         void (*each)(void *ctx, const struct producer_info *p), void *ctx)
{
    struct producer *p, *next;

    HASH_ITER (hh, ps->producers, p, next) {
        struct producer_info info;

        producer_entry_info(&p->e, &info);
        each(ctx, &info);
    }
}
