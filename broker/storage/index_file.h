/*
 * index_file.h - the array of fixed-size entries under the offset, time and transaction indexes of
 * a segment
 *
 * While its segment is appended to, new entries collect in a small tail in memory; a full tail, a
 * flush, a roll and a close write it out. So an append costs no second write, and an index no
 * memory map and no more than a tail of memory, however large it is: what stands in the file is
 * read with pread. That entries may be missing on disk after a crash is harmless: every segment
 * from the recovery point on is indexed again, and the point moves only past what
 * index_file_flush() wrote.
 *
 * As Kafka lays it out, the file of an active segment is enlarged (sparse) to its limit, and cut to
 * its entries by index_file_seal(). Of a file that is opened, every whole entry counts.
 *
 * Who: the appender (LOCK_LOG) changes it, and does so under LOCK_LOG_INDEX as soon as readers know
 * it. A reader looks into the tail under LOCK_LOG_INDEX, and into the file outside of any lock.
 */
#pragma once

#include "common/base/lock.h"
#include "common/io/fs.h"

enum { INDEX_ENTRY_MAX = 12 };

struct index_file {
    struct file *file;
    uint32_t entry_size;
    uint32_t count;   /* entries, those in the tail too */
    uint32_t written; /* of them in the file */
    uint32_t max;     /* entries the file was enlarged to; 0: sealed */
    uint32_t tail_cap;
    uint8_t *tail; /* entries [written, count) */
    bool is_last_known;
    uint8_t last[INDEX_ENTRY_MAX]; /* the last entry, once it was needed */
};

/* Sealed: as many entries as the file has; none where it is absent (made where mode says so). */
int index_file_open(struct index_file *x, const char *path, enum file_mode mode,
                    uint32_t entry_size) MUST_CHECK;
void index_file_close(struct index_file *x);
/* Makes it ready for appends up to max entries: enlarges the file. */
int index_file_unseal(struct index_file *x, uint32_t max) MUST_CHECK;
/* Writes the tail and cuts the file to its entries. shared: LOCK_LOG_INDEX of the log, as in the
 * next two. */
int index_file_seal(struct index_file *x, struct mutex *shared) MUST_CHECK;
/* Writes the tail out. */
int index_file_flush(struct index_file *x, struct mutex *shared) MUST_CHECK;

/* Adds an entry in memory, under LOCK_LOG_INDEX, at any count: that it is full is the caller's
 * affair. */
void index_file_append(struct index_file *x, const void *entry);
/* Writes the tail out where it is long; outside of LOCK_LOG_INDEX, after appends. */
int index_file_spill(struct index_file *x, struct mutex *shared) MUST_CHECK;

static inline bool index_file_is_full(const struct index_file *x)
{
    return x->count >= x->max;
}

/* Keeps the first count entries; the file keeps its length, with zeroes after them. */
int index_file_truncate(struct index_file *x, uint32_t count) MUST_CHECK;
int index_file_get(const struct index_file *x, uint32_t i, void *ret_entry) MUST_CHECK;
/* The last entry; false where there is none. */
int index_file_last(struct index_file *x, void *ret_entry, bool *ret_any) MUST_CHECK;

typedef int64_t (*index_key_fn)(const uint8_t *entry);

/* How many entries have a key below bound; keys do not go down. Appender only. */
int index_file_count_below(const struct index_file *x, index_key_fn key, int64_t bound,
                           uint32_t *ret) MUST_CHECK;

/* A reader's lookup: the last entry whose key is <= target. */
struct index_hit {
    bool any;
    uint8_t entry[INDEX_ENTRY_MAX];
};

/* The entries in the file, as a reader sees them outside of the lock. */
struct index_view {
    struct file *file; /* a reference */
    uint32_t entry_size;
    uint32_t written;
};

/* Under LOCK_LOG_INDEX. True: *ret is the answer. False: it lies in the file, ask *ret_view outside
 * of the lock. */
bool index_find_in_memory(const struct index_file *x, index_key_fn key, int64_t target,
                          struct index_hit *ret, struct index_view *ret_view);
int index_view_find(const struct index_view *v, index_key_fn key, int64_t target,
                    struct index_hit *ret) MUST_CHECK;
void index_view_deinit(struct index_view *v);
