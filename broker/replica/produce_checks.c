/*
 * produce_checks.c - the checks of produce_checks.h
 */
#include "broker/replica/produce_checks.h"

#include "common/base/err.h"
#include "common/record/batch.h"

enum { SIZE_AT = 8, NEWEST_MAGIC = 2 };

static int32_t size_of(struct slice records)
{
    return (int32_t)be32_read(records.p + SIZE_AT);
}

static int8_t magic_of(struct slice records)
{
    return (int8_t)records.p[BATCH_MAGIC_AT];
}

/* Of what batch_next() does not take: whether Kafka cannot tell where it ends either. Else it is
 * only too short for its header. */
static bool is_corrupt(struct slice records)
{
    return size_of(records) < BATCH_MIN_LENGTH_FIELD || magic_of(records) < 0 ||
           magic_of(records) > NEWEST_MAGIC;
}

/* In Kafka's words. */
static int corrupt(struct arena *a, struct slice records, const char **ret_message)
{
    int32_t size = size_of(records);

    if (size < BATCH_MIN_LENGTH_FIELD)
        *ret_message =
            arena_printf(a, "Record size %d is less than the minimum record overhead (%d)", size,
                         BATCH_MIN_LENGTH_FIELD)
                .p;
    else
        *ret_message = arena_printf(a, "Invalid magic found in record: %d", magic_of(records)).p;
    return CORRUPT_MESSAGE;
}

int produce_check_first(const struct produce *p, bool has_transactional_id,
                        const char **ret_message)
{
    for (int32_t i = 0; i < p->count; i++) {
        struct slice rest = p->parts[i].records;
        struct batch batch;
        int r = batch_next(&rest, &batch);

        if (r < 0 && is_corrupt(rest))
            return corrupt(p->arena, rest, ret_message);
        if (r == 1 && batch_is_transactional(&batch))
            return has_transactional_id ? 0 : TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    }
    return 0;
}

static int refuse(const char *message, const char **ret_message)
{
    *ret_message = message;
    return INVALID_RECORD;
}

int produce_check_records(struct slice records, int16_t version, const char **ret_message)
{
    struct slice rest = records;
    struct batch batch, second;

    if (version < 3)
        return 0;
    int r = batch_next(&rest, &batch);
    if (r == 0)
        return refuse("the request has no record batch for this partition", ret_message);
    if (r < 0 && records.p[BATCH_MAGIC_AT] == 2)
        return CORRUPT_MESSAGE; /* too short for its header */
    if (r < 0 || !batch_is_v2(&batch))
        return refuse("produce requests from version 3 on carry batches of magic 2 only",
                      ret_message);
    if (version < 7 && batch_codec(&batch) == COMPRESSION_ZSTD)
        return UNSUPPORTED_COMPRESSION_TYPE;
    r = batch_next(&rest, &second);
    if (r < 0 && is_corrupt(rest))
        return CORRUPT_MESSAGE;
    if (r != 0)
        return refuse("a produce request has exactly one batch for each partition", ret_message);
    return 0;
}

/* Who is in a transaction, of all batches so far. */
struct in_transaction {
    bool is_set;
    int64_t producer_id;
    int16_t epoch;
};

/* Whether it is the one of before. */
static bool is_same(struct in_transaction *t, const struct batch *b)
{
    struct in_transaction other = {true, batch_producer_id(b), batch_producer_epoch(b)};

    if (!t->is_set)
        *t = other;
    return t->producer_id == other.producer_id && t->epoch == other.epoch;
}

int produce_check_batches(const struct produce *p, const char **ret_message)
{
    struct in_transaction t = {0};
    bool is_mixed = false;

    for (int32_t i = 0; i < p->count; i++) {
        struct slice rest = p->parts[i].error ? (struct slice){0} : p->parts[i].records;
        struct batch batch;
        int r;

        while ((r = batch_next(&rest, &batch)) == 1)
            if (batch_is_transactional(&batch) && batch_has_producer_id(&batch))
                is_mixed |= !is_same(&t, &batch);
        if (r < 0 && is_corrupt(rest))
            return corrupt(p->arena, rest, ret_message);
    }
    if (!is_mixed)
        return 0;
    *ret_message = "Transactional records contained more than one producer ID";
    return INVALID_PRODUCER_ID_MAPPING;
}

bool produce_has_transactional(struct slice records)
{
    struct slice rest = records;
    struct batch batch;

    while (batch_next(&rest, &batch) == 1)
        if (batch_is_transactional(&batch))
            return true;
    return false;
}
