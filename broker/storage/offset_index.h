/*
 * offset_index.h - where in a segment an offset lies (disk.md §6.2)
 *
 *   0  i32  last offset of a batch - base offset of the segment
 *   4  i32  byte in the .log file where that batch begins
 *
 * Both columns increase. A batch gets an entry when more than index.interval.bytes were appended
 * since the last one, so the first batch of a segment never has one. Owner and locks as of
 * index_file.h.
 */
#pragma once

#include "broker/storage/index_file.h"

enum { OFFSET_INDEX_ENTRY = 8 };

struct offset_entry {
    int32_t relative;
    uint32_t pos;
};

void offset_index_append(struct index_file *x, struct offset_entry e);
int offset_index_last(struct index_file *x, struct offset_entry *ret, bool *ret_any) MUST_CHECK;
/* Drops the entries at or above relative. */
int offset_index_truncate(struct index_file *x, int64_t relative) MUST_CHECK;
/* For index_find_in_memory(), index_view_find(): entries by offset. */
int64_t offset_index_key(const uint8_t *entry);
struct offset_entry offset_index_decode(const uint8_t *entry);
