/*
 * batch_stamp.h - changes to the header of a batch in place: what a leader stamps into a client's
 * bytes
 *
 * The base offset and the leader epoch of v2 lie outside the checksum, so both are free to set. The
 * bytes under the view must be writable and the caller's alone.
 */
#pragma once

#include "common/record/batch.h"

/* So that the last offset is this; any magic (v0 and v1: the entry's own offset). */
void batch_set_last_offset(const struct batch *b, int64_t last_offset);
void batch_set_base_offset(const struct batch *b, int64_t base_offset);
void batch_set_leader_epoch(const struct batch *b, int32_t epoch);
/* v1 and v2; writes the checksum again only where something changed. */
void batch_set_max_timestamp(const struct batch *b, enum timestamp_type type,
                             int64_t max_timestamp);
/* Writes the checksum of the bytes as they are, any magic. */
void batch_write_crc(const struct batch *b);
