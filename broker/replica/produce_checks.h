/*
 * produce_checks.h - what Kafka checks of the records of a Produce request before it appends any
 *
 * In this order: produce_check_first(), produce_check_records() of each partition that exists,
 * produce_check_batches(). What the first and the last return counts for all partitions of the
 * request, the unknown ones too. *ret_message stays as it was where there is nothing to say.
 */
#pragma once

#include "broker/replica/delayed_produce.h"

/*
 * The first batch of each partition, up to a transactional one. CORRUPT_MESSAGE: of one nobody can
 * tell where it ends. TRANSACTIONAL_ID_AUTHORIZATION_FAILED: there is no id for the transaction.
 */
int produce_check_first(const struct produce *p, bool has_transactional_id,
                        const char **ret_message);
/*
 * From version 3 on a partition has one batch, of magic 2, and before 7 not packed by zstd.
 * INVALID_RECORD, UNSUPPORTED_COMPRESSION_TYPE, CORRUPT_MESSAGE.
 */
int produce_check_records(struct arena *a, struct slice records, int16_t version,
                          const char **ret_message);
/*
 * All batches of the partitions without an error. CORRUPT_MESSAGE as above, or too short to tell
 * its producer, or (versions 3 to 6) packed in a way that nobody knows.
 * INVALID_PRODUCER_ID_MAPPING: transactions of two producers.
 */
int produce_check_batches(const struct produce *p, int16_t version, const char **ret_message);

bool produce_has_transactional(struct slice records);
