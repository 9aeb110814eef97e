/*
 * random_batch.h - records and batches with random content, the same for the same seed; and bytes
 * from hex text
 */
#pragma once

#include "common/base/arena.h"
#include "common/record/builder.h"
#include "tests/support/random_msg.h"

/* Keys, values and headers are null, empty, short, and at times long and compressible. They lie in
 * the arena. */
struct record random_record(struct random_source *r, struct arena *a);
/* count records with offsets from opts->base_offset on; timestamps around 1700000000000.
 * ret_records (count of them) may be NULL. */
struct slice random_batch(struct random_source *r, const struct batch_opts *opts, int count,
                          struct arena *a, struct record *ret_records);
/* "00 01 ff": blanks are skipped. In the arena. */
struct slice hex_bytes(struct arena *a, const char *hex);
/* Content and nulls; not offset and timestamp. */
bool same_record(const struct record *a, const struct record *b);
bool slice_eq(struct slice a, struct slice b);
struct batch only_batch(struct slice bytes);
