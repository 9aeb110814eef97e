/*
 * log_load.h - the parts of opening a log that truncation and flush need too
 *
 * All under LOCK_LOG, or before anybody else knows the log. Errors: -errno; -EBADMSG where stored
 * bytes are no batches.
 */
#pragma once

#include "broker/storage/log_internal.h"

/* Brings the producers' state to the log end: from the newest snapshot, and the batches after
 * it. */
int log_load_producers(struct log *log, int64_t now_ms) MUST_CHECK;
/* The same up to offset end, where the log end is not known yet. */
int log_load_producers_to(struct log *log, int64_t end, int64_t now_ms) MUST_CHECK;

/* partition.metadata: a malformed one counts as absent, with a line. */
int log_read_topic_id(struct log *log) MUST_CHECK;
/* Writes it, durably, where an id is known that the file has not. */
int log_write_topic_id(struct log *log) MUST_CHECK;
