/*
 * produce_checks.c - the checks of produce_checks.h
 */
#include "broker/replica/produce_checks.h"

#include "common/base/err.h"
#include "common/record/batch.h"

enum { SIZE_AT = 8, ATTRIBUTES_AT = 21, PRODUCER_ID_AT = 43, EPOCH_AT = 51 };
enum { NEWEST_MAGIC = 2 };

static int corrupt(struct str why, const char **ret_message)
{
    *ret_message = why.p;
    return CORRUPT_MESSAGE;
}

/*
 * As batch_next(), but also takes one that is too short for the header of its magic: Kafka sees
 * that when it appends. 1: *ret is all of it, 26 bytes at least. 0: no whole one is left.
 * CORRUPT_MESSAGE, in Kafka's words: nobody can tell where it ends.
 */
static int next(struct arena *a, struct slice *rest, struct slice *ret, const char **ret_message)
{
    if (rest->len < BATCH_OVERHEAD)
        return 0;
    int32_t length = (int32_t)be32_read(rest->p + SIZE_AT);
    if (length < BATCH_MIN_LENGTH_FIELD)
        return corrupt(
            arena_printf(a, "Record size %d is less than the minimum record overhead (14)", length),
            ret_message);
    if (rest->len <= BATCH_MAGIC_AT)
        return 0;
    int8_t magic = (int8_t)rest->p[BATCH_MAGIC_AT];
    if (magic < 0 || magic > NEWEST_MAGIC)
        return corrupt(arena_printf(a, "Invalid magic found in record: %d", magic), ret_message);
    if (length > BATCH_SIZE_MAX - BATCH_OVERHEAD)
        return corrupt(arena_printf(a, "Record size %d is larger than any", length), ret_message);
    size_t size = (size_t)length + BATCH_OVERHEAD;
    if (size > rest->len)
        return 0;
    *ret = slice_sub(*rest, 0, size);
    *rest = slice_from(*rest, size);
    return 1;
}

static bool is_v2(struct slice batch)
{
    return batch.p[BATCH_MAGIC_AT] == 2;
}

static uint16_t attributes(struct slice batch)
{
    return be16_read(batch.p + ATTRIBUTES_AT);
}

static bool is_transactional(struct slice batch)
{
    return is_v2(batch) && (attributes(batch) & BATCH_TRANSACTIONAL);
}

static enum compression codec(struct slice batch)
{
    return (enum compression)(attributes(batch) & BATCH_CODEC_MASK);
}

int produce_check_first(const struct produce *p, bool has_transactional_id,
                        const char **ret_message)
{
    for (int32_t i = 0; i < p->count; i++) {
        struct slice rest = p->parts[i].records, batch;
        int r = next(p->arena, &rest, &batch, ret_message);

        if (r == CORRUPT_MESSAGE)
            return r;
        if (r == 1 && is_transactional(batch))
            return has_transactional_id ? 0 : TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    }
    return 0;
}

static int refuse(const char *message, const char **ret_message)
{
    *ret_message = message;
    return INVALID_RECORD;
}

int produce_check_records(struct arena *a, struct slice records, int16_t version,
                          const char **ret_message)
{
    struct slice rest = records, batch, second;
    const char *unsaid;

    if (version < 3)
        return 0;
    if (next(a, &rest, &batch, &unsaid) != 1)
        return refuse("the request has no record batch for this partition", ret_message);
    if (!is_v2(batch))
        return refuse("produce requests from version 3 on carry batches of magic 2 only",
                      ret_message);
    if (version < 7 && codec(batch) == COMPRESSION_ZSTD)
        return UNSUPPORTED_COMPRESSION_TYPE;
    if (version < 7 && codec(batch) > COMPRESSION_ZSTD)
        return 0; /* produce_check_batches() refuses the request */
    int r = next(a, &rest, &second, &unsaid);
    if (r == 1)
        return refuse("a produce request has exactly one batch for each partition", ret_message);
    return r;
}

/* Who is in a transaction, of all batches so far. */
struct in_transaction {
    bool is_set, is_mixed;
    int64_t producer_id;
    int16_t epoch;
};

static void note_transaction(struct in_transaction *t, struct slice batch)
{
    int64_t producer_id = (int64_t)be64_read(batch.p + PRODUCER_ID_AT);
    int16_t epoch = (int16_t)be16_read(batch.p + EPOCH_AT);

    if (producer_id <= NO_PRODUCER_ID)
        return;
    t->is_mixed |= t->is_set && (producer_id != t->producer_id || epoch != t->epoch);
    t->is_set = true;
    t->producer_id = producer_id;
    t->epoch = epoch;
}

/* Where Kafka dies of it, and says UNKNOWN_SERVER_ERROR of the whole request. */
static int check_batch(const struct produce *p, struct slice batch, int16_t version,
                       const char **ret_message)
{
    if (batch.len < EPOCH_AT + (is_transactional(batch) ? sizeof(int16_t) : 0))
        return corrupt(arena_printf(p->arena, "A batch of %d bytes is too short for its header",
                                    (int32_t)batch.len),
                       ret_message);
    if (version >= 3 && version < 7 && codec(batch) > COMPRESSION_ZSTD)
        return corrupt(
            arena_printf(p->arena, "Unknown compression type id: %d", (int32_t)codec(batch)),
            ret_message);
    return 0;
}

static int check_part(const struct produce *p, struct slice rest, int16_t version,
                      struct in_transaction *t, const char **ret_message)
{
    struct slice batch;
    int r;

    while ((r = next(p->arena, &rest, &batch, ret_message)) == 1) {
        if (!is_v2(batch))
            continue;
        if ((r = check_batch(p, batch, version, ret_message)))
            return r;
        if (is_transactional(batch))
            note_transaction(t, batch);
    }
    return r;
}

int produce_check_batches(const struct produce *p, int16_t version, const char **ret_message)
{
    struct in_transaction t = {0};

    for (int32_t i = 0; i < p->count; i++) {
        struct slice records = p->parts[i].error ? (struct slice){0} : p->parts[i].records;
        int r = check_part(p, records, version, &t, ret_message);

        if (r)
            return r;
    }
    if (!t.is_mixed)
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
