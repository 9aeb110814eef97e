/*
 * validate_internal.h - between the files of validate.h
 *
 *   validate.c          the order of steps, which way a set goes, what is stamped in place
 *   validate_records.c  the checks of each record, and what the client is told of those that fail
 *   validate_rebuild.c  conversion into the topic's format, and recompression
 */
#pragma once

#include "broker/storage/validate.h"
#include "common/record/record.h"

/* More are counted, not listed: an answer must not be larger than what was asked. */
enum { RECORD_ERRORS_LISTED_MAX = 1000 };

/* One append on its way through the checks. */
struct validation {
    const struct validate_opts *opts;
    struct arena *arena;
    struct batch_set set; /* as it came */
    struct batch first;
    enum compression target; /* codec of what will be written */
    bool needs_keys;
    bool has_limits; /* some timestamps are out of range */
    /* of the records seen so far */
    int64_t record_count;
    int64_t batch_begin; /* record_count where the batch under work began */
    int64_t max_timestamp;
    bool is_dense; /* offsets count 0, 1, 2, ...; where nothing is compressed, it says nothing */
    struct record_error *errors;
    int32_t error_count; /* listed */
    int32_t error_cap;
    int32_t bad_count; /* all */
    bool has_bad_timestamp;
    bool is_told;        /* they are the reason of the answer, so it lists them */
    const char *message; /* for the client, where a check fails */
};

/* What a payload that is rebuilt may unpack to. */
size_t validation_unpack_max(const struct validation *v);
/* Goes over the records of b. INVALID_RECORD, INVALID_TIMESTAMP, CORRUPT_MESSAGE,
 * MESSAGE_TOO_LARGE; -EPROTO. */
int validate_batch_records(struct validation *v, const struct batch *b) MUST_CHECK;
/* All records of the set in the topic's format, offsets from opts->first_offset on: one batch of
 * v2, or a message set of v0 or v1. In the arena. */
int validate_rebuild(struct validation *v, struct slice *ret) MUST_CHECK;
