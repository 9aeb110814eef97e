/*
 * batch.c - framing and checksums of batch.h
 */
#include "common/record/batch.h"

#include "common/base/crc32c.h"

static const uint32_t min_size[] = {BATCH_V0_MIN, BATCH_V1_MIN, BATCH_V2_HEADER};

int batch_peek_size(struct slice head, uint32_t *ret)
{
    *ret = 0;
    if (head.len < BATCH_OVERHEAD)
        return 0;
    int32_t length = (int32_t)be32_read(head.p + 8);
    if (length < BATCH_MIN_LENGTH_FIELD)
        return -EBADMSG;
    if (head.len <= BATCH_MAGIC_AT)
        return 0;
    if (length > BATCH_SIZE_MAX - BATCH_OVERHEAD)
        return -EBADMSG;
    uint8_t magic = head.p[BATCH_MAGIC_AT];
    uint32_t size = (uint32_t)length + BATCH_OVERHEAD;
    if (magic >= ARRAY_LEN(min_size) || size < min_size[magic])
        return -EBADMSG;
    *ret = size;
    return 0;
}

int batch_next(struct slice *rest, struct batch *ret)
{
    uint32_t size;
    int r = batch_peek_size(*rest, &size);

    if (r < 0)
        return r;
    if (size == 0 || size > rest->len)
        return 0;
    *ret = (struct batch){.p = rest->p, .size = size, .magic = (int8_t)rest->p[BATCH_MAGIC_AT]};
    *rest = slice_from(*rest, size);
    return 1;
}

uint32_t batch_compute_crc(const struct batch *b)
{
    if (batch_is_v2(b))
        return crc32c(slice_from(batch_bytes(b), 21));
    return crc32_legacy(slice_from(batch_bytes(b), BATCH_MAGIC_AT));
}

bool batch_is_valid(const struct batch *b)
{
    return batch_compute_crc(b) == batch_crc(b);
}

enum timestamp_type batch_timestamp_type(const struct batch *b)
{
    if (b->magic > 0 && (batch_attributes(b) & BATCH_LOG_APPEND_TIME))
        return TIMESTAMP_LOG_APPEND_TIME;
    return TIMESTAMP_CREATE_TIME;
}

int32_t sequence_add(int32_t seq, int32_t delta)
{
    return seq > INT32_MAX - delta ? delta - (INT32_MAX - seq) - 1 : seq + delta;
}

int32_t batch_last_sequence(const struct batch *b)
{
    int32_t base = batch_base_sequence(b);

    if (base == NO_SEQUENCE)
        return NO_SEQUENCE;
    return sequence_add(base, batch_last_offset_delta(b));
}
