/*
 * cleaner_txns.h - which transactions a cleaning is in the middle of, batch by batch
 *
 * It is told every batch in the order of the log and says whether a data batch is of an aborted
 * transaction, and whether a marker is still needed (disk.md §10.3): a marker may go when no data
 * batch of its transaction was seen before it in this walk. Aborted transactions are known from the
 * .txnindex files. Value owned by one thread.
 */
#pragma once

#include "broker/storage/log_internal.h"
#include "broker/storage/txn_index.h"
#include "common/record/batch.h"

struct cleaner_txn;

struct cleaner_txns {
    struct txn_entries aborted; /* by first offset */
    size_t next;                /* of them, not met yet */
    struct cleaner_txn *open;   /* by producer */
};

/* What becomes of a marker. */
struct marker_fate {
    bool is_empty;   /* nothing of its transaction is left before it */
    bool is_aborted; /* the index has to keep an entry: this one */
    struct txn_entry entry;
};

/* The aborted transactions that reach into [from, upper) of the log. */
int cleaner_txns_init(struct cleaner_txns *t, struct log *log, int64_t from, int64_t upper)
    MUST_CHECK;
void cleaner_txns_deinit(struct cleaner_txns *t);
/* A batch that is no marker: true where it belongs to an aborted transaction. */
bool cleaner_txns_data(struct cleaner_txns *t, const struct batch *b);
/* A marker. -EBADMSG where it cannot be read. */
int cleaner_txns_marker(struct cleaner_txns *t, const struct batch *b, struct marker_fate *ret)
    MUST_CHECK;
