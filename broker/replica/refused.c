#include "broker/replica/refused.h"

#include "common/base/mem.h"
#include "common/record/batch.h"

enum { REFUSED_MAX = 8, REFUSED_MS = 30000 };

struct refused_batch {
    int64_t producer_id;
    int64_t at_ms;    /* when it came last */
    int32_t sequence; /* the lowest that was refused */
    int16_t epoch;
    int16_t error;
};

struct refused {
    struct refused_batch v[REFUSED_MAX];
    unsigned count;
    unsigned next; /* where the next one goes once it is full */
};

static bool has_sequence(struct slice records, struct batch *ret)
{
    return batch_next(&records, ret) == 1 && batch_has_producer_id(ret) &&
           batch_base_sequence(ret) >= 0;
}

static struct refused_batch *find(const struct refused *r, int64_t producer_id)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->v[i].producer_id == producer_id)
            return (struct refused_batch *)&r->v[i];
    return NULL;
}

/* Sequences go from INT32_MAX on to 0; no two that are under way lie half of that apart. */
static bool comes_after(int32_t sequence, int32_t other)
{
    uint32_t ahead = ((uint32_t)sequence - (uint32_t)other) & INT32_MAX;

    return ahead > 0 && ahead < INT32_MAX / 2;
}

static bool is_recent(const struct refused_batch *b, int64_t now_ms)
{
    return now_ms - b->at_ms < REFUSED_MS;
}

static struct refused_batch *new_one(struct refused *r)
{
    if (r->count < REFUSED_MAX)
        return &r->v[r->count++];
    return &r->v[r->next++ % REFUSED_MAX];
}

void refused_note(struct refused **r, struct slice records, int error, int64_t now_ms)
{
    struct batch b;

    if (!has_sequence(records, &b))
        return;
    if (!*r)
        *r = xnew(struct refused);
    struct refused_batch *known = find(*r, batch_producer_id(&b));
    if (known && is_recent(known, now_ms) && known->epoch == batch_producer_epoch(&b) &&
        comes_after(batch_base_sequence(&b), known->sequence))
        return;
    if (!known)
        known = new_one(*r);
    *known = (struct refused_batch){batch_producer_id(&b), now_ms, batch_base_sequence(&b),
                                    batch_producer_epoch(&b), (int16_t)error};
}

void refused_taken(struct refused *r, struct slice records)
{
    struct batch b;
    struct refused_batch *known =
        r && has_sequence(records, &b) ? find(r, batch_producer_id(&b)) : NULL;

    if (known && (known->epoch != batch_producer_epoch(&b) ||
                  !comes_after(known->sequence, batch_base_sequence(&b))))
        *known = r->v[--r->count];
}

int refused_because(const struct refused *r, struct slice records, int64_t now_ms)
{
    struct batch b;
    const struct refused_batch *known =
        r && has_sequence(records, &b) ? find(r, batch_producer_id(&b)) : NULL;

    return known && is_recent(known, now_ms) && known->epoch == batch_producer_epoch(&b) &&
                   comes_after(batch_base_sequence(&b), known->sequence)
               ? known->error
               : 0;
}
