/*
 * time_index.h - from which offset on a segment's records are younger than a time (disk.md §6.3)
 *
 *   0  i64  largest timestamp in the segment so far
 *   8  i32  last offset of the batch that holds it - base offset of the segment
 *
 * Timestamps increase, offsets do not go down. An entry goes with each one of the offset index
 * where the timestamp grew, and one more, the segment's maximum, is the last thing that is written
 * when a segment is left. Owner and locks as of index_file.h.
 */
#pragma once

#include "broker/storage/index_file.h"

enum { TIME_INDEX_ENTRY = 12 };

struct time_entry {
    int64_t timestamp;
    int32_t relative;
};

/* Nothing happens where the timestamp is not above the last one's, which time_index_last() has read
 * before. Under LOCK_LOG_INDEX. */
void time_index_put(struct index_file *x, struct time_entry e);
/* Both of it. */
int time_index_append(struct index_file *x, struct time_entry e, struct mutex *shared) MUST_CHECK;
int time_index_last(struct index_file *x, struct time_entry *ret, bool *ret_any) MUST_CHECK;
/* Full one entry early: the last place is for the maximum. */
bool time_index_is_full(const struct index_file *x);
/* Drops the entries at or above relative. */
int time_index_truncate(struct index_file *x, int64_t relative) MUST_CHECK;
/* For index_find_in_memory(), index_view_find(): entries by timestamp. */
int64_t time_index_key(const uint8_t *entry);
struct time_entry time_index_decode(const uint8_t *entry);
