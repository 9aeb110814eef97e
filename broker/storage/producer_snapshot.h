/*
 * producer_snapshot.h - the bytes of <offset>.snapshot
 *
 *   0  i16 version 1 | 2  u32 CRC-32C of byte 6 to the end | 6  i32 count | 10  entries of 46
 *   bytes:
 *       0 i64 producer id           22 i32 last offset - first offset of that batch
 *       8 i16 producer epoch        26 i64 timestamp
 *      10 i32 last sequence         34 i32 coordinator epoch (-1: no marker yet)
 *      14 i64 last offset           38 i64 first offset of the open transaction (-1: none)
 *
 * Only the newest of a producer's cached batches is stored. Values; any thread.
 */
#pragma once

#include "broker/storage/producer_state.h"

enum { PRODUCER_SNAPSHOT_MAX_BYTES = 256 << 20 };

/* Appends the head; then count entries follow; then the checksum is put in. */
void producer_snapshot_begin(struct strbuf *sb, int32_t count);
void producer_snapshot_add(struct strbuf *sb, const struct producer_info *p);
void producer_snapshot_end(struct strbuf *sb);

/* Calls each for every entry. -EBADMSG for another version, a wrong checksum or a wrong length;
 * *ret_why then says which (static). */
int producer_snapshot_parse(struct slice bytes,
                            void (*each)(void *ctx, const struct producer_info *p), void *ctx,
                            const char **ret_why) MUST_CHECK;
