/*
 * txn_index.h - the aborted transactions whose marker lies in a segment (disk.md §6.5)
 *
 *   0  i16  version 0
 *   2  i64  producer id
 *  10  i64  first offset of the transaction
 *  18  i64  offset of its ABORT marker; increases
 *  26  i64  last stable offset right after it
 *
 * Made on first use, read whole, never held in memory: transactions are aborted rarely. A torn
 * entry at the end does not count. Functions take the path, so that a segment without aborts costs
 * nothing.
 */
#pragma once

#include "common/base/str.h"

enum { TXN_INDEX_ENTRY = 34 };

struct txn_entry {
    int64_t producer_id;
    int64_t first_offset;
    int64_t last_offset;
    int64_t last_stable_offset;
};

struct txn_entries {
    struct txn_entry *v;
    size_t count;
};

void txn_entries_deinit(struct txn_entries *e);
/* None where the file is absent. -EBADMSG: another version, or offsets that do not increase from
 * min_offset on. */
int txn_index_read(const char *path, int64_t min_offset, struct txn_entries *ret) MUST_CHECK;
int txn_index_append(const char *path, struct txn_entry e) MUST_CHECK;
/* Drops the entries whose marker lies at or above offset. */
int txn_index_truncate(const char *path, int64_t offset) MUST_CHECK;
/* fsyncs it where it is there. */
int txn_index_fsync(const char *path) MUST_CHECK;
