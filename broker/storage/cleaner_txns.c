#include "broker/storage/cleaner_txns.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/record_iter.h"

/* What was met of one producer's current transaction. */
struct cleaner_txn {
    UT_hash_handle hh;
    int64_t producer_id;
    bool has_committed; /* data of a transaction that is not aborted */
    bool is_aborted;    /* entry is set */
    bool has_aborted;   /* data of that one */
    struct txn_entry entry;
};

/* ---- from the indexes ---- */

struct collection {
    struct txn_entry *v;
    size_t count;
    size_t cap;
};

static void collection_deinit(struct collection *c)
{
    free(c->v);
}

/* The path of the first .txnindex from base *at on, malloc'ed; *ret_next is the base after it.
 * NULL: there is none. */
static char *index_from(struct log *log, int64_t at, int64_t *ret_base, int64_t *ret_next)
{
    LOCK_SCOPE(&log->shared);

    for (uint32_t i = log_segment_at(log, at); i < log->segment_count; i++) {
        const struct segment *seg = log->segments[i];

        if (!seg->has_txns)
            continue;
        *ret_base = seg->base;
        *ret_next = i + 1 < log->segment_count ? log->segments[i + 1]->base : INT64_MAX;
        return segment_file_path(log->path, seg->base, SEGMENT_TXNINDEX);
    }
    return NULL;
}

static int compare_first(const void *a, const void *b)
{
    const struct txn_entry *x = a, *y = b;

    return (x->first_offset > y->first_offset) - (x->first_offset < y->first_offset);
}

/* Takes what reaches into the range; true where no later index can have more. */
static bool take_entries(struct collection *all, const struct txn_entries *e, int64_t from,
                         int64_t upper)
{
    for (size_t i = 0; i < e->count; i++) {
        if (e->v[i].last_offset >= from && e->v[i].first_offset < upper) {
            xgrow(all->v, all->cap, all->count + 1);
            all->v[all->count++] = e->v[i];
        }
        if (e->v[i].last_stable_offset >= upper)
            return true;
    }
    return false;
}

int cleaner_txns_init(struct cleaner_txns *t, struct log *log, int64_t from, int64_t upper)
{
    CLEANUP(collection_deinit) struct collection all = {0};
    int64_t at = from, base = 0;
    bool is_done = false;

    *t = (struct cleaner_txns){.next = 0};
    while (!is_done) {
        CLEANUP(txn_entries_deinit) struct txn_entries entries = {0};
        CLEANUP(free_p) char *path = index_from(log, at, &base, &at);

        if (!path)
            break;
        int r = txn_index_read(path, base, &entries);
        if (r < 0)
            return r;
        is_done = take_entries(&all, &entries, from, upper) || at == INT64_MAX;
    }
    if (all.count)
        qsort(all.v, all.count, sizeof *all.v, compare_first);
    t->aborted = (struct txn_entries){TAKE(all.v), all.count};
    return 0;
}

/* ---- the walk ---- */

static struct cleaner_txn *txn_of(struct cleaner_txns *t, int64_t producer_id, bool make)
{
    struct cleaner_txn *txn = NULL;

    HASH_FIND(hh, t->open, &producer_id, sizeof producer_id, txn);
    if (txn || !make)
        return txn;
    txn = xnew(struct cleaner_txn);
    txn->producer_id = producer_id;
    HASH_ADD(hh, t->open, producer_id, sizeof txn->producer_id, txn);
    return txn;
}

static void forget(struct cleaner_txns *t, struct cleaner_txn *txn)
{
    HASH_DEL(t->open, txn);
    free(txn);
}

void cleaner_txns_deinit(struct cleaner_txns *t)
{
    struct cleaner_txn *txn, *next;

    HASH_ITER (hh, t->open, txn, next)
        forget(t, txn);
    txn_entries_deinit(&t->aborted);
    *t = (struct cleaner_txns){.next = 0};
}

static void begin_aborted_up_to(struct cleaner_txns *t, int64_t offset)
{
    for (; t->next < t->aborted.count && t->aborted.v[t->next].first_offset <= offset; t->next++) {
        const struct txn_entry *e = &t->aborted.v[t->next];
        struct cleaner_txn *txn = txn_of(t, e->producer_id, true);

        if (txn->is_aborted)
            continue;
        txn->is_aborted = true;
        txn->has_aborted = false;
        txn->entry = *e;
    }
}

bool cleaner_txns_data(struct cleaner_txns *t, const struct batch *b)
{
    begin_aborted_up_to(t, batch_last_offset(b));
    if (!batch_is_transactional(b))
        return false;
    struct cleaner_txn *txn = txn_of(t, batch_producer_id(b), true);
    if (txn->is_aborted)
        txn->has_aborted = true;
    else
        txn->has_committed = true;
    return txn->is_aborted;
}

static int read_type(const struct batch *b, enum control_type *ret)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    if (r == 0)
        r = record_iter_next(&it, &rec);
    if (r != 1)
        return -EBADMSG;
    return control_record_type(&rec, ret);
}

static void end_aborted(struct cleaner_txns *t, struct cleaner_txn *txn, struct marker_fate *ret)
{
    ret->is_empty = !txn || !txn->is_aborted || !txn->has_aborted;
    ret->is_aborted = !ret->is_empty;
    if (ret->is_aborted)
        ret->entry = txn->entry;
    if (!txn)
        return;
    txn->is_aborted = txn->has_aborted = false;
    if (!txn->has_committed)
        forget(t, txn);
}

static void end_committed(struct cleaner_txns *t, struct cleaner_txn *txn, struct marker_fate *ret)
{
    ret->is_empty = !txn || !txn->has_committed;
    if (!txn)
        return;
    txn->has_committed = false;
    if (!txn->is_aborted)
        forget(t, txn);
}

int cleaner_txns_marker(struct cleaner_txns *t, const struct batch *b, struct marker_fate *ret)
{
    enum control_type type;

    begin_aborted_up_to(t, batch_last_offset(b));
    *ret = (struct marker_fate){.is_empty = true};
    /* Without its record it was cleaned before. */
    if (batch_count(b) == 0)
        return 0;
    int r = read_type(b, &type);
    if (r < 0)
        return r;
    struct cleaner_txn *txn = txn_of(t, batch_producer_id(b), false);
    if (type == CONTROL_ABORT)
        end_aborted(t, txn, ret);
    else if (type == CONTROL_COMMIT)
        end_committed(t, txn, ret);
    else
        ret->is_empty = false;
    return 0;
}
