/*
 * producer_internal.h - the struct behind producer_state.h, for the files that make it up
 *
 *   producer_state.c    the table, transactions, expiry        producer_check.c  what an append may
 *   and will change producer_files.c    snapshots on disk, truncation
 */
#pragma once

#include "broker/storage/producer_entry.h"
#include "common/base/containers.h"

struct producer {
    UT_hash_handle hh;
    struct producer_entry e;
};

/* A transaction whose first offset of this log is known. */
struct open_txn {
    int64_t first_offset;
    int64_t producer_id;
    int64_t last_offset; /* of the marker; -1 while it is open */
};

/* By first offset, ascending. */
struct txn_list {
    struct open_txn *v;
    size_t count;
    size_t cap;
};

/* A transaction's first batch that waits for the coordinator's word (KIP-890). */
struct verification {
    UT_hash_handle hh;
    int64_t producer_id;
    int64_t since_ms;
    uint64_t token;
    int32_t lowest_sequence;
    int16_t epoch;
};

struct producer_state {
    char *name;
    const char *dir;
    int64_t expiration_ms;
    bool verify_transactions;
    struct producer *producers;
    struct txn_list ongoing;
    struct txn_list unreplicated; /* completed by a marker at or above the high watermark */
    struct verification *verifications;
    uint64_t last_token;
    int64_t end;           /* the state covers what is below */
    int64_t last_snapshot; /* offset of the newest one */
    int64_t *snapshots;    /* ascending */
    size_t snapshot_count;
    size_t snapshot_cap;
};

struct producer_change {
    struct producer_entry entry; /* as it will be */
    int16_t epoch_before;        /* -1: it was not known */
    bool is_transactional;       /* a batch or marker of a transaction is among the changes */
};

const struct producer *producer_find(const struct producer_state *ps, int64_t producer_id);
struct producer *producer_add(struct producer_state *ps, const struct producer_entry *e);
const struct verification *verification_find(const struct producer_state *ps, int64_t producer_id);
void txn_list_insert(struct txn_list *l, const struct open_txn *txn);
void producer_state_clear(struct producer_state *ps);
void producer_state_free_snapshots(struct producer_state *ps);
void producer_state_find_snapshots(struct producer_state *ps, const struct fs_names *files);
