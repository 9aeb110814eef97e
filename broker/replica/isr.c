#include "broker/replica/isr.h"

#include "common/base/mem.h"

void id_list_set(struct id_list *l, const int32_t *ids, int32_t count)
{
    int32_t *v = count > 0 ? xnew_array(int32_t, (size_t)count) : NULL;

    if (count > 0)
        memcpy(v, ids, (size_t)count * sizeof *v);
    free(l->v);
    *l = (struct id_list){v, MAX(count, 0)};
}

void id_list_deinit(struct id_list *l)
{
    free(l->v);
    *l = (struct id_list){0};
}

bool id_list_has(const struct id_list *l, int32_t id)
{
    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i] == id)
            return true;
    return false;
}

bool id_list_eq(const struct id_list *a, const struct id_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->v, b->v, (size_t)a->count * sizeof *a->v) == 0);
}

void isr_deinit(struct isr *isr)
{
    id_list_deinit(&isr->committed);
    id_list_deinit(&isr->proposed);
    isr->change = ISR_STABLE;
}

void isr_set(struct isr *isr, const int32_t *ids, int32_t count)
{
    id_list_set(&isr->committed, ids, count);
    isr_revert(isr);
}

void isr_revert(struct isr *isr)
{
    id_list_deinit(&isr->proposed);
    isr->change = ISR_STABLE;
}

void isr_propose_add(struct isr *isr, int32_t id)
{
    assert(isr->change == ISR_STABLE && !id_list_has(&isr->committed, id));
    int32_t n = isr->committed.count;
    int32_t *CLEANUP(free_p) ids = xnew_array(int32_t, (size_t)n + 1);

    if (n)
        memcpy(ids, isr->committed.v, (size_t)n * sizeof *ids);
    ids[n] = id;
    id_list_set(&isr->proposed, ids, n + 1);
    isr->change = ISR_EXPANDING;
}

void isr_propose_remove(struct isr *isr, const struct id_list *gone)
{
    assert(isr->change == ISR_STABLE);
    int32_t n = 0;
    int32_t *CLEANUP(free_p) ids = xnew_array(int32_t, (size_t)isr->committed.count + 1);

    for (int32_t i = 0; i < isr->committed.count; i++)
        if (!id_list_has(gone, isr->committed.v[i]))
            ids[n++] = isr->committed.v[i];
    assert(n > 0 && n < isr->committed.count);
    id_list_set(&isr->proposed, ids, n);
    isr->change = ISR_SHRINKING;
}

bool isr_maximal_has(const struct isr *isr, int32_t id)
{
    return id_list_has(&isr->committed, id) ||
           (isr->change == ISR_EXPANDING && id_list_has(&isr->proposed, id));
}

int32_t isr_maximal_count(const struct isr *isr)
{
    return isr->change == ISR_EXPANDING ? isr->proposed.count : isr->committed.count;
}

/* ---- other replicas ---- */

void remote_list_set(struct remote_list *l, const struct id_list *ids, int32_t self)
{
    size_t others = 0;

    for (int32_t i = 0; i < ids->count; i++)
        others += ids->v[i] != self;
    struct remote_list next = {others ? xnew_array(struct remote_replica, others) : NULL, 0};
    for (int32_t i = 0; i < ids->count; i++) {
        if (ids->v[i] == self)
            continue;
        const struct remote_replica *known = remote_list_find(l, ids->v[i]);
        next.v[next.count++] = known ? *known
                                     : (struct remote_replica){.id = ids->v[i],
                                                               .end_offset = -1,
                                                               .log_start = -1,
                                                               .leader_end_at_fetch = -1,
                                                               .fetch_ms = REMOTE_NEVER,
                                                               .caught_up_ms = REMOTE_NEVER};
    }
    remote_list_deinit(l);
    *l = next;
}

void remote_list_deinit(struct remote_list *l)
{
    free(l->v);
    *l = (struct remote_list){0};
}

struct remote_replica *remote_list_find(const struct remote_list *l, int32_t id)
{
    for (int32_t i = 0; i < l->count; i++)
        if (l->v[i].id == id)
            return &l->v[i];
    return NULL;
}

void remote_reset(struct remote_replica *r, const struct remote_reset *how)
{
    if (!how->was_leader) {
        r->end_offset = -1;
        r->log_start = -1;
    }
    r->leader_end_at_fetch = how->was_leader ? how->epoch_start : -1;
    r->fetch_ms = how->was_leader && how->in_isr ? how->now_ms : REMOTE_NEVER;
    r->caught_up_ms = how->in_isr ? how->now_ms : REMOTE_NEVER;
}

/*
 * A replica that asks for the leader's end has caught up now. One that asks for what was the end at
 * its fetch before had caught up then: that is what keeps a replica in the set that is always a
 * batch behind.
 */
void remote_fetched(struct remote_replica *r, const struct remote_fetch *f)
{
    if (f->offset >= f->leader_end)
        r->caught_up_ms = MAX(r->caught_up_ms, f->now_ms);
    else if (f->offset >= r->leader_end_at_fetch)
        r->caught_up_ms = MAX(r->caught_up_ms, r->fetch_ms);
    r->end_offset = f->offset;
    r->log_start = f->log_start;
    r->leader_end_at_fetch = MAX(f->leader_end, r->leader_end_at_fetch);
    r->fetch_ms = f->now_ms;
}

bool remote_is_caught_up(const struct remote_replica *r, int64_t leader_end, int64_t now_ms,
                         int64_t lag_ms)
{
    return r->end_offset == leader_end || now_ms - r->caught_up_ms <= lag_ms;
}
