/*
 * epochs.h - which leader epoch begins at which offset: the cache of one log and its file
 * leader-epoch-checkpoint (disk.md §6.7)
 *
 * Epochs and start offsets both increase. Guarded by the log's lock. Errors: -errno of the file;
 * -EBADMSG for a malformed one.
 */
#pragma once

#include "common/base/base.h"

struct epochs;

struct epoch_entry {
    int32_t epoch;
    int64_t start_offset;
};

/* Reads dir/leader-epoch-checkpoint; an absent or empty file is an empty cache. dir must live
 * until the next epochs_moved(). */
int epochs_open(const char *dir, struct epochs **ret) MUST_CHECK;
/* NULL-safe, returns NULL. Writes nothing. */
struct epochs *epochs_free(struct epochs *e);
void epochs_moved(struct epochs *e, const char *dir);

/* Writes the file, with fsync, where something changed. */
int epochs_assign(struct epochs *e, int32_t epoch, int64_t start_offset) MUST_CHECK;
/* Without the file, for many in a row: epochs_flush() follows. */
void epochs_assign_unflushed(struct epochs *e, int32_t epoch, int64_t start_offset);
/* Entries that start at or after offset go. */
void epochs_truncate_from_end(struct epochs *e, int64_t offset);
/* Of the entries that start at or before offset the last one stays, starting at offset. */
void epochs_truncate_from_start(struct epochs *e, int64_t offset);
void epochs_clear(struct epochs *e);
/* Batches of old formats do not tell their epoch. As long as a log gets such, it has neither epochs
 * nor the file, and nothing is assigned. */
int epochs_keep(struct epochs *e, bool is_kept) MUST_CHECK;
/* Writes the file where the cache changed since; truncations may be written late. */
int epochs_flush(struct epochs *e) MUST_CHECK;

size_t epochs_count(const struct epochs *e);
struct epoch_entry epochs_at(const struct epochs *e, size_t i);
/* -1 where none is known. */
int32_t epochs_latest(const struct epochs *e);
int32_t epochs_earliest(const struct epochs *e);
/* The greatest epoch below epoch, -1: none. */
int32_t epochs_previous(const struct epochs *e, int32_t epoch);
/* The epoch that wrote offset, -1 where unknown. */
int32_t epochs_of_offset(const struct epochs *e, int64_t offset);
/* The end offset of an epoch (controller.md B5.3); both -1 where undefined. */
void epochs_end_offset(const struct epochs *e, int32_t epoch, int64_t log_end, int32_t *ret_epoch,
                       int64_t *ret_offset);
